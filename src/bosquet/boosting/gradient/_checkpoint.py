"""The checkpoint of a fit: its rounds so far, from which the same fit continues in another process."""

from __future__ import annotations

import base64
import json
import os
import pickle
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._files import atomic_write
from bosquet._sklearn import seed_from
from bosquet.boosting.gradient._rows import EncodedRows
from bosquet.boosting.gradient._trees import TreeTerms
from bosquet.boosting.rounds import Callback, EarlyStopping, LossHistory, RoundInfo, fingerprint
from bosquet.data import TableEncoder

# The rounds are written at the end of a round if the last time was this long ago.
SECONDS_BETWEEN_WRITES = 30.0
FILE_NAME = "gradient-boosting.json"
_VERSION = 1
# Parameters that do not change the model.
_WITHOUT_EFFECT = {"callbacks", "n_jobs", "verbose", "random_state"}
_PLAIN = (str, int, float, list, tuple, dict, type(None))


@dataclass
class StoredRun:
    """A run of rounds: its trees, their losses, and whether it is finished."""

    trees: _core.Ensemble | None = None
    history: LossHistory = field(default_factory=LossHistory)
    is_finished: bool = False
    checksum: int | None = None  # of the bins of the training rows, and of the validation set

    def restore(
        self, history: LossHistory, stopping: EarlyStopping | None, *, has_score: bool
    ) -> None:
        """Bring the losses and early stopping to their state after the last stored round."""
        for name, value in vars(self.history).items():
            setattr(history, name, value)
        if stopping is not None:
            losses = history.validation_loss or history.train_loss
            if has_score:
                losses = [-score for score in history.validation_score]
            for n_rounds, loss in enumerate(losses, start=1):
                stopping.should_stop(n_rounds, loss)

    def to_state(self) -> dict[str, Any]:
        history = self.history
        trees = None if self.trees is None else pickle_of(self.trees)
        return {
            "trees": None if trees is None else base64.b64encode(trees).decode("ascii"),
            "train_loss": history.train_loss,
            "validation_loss": history.validation_loss,
            "validation_score": history.validation_score,
            "best_round": history.best_round,
            "stopped_by": history.stopped_by,
            "is_finished": self.is_finished,
            "checksum": self.checksum,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> StoredRun:
        trees = None
        if state["trees"] is not None:
            trees = ensemble_of(base64.b64decode(state["trees"], validate=True))
        history = LossHistory(
            [float(loss) for loss in state["train_loss"]],
            [float(loss) for loss in state["validation_loss"]],
            [float(score) for score in state["validation_score"]],
        )
        history.best_round, history.stopped_by = state["best_round"], state["stopped_by"]
        return cls(trees, history, bool(state["is_finished"]), state["checksum"])


def pickle_of(trees: _core.Ensemble) -> bytes:
    """Return trees as the bytes of a model file."""
    state: bytes = trees.__getstate__()
    return state


def ensemble_of(content: bytes) -> _core.Ensemble:
    """Return the trees of the bytes of a model file, which are checked."""
    trees = _core.Ensemble.__new__(_core.Ensemble)
    trees.__setstate__(content)
    return trees


class FitCheckpoint:
    """The file of a checkpoint.

    Parameters
    ----------
    folder : path of a folder, which is created if necessary
    identity : what the fit and an earlier fit in this folder must agree in, by its name in messages

    Attributes
    ----------
    seed : int or None
        Random seed of the earlier fit, None without one.
    """

    def __init__(self, folder: str | os.PathLike[str], identity: dict[str, Any]) -> None:
        self._folder = Path(folder)
        self._path = self._folder / FILE_NAME
        self._identity = identity
        self._runs: dict[str, StoredRun] = {}
        self._last_write = time.monotonic()
        self.seed: int | None = None
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            self._read()

    def start(self, random_state: Any) -> int:
        """Return the seed of the fit: that of the earlier fit, or a new one, which is stored."""
        if self.seed is None:
            self.seed = seed_from(random_state)
            self.write()
        return self.seed

    def run(self, name: str) -> StoredRun:
        """Return a run of this fit, as far as it is stored."""
        return self._runs.setdefault(name, StoredRun())

    @contextmanager
    def recording(
        self, name: str, stepper: Any, validation: EncodedRows | None, history: LossHistory
    ) -> Iterator[Callback]:
        """Yield a callback that stores the rounds of a run from time to time; at the end they are finished.

        Raises
        ------
        ValueError
            If the stored rounds belong to other training rows or to another validation set.
        """
        run = self.run(name)
        checksum = zlib.crc32(pickle.dumps(stepper.bins.__getstate__()))
        if validation is not None:
            checksum ^= fingerprint(validation.target, validation.weight, validation.offset)
        if run.checksum not in (None, checksum):
            raise ValueError(
                f"{self._describe()} belongs to another fit (the values of the features or the validation set"
                " differ); pass the tables of that fit to continue it, or another folder for a new one"
            )
        run.checksum = checksum

        def store() -> None:
            run.trees, run.history = stepper.terms.ensemble, history
            self.write()

        def callback(info: RoundInfo) -> None:
            if time.monotonic() - self._last_write >= SECONDS_BETWEEN_WRITES:
                store()

        yield callback
        run.is_finished = True
        store()

    def write(self) -> None:
        """Write the file; it is complete or the one before."""
        state = {
            "bosquet fit": _VERSION,
            "identity": self._identity,
            "seed": self.seed,
            "runs": {name: run.to_state() for name, run in self._runs.items()},
        }
        with atomic_write(self._path) as draft:
            draft.write_text(json.dumps(state), encoding="utf-8")
        self._last_write = time.monotonic()

    def _read(self) -> None:
        try:
            state = json.loads(self._path.read_text(encoding="utf-8"))
            version, identity = state["bosquet fit"], state["identity"]
            seed = int(state["seed"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(self._damaged()) from error
        differences = [
            f"{name} is {identity.get(name)!r} there, {value!r} now"
            for name, value in {"format": _VERSION, **self._identity}.items()
            if {"format": version, **identity}.get(name) != value
        ]
        if differences:
            raise ValueError(
                f"{self._describe()} belongs to another fit ({'; '.join(differences)[:500]}); pass the table"
                " and the parameters of that fit to continue it, or another folder for a new one"
            )
        try:
            runs = {name: StoredRun.from_state(run) for name, run in state["runs"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(self._damaged()) from error
        self.seed, self._runs = seed, runs

    def _describe(self) -> str:
        return f"checkpoint={os.fspath(self._folder)!r}"

    def _damaged(self) -> str:
        return (
            f"{self._describe()} contains a file {FILE_NAME} that is not the checkpoint of a fit; delete the"
            " file, or pass another folder"
        )


class FinishedStepper:
    """The result of a run that was finished before the process ended."""

    def __init__(self, terms: TreeTerms) -> None:
        self.terms = terms

    def timings(self) -> dict[str, float]:
        return {}

    def release(self) -> None:
        pass


def check_checkpoint(model: Any) -> None:
    """Raise a ValueError if the parameters of an estimator do not allow a checkpoint."""
    if model.warm_start:
        raise ValueError(
            "checkpoint= is not supported with warm_start=True; set warm_start=False, or fit without a"
            " checkpoint"
        )
    if model.estimator is not None:
        raise ValueError(
            "checkpoint= needs native trees; set estimator=None, or fit without a checkpoint"
        )


def identity_of_fit(model: Any, rows: EncodedRows, encoder: TableEncoder) -> dict[str, Any]:
    """Return what determines the model, but for the values of the features and the validation set."""
    parameters = model.get_params(deep=False)
    return {
        "estimator": type(model).__name__,
        **{
            name: _as_text(value)
            for name, value in parameters.items()
            if name not in _WITHOUT_EFFECT
        },
        "number of rows": rows.n_rows,
        "features": encoder.feature_names or encoder.n_features,
        "checksum of the categories": zlib.crc32(json.dumps(encoder.to_state()).encode()),
        "checksum of target, weights and offset": fingerprint(
            rows.target, rows.weight, rows.offset
        ),
    }


def _as_text(value: object) -> str:
    """Return a text of a parameter that is the same in every process."""
    if callable(value) or not isinstance(value, (*_PLAIN, np.generic, np.ndarray)):
        return f"{getattr(value, '__qualname__', type(value).__qualname__)}"
    return repr(value)
