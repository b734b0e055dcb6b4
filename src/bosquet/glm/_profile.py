"""Profile likelihood intervals."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

# If the deviance is still too small after this many doublings of the step, the interval is unbounded there.
MAX_DOUBLINGS = 12


def profile_interval(
    deviance: Callable[[float], float],
    estimate: float,
    min_deviance: float,
    step: float,
    increase: float,
) -> tuple[float, float]:
    """Return the interval in which the profile deviance exceeds its minimum by at most `increase`.

    `deviance` returns the smallest deviance with the coefficient fixed at a value, `min_deviance` is the
    deviance at the estimate of the coefficient, and `step` about the standard error. An end that does not
    exist is infinite.
    """
    # If the true estimate is infinite, the standard error is meaningless and may be huge.
    step = (
        min(step, 1.0 + abs(estimate)) if step > 0 and math.isfinite(step) else 1.0 + abs(estimate)
    )

    def excess(value: float) -> float:
        return deviance(value) - min_deviance - increase

    return _interval_end(excess, estimate, -step), _interval_end(excess, estimate, step)


def _interval_end(excess: Callable[[float], float], estimate: float, step: float) -> float:
    near, far = estimate, estimate + step
    for _ in range(MAX_DOUBLINGS):
        excess_at_far = excess(far)
        if excess_at_far >= 0:
            if excess_at_far == 0:
                return far
            return float(brentq(excess, near, far, xtol=1e-9 * max(1.0, abs(far)), rtol=1e-10))
        near, step = far, 2 * step
        far = estimate + step
    return math.copysign(math.inf, step)
