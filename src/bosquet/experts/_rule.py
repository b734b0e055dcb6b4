"""What the rules have in common: parameters, and what they tell the core."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, check_parameters
from bosquet._sklearn import BaseEstimator


class Rule(BaseEstimator):
    """A way to weigh experts. Its parameters are scikit-learn's in manner, so that
    ``rule__learning_rate`` can be searched over."""

    name: ClassVar[str]
    bandit: ClassVar[bool] = False  # sees the loss of the expert it drew, and no other
    checks: ClassVar[dict[str, Check]] = {}

    def settings(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        """What the core's rule is made from, once the number of experts is known.

        Parameters
        ----------
        n_experts : int
        n_steps : int or None
            How many steps there will be; None in a stream.
        loss_range : float or None
        """
        check_parameters(self, self.checks)
        return self._settings(n_experts, n_steps, loss_range)

    def _settings(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        return {}
