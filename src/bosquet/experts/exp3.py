"""EXP3 and EXP3-IX: bandit rules, which observe only the loss of the chosen expert."""

from __future__ import annotations

from typing import Any, ClassVar

from bosquet._parameters import Check, number
from bosquet.experts._rule import ExpertRule


class EXP3(ExpertRule):
    r"""EXP3: exponential weights for bandits, where only the loss of the drawn expert is observed.

    .. math:: p_t(j) \propto \pi(j) \exp\bigl(-\eta_t \hat L_{t-1}(j)\bigr), \qquad
              \hat\ell_t(j) = \frac{\ell_t(j)}{p_t(j)} \text{ for the expert drawn, else } 0.

    The estimate of the loss is unbiased. For losses in [0, M], M = `loss_range`, the *expected* regret is
    at most ln(1/π(j)) / η_n + (N M² / 2) Σ η_t, which is 2 M √(n N ln N) with the default rate.

    Parameters
    ----------
    learning_rate : float, default=None
        η. None: √(ln N / (N t)) / M. Without `loss_range`, M is the largest loss observed so far, and
        there is no bound.

    References
    ----------
    Auer, Cesa-Bianchi, Freund and Schapire, The nonstochastic multiarmed bandit problem, 2002.
    Bubeck and Cesa-Bianchi, Regret analysis of stochastic and nonstochastic multi-armed bandit
    problems, 2012, theorem 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.random.default_rng(0).random((2000, 5))
    >>> losses[:, 2] *= 0.5
    >>> game = play(losses, "exp3", loss_range=1, random_state=0)
    >>> int(np.bincount(game.chosen_).argmax())
    2
    """

    name: ClassVar[str] = "exp3"
    bandit: ClassVar[bool] = True
    checks: ClassVar[dict[str, Check]] = {"learning_rate": number(0, open_low=True, none=True)}

    def __init__(self, learning_rate: float | None = None):
        self.learning_rate = learning_rate

    def _core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        return {} if self.learning_rate is None else {"rate": float(self.learning_rate)}


class EXP3IX(ExpertRule):
    r"""EXP3-IX: EXP3 with implicit exploration, which keeps the estimates of the losses bounded.

    .. math:: \hat\ell_t(j) = \frac{\ell_t(j)}{p_t(j) + \gamma_t}
              \text{ for the expert drawn, else } 0, \qquad \gamma_t = \eta_t M / 2

    For losses in [0, M] the regret itself, and not only its expectation, is at most
    (ln(1/π(j)) + ln(2N/δ)) / η_n + N M² Σ η_t + M ln(2/δ) with probability 1 - δ.

    Parameters
    ----------
    learning_rate : float, default=None
        η. None: √(ln N / (N t)) / M.
    confidence : float in (0, 1), default=0.95
        1 - δ.

    References
    ----------
    Neu, Explore no more: improved high-probability regret bounds for non-stochastic bandits, 2015,
    theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import play
    >>> losses = np.random.default_rng(0).random((2000, 5))
    >>> losses[:, 2] *= 0.5
    >>> game = play(losses, "exp3-ix", loss_range=1, random_state=0)
    >>> bool((game.regret_ <= game.bound_).all())
    True
    """

    name: ClassVar[str] = "exp3-ix"
    bandit: ClassVar[bool] = True
    checks: ClassVar[dict[str, Check]] = {
        "learning_rate": number(0, open_low=True, none=True),
        "confidence": number(0, 0.999999, open_low=True),
    }

    def __init__(self, learning_rate: float | None = None, *, confidence: float = 0.95):
        self.learning_rate = learning_rate
        self.confidence = confidence

    def _core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        options = {"confidence": float(self.confidence)}
        if self.learning_rate is not None:
            options["rate"] = float(self.learning_rate)
        return options
