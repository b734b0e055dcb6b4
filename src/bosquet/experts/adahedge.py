"""AdaHedge."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import ExpertRule


class AdaHedge(ExpertRule):
    r"""AdaHedge: exponential weights with a learning rate that adapts to the losses.

    It has no parameter, and the scale of the losses does not matter.

    .. math:: \eta_t = \frac{\ln N}{\Delta_{t-1}}, \qquad
              \Delta_t = \Delta_{t-1} + h_t - m_t, \qquad
              m_t = -\frac1{\eta_t} \ln \sum_j p_t(j)\, e^{-\eta_t \ell_t(j)},

    where h is the expected loss under the weights. As long as the losses of the experts are equal, the
    rate is infinite and the leaders share all weight. The regret is at most Δ_n + ln(1/π) / η_n. For equal
    prior weights this is at most 2 √(V ln N) + S (4/3 ln N + 2), where V is the sum of the variances of
    the losses under the weights and S their largest spread.

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
