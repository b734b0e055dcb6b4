"""The checkpoint of a study: a line for each method and split, so that a killed study goes on where it was.

The first line says what study it is of: the table, the target and the parameters that the results follow
from. A line is written whole or not at all; what a kill has left of one is cut off when the study goes on.
Each line ends with a hash of itself and of the hash before it, so that results that were changed, removed or
put in another order are refused before any of them is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from typing import Any

import numpy as np

from bosquet.study.run.clock import in_words
from bosquet.study.run.outcomes import Outcome

VERSION = 5


def fingerprint_of_table(frame: Any, y: np.ndarray) -> str:
    """A hash of the names, types and values of a table and its target."""
    import pandas

    digest = hashlib.blake2b(digest_size=16)
    for place, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        digest.update(f"{name}\0{dtype}\0".encode())
        digest.update(_hash_of(pandas, frame.iloc[:, place]))
    digest.update(_hash_of(pandas, pandas.Series(y)))
    return digest.hexdigest()


def _hash_of(pandas: Any, series: Any) -> bytes:
    try:
        return pandas.util.hash_pandas_object(series, index=False).to_numpy().tobytes()
    except TypeError:  # values of several types, or lists
        return pandas.util.hash_pandas_object(series.astype(str), index=False).to_numpy().tobytes()


_MARK = b',"hash":"'  # what a line ends with: this, the hash, and '"}'


def _hash_of_line(before: str, text: bytes) -> str:
    return hashlib.blake2b(before.encode() + text, digest_size=16).hexdigest()


class Journal:
    """Outcomes in a file of JSON lines; with path=None they are kept in memory alone."""

    def __init__(self, path: Any, heading: dict[str, Any]):
        self.path = None if path is None else os.fspath(path)
        self.heading = {"bosquet study": VERSION, **heading}
        self.outcomes: dict[tuple[int, str], Outcome] = {}
        self.seconds = 0.0  # spent before this run
        self._last = ""  # hash of the last line
        if self.path is not None:
            self._open(self.path)

    def __contains__(self, key: tuple[int, str]) -> bool:
        return key in self.outcomes

    def get(self, split: int, method: str) -> Outcome | None:
        """The outcome of a method on a split, if it is known."""
        return self.outcomes.get((split, method))

    def told(self) -> str:
        """In a line, what the file has brought."""
        splits = {split for split, _ in self.outcomes}
        results = "1 result" if len(self.outcomes) == 1 else f"{len(self.outcomes)} results"
        return (
            f"going on from {self.path}: {results} of {len(splits)}"
            f" {'split' if len(splits) == 1 else 'splits'}, {in_words(self.seconds)} of work, taken over"
        )

    def add(self, outcome: Outcome, elapsed: float) -> None:
        """Keep an outcome, with the seconds that the study has taken so far."""
        self.outcomes[outcome.split, outcome.method] = outcome
        self._append({"elapsed": round(elapsed, 3), "outcome": outcome.to_json()})

    def drop_round(self, split: int) -> None:
        """Forget a round that could not be finished in time."""
        for key in [key for key in self.outcomes if key[0] == split]:
            del self.outcomes[key]
        self._append({"dropped": split})

    def _open(self, path: str) -> None:
        try:
            with open(path, "rb") as file:
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            self._append(self.heading)
            return
        except OSError as error:
            raise ValueError(f"checkpoint={path!r} cannot be read: {error.strerror}") from error
        whole = lines[:-1]  # what stands behind the last line break was cut off by a kill
        if not whole:
            if lines[-1] and not b'{"bosquet study"'.startswith(lines[-1][:16]):
                raise ValueError(f"checkpoint={path!r} is not the checkpoint of a study")
            self._truncate(path, 0)
            self._append(self.heading)
            return
        self._check_heading(path, whole[0])
        for number, line in enumerate(whole, start=1):
            if not self._continues(line) or (number > 1 and not self._took(line)):
                raise ValueError(
                    f"checkpoint={path!r} was changed in line {number}, and its results cannot be trusted:"
                    " name another file or delete this one"
                )
        self._truncate(path, sum(len(line) + 1 for line in whole))

    def _continues(self, line: bytes) -> bool:
        """Whether a line has the hash of what stands in it and before it."""
        text, mark, rest = line.rpartition(_MARK)
        hashed = _hash_of_line(self._last, text)
        self._last = hashed
        return bool(mark) and rest == hashed.encode() + b'"}'

    def _check_heading(self, path: str, line: bytes) -> None:
        try:
            found = json.loads(line)
            known = isinstance(found, dict) and "bosquet study" in found
        except (ValueError, RecursionError):
            known = False
        if not known:
            raise ValueError(f"checkpoint={path!r} is not the checkpoint of a study")
        wanted = json.loads(json.dumps(self.heading))
        for key in sorted((wanted.keys() | found.keys()) - {"hash"}):
            if wanted.get(key) != found.get(key):
                raise ValueError(
                    f"checkpoint={path!r} is of another study: its {key} differs; name another file or"
                    " delete this one"
                )

    def _took(self, line: bytes) -> bool:
        """Whether a line held an outcome, or a round to forget."""
        try:
            entry = json.loads(line)
            if "dropped" in entry:
                for key in [key for key in self.outcomes if key[0] == entry["dropped"]]:
                    del self.outcomes[key]
                return True
            outcome = Outcome.from_json(entry["outcome"])
            self.outcomes[outcome.split, outcome.method] = outcome
            self.seconds = float(entry["elapsed"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, zlib.error):
            return False
        return True

    @staticmethod
    def _truncate(path: str, length: int) -> None:
        if os.path.getsize(path) != length:
            os.truncate(path, length)

    def _append(self, entry: dict[str, Any]) -> None:
        if self.path is None:
            return
        text = json.dumps(entry, separators=(",", ":")).encode().removesuffix(b"}")
        hashed = _hash_of_line(self._last, text)
        line = text + _MARK + hashed.encode() + b'"}\n'
        before = os.path.getsize(self.path) if os.path.exists(self.path) else None
        try:
            with open(self.path, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            self._undo(before)
            raise ValueError(
                f"checkpoint={self.path!r} cannot be written: {error.strerror or error}"
            ) from error
        self._last = hashed

    def _undo(self, length: int | None) -> None:
        """Leave nothing half-written behind."""
        assert self.path is not None
        try:
            if length is None:
                os.unlink(self.path)
            else:
                os.truncate(self.path, length)
        except OSError:
            pass
