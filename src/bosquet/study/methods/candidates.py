"""Candidates that share a fit, or that find their complexity inside one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.record import CurvePoint, plain
from bosquet.study.table.design import Design


class Unseen(NamedTuple):
    """Answers of a fit to rows that it was not fitted to, with the targets and the weights of these rows."""

    answer: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None


@dataclass(frozen=True)
class Staged(Candidate):
    """One of several complexities that a single fit shows: a number of rounds, of neighbours.

    Candidates of one `family` differ in their complexity alone. Only the most complex one is fitted;
    `stages(fitted, X, complexities)` then gives what each of them would say of X, in the order of the
    complexities, which ascend: predict_proba's matrix, or numbers.
    """

    family: str
    stages: Callable[[Any, Any, Sequence[float]], Iterable[np.ndarray]]
    # What is fitted to compare candidates by, where that takes less than what is kept.
    tries: Callable[[int], Any] | None = None


@dataclass(frozen=True)
class TuningTask:
    """What a candidate that tunes itself is given."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    metric: Any
    by: str  # "cv" or "validation"
    folds: int
    one_se: bool
    seed: int
    train: np.ndarray  # training rows and validation rows, the same for all candidates
    held: np.ndarray
    # The score of predictions for the validation rows, and its standard error (None: too few rows).
    score_held: Callable[[np.ndarray], tuple[float, float | None]]
    # Whether time is up: a fit made of rounds then ends, and keeps those it has.
    is_over: Callable[[], bool] = lambda: False
    design: Design = field(default_factory=Design)


@dataclass(frozen=True)
class Found:
    """What it found: its curve, its score on the rows held out, and the candidate to fit on all rows."""

    points: list[CurvePoint]
    parameter: str
    log: bool
    by: str
    score_title: str
    candidate: Candidate
    score: float  # of the study's metric, on the rows held out; compares candidates
    spread: float | None
    estimator: Any = None  # fitted to all rows already, or None
    fitted: Any = None  # to the rows not held out
    unseen: Unseen | None = None  # its answers to the rows held out
    finished: bool = True  # False where the clock ended the rounds


@dataclass(frozen=True)
class SelfTuned(Candidate):
    """A candidate whose own fit looks for the complexity: pruning by folds, early stopping."""

    tunes: Callable[[TuningTask], Found]
    remakes: Callable[[dict[str, Any]], Candidate | None]  # from the setting it found before
    ways: frozenset[str] = field(default=frozenset({"cv", "validation"}))
    keeps_rounds: bool = False  # whether a fit ends by itself when time is up, with what it has


def tried(candidate: Candidate, seed: int) -> Any:
    """What is fitted to judge a candidate by."""
    tries = candidate.tries if isinstance(candidate, Staged) else None
    return (tries or candidate.make)(seed)


def candidate_with(method: Method, shape: TableShape, setting: dict[str, Any]) -> Candidate | None:
    """The candidate of a method that has a setting, as a study that is taken up again knows it: as JSON.

    Also one whose complexity was found inside a fit, which is not among `method.candidates`.
    """
    wanted, candidates = plain(setting), method.candidates(shape)
    for candidate in candidates:
        if plain(candidate.setting) == wanted:
            return candidate
    for candidate in candidates:
        if isinstance(candidate, SelfTuned):
            again = candidate.remakes(setting)
            if again is not None:
                return again
    return None


def groups_of(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Candidates that share a fit together, in the order of their first members."""
    groups: dict[Any, list[Candidate]] = {}
    for place, candidate in enumerate(candidates):
        key = ("family", candidate.family) if isinstance(candidate, Staged) else ("alone", place)
        groups.setdefault(key, []).append(candidate)
    return list(groups.values())


def neighbours(candidates: list[Candidate], setting: dict[str, Any]) -> list[Candidate]:
    """The candidate with that setting and those next to it; all candidates if none has it."""
    places = [k for k, one in enumerate(candidates) if plain(one.setting) == plain(setting)]
    return candidates[max(places[0] - 1, 0) : places[0] + 2] if places else candidates


def from_the_middle(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates in an order that can be stopped anywhere: the middle first, then the quarters, ...

    Candidates that share a fit stay together.
    """
    groups = groups_of(candidates)
    return [one for place in halving(len(groups)) for one in groups[place]]


def halving(n: int) -> list[int]:
    """0 to n - 1, the middle first and then the middles of what is left on either side."""
    order, parts = [], [(0, n)]
    while parts:
        low, high = parts.pop(0)
        if low < high:
            middle = (low + high) // 2
            order.append(middle)
            parts += [(low, middle), (middle + 1, high)]
    return order
