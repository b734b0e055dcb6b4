"""Detectors of drift, as they are defined: every cut of the window, every value kept."""

from __future__ import annotations

import math


def bucket_sizes(n: int, most: int) -> list[int]:
    """How n values lie in buckets, the oldest first: of each size 1, 2, 4, ... at most `most`."""
    sizes: list[int] = []
    for _ in range(n):
        sizes.append(1)
        size = 1
        while sizes.count(size) > most:
            first = sizes.index(size)  # the two oldest of a size stand side by side
            sizes[first : first + 2] = [2 * size]
            size *= 2
    return sizes


def adaptive_window(
    values: list[float], delta: float, low: float, high: float, most: int
) -> list[tuple[int, int]]:
    """(began, noticed) of every change.

    The window is cut between its buckets, and the mean before is compared with the mean after.
    """
    changes, start = [], 0
    for now in range(len(values)):
        window = values[start : now + 1]
        n = len(window)
        sizes = bucket_sizes(n, most)
        cuts = [sum(sizes[:k]) for k in range(1, len(sizes))]
        worst, at = 1.0, None
        for cut in reversed(cuts):
            older, newer = window[:cut], window[cut:]
            difference = sum(older) / len(older) - sum(newer) / len(newer)
            share = delta / (len(cuts) * n * (n + 1))
            by_chance = (high - low) * math.sqrt(
                (1 / len(older) + 1 / len(newer)) / 2 * math.log(2 / share)
            )
            if (difference / by_chance) ** 2 >= worst:
                worst, at = (difference / by_chance) ** 2, cut
        if at is not None:
            changes.append((start + at, now))
            start = now + 1
    return changes


def page_hinkley(
    values: list[float], mean: float, tolerance: float, run_length: float, width: float
) -> list[tuple[int, int]]:
    """(began, noticed) of every alarm: the largest of all sums that end now against its threshold.

    Of equally large sums the shortest tells when it began.
    """
    threshold = width**2 * math.log(run_length) / (8 * tolerance)
    alarms, start = [], 0
    for now in range(len(values)):
        excess = [value - mean - tolerance for value in values[start : now + 1]]
        sums = [sum(excess[first:]) for first in range(len(excess))]
        if max(sums) >= threshold:
            began = max(first for first, total in enumerate(sums) if total == max(sums))
            alarms.append((start + began, now))
            start = now + 1
    return alarms
