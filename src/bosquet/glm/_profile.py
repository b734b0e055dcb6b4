"""Intervals from the profile of the likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

# A side on which the deviance has not risen enough after so many doublings of a step has no end.
MOST_DOUBLINGS = 12


def profile_ends(
    deviance: Callable[[float], float], at: float, lowest: float, step: float, rise: float
) -> tuple[float, float]:
    """Where the least deviance with one coefficient held fixed is `rise` above the lowest of all.

    `deviance` gives it for a value of the coefficient, `at` is its estimate, `step` about its standard
    error. A side without such a place is infinite.
    """
    # An estimate that is infinite in truth has a standard error that says nothing.
    step = min(step, 1.0 + abs(at)) if step > 0 and math.isfinite(step) else 1.0 + abs(at)

    def excess(value: float) -> float:
        return deviance(value) - lowest - rise

    return _end(excess, at, -step), _end(excess, at, step)


def _end(excess: Callable[[float], float], at: float, step: float) -> float:
    near, far = at, at + step
    for _ in range(MOST_DOUBLINGS):
        above = excess(far)
        if above >= 0:
            if above == 0:
                return far
            return float(brentq(excess, near, far, xtol=1e-9 * max(1.0, abs(far)), rtol=1e-10))
        near, step = far, 2 * step
        far = at + step
    return math.copysign(math.inf, step)
