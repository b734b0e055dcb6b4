"""Online gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, number
from bosquet.experts._rule import Rule


class GradientDescent(Rule):
    r"""Online gradient descent: a step against the losses, then back to the nearest weights.

    .. math:: p_{t+1} = \Pi\bigl(p_t + \eta_t r_t\bigr), \qquad
              \eta_t = \Bigl(\sum_{s \le t} \lVert r_s \rVert^2\Bigr)^{-1/2}

    with r the loss of the mixture less that of each expert (the same as descending the losses: a
    constant is lost in the projection Π on the simplex). The regret is at most 2 √Σ‖r‖². No
    parameter, any scale; but it depends on the number of experts like √N, not √ln N.

    Parameters
    ----------
    learning_rate : float, default=None
        A fixed η in place of the formula; the bound is then ‖e_j - π‖² / (2η) + η Σ‖r‖² / 2.

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

    def _settings(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        return {} if self.learning_rate is None else {"rate": float(self.learning_rate)}
