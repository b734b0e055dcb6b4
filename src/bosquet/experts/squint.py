"""Squint."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import ExpertRule


class Squint(ExpertRule):
    r"""Squint: exponential weights averaged over a grid of learning rates.

    .. math:: p_{t+1}(j) \propto \pi(j) \sum_i \gamma_i \eta_i\,
              e^{\eta_i R_t(j) - \eta_i^2 V_t(j)}, \qquad V_t(j) = \sum_{s \le t} r_s(j)^2

    where r(j) is the loss of the mixture minus that of expert j and R its sum. The rates are
    η_i = 2^-i / (2B) with prior γ_i = 1 / ((i+1)(i+2)). B is `loss_range`; without it, B is the largest |r|
    so far, and a step that exceeds it is scaled down to B. The regret to expert j is at most
    min_i (η_i V(j) + ln(1/(π(j) γ_i)) / η_i), plus B if B is learned. This is of the order
    √(V (ln 1/π + ln ln n)): small for an expert whose losses are close to those of the mixture, and smaller
    for experts with a large prior weight.

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
