"""Random numbers by counting.

A draw is a hash of (seed, stream, index) instead of the next state of a generator. Whoever asks for
the draw of row 7 gets the same one, in any order, on any thread, on any part of the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

WORD = 2**64 - 1


def mix(x: int) -> int:
    """Scrambles 64 bits (the finaliser of SplitMix64)."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def hashed(seed: int, stream: int, index: int) -> int:
    """64 bits that depend on all three numbers."""
    return mix(mix(mix(seed) ^ stream) ^ index)


def uniform(seed: int, stream: int, index: int) -> float:
    """Uniform on [0, 1).

    >>> 0 <= uniform(seed=1, stream=2, index=3) < 1
    True
    """
    return (hashed(seed, stream, index) >> 11) / 2**53


def draw_share(items: Iterable[int], share: float, seed: int, stream: int) -> list[int]:
    """A share of the items, at least one: those whose hashes are smallest."""
    items = list(items)
    if share >= 1 or not items:
        return items
    wanted = max(1, math.floor(share * len(items) + 0.5))
    return sorted(sorted(items, key=lambda item: hashed(seed, stream, item))[:wanted])


def sample_of_rows(rows: int, share: float, seed: int, round_number: int) -> list[int]:
    """The rows a round is grown on: each with the chance `share`, without replacement."""
    stream = mix(round_number ^ int.from_bytes(b"rows", "big"))
    drawn = [row for row in range(rows) if uniform(seed, stream, row) < share]
    return drawn or [hashed(seed, stream, 0) % rows]


def rows_for_edges(rows: int, limit: int, seed: int) -> list[int]:
    """The rows bin edges are learned from: all, or a share limit / rows of them by their hash."""
    if rows <= limit:
        return list(range(rows))
    bound = int(limit / rows * 2**64)
    stream = int.from_bytes(b"bins", "big")
    return [row for row in range(rows) if hashed(seed, stream, row) < bound]
