"""Online ridge regression on the forecasts."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, number
from bosquet.experts._rule import ExpertRule


class OnlineRidge(ExpertRule):
    r"""Online ridge regression: the best linear combination so far, shrunk towards the prior weights.

    .. math:: w_{t+1} = \arg\min_w \sum_{s \le t} (y_s - w \cdot f_s)^2
              + \lambda\, \lVert w - \pi \rVert^2

    The weights may be negative and need not sum to 1, so that a bias common to all experts is corrected
    too. The regret to a fixed combination u is at most λ ‖u - π‖² + Σ (y - ŷ)² f·A⁻¹f with
    A = λI + Σ f f^⊤. The rule requires the square loss, and no expert may be asleep.

    Parameters
    ----------
    l2_regularization : float, default=None
        λ (lambda in opera), in units of a squared forecast. None: 0.01 times the mean square of the
        forecasts of the first step, so that the unit of the forecasts does not matter.

    References
    ----------
    Azoury and Warmuth, Relative loss bounds for on-line density estimation, 2001. Cesa-Bianchi and
    Lugosi, Prediction, Learning, and Games, 2006, section 11.7.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import Mixture
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=500)
    >>> F = y[:, None] * [0.5, 0.8] + rng.normal(scale=0.3, size=(500, 2))  # both shrink the truth
    >>> mixture = Mixture("ridge").fit(F, y)
    >>> print(mixture.final_weights_.round(2))
    [0.51 0.82]
    """

    name: ClassVar[str] = "ridge"
    checks: ClassVar[dict[str, Check]] = {"l2_regularization": number(0, open_low=True, none=True)}

    def __init__(self, l2_regularization: float | None = None):
        self.l2_regularization = l2_regularization

    def _core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        penalty = self.l2_regularization
        return {} if penalty is None else {"penalty": float(penalty)}
