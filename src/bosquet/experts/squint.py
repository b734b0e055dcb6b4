"""Squint."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import Rule


class Squint(Rule):
    r"""Exponential weights at all learning rates at once, each expert judged at the one it needs.

    .. math:: p_{t+1}(j) \propto \pi(j) \sum_i \gamma_i \eta_i\,
              e^{\eta_i R_t(j) - \eta_i^2 V_t(j)}, \qquad V_t(j) = \sum_{s \le t} r_s(j)^2

    with r(j) the loss of the mixture less that of expert j and R its sum. The rates are
    η_i = 2^-i / (2B), their prior γ_i = 1 / ((i+1)(i+2)); B is `loss_range`, or else the largest
    |r| so far, to which a step that exceeds it is shrunk. The regret to expert j is at most
    min_i (η_i V(j) + ln(1/(π(j) γ_i)) / η_i), and B more if B had to be learned: of the order
    √(V (ln 1/π + ln ln n)), small where the expert is seldom far from the mixture, and smaller for
    experts that the prior favours.

    References
    ----------
    Koolen and van Erven, Second-order quantile methods for experts and combinatorial games, 2015.
    The learned range: Mhammedi, Koolen and van Erven, Lipschitz adaptivity with multiple learning
    rates in online learning, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> game = play(losses, "squint", loss_range=1)
    >>> print(f"regret {game.regret_.max():.2f}, at most {game.bound_.max():.2f}")
    regret 6.08, at most 55.66
    """

    name: ClassVar[str] = "squint"
