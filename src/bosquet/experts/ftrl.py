"""Follow the regularised leader."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, choice, number
from bosquet.experts._rule import Rule


class FTRL(Rule):
    r"""Follow the regularised leader: the leader of the past, held back by a regulariser.

    .. math:: p_{t+1} = \arg\min_{p} \frac{\psi(p)}{\eta_t} - p \cdot R_t

    with R the sum of r, the loss of the mixture less that of each expert. ψ(p) = ½ ‖p - π‖² gives
    gradient descent with lazy projections, the relative entropy Σ p ln(p/π) gives exponential
    weights. The rate is c / √(G² + Σ|r|²), |r| the Euclidean norm of r, or for the entropy its
    spread; G, from `loss_range` or else the largest |r| so far, to which a step that exceeds it is
    shrunk. The regret is at most ψ(e_j) / η_n + Σ η_t |r_t|² / 2 (for the entropy / 8), and G more
    if it had to be learned.

    Parameters
    ----------
    regulariser : {"euclidean", "entropy"}, default="euclidean"
    learning_rate : float, default=None
        A fixed η.

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

    def _settings(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        settings: dict[str, Any] = {"entropy": self.regulariser == "entropy"}
        if self.learning_rate is not None:
            settings["rate"] = float(self.learning_rate)
        return settings
