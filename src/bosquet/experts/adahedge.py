"""AdaHedge."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import Rule


class AdaHedge(Rule):
    r"""Exponential weights that tune their rate by what they have lost: no parameter, any scale.

    .. math:: \eta_t = \frac{\ln N}{\Delta_{t-1}}, \qquad
              \Delta_t = \Delta_{t-1} + h_t - m_t, \qquad
              m_t = -\frac1{\eta_t} \ln \sum_j p_t(j)\, e^{-\eta_t \ell_t(j)},

    h the loss of the weights. Until the experts part, the rate is infinite: all weight to the
    leaders. The regret is at most Δ_n + ln(1/π) / η_n, which for equal prior weights is at most
    2 √(V ln N) + S (4/3 ln N + 2), V the sum of the variances of the losses under the weights and
    S their largest spread.

    References
    ----------
    De Rooij, van Erven, Grünwald and Koolen, Follow the leader if you can, hedge if you must, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> game = play(losses, "adahedge")
    >>> print(f"regret {game.regret_.max():.2f}, at most {game.bound_.max():.2f}")
    regret 7.03, at most 11.96
    """

    name: ClassVar[str] = "adahedge"
