"""Base class of the aggregation rules."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, check_parameters
from bosquet._sklearn import BaseEstimator


class ExpertRule(BaseEstimator):
    """A rule that weights experts.

    It is a scikit-learn estimator without fit, so that ``rule__learning_rate`` can be tuned by a search.
    """

    name: ClassVar[str]
    bandit: ClassVar[bool] = False  # observes only the loss of the expert that it drew
    checks: ClassVar[dict[str, Check]] = {}

    def core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        """Return the options of the core's rule; they may depend on the number of experts and steps.

        Parameters
        ----------
        n_experts : int
        n_steps : int or None
            Number of steps; None in a stream, where it is unknown.
        loss_range : float or None
        """
        check_parameters(self, self.checks)
        return self._core_options(n_experts, n_steps, loss_range)

    def _core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        return {}
