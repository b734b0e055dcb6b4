"""ML-Poly."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import Rule


class MLPoly(Rule):
    r"""Polynomial weights with a learning rate for each expert: no parameter, any scale.

    .. math:: p_{t+1}(j) \propto \pi(j)\, \eta_t(j)\, \max(R_t(j), 0), \qquad
              \frac1{\eta_t(j)} = B_t + \sum_{s \le t} r_s(j)^2

    with r(j) the loss of the mixture less that of expert j, R its sum and B_t the largest r² of any
    expert so far (`loss_range` squared, if it is given). An expert that the mixture beats has no
    weight at all. With a known range M the regret to expert j is at most
    √(N (1 + ln(1 + n)) (M² + Σ r(j)²)). The bound reported is what the proof gives along the way,
    √(Φ / (π η)) with Φ the potential's proven growth; it holds for any range.

    The R package opera calls this rule MLpol, and has it as its default.

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
