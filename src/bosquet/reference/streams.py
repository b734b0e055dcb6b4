"""Detectors of a change in the mean of a stream, from their definitions: all values are kept."""

from __future__ import annotations

import math


def bucket_sizes(n: int, max_buckets: int) -> list[int]:
    """Return the sizes of the buckets of n values, the oldest first.

    Sizes are powers of two, with at most `max_buckets` buckets of each size. The two oldest buckets of a size
    are merged when there are more.
    """
    sizes: list[int] = []
    for _ in range(n):
        sizes.append(1)
        size = 1
        while sizes.count(size) > max_buckets:
            first = sizes.index(size)  # the two oldest buckets of a size are neighbours
            sizes[first : first + 2] = [2 * size]
            size *= 2
    return sizes


def adaptive_window(
    values: list[float], delta: float, low: float, high: float, max_buckets: int
) -> list[tuple[int, int]]:
    """Return (start, detection) of every change, as indices of values.

    At every boundary between two buckets, the mean of the values before it is compared with the mean after
    it. The threshold is Hoeffding's bound at the level δ / (number of boundaries · n (n + 1)). Values lie
    in [`low`, `high`]. After a detection the window starts again.
    """
    changes, start = [], 0
    for now in range(len(values)):
        window = values[start : now + 1]
        n = len(window)
        sizes = bucket_sizes(n, max_buckets)
        cuts = [sum(sizes[:k]) for k in range(1, len(sizes))]
        largest, change = 1.0, None
        for cut in reversed(cuts):
            older, newer = window[:cut], window[cut:]
            difference = sum(older) / len(older) - sum(newer) / len(newer)
            level = delta / (len(cuts) * n * (n + 1))
            threshold = (high - low) * math.sqrt(
                (1 / len(older) + 1 / len(newer)) / 2 * math.log(2 / level)
            )
            if (difference / threshold) ** 2 >= largest:
                largest, change = (difference / threshold) ** 2, cut
        if change is not None:
            changes.append((start + change, now))
            start = now + 1
    return changes


def page_hinkley(
    values: list[float], mean: float, tolerance: float, run_length: float, width: float
) -> list[tuple[int, int]]:
    """Return (start, detection) of every alarm of the Page-Hinkley test, as indices of values.

    An alarm is raised when the largest sum of consecutive values minus (`mean` + `tolerance`) that ends at
    the current value reaches the threshold. The change starts at the first value of that sum; the shortest
    of equally large sums is taken. `width` is the range of the values.
    """
    threshold = width**2 * math.log(run_length) / (8 * tolerance)
    alarms, start = [], 0
    for now in range(len(values)):
        excess = [value - mean - tolerance for value in values[start : now + 1]]
        sums = [sum(excess[first:]) for first in range(len(excess))]
        if max(sums) >= threshold:
            change = max(first for first, total in enumerate(sums) if total == max(sums))
            alarms.append((start + change, now))
            start = now + 1
    return alarms
