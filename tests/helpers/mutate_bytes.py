"""Random changes of bytes, independent of their meaning."""

from __future__ import annotations

from random import Random

EDGES = (0, 1, 0x7F, 0x80, 0xFF)


def mutated(data: bytes, other: bytes, rng: Random) -> bytes:
    """One to four changes: bits, bytes, bytes at the edge, cuts, insertions, repeats, splices."""
    result = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        _change(result, other, rng)
    return bytes(result)


def _change(data: bytearray, other: bytes, rng: Random) -> None:
    kind, size = rng.randrange(8), rng.randint(1, 16)
    at = rng.randrange(max(1, len(data)))
    if kind == 0 and data:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1 and data:
        data[at] = rng.randrange(256)
    elif kind == 2:
        data[at : at + size] = bytes([rng.choice(EDGES)]) * min(size, len(data) - at)
    elif kind == 3:
        del data[at : at + size]
    elif kind == 4:
        data[at:at] = rng.randbytes(size)
    elif kind == 5:
        data[at:at] = data[at : at + size]
    elif kind == 6 and other:
        start = rng.randrange(len(other))
        data[at : at + size] = other[start : start + size]
    else:
        del data[at:]
