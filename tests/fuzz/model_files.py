"""The frame of a model file: split into sections, and written again with correct lengths and checksums."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from handmade import MAGIC

from bosquet import _core

HEAD = 32  # bytes before the first section


@dataclass
class ModelFile:
    """The version and the sections of a model file in order: pairs of a name and its bytes."""

    version: int
    sections: list[tuple[bytes, bytes]]

    def places(self, name: bytes) -> list[int]:
        return [place for place, section in enumerate(self.sections) if section[0] == name]

    def section(self, name: bytes) -> bytes:
        return self.sections[self.places(name)[0]][1]

    def replace(self, place: int, content: bytes) -> None:
        self.sections[place] = self.sections[place][0], content


def is_file(data: bytes) -> bool:
    """Return whether the data look like a model file."""
    return len(data) >= HEAD and data.startswith(MAGIC)


def open_file(data: bytes) -> ModelFile:
    """Return the sections of a valid model file."""
    sections, at = [], HEAD
    while at < len(data):
        name, (length,) = data[at : at + 4], struct.unpack_from("<Q", data, at + 4)
        sections.append((name, data[at + 12 : at + 12 + length]))
        at += 12 + length
    return ModelFile(struct.unpack_from("<I", data, 8)[0], sections)


def seal(file: ModelFile) -> bytes:
    """Return the bytes of a model file with correct length and checksum."""
    body = b"".join(
        name + struct.pack("<Q", len(content)) + content for name, content in file.sections
    )
    head = MAGIC + struct.pack("<II", file.version, 0) + struct.pack("<Q", HEAD + len(body))
    return head + struct.pack("<Q", _core.checksum(head + body)) + body


def change_inside(
    data: bytes, rng: Random, change: Callable[[ModelFile], None], *, leaf: bool = False
) -> bytes:
    """Apply `change` to the file or to a model inside it; with `leaf`, to an innermost one."""
    file = open_file(data)
    # A previous change may have replaced a model by other bytes.
    parts = [part for part in file.places(b"PART") if is_file(file.sections[part][1])]
    if parts and (leaf or rng.random() < 0.6):
        part = rng.choice(parts)
        file.replace(part, change_inside(file.sections[part][1], rng, change, leaf=leaf))
    else:
        change(file)
    return seal(file)
