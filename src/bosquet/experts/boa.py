"""Bernstein online aggregation."""

from __future__ import annotations

from typing import ClassVar

from bosquet.experts._rule import Rule


class BOA(Rule):
    r"""Bernstein online aggregation: exponential weights that also punish an erratic expert.

    .. math:: p_{t+1}(j) \propto \pi(j)\, \eta_t(j) \exp\Bigl(\eta_t(j)
              \sum_{s \le t} \bigl(r_s(j) - \eta_{s-1}(j)\, r_s(j)^2\bigr)\Bigr)

    with r(j) the loss of the mixture less that of expert j, and rates as in ML-Prod,
    η_t(j) = min(1/(2B), √(ln N / (B² + Σ r(j)²))). B is `loss_range`, or else the largest |r| so far,
    to which a step that exceeds it is shrunk. Since exp(x - x²) ≤ 1 + x for x ≥ -1/2, the bound of
    ML-Prod holds word for word; the one reported is that of the proof. On independent rows and a
    strongly convex loss the mean excess risk falls like ln N / n.

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
