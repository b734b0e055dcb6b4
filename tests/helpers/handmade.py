"""Model files written by hand, after docs/format.md and without the library.

They build trees that no grower builds, and prove that the page is complete.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

MAGIC = b"\x89BSQ\r\n\x1a\n"
VERSION = 4

VECTOR_LEAVES, LISTED_NUMBERS, LISTED_VECTORS, COUNTED_COVERS = 1, 2, 4, 8
MAX_LISTED_OUTPUTS = 32

Vector = tuple[float, ...]


@dataclass
class Leaf:
    """A leaf with one number, or with one number per output for vector leaves."""

    value: float | Vector
    cover: float = 1.0

    @property
    def numbers(self) -> Vector:
        return self.value if isinstance(self.value, tuple) else (self.value,)


@dataclass
class Split:
    """Left at most `threshold`, or left the categories of `left_set`."""

    feature: int
    left: Leaf | Split
    right: Leaf | Split
    threshold: float = 0.0
    left_set: set[int] | None = None
    missing_left: bool = False
    gain: float = 1.0
    cover: float = 1.0


Node = Leaf | Split


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def reals(values: Iterable[float]) -> bytes:
    values = list(values)
    return struct.pack(f"<{len(values)}d", *values)


def set_bytes(categories: set[int]) -> bytes:
    bits = sum(1 << code for code in categories)
    out = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return varint(len(out)) + out


def breadth_first(tree: Node) -> list[Node]:
    """Breadth first: parents before children, children side by side."""
    nodes: list[Node] = [tree]
    for node in nodes:
        if isinstance(node, Split):
            nodes += [node.left, node.right]
    return nodes


def key(vector: Vector) -> tuple[tuple[float, float], ...]:
    """Return the key that vectors are sorted and compared by: -0 comes before +0."""
    return tuple((number, math.copysign(1.0, number)) for number in vector)


def sorted_distinct(vectors: Iterable[Vector]) -> list[Vector]:
    return [vector for _, vector in sorted({key(vector): vector for vector in vectors}.items())]


def has_counted_covers(trees: list[list[Node]]) -> bool:
    """Return whether every cover is a number of rows, and that of a split the sum over its children."""

    def fits(node: Node) -> bool:
        whole = node.cover == int(node.cover) and 0 <= node.cover < 1 << 24
        if isinstance(node, Leaf):
            return whole and math.copysign(1.0, node.cover) > 0
        return whole and node.cover == node.left.cover + node.right.cover

    return all(fits(node) for nodes in trees for node in nodes)


class Leaves:
    """Encoding of the values of leaves: the lists of values, and indices into them."""

    def __init__(self, trees: list[list[Node]], flags: int | None, outputs: int):
        all_leaves = [node for nodes in trees for node in nodes if isinstance(node, Leaf)]
        vectors = [leaf.numbers for leaf in all_leaves]
        vector_leaves = any(isinstance(leaf.value, tuple) for leaf in all_leaves)
        self.vectors = sorted_distinct(vectors)
        listed = vector_leaves and outputs <= MAX_LISTED_OUTPUTS and bool(vectors)
        listed = listed and 2 * len(self.vectors) <= len(vectors)
        if flags is not None:
            listed = bool(flags & LISTED_VECTORS)
        written = [(n,) for vector in (self.vectors if listed else vectors) for n in vector]
        self.numbers = sorted_distinct(written)
        numbers = bool(written) and 2 * len(self.numbers) <= len(written)
        self.flags = VECTOR_LEAVES * vector_leaves + LISTED_NUMBERS * numbers
        self.flags += LISTED_VECTORS * listed + COUNTED_COVERS * has_counted_covers(trees)
        if flags is not None:
            self.flags = flags
        self.place_of_number = {key(number): i for i, number in enumerate(self.numbers)}
        self.place_of_vector = {key(vector): i for i, vector in enumerate(self.vectors)}

    def number_bytes(self, vector: Vector) -> bytes:
        if not self.flags & LISTED_NUMBERS:
            return reals(vector)
        return b"".join(varint(self.place_of_number[key((number,))]) for number in vector)

    def lists(self) -> bytes:
        out = bytearray()
        if self.flags & LISTED_NUMBERS:
            out += varint(len(self.numbers)) + reals(number for (number,) in self.numbers)
        if self.flags & LISTED_VECTORS:
            out += varint(len(self.vectors)) + b"".join(map(self.number_bytes, self.vectors))
        return bytes(out)

    def leaf_bytes(self, leaf: Leaf) -> bytes:
        if self.flags & LISTED_VECTORS:
            out = varint(self.place_of_vector[key(leaf.numbers)])
        else:
            out = self.number_bytes(leaf.numbers)
        if self.flags & COUNTED_COVERS:
            return varint(0) + out + varint(int(leaf.cover))
        return varint(0) + out + struct.pack("<f", leaf.cover)


def tree_bytes(nodes: list[Node], thresholds: list[list[float]], leaves: Leaves) -> bytes:
    out = bytearray(varint(len(nodes) // 2))
    pairs = 0
    places = [{value: i for i, value in enumerate(table)} for table in thresholds]
    for node in nodes:
        if isinstance(node, Leaf):
            out += leaves.leaf_bytes(node)
            continue
        kind = 2 * (node.left_set is not None) + node.missing_left
        out += varint(1 + 4 * node.feature + kind) + varint(pairs)
        pairs += 1
        if node.left_set is None:
            out += varint(places[node.feature][node.threshold])
        else:
            out += set_bytes(node.left_set)
        out += struct.pack("<f", node.gain)
        if not leaves.flags & COUNTED_COVERS:
            out += struct.pack("<f", node.cover)
    return bytes(out)


def ensemble_bytes(
    trees: list[Node],
    features: int,
    base: tuple[float, ...] = (0.0,),
    categories: dict[int, int] | None = None,
    flags: int | None = None,
) -> bytes:
    """Return the section of these trees; the default flags are those that Bosquet would choose.

    An ensemble whose leaves hold tuples has vector leaves.
    """
    levels = [(categories or {}).get(f, 0) for f in range(features)]
    ordered = [breadth_first(tree) for tree in trees]
    found: list[set[float]] = [set() for _ in range(features)]
    for nodes in ordered:
        for node in nodes:
            if isinstance(node, Split) and node.left_set is None:
                found[node.feature].add(node.threshold)
    thresholds = [sorted(values) for values in found]
    leaves = Leaves(ordered, flags, len(base))
    out = bytearray(varint(leaves.flags))
    out += varint(features) + varint(len(base)) + reals(base)
    for count in levels:
        out += varint(count)
    for table in thresholds:
        out += varint(len(table)) + reals(table)
    out += leaves.lists() + varint(len(trees))
    for nodes in ordered:
        out += tree_bytes(nodes, thresholds, leaves)
    return bytes(out)


def checksum(data: bytes, crc: int = 0) -> int:
    """Compute CRC-64/XZ, one bit at a time."""
    crc ^= 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFFFFFFFFFF


def seal(file: bytes, crc: Any = checksum) -> bytes:
    """Return the file with the correct length and checksum."""
    length = struct.pack("<Q", len(file))
    covered = file[:16] + length + file[32:]
    return file[:16] + length + struct.pack("<Q", crc(covered)) + file[32:]


def file_of(*sections: tuple[bytes, bytes], crc: Any = checksum) -> bytes:
    """Return a file with these sections, each given as a name and its bytes."""
    out = MAGIC + struct.pack("<II", VERSION, 0) + bytes(16)
    for name, content in sections:
        out += name + struct.pack("<Q", len(content)) + content
    return seal(out, crc)


def model_file(ensemble: bytes, metadata: bytes = b"{}", crc: Any = checksum) -> bytes:
    return file_of((b"META", metadata), (b"TREE", ensemble), crc=crc)
