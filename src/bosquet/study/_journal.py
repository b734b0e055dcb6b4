"""The checkpoint of a study: a line for each method and split, so that a killed study goes on where it was.

The first line says what study it is of: the table, the target and the parameters that the results follow
from. A line is written whole or not at all; what a kill has left of one is cut off when the study goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np

from bosquet.study._clock import in_words
from bosquet.study._outcomes import Outcome

VERSION = 3


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


class Journal:
    """Outcomes in a file of JSON lines; with path=None they are kept in memory alone."""

    def __init__(self, path: Any, heading: dict[str, Any]):
        self.path = None if path is None else os.fspath(path)
        self.heading = {"bosquet study": VERSION, **heading}
        self.outcomes: dict[tuple[int, str], Outcome] = {}
        self.seconds = 0.0  # spent before this run
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
        kept = len(whole[0]) + 1
        for line in whole[1:]:
            try:
                self._take(json.loads(line))
            except (ValueError, TypeError, KeyError):
                break
            kept += len(line) + 1
        self._truncate(path, kept)

    def _check_heading(self, path: str, line: bytes) -> None:
        try:
            found = json.loads(line)
            known = isinstance(found, dict) and "bosquet study" in found
        except ValueError:
            known = False
        if not known:
            raise ValueError(f"checkpoint={path!r} is not the checkpoint of a study")
        wanted = json.loads(json.dumps(self.heading))
        for key in wanted.keys() | found.keys():
            if wanted.get(key) != found.get(key):
                raise ValueError(
                    f"checkpoint={path!r} is of another study: its {key} differs; name another file or"
                    " delete this one"
                )

    def _take(self, entry: dict[str, Any]) -> None:
        if "dropped" in entry:
            for key in [key for key in self.outcomes if key[0] == entry["dropped"]]:
                del self.outcomes[key]
            return
        outcome = Outcome.from_json(entry["outcome"])
        self.outcomes[outcome.split, outcome.method] = outcome
        self.seconds = float(entry["elapsed"])

    @staticmethod
    def _truncate(path: str, length: int) -> None:
        if os.path.getsize(path) != length:
            os.truncate(path, length)

    def _append(self, entry: dict[str, Any]) -> None:
        if self.path is None:
            return
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
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
