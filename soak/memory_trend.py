"""Detection of memory growth: a robust slope and its lower confidence bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# Smaller growth is noise of the allocator, or caches that fill in the first minutes.
MIN_GROWTH = 12 * 2**20
# Minimum number of measurements for a trend.
MIN_POINTS = 8


@dataclass(frozen=True)
class Trend:
    """Growth of a series in bytes per step: the estimate, and a lower confidence bound."""

    slope: float
    lower: float
    steps: int

    @property
    def growth(self) -> float:
        return self.slope * self.steps

    @property
    def grows(self) -> bool:
        return self.steps >= MIN_POINTS and self.lower * self.steps > MIN_GROWTH


def trend(values: list[float]) -> Trend:
    """Return the trend of a series: the median of the slopes between all pairs of points (Theil and Sen).

    The first third is left out, because caches fill and the heap grows. The lower bound is Sen's, by the
    distribution that Kendall's tau has without a trend, three standard errors below the median.
    """
    series = np.asarray(values[len(values) // 3 :], dtype=float)
    n = len(series)
    if n < 3:
        return Trend(0.0, 0.0, n)
    if n > 600:  # pairs of every second point, third point, ... are enough
        step = math.ceil(n / 600)
        thinned = trend_of(series[::step])
        return Trend(thinned.slope / step, thinned.lower / step, n)
    return trend_of(series)


def trend_of(series: np.ndarray) -> Trend:
    n = len(series)
    first, second = np.triu_indices(n, k=1)
    slopes = np.sort((series[second] - series[first]) / (second - first))
    error = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    place = max(0, int((len(slopes) - 3 * error) / 2))
    return Trend(float(np.median(slopes)), float(slopes[place]), n)
