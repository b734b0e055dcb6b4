"""Bernstein online aggregation."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import ExpertRule


class BOA(ExpertRule):
    r"""Bernstein online aggregation: exponential weights that also penalise the variance of an expert.

    .. math:: p_{t+1}(j) \propto \pi(j)\, \eta_t(j) \exp\Bigl(\eta_t(j)
              \sum_{s \le t} \bigl(r_s(j) - \eta_{s-1}(j)\, r_s(j)^2\bigr)\Bigr)

    where r(j) is the loss of the mixture minus that of expert j. The rates are those of ML-Prod,
    η_t(j) = min(1/(2B), √(ln N / (B² + Σ r(j)²))). B is `loss_range`; without it, B is the largest |r| so
    far, and a step that exceeds it is scaled down to B. Since exp(x - x²) ≤ 1 + x for x ≥ -1/2, the bound
    of ML-Prod holds unchanged; `bound_` is the bound of the proof. For independent rows and a strongly
    convex loss the mean excess risk decreases like ln N / n.

    References
    ----------
    Wintenberger, Optimal learning with Bernstein online aggregation, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> game = play(losses, "boa", loss_range=1)
    >>> print(f"regret {game.regret_.max():.2f}, at most {game.bound_.max():.2f}")
    regret 4.84, at most 56.28
    """

    name: ClassVar[str] = "boa"
