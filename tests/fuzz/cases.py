"""A case of the fuzzer: a pure function of its kind, the seed and its number."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))

import cascades
import corpus
import oracle
import table_files
from limits import Meter
from mutate_models import ModelMutator

# `check` returns "rejected" or "loaded", and raises an error for a finding.
Check = Callable[[bytes, Random, Meter, Callable[[str], None]], str]


@dataclass(frozen=True)
class Kind:
    """A way to make files, and the check of the code that reads them."""

    name: str
    make: Callable[[Random], bytes]
    check: Check
    suffix: str
    weight: int = 1  # share of the cases of a run over all kinds


@dataclass(frozen=True)
class Case:
    """Name of one file that the fuzzer makes."""

    kind: str
    seed: int
    number: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.seed}:{self.number}"

    @classmethod
    def of(cls, text: str) -> Case:
        kind, seed, number = text.split(":")
        return cls(kind, int(seed), int(number))

    def random(self) -> Random:
        return Random(str(self))


@dataclass(frozen=True)
class Finding:
    """The failure of a case. Findings with the same signature probably have the same cause."""

    case: Case
    signature: str
    details: str


@cache
def models() -> ModelMutator:
    """Return the corpus, which takes some seconds to make."""
    return ModelMutator(corpus.files())


# Mutators that need a corpus create it for their first file.
_arrow = cache(table_files.ArrowMutator)
_cascades, _checkpoints = cache(cascades.CascadeMutator), cache(cascades.CheckpointMutator)
KINDS = {
    kind.name: kind
    for kind in (
        Kind("metadata", lambda rng: models().metadata(rng), oracle.check_file, ".bosquet", 7),
        Kind("trees", lambda rng: models().trees(rng), oracle.check_file, ".bosquet", 5),
        Kind("parts", lambda rng: models().parts(rng), oracle.check_file, ".bosquet", 2),
        Kind("bytes", lambda rng: models().bytes(rng), oracle.check_file, ".bosquet", 1),
        Kind("cascade", lambda rng: _cascades().make(rng), cascades.check_cascade, ".xml"),
        Kind(
            "checkpoint", lambda rng: _checkpoints().make(rng), cascades.check_checkpoint, ".json"
        ),
        Kind("vec", cascades.make_vec, cascades.check_vec, ".vec"),
        Kind("csv", table_files.make_text, table_files.check_table, ".csv"),
        Kind("arrow", lambda rng: _arrow().make(rng), table_files.check_table, ".arrow"),
    )
}


def order_of(kinds: list[Kind]) -> list[str]:
    """Return the names of the kinds of consecutive cases; after the last one they start again."""
    return [kind.name for kind in kinds for _ in range(kind.weight)]


def run_case(
    kind: Kind, case: Case, meter: Meter, phase: Callable[[str], None]
) -> tuple[str, Finding | None]:
    """Return "rejected", "loaded" or "finding", and the finding."""
    rng = case.random()
    data = kind.make(rng)
    return run_file(kind, case, data, rng, meter, phase)


def run_file(
    kind: Kind, case: Case, data: bytes, rng: Random, meter: Meter, phase: Callable[[str], None]
) -> tuple[str, Finding | None]:
    last = ["make"]

    def note(name: str) -> None:
        last[0] = name
        phase(name)

    try:
        return kind.check(data, rng, meter, note), None
    except Exception as error:
        return "finding", Finding(
            case, signature_of(last[0], error), traceback.format_exc(limit=-12)
        )


def signature_of(phase: str, error: BaseException) -> str:
    """Return the phase, the type of the error, and the function of the library that raised it."""
    message = re.sub(r"[0-9][0-9.e+-]*|'[^']*'|\"[^\"]*\"", "…", str(error).split("\n")[0])[:80]
    return f"{phase}: {type(error).__name__} in {_place_of(error)}: {message}"


def _place_of(error: BaseException) -> str:
    """Return the innermost function of the library, or of the checks if the library returned."""
    frames: list[Any] = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        # The clone itself may be in a folder named bosquet.
        if "/src/bosquet/" in frame.filename or "/site-packages/bosquet/" in frame.filename:
            return f"{frame.filename.rsplit('/bosquet/', 1)[1]} {frame.name}"
    return frames[-1].name if frames else "?"
