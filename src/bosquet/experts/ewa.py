"""Exponential weights (Hedge)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from bosquet._parameters import Check, integer
from bosquet.experts._rule import ExpertRule

# Learning rates of "grid", in units of 1 / range of the losses.
GRID = tuple(2.0**k for k in range(-10, 7))
NAMED_RATES = ("anytime", "tuned", "grid")


def _is_rate(value: Any) -> bool:
    if isinstance(value, str):
        return value in NAMED_RATES
    if isinstance(value, bool):
        return False
    try:
        rates = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return rates.ndim <= 1 and rates.size > 0 and bool((np.isfinite(rates) & (rates > 0)).all())


class ExponentialWeights(ExpertRule):
    r"""Exponential weights (Hedge): the weight of an expert decreases exponentially with its loss.

    .. math:: p_t(j) \propto \pi(j)\, \exp\bigl(-\beta L_{t-1}(j)\bigr),

    where L are the cumulative losses (linearised if the mixture has gradient=True) and π the prior weights.
    If the losses of a step differ by at most M, the regret to the best of N experts after n steps is at most

    .. math:: \frac{\ln N}{\beta} + \frac{M^2 \beta n}{8}, \qquad
              M \sqrt{\tfrac n2 \ln N} \text{ with } \beta = \frac1M \sqrt{\frac{8 \ln N}{n}}.

    Parameters
    ----------
    learning_rate : float, "anytime", "tuned", "grid" or list of floats, default="anytime"
        A number is β. "tuned" is the formula above; it needs `loss_range` and the number of steps.
        "anytime" is β_t = 2 √(ln N / t) / M_t. M_t is `loss_range`, and the regret is at most M √(n ln N);
        without `loss_range`, M_t is the largest spread so far, and the regret is at most
        2.5 M √(n ln N) + 2M. "grid", or a list of rates, uses at each step the rate with the smallest loss
        so far; no bound is known for it.
    horizon : int, default=None
        Number of steps for "tuned". None: the steps of the rows passed to ``fit``.

    References
    ----------
    Cesa-Bianchi and Lugosi, Prediction, Learning, and Games, 2006, theorem 2.2. Freund and
    Schapire, A decision-theoretic generalization of on-line learning, 1997. The choice on a grid:
    Devaine, Gaillard, Goude and Stoltz, Forecasting electricity consumption by aggregating
    specialized experts, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import ExponentialWeights, play
    >>> losses = np.random.default_rng(0).random((1000, 10))
    >>> game = play(losses, ExponentialWeights("tuned"), loss_range=1)
    >>> print(f"regret {game.regret_.max():.2f}, at most {game.bound_.max():.2f}")
    regret 14.82, at most 33.93
    """

    name: ClassVar[str] = "ewa"
    checks: ClassVar[dict[str, Check]] = {
        "learning_rate": Check(
            _is_rate,
            "a number > 0, a list of such numbers, 'anytime', 'tuned' or 'grid'",
        ),
        "horizon": integer(1, none=True),
    }

    def __init__(self, learning_rate: Any = "anytime", *, horizon: int | None = None):
        self.learning_rate = learning_rate
        self.horizon = horizon

    def _core_options(
        self, n_experts: int, n_steps: int | None, loss_range: float | None
    ) -> dict[str, Any]:
        rate = self.learning_rate
        if isinstance(rate, str):
            if rate == "anytime":
                return {}
            if rate == "grid":
                return {"grid": list(GRID), "relative_grid": True}
            return {"rate": self._tuned_rate(n_experts, n_steps, loss_range)}
        if np.ndim(rate) == 1:
            return {"grid": [float(value) for value in rate]}
        return {"rate": float(rate)}

    def _tuned_rate(self, n_experts: int, n_steps: int | None, loss_range: float | None) -> float:
        steps = self.horizon or n_steps
        if loss_range is None or steps is None:
            missing = "loss_range" if loss_range is None else "horizon"
            raise ValueError(
                f"learning_rate='tuned' needs {missing}: the rate is √(8 ln N / n) / M for n steps and a loss"
                f" range of M. Pass {missing}, or use learning_rate='anytime'"
            )
        return math.sqrt(8 * math.log(max(n_experts, 2)) / steps) / loss_range
