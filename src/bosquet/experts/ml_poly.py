"""ML-Poly."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import ExpertRule


class MLPoly(ExpertRule):
    r"""ML-Poly: polynomial weights with a learning rate for each expert.

    It has no parameter, and the scale of the losses does not matter.

    .. math:: p_{t+1}(j) \propto \pi(j)\, \eta_t(j)\, \max(R_t(j), 0), \qquad
              \frac1{\eta_t(j)} = B_t + \sum_{s \le t} r_s(j)^2

    where r(j) is the loss of the mixture minus that of expert j, R its sum, and B_t the largest r² of any
    expert so far (`loss_range` squared, if it is given). An expert with a larger cumulative loss than the
    mixture has weight 0. If the range M is known, the regret to expert j is at most
    √(N (1 + ln(1 + n)) (M² + Σ r(j)²)). `bound_` is the bound of the proof before it is simplified,
    √(Φ / (π η)), where Φ bounds the potential; it holds for any range.

    This is the rule MLpol of the R package opera, and opera's default.

    References
    ----------
    Gaillard, Stoltz and van Erven, A second-order bound with excess losses, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> game = play(losses, "ml-poly")
    >>> print(f"regret {game.regret_.max():.2f}, at most {game.bound_.max():.2f}")
    regret 1.85, at most 96.88
    """

    name: ClassVar[str] = "ml-poly"
