"""Fixed share: tracking the best expert."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, number
from bosquet.experts._rule import ExpertRule


class FixedShare(ExpertRule):
    r"""Fixed share: exponential weights that track a best expert which changes over time.

    .. math:: v(j) \propto p_t(j)\, e^{-\eta \ell_t(j)}, \qquad
              p_{t+1}(j) = (1 - \alpha)\, v(j) + \alpha\, \pi(j).

    At every step a share α of the weight is redistributed according to the prior, so that the weight of an
    expert can recover quickly. If the losses of a step differ by at most M, the regret to any sequence of
    experts with m shifts is at most

    .. math:: \frac1\eta \Bigl((m+1) \ln N + m \ln \frac1\alpha
              + (n-m-1) \ln \frac1{1-\alpha}\Bigr) + \frac{\eta M^2 n}{8}.

    Parameters
    ----------
    share : float in [0, 1), default=0.01
        α. If m shifts are expected in n steps, use m / (n - 1).
    learning_rate : float, default=None
        η. None: √(8 (h(α) + α ln N)) / M, the best rate for about α n shifts, where h is the entropy of α
        in nats. M is `loss_range`; without it, M is the largest spread so far. The rate then decreases when
        a larger spread is observed, and the bound has (m+1) ln(1/α) instead of m ln(1/α), with the last
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

    def _core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        if self.share == 0 and self.learning_rate is None:
            raise ValueError(
                "share=0 has no default learning rate; pass learning_rate, share > 0, or use rule='ewa'"
            )
        options = {"share": float(self.share)}
        if self.learning_rate is not None:
            options["rate"] = float(self.learning_rate)
        return options
