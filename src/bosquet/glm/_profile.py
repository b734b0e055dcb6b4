"""Profile likelihood intervals."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

# If the deviance is still too small after this many doublings of the step, the interval is unbounded there.
MAX_DOUBLINGS = 12


def profile_interval(
    deviance: Callable[[float], float], at: float, lowest: float, step: float, rise: float
) -> tuple[float, float]:
    """Return the interval in which the profile deviance exceeds its minimum by at most `rise`.

    `deviance` returns the smallest deviance with the coefficient fixed at a value, `at` is the estimate of
    the coefficient, `lowest` the deviance there, and `step` about its standard error. An end that does not
    exist is infinite.
    """
    # If the true estimate is infinite, the standard error is meaningless and may be huge.
    step = min(step, 1.0 + abs(at)) if step > 0 and math.isfinite(step) else 1.0 + abs(at)

    def excess(value: float) -> float:
        return deviance(value) - lowest - rise

    return _interval_end(excess, at, -step), _interval_end(excess, at, step)


def _interval_end(excess: Callable[[float], float], at: float, step: float) -> float:
    near, far = at, at + step
    for _ in range(MAX_DOUBLINGS):
        above = excess(far)
        if above >= 0:
            if above == 0:
                return far
            return float(brentq(excess, near, far, xtol=1e-9 * max(1.0, abs(far)), rtol=1e-10))
        near, step = far, 2 * step
        far = at + step
    return math.copysign(math.inf, step)
