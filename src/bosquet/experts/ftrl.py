"""Follow the regularised leader."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, choice, number
from bosquet.experts._rule import ExpertRule


class FTRL(ExpertRule):
    r"""Follow the regularised leader: the weights with the smallest past loss plus a regulariser.

    .. math:: p_{t+1} = \arg\min_{p} \frac{\psi(p)}{\eta_t} - p \cdot R_t

    where R is the sum of r, the loss of the mixture minus that of each expert. ψ(p) = ½ ‖p - π‖² gives
    gradient descent with lazy projections; the relative entropy Σ p ln(p/π) gives exponential weights. The
    rate is c / √(G² + Σ|r|²), where |r| is the Euclidean norm of r, or its spread for the entropy. G follows
    from `loss_range`; without it, G is the largest |r| so far, and a step that exceeds it is scaled down to
    G. The regret is at most ψ(e_j) / η_n + Σ η_t |r_t|² / 2 (for the entropy / 8), plus G if G is learned.

    Parameters
    ----------
    regulariser : {"euclidean", "entropy"}, default="euclidean"
        The function ψ that is added to the past loss.
    learning_rate : float, default=None
        A fixed η. None: the rate above.

    References
    ----------
    Orabona, A modern introduction to online learning, 2019, chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import FTRL, play
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> for regulariser in ("euclidean", "entropy"):
    ...     game = play(losses, FTRL(regulariser))
    ...     print(f"regret {game.regret_.max():.2f}, at most {game.bound_.max():.2f}")
    regret 11.85, at most 42.43
    regret 12.82, at most 40.29
    """

    name: ClassVar[str] = "ftrl"
    checks: ClassVar[dict[str, Check]] = {
        "regulariser": choice("euclidean", "entropy"),
        "learning_rate": number(0, open_low=True, none=True),
    }

    def __init__(self, regulariser: str = "euclidean", *, learning_rate: float | None = None):
        self.regulariser = regulariser
        self.learning_rate = learning_rate

    def _core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        options: dict[str, Any] = {"entropy": self.regulariser == "entropy"}
        if self.learning_rate is not None:
            options["rate"] = float(self.learning_rate)
        return options
