"""Fixed share: following the best expert."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, number
from bosquet.experts._rule import Rule


class FixedShare(Rule):
    r"""Exponential weights for a best expert that changes (tracking the best expert).

    .. math:: v(j) \propto p_t(j)\, e^{-\eta \ell_t(j)}, \qquad
              p_{t+1}(j) = (1 - \alpha)\, v(j) + \alpha\, \pi(j):

    a share α of the weight is handed out anew at every step, so that no expert is ever written off.
    For losses within M of each other, the regret to any sequence of experts with m shifts is at most

    .. math:: \frac1\eta \Bigl((m+1) \ln N + m \ln \frac1\alpha
              + (n-m-1) \ln \frac1{1-\alpha}\Bigr) + \frac{\eta M^2 n}{8}.

    Parameters
    ----------
    share : float in [0, 1), default=0.01
        α. For m shifts expected in n steps, m / (n - 1).
    learning_rate : float, default=None
        η. None: √(8 (h(α) + α ln N)) / M, the best rate for about α n shifts, h the entropy of α in
        nats; M is `loss_range`, or else the largest spread so far. In the latter case the rate falls
        when a larger spread comes, and the bound has (m+1) ln(1/α) in place of m ln(1/α), with the last
        rate.

    References
    ----------
    Herbster and Warmuth, Tracking the best expert, 1998. Cesa-Bianchi and Lugosi, Prediction,
    Learning, and Games, 2006, theorem 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import FixedShare, play
    >>> losses = np.zeros((1000, 2))
    >>> losses[:500, 0] = losses[500:, 1] = 1  # the second expert is right, then the first
    >>> for rule in ("ewa", FixedShare(share=0.001)):
    ...     print(f"{play(losses, rule, loss_range=1).loss_:.1f}")
    488.5
    26.7
    """

    name: ClassVar[str] = "fixed-share"
    checks: ClassVar[dict[str, Check]] = {
        "share": number(0, 0.9999),
        "learning_rate": number(0, open_low=True, none=True),
    }

    def __init__(self, share: float = 0.01, *, learning_rate: float | None = None):
        self.share = share
        self.learning_rate = learning_rate

    def _settings(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        if self.share == 0 and self.learning_rate is None:
            raise ValueError(
                "share=0 leaves no rate to prefer: give learning_rate, or use rule='ewa'"
            )
        settings = {"share": float(self.share)}
        if self.learning_rate is not None:
            settings["rate"] = float(self.learning_rate)
        return settings
