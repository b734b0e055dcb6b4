"""The checkpoint of a study: one line per method and split, so that an interrupted study can be resumed.

The first line identifies the study: the table, the target and the parameters that determine the results. An
incomplete last line, left by an interruption, is removed when the study is resumed. Each line ends with a
hash of itself and of the hash before it: changed, removed or reordered lines are detected before any result
is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from typing import Any

import numpy as np

from bosquet.study.run.clock import format_seconds
from bosquet.study.run.outcomes import Outcome

VERSION = 7
_NOT_A_CHECKPOINT = (
    "checkpoint={!r} is not a checkpoint of a study; pass another path or delete the file"
)


# What a study and its checkpoint must agree in, as it is named in messages.
_NAMES = {
    "bosquet study": "format of the checkpoint",
    "target": "target",
    "task": "task",
    "methods": "methods",
    "metric": "metric",
    "costs": "costs",
    "positive": "positive class",
    "tune_by": "validation scheme",
    "design": "time, groups, weights, offset and split",
    "schedule": "time budget",
    "random_state": "random seed",
    "table": "table",
}
_SCHEDULES = {"counted": "no limit", "timed": "a limit"}
_LONGEST_VALUE = 100  # characters


def _difference(key: str, in_file: Any, now: Any) -> str:
    """Return in words how a value of the heading differs."""
    name = _NAMES.get(key, key[:_LONGEST_VALUE])
    if key == "table":  # of which the heading has a hash only
        return f"{name}: other rows, columns or values"
    if key == "design" and _columns_of(in_file) == _columns_of(now):
        return f"{name}: other values of the same columns"
    return f"{name}: {_as_words(key, in_file)} in the file, {_as_words(key, now)} now"


def _columns_of(design: Any) -> Any:
    return design.get("columns") if isinstance(design, dict) else None


def _as_words(key: str, value: Any) -> str:
    if key == "design":
        value = _columns_of(value)
    if key == "schedule":
        value = _SCHEDULES.get(str(value), value)
    if value is None or value == {}:
        return "none"
    if isinstance(value, dict):
        items = sorted({str(item) for item in value.values()})
        is_uniform = key == "tune_by" and len(items) == 1
        value = items if is_uniform else [f"{name}={item}" for name, item in value.items()]
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    text = str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def fingerprint_of_table(frame: Any, y: np.ndarray) -> str:
    """Return a hash of the names, types and values of a table and its target."""
    import pandas

    digest = hashlib.blake2b(digest_size=16)
    for column, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        digest.update(f"{name}\0{dtype}\0".encode())
        digest.update(_hash_of(pandas, frame.iloc[:, column]))
    digest.update(_hash_of(pandas, pandas.Series(y)))
    return digest.hexdigest()


def _hash_of(pandas: Any, series: Any) -> bytes:
    try:
        return pandas.util.hash_pandas_object(series, index=False).to_numpy().tobytes()
    except TypeError:  # mixed types, or lists
        return pandas.util.hash_pandas_object(series.astype(str), index=False).to_numpy().tobytes()


_HASH_KEY = b',"hash":"'  # a line ends with this key, the hash, and '"}'


def _hash_of_line(previous_hash: str, text: bytes) -> str:
    return hashlib.blake2b(previous_hash.encode() + text, digest_size=16).hexdigest()


class Checkpoint:
    """Outcomes in a file of JSON lines; with path=None only in memory."""

    def __init__(self, path: Any, heading: dict[str, Any]):
        self.path = None if path is None else os.fspath(path)
        self.heading = {"bosquet study": VERSION, **heading}
        self.outcomes: dict[tuple[int, str], Outcome] = {}
        self.seconds = 0.0  # used by earlier runs
        self._last = ""  # hash of the last line
        if self.path is not None:
            self._open(self.path)

    def __contains__(self, key: tuple[int, str]) -> bool:
        return key in self.outcomes

    def get(self, split: int, method: str) -> Outcome | None:
        """Return the outcome of a method on a split, or None."""
        return self.outcomes.get((split, method))

    def summary(self) -> str:
        """Return one line on the results that were read from the file."""
        splits = {split for split, _ in self.outcomes}
        results = "1 result" if len(self.outcomes) == 1 else f"{len(self.outcomes)} results"
        return (
            f"resuming from {self.path}: {results} of {len(splits)}"
            f" {'split' if len(splits) == 1 else 'splits'}, {format_seconds(self.seconds)} used so far"
        )

    def add(self, outcome: Outcome, elapsed: float) -> None:
        """Store an outcome, with the seconds that the study has used so far."""
        self.outcomes[outcome.split, outcome.method] = outcome
        self._append({"elapsed": round(elapsed, 3), "outcome": outcome.to_json()})

    def drop_round(self, split: int) -> None:
        """Delete the outcomes of a split that could not be finished in time."""
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
            raise ValueError(
                f"checkpoint={path!r} cannot be read: {error.strerror or error}; check the permissions, or"
                " pass another path"
            ) from error
        complete = lines[:-1]  # text after the last line break is an incomplete line
        if not complete:
            if lines[-1] and not b'{"bosquet study"'.startswith(lines[-1][:16]):
                raise ValueError(_NOT_A_CHECKPOINT.format(path))
            self._truncate(path, 0)
            self._append(self.heading)
            return
        self._check_heading(path, complete[0])
        for number, line in enumerate(complete, start=1):
            if not self._hash_matches(line) or (number > 1 and not self._read_line(line)):
                raise ValueError(
                    f"checkpoint={path!r} was changed in line {number}, so its results cannot be trusted;"
                    " pass another path or delete the file"
                )
        self._truncate(path, sum(len(line) + 1 for line in complete))

    def _hash_matches(self, line: bytes) -> bool:
        """Return whether the hash of a line is that of its text and of the hash before it."""
        text, key, ending = line.rpartition(_HASH_KEY)
        hashed = _hash_of_line(self._last, text)
        self._last = hashed
        return bool(key) and ending == hashed.encode() + b'"}'

    def _check_heading(self, path: str, line: bytes) -> None:
        try:
            heading = json.loads(line)
            is_checkpoint = isinstance(heading, dict) and "bosquet study" in heading
        except (ValueError, RecursionError):
            is_checkpoint = False
        if not is_checkpoint:
            raise ValueError(_NOT_A_CHECKPOINT.format(path))
        now = json.loads(json.dumps(self.heading))
        keys = [*_NAMES, *sorted((now.keys() | heading.keys()) - {*_NAMES, "hash"})]
        differences = [
            _difference(key, heading.get(key), now.get(key))
            for key in keys
            if heading.get(key) != now.get(key)
        ]
        if differences:
            raise ValueError(
                f"checkpoint={path!r} belongs to another study ({'; '.join(differences[:4])}); pass the table"
                " and the options of that study to continue it, or another path for a new one"
            )

    def _read_line(self, line: bytes) -> bool:
        """Read an outcome, or a deleted split, from a line; return False if the line is invalid."""
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
        line = text + _HASH_KEY + hashed.encode() + b'"}\n'
        size_before = os.path.getsize(self.path) if os.path.exists(self.path) else None
        try:
            with open(self.path, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            self._undo(size_before)
            raise ValueError(
                f"checkpoint={self.path!r} cannot be written: {error.strerror or error}; check the"
                " permissions, or pass another path"
            ) from error
        self._last = hashed

    def _undo(self, length: int | None) -> None:
        """Remove an incomplete line from the file."""
        assert self.path is not None
        try:
            if length is None:
                os.unlink(self.path)
            else:
                os.truncate(self.path, length)
        except OSError:
            pass
