"""Early stopping over warm starts: a fit leaves what the next one needs to go on without a break."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet._warnings import warn_user
from bosquet.boosting._loop import LoopResult
from bosquet.boosting._progress import EarlyStopping


@dataclass
class Watch:
    """What early stopping knows at the end of a fit.

    Attributes
    ----------
    terms : the model with every round that was tried; it has not been trained on the validation set.
    history : the losses of these rounds.
    stopping : the best score and its round.
    mark : which validation set it was (see `mark_of`).
    scoring : what decided.
    refitted : the model that was fitted again on all rows, None without one.
    kept : what a vote keeps of each round.
    """

    terms: Any
    history: LoopResult
    stopping: EarlyStopping
    mark: int
    scoring: Any = None
    refitted: Any = None
    kept: list[Any] = field(default_factory=list)


@dataclass
class Course:
    """Where the rounds begin: the terms to go on from, the traces so far, the state of early stopping."""

    start: Any
    history: LoopResult
    stopping: EarlyStopping | None
    mark: int | None
    scoring: Any = None
    resumed: Watch | None = None

    def watched(
        self, terms: Any, refitted: Any = None, kept: list[Any] | None = None
    ) -> Watch | None:
        """What the next warm start needs, once the rounds are over; None without early stopping."""
        if self.stopping is None or self.mark is None:
            return None
        return Watch(
            terms, self.history, self.stopping, self.mark, self.scoring, refitted, kept or []
        )


def mark_of(*arrays: np.ndarray | None) -> int:
    """A number that is the same for the same validation set, and hardly for another."""
    mark = 0
    for array in arrays:
        if array is not None:
            mark = zlib.crc32(np.ascontiguousarray(array).tobytes(), mark)
    return mark


def traces_of(model: Any, rounds: int) -> LoopResult:
    """The traces of a fitted model, cut back to the rounds that it has."""
    found = LoopResult(list(model.train_score_[:rounds]))
    scores = list(getattr(model, "validation_score_", ())[:rounds])
    found.validation_score = scores
    found.validation_loss = list(getattr(model, "validation_loss_", scores)[:rounds])
    return found


def course_of(
    model: Any,
    terms: Any,
    watch: Watch | None,
    mark: int | None,
    *,
    tol: float,
    scoring: Any = None,
    split: bool = True,
) -> Course:
    """Where a fit begins.

    `terms` are those of the fitted model that a warm start goes on from, None for a new fit. `mark` is that
    of the validation set, None without early stopping. `split` says that the set is a part of the rows
    given to `fit`, which the model may have been trained on.
    """
    resumed = watch if terms is not None and watch is not None and watch.mark == mark else None
    start = terms if resumed is None else resumed.terms
    stopping = None
    if mark is not None:
        since = 0 if start is None else start.n_rounds
        stopping = EarlyStopping(model.n_iter_no_change, tol, since)
    if start is None:
        return Course(None, LoopResult(), stopping, mark, scoring)
    if resumed is None or stopping is None:
        if stopping is not None and split and getattr(model, "_unlearned", None) != mark:
            _warn_of_learned_rows()
        return Course(start, traces_of(model, start.n_rounds), stopping, mark, scoring)
    history = resumed.history.copy()
    if resumed.scoring == scoring:
        stopping = resumed.stopping.going_on(model.n_iter_no_change, tol)
    else:  # scores of another metric cannot be compared
        unknown = [float("nan")] * len(history.validation_loss)
        history.validation_score = unknown if scoring else list(history.validation_loss)
    return Course(start, history, stopping, mark, scoring, resumed)


def _warn_of_learned_rows() -> None:
    warn_user(
        "this warm start may go on from rounds that were trained on rows of the validation set, and early"
        " stopping would then stop too late: the model was fitted on all rows in the end, without"
        " warm_start=True or early stopping, on other rows, or comes from a file. Fit with both from the"
        " first round on, or give gradient boosting an eval_set"
    )
