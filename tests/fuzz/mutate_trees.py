"""Mutations of the section of the trees: parsed into numbers as in docs/format.md, changed, written again."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import NamedTuple

from handmade import (
    COUNTED_COVERS,
    LISTED_NUMBERS,
    LISTED_VECTORS,
    VECTOR_LEAVES,
    varint,
)

COUNTS = (
    0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 127, 128, 255, 1000, 65535, 65536, 2**24 - 1, 2**24, 2**30 - 2,
    2**30 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1,
)  # fmt: skip
REALS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -0.25, 1 + 1e-9, 1e-300, 5e-324, 1e30, -1e30, 3.4e38, 1e300, 1.7e308,
    -1.7e308, math.inf, -math.inf, math.nan,
)  # fmt: skip


class Token(NamedTuple):
    """A number of the section: its role, its encoding ("v", "d", "f" or "b"), its value."""

    role: str
    form: str
    value: int | float | bytes


def mutated(section: bytes, version: int, rng: Random) -> bytes:
    """Make one to four changes of the trees."""
    tokens = list(tokens_of(section, version))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        if tokens:
            rng.choice(CHANGES)(tokens, rng)
    return write_tokens(tokens)


# ------------------------------------------------------------------------------- reading and writing
class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.tokens: list[Token] = []

    def count(self, role: str) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        self.tokens.append(Token(role, "v", value))
        return value

    def real(self, role: str, form: str = "d") -> None:
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += 8 if form == "d" else 4
        self.tokens.append(Token(role, form, value))

    def raw(self, role: str, size: int) -> None:
        self.tokens.append(Token(role, "b", self.data[self.at : self.at + size]))
        self.at += size


@lru_cache(maxsize=1000)
def tokens_of(section: bytes, version: int) -> tuple[Token, ...]:
    """Return the numbers of a valid section."""
    read = _Reader(section)
    flags = read.count("flags") if version > 1 else 0
    features, outputs = read.count("features"), read.count("outputs")
    for _ in range(outputs):
        read.real("base")
    for _ in range(features):
        read.count("levels")
    for _ in range(features):
        for _ in range(read.count("thresholds")):
            read.real("threshold")
    if flags & LISTED_NUMBERS:
        for _ in range(read.count("listed numbers")):
            read.real("listed number")
    if flags & LISTED_VECTORS:
        for _ in range(outputs * read.count("listed vectors")):
            _read_number(read, flags)
    for _ in range(read.count("trees")):
        for _ in range(2 * read.count("splits") + 1):
            _read_node(read, flags, outputs)
    return tuple(read.tokens)


def _read_number(read: _Reader, flags: int) -> None:
    if flags & LISTED_NUMBERS:
        read.count("place of a value")
    else:
        read.real("value")


def _read_node(read: _Reader, flags: int, outputs: int) -> None:
    head = read.count("head")
    if head == 0:
        if flags & LISTED_VECTORS:
            read.count("place of a vector")
        else:
            for _ in range(outputs if flags & VECTOR_LEAVES else 1):
                _read_number(read, flags)
        if flags & COUNTED_COVERS:
            read.count("rows")
        else:
            read.real("cover", "f")
        return
    read.count("pair")
    if (head - 1) & 2:
        read.raw("categories", read.count("bytes of categories"))
    else:
        read.count("place of a threshold")
    read.real("gain", "f")
    if not flags & COUNTED_COVERS:
        read.real("cover", "f")


def write_tokens(tokens: list[Token]) -> bytes:
    out = bytearray()
    for _, form, value in tokens:
        if isinstance(value, bytes):
            out += value
        elif isinstance(value, int):
            out += varint(value)
        elif form == "d":
            out += struct.pack("<d", value)
        else:
            out += struct.pack("<I", _bits_of_float(value))
    return bytes(out)


def _bits_of_float(value: float) -> int:
    """Return the nearest binary32 number, infinite if the value is too large for `struct`."""
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


# ------------------------------------------------------------------------------------------ changes
def _of_role(tokens: list[Token], role: str) -> list[int]:
    return [place for place, token in enumerate(tokens) if token.role == role]


def _changed(token: Token, rng: Random) -> Token:
    value = token.value
    if isinstance(value, bytes):
        return token._replace(value=rng.randbytes(rng.choice((0, len(value), len(value) + 1))))
    if isinstance(value, int):
        near = (value + 1, max(0, value - 1), 2 * value, value ^ 1, value ^ 2, value ^ 4, value ^ 8)
        return token._replace(value=min(rng.choice((*COUNTS, *near, *near)), 2**64 - 1))
    near_reals = (-value, 2 * value, value + 1, 1 - value, value / 3)
    return token._replace(value=rng.choice((*REALS, *near_reals)))


def change_one(tokens: list[Token], rng: Random) -> None:
    """Change one number; all roles are equally likely."""
    role = rng.choice(sorted({token.role for token in tokens}))
    place = rng.choice(_of_role(tokens, role))
    tokens[place] = _changed(tokens[place], rng)


def change_all_of_a_role(tokens: list[Token], rng: Random) -> None:
    """Change all numbers of a role, to one value or by one factor."""
    reals = sorted({token.role for token in tokens if token.form in "df"})
    if not reals:
        return
    places = _of_role(tokens, rng.choice(reals))
    value, factor = rng.choice(REALS), rng.choice((None, -1.0, 2.0, 1e-300, 1e300, 1e10))
    for place in places:
        old = tokens[place].value
        new = value if factor is None else float(old) * factor  # type: ignore[arg-type]
        tokens[place] = tokens[place]._replace(value=new)


def sort_lists(tokens: list[Token], rng: Random) -> None:
    """Change a threshold or listed number and sort the list, so that it stays in ascending order."""
    role = rng.choice(("threshold", "listed number"))
    places = _of_role(tokens, role)
    if not places:
        return
    start = rng.choice(places)
    end = start + 1
    while end < len(tokens) and tokens[end].role == role:
        end += 1
    tokens[start] = _changed(tokens[start], rng)
    tokens[start:end] = sorted(tokens[start:end], key=lambda token: token.value)


def _trees(tokens: list[Token]) -> Iterator[slice]:
    starts = [*_of_role(tokens, "splits"), len(tokens)]
    for start, end in pairwise(starts):
        yield slice(start, end)


def change_trees(tokens: list[Token], rng: Random) -> None:
    """Remove, duplicate or swap trees; their count is usually corrected."""
    counts, trees = _of_role(tokens, "trees"), [tokens[tree] for tree in _trees(tokens)]
    if not trees or not counts:
        return
    way, one, other = rng.randrange(4), rng.randrange(len(trees)), rng.randrange(len(trees))
    if way == 0:
        del trees[one]
    elif way == 1:
        trees.insert(one, trees[other])
    elif way == 2:
        trees[one], trees[other] = trees[other], trees[one]
    else:
        trees *= rng.choice((0, 2, 3, 20))
    count = len(trees) if rng.random() < 0.9 else rng.choice(COUNTS)
    head = tokens[: counts[0]]
    tokens[:] = [*head, Token("trees", "v", count), *(token for tree in trees for token in tree)]


def change_outputs(tokens: list[Token], rng: Random) -> None:
    """Change the number of outputs and of base values."""
    places, bases = _of_role(tokens, "outputs"), _of_role(tokens, "base")
    if not places or not bases:
        return
    outputs = rng.choice((0, 1, 2, 3, 4, 40, 1000))
    tokens[bases[0] : bases[-1] + 1] = [tokens[bases[0]]] * outputs
    tokens[places[0]] = Token("outputs", "v", outputs)


def change_features(tokens: list[Token], rng: Random) -> None:
    """Add or remove a feature with its levels and thresholds."""
    places, levels = _of_role(tokens, "features"), _of_role(tokens, "levels")
    thresholds = _of_role(tokens, "thresholds")
    if not places or not levels or not thresholds:
        return
    more = rng.random() < 0.5
    if more:
        tokens.insert(thresholds[0], Token("thresholds", "v", 0))
        tokens.insert(levels[0], Token("levels", "v", rng.choice((0, 1, 3, 65535))))
    else:
        at = thresholds[-1]
        end = at + 1
        while end < len(tokens) and tokens[end].role == "threshold":
            end += 1
        del tokens[at:end]
        del tokens[levels[-1]]
    tokens[places[0]] = Token("features", "v", len(levels) + (1 if more else -1))


def grow_a_chain(tokens: list[Token], rng: Random) -> None:
    """Replace a tree by one whose depth is its number of splits."""
    splits, heads = _of_role(tokens, "splits"), _of_role(tokens, "head")
    leaves = [place for place in heads if tokens[place].value == 0]
    inner = [place for place in heads if tokens[place].value != 0]
    if not splits or not leaves or not inner:
        return
    leaf = tokens[leaves[0] : _end_of_node(tokens, leaves[0])]
    split = tokens[inner[0] : _end_of_node(tokens, inner[0])]
    depth = rng.choice((2, 10, 100, 1000))
    nodes = [Token("splits", "v", depth)]
    for level in range(depth):
        # Node 0 is the root; its left child, node 1, is a leaf, its right child splits, and so on.
        nodes += leaf if level else []
        nodes += [split[0], Token("pair", "v", level), *split[2:]]
    tree = rng.choice(list(_trees(tokens)))
    tokens[tree] = [*nodes, *leaf, *leaf]


def _end_of_node(tokens: list[Token], start: int) -> int:
    for place in range(start + 1, len(tokens)):
        if tokens[place].role in ("head", "splits"):
            return place
    return len(tokens)


CHANGES: tuple[Callable[[list[Token], Random], None], ...] = (
    *(change_one,) * 8,
    change_all_of_a_role,
    change_all_of_a_role,
    sort_lists,
    change_trees,
    change_trees,
    change_outputs,
    change_features,
    grow_a_chain,
)
