"""Online gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, number
from bosquet.experts._rule import ExpertRule


class OnlineGradientDescent(ExpertRule):
    r"""Online gradient descent on the losses, projected on the simplex of weights.

    .. math:: p_{t+1} = \Pi\bigl(p_t + \eta_t r_t\bigr), \qquad
              \eta_t = \Bigl(\sum_{s \le t} \lVert r_s \rVert^2\Bigr)^{-1/2}

    where r is the loss of the mixture minus that of each expert, and Π the projection on the simplex, which
    does not change if a constant is added to all losses. The regret is at most 2 √Σ‖r‖². The default has no
    parameter to tune, and the scale of the losses does not matter. But the regret grows with the number of
    experts like √N and not like √ln N.

    Parameters
    ----------
    learning_rate : float, default=None
        A fixed η instead of the formula. The bound is then ‖e_j - π‖² / (2η) + η Σ‖r‖² / 2.

    References
    ----------
    Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, 2003. The
    adaptive rate: Orabona, A modern introduction to online learning, 2019, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> game = play(losses, "ogd")
    >>> print(f"regret {game.regret_.max():.2f}, at most {game.bound_.max():.2f}")
    regret 15.59, at most 57.96
    """

    name: ClassVar[str] = "ogd"
    checks: ClassVar[dict[str, Check]] = {"learning_rate": number(0, open_low=True, none=True)}

    def __init__(self, learning_rate: float | None = None):
        self.learning_rate = learning_rate

    def _core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        return {} if self.learning_rate is None else {"rate": float(self.learning_rate)}
