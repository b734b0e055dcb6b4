"""Mutations of model files with valid checksums; they depend on the corpus, the kind and random numbers."""

from __future__ import annotations

import json
from random import Random

import mutate_bytes
import mutate_metadata
import mutate_trees
from model_files import ModelFile, change_inside, open_file, seal

SECTIONS = (b"META", b"TREE", b"PART", b"DATA")


class ModelMutator:
    """Mutations of the files of a corpus."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = list(files.values())
        inner = [file for data in self.files for file in all_inside(data)]
        self.pool = mutate_metadata.Pool([json.loads(file.section(b"META")) for file in inner])
        self.inner = [seal(file) for file in inner]

    def metadata(self, rng: Random) -> bytes:
        """Change values of the metadata, sometimes also the trees."""
        data = change_inside(rng.choice(self.files), rng, lambda f: self._describe(f, rng))
        return self._with_trees(data, rng) if rng.random() < 0.1 else data

    def trees(self, rng: Random) -> bytes:
        """Change numbers of the trees, sometimes also the metadata."""
        data = self._with_trees(rng.choice(self.files), rng)
        if rng.random() < 0.1:
            data = change_inside(data, rng, lambda file: self._describe(file, rng))
        return data

    def parts(self, rng: Random) -> bytes:
        """Remove, duplicate, swap or nest sections, or copy them from another file."""
        data = rng.choice(self.files)
        for _ in range(rng.choice((1, 1, 2, 3))):
            data = change_inside(data, rng, lambda file: self._rearrange(file, rng))
        return data

    def bytes(self, rng: Random) -> bytes:
        """Change bytes of the metadata or of the trees."""

        def change(file: ModelFile) -> None:
            place = rng.choice([*file.places(b"META"), *file.places(b"TREE")])
            other = rng.choice(open_file(rng.choice(self.inner)).sections)[1]
            content = mutate_bytes.mutated(file.sections[place][1], other, rng)
            file.replace(place, content)

        return change_inside(rng.choice(self.files), rng, change)

    def _describe(self, file: ModelFile, rng: Random) -> None:
        place = file.places(b"META")[0]
        text = mutate_metadata.mutated(file.sections[place][1], self.pool, rng)
        file.replace(place, text)

    def _with_trees(self, data: bytes, rng: Random) -> bytes:
        def change(file: ModelFile) -> None:
            place = file.places(b"TREE")[0]
            trees = mutate_trees.mutated(file.sections[place][1], file.version, rng)
            file.replace(place, trees)

        return change_inside(data, rng, change, leaf=True)

    def _rearrange(self, file: ModelFile, rng: Random) -> None:
        way, sections = rng.randrange(8), file.sections
        one = rng.randrange(len(sections)) if sections else 0
        other = open_file(rng.choice(self.inner))
        if way == 0 and sections:
            del sections[one]
        elif way == 1 and sections:
            sections.insert(rng.randrange(len(sections) + 1), sections[one])
        elif way == 2 and sections:
            two = rng.randrange(len(sections))
            sections[one], sections[two] = sections[two], sections[one]
        elif way == 3:
            sections.append((b"PART", rng.choice(self.files)))
        elif way == 4 and file.places(b"PART"):
            file.replace(rng.choice(file.places(b"PART")), rng.choice(self.files))
        elif way == 5 and sections:
            name, content = rng.choice(other.sections)
            sections[one] = name, content
        elif way == 6 and sections:
            sections[one] = rng.choice(SECTIONS), sections[one][1]
        elif file.places(b"PART"):
            # A model inside a model, as deep as this file.
            file.replace(rng.choice(file.places(b"PART")), seal(file))
        else:
            file.version = rng.choice((0, 1, 2, 3, 4, 2**32 - 1))


def all_inside(data: bytes) -> list[ModelFile]:
    """Return a file and all files inside it."""
    file = open_file(data)
    parts = [file.sections[place][1] for place in file.places(b"PART")]
    return [file, *(inner for part in parts for inner in all_inside(part))]
