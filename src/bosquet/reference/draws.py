"""Counter-based random numbers.

A random number is a hash of (seed, stream, index), not the next state of a generator. The number for row 7
is therefore the same in any order of evaluation, on any thread and for any subset of the rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

WORD = 2**64 - 1


def mix(x: int) -> int:
    """Return a 64-bit hash of x (the finaliser of SplitMix64)."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def hashed(seed: int, stream: int, index: int) -> int:
    """Return 64 random bits that depend on all three numbers."""
    return mix(mix(mix(seed) ^ stream) ^ index)


def uniform(seed: int, stream: int, index: int) -> float:
    """Return a number uniform on [0, 1).

    >>> 0 <= uniform(seed=1, stream=2, index=3) < 1
    True
    """
    return (hashed(seed, stream, index) >> 11) / 2**53


def standard_normal(seed: int, stream: int, index: int) -> float:
    """Return a number that is approximately standard normal: the scaled sum of four uniform numbers.

    >>> abs(standard_normal(seed=1, stream=2, index=3)) < 3.47
    True
    """
    bits = hashed(seed, stream, index)
    total = sum(bits >> (16 * part) & 0xFFFF for part in range(4))
    return (total - 2 * 65535) * (math.sqrt(3) / 65536)


def random_signs(count: int, seed: int) -> list[int]:
    """Return `count` signs that are not all equal; the first attempt with both signs is used."""
    for attempt in itertools.count():
        signs = [1 if hashed(seed, attempt, k) & 1 else -1 for k in range(count)]
        if len(set(signs)) == 2:
            break
    return signs


def draw_share(items: Iterable[int], share: float, seed: int, stream: int) -> list[int]:
    """Return a share of the items, at least one: those with the smallest hashes."""
    items = list(items)
    if share >= 1 or not items:
        return items
    size = max(1, math.floor(share * len(items) + 0.5))
    return sorted(sorted(items, key=lambda item: hashed(seed, stream, item))[:size])


def sample_of_rows(n_rows: int, share: float, seed: int, round_number: int) -> list[int]:
    """Return the rows of a boosting round: each row with probability `share`, without replacement."""
    stream = mix(round_number ^ int.from_bytes(b"rows", "big"))
    drawn = [row for row in range(n_rows) if uniform(seed, stream, row) < share]
    return drawn or [hashed(seed, stream, 0) % n_rows]


def rows_for_edges(n_rows: int, limit: int, seed: int) -> list[int]:
    """Return the rows for computing bin edges: all, or each with probability limit / rows."""
    if n_rows <= limit:
        return list(range(n_rows))
    threshold = int(limit / n_rows * 2**64)
    stream = int.from_bytes(b"bins", "big")
    return [row for row in range(n_rows) if hashed(seed, stream, row) < threshold]
