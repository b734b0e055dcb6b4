"""Model files written by hand, after docs/format.md and without the library.

They make trees that no grower would, and prove that the page tells all a writer needs.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

MAGIC = b"\x89BSQ\r\n\x1a\n"


@dataclass
class Leaf:
    value: float
    cover: float = 1.0


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


def set_bytes(categories: set[int]) -> bytes:
    bits = sum(1 << code for code in categories)
    out = bits.to_bytes((bits.bit_length() + 7) // 8, "little")
    return varint(len(out)) + out


def in_order(tree: Node) -> list[Node]:
    """Breadth first: parents before children, children side by side."""
    nodes: list[Node] = [tree]
    for node in nodes:
        if isinstance(node, Split):
            nodes += [node.left, node.right]
    return nodes


def tree_bytes(tree: Node, thresholds: list[list[float]]) -> bytes:
    nodes = in_order(tree)
    out = bytearray(varint(len(nodes) // 2))
    pairs = 0
    places = [{value: i for i, value in enumerate(table)} for table in thresholds]
    for node in nodes:
        if isinstance(node, Leaf):
            out += varint(0) + struct.pack("<df", node.value, node.cover)
            continue
        kind = 2 * (node.left_set is not None) + node.missing_left
        out += varint(1 + 4 * node.feature + kind) + varint(pairs)
        pairs += 1
        if node.left_set is None:
            out += varint(places[node.feature][node.threshold])
        else:
            out += set_bytes(node.left_set)
        out += struct.pack("<ff", node.gain, node.cover)
    return bytes(out)


def ensemble_bytes(
    trees: list[Node],
    features: int,
    base: tuple[float, ...] = (0.0,),
    categories: dict[int, int] | None = None,
) -> bytes:
    levels = [(categories or {}).get(f, 0) for f in range(features)]
    found: list[set[float]] = [set() for _ in range(features)]
    for tree in trees:
        for node in in_order(tree):
            if isinstance(node, Split) and node.left_set is None:
                found[node.feature].add(node.threshold)
    thresholds = [sorted(values) for values in found]
    out = bytearray(varint(features) + varint(len(base)))
    out += struct.pack(f"<{len(base)}d", *base)
    for count in levels:
        out += varint(count)
    for table in thresholds:
        out += varint(len(table)) + struct.pack(f"<{len(table)}d", *table)
    out += varint(len(trees))
    for tree in trees:
        out += tree_bytes(tree, thresholds)
    return bytes(out)


def checksum(data: bytes, crc: int = 0) -> int:
    """CRC-64/XZ, a bit at a time."""
    crc ^= 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFFFFFFFFFF


def signed(file: bytes, crc: Any = checksum) -> bytes:
    """The file with the length and the checksum that it should have."""
    length = struct.pack("<Q", len(file))
    covered = file[:16] + length + file[32:]
    return file[:16] + length + struct.pack("<Q", crc(covered)) + file[32:]


def model_file(ensemble: bytes, metadata: bytes = b"{}", crc: Any = checksum) -> bytes:
    out = MAGIC + struct.pack("<II", 1, 0) + bytes(16)
    out += b"META" + struct.pack("<Q", len(metadata)) + metadata
    out += b"TREE" + struct.pack("<Q", len(ensemble)) + ensemble
    return signed(out, crc)
