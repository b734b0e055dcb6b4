"""Candidates that share one fit, and candidates that tune their complexity during the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.metrics.metric import Metric
from bosquet.study.record import CurvePoint, to_json_types
from bosquet.study.table.rows import TableRows


class ValidationPredictions(NamedTuple):
    """Predictions for rows that the model was not fitted to, with their targets and sample weights."""

    predictions: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None


@dataclass(frozen=True)
class Staged(Candidate):
    """One of several complexities that a single fit can evaluate, such as numbers of rounds or neighbours.

    Candidates of one `family` differ only in their complexity, and only the most complex one is fitted.
    `stages(fitted, X, complexities)` then yields the predictions of each for X, in ascending order of
    complexity: matrices of `predict_proba`, or numbers.
    """

    family: str
    stages: Callable[[Any, Any, Sequence[float]], Iterable[np.ndarray]]
    # A cheaper estimator to compare candidates with; None: the estimator of `make`.
    make_trial: Callable[[int], Any] | None = None


@dataclass(frozen=True)
class TuningTask:
    """The data and options that a self-tuning candidate receives."""

    rows: TableRows
    metric: Metric
    scheme: str  # "cv" or "validation"
    folds: int
    one_se: bool
    seed: int
    train: np.ndarray  # indices of the training rows, the same for all candidates
    validation: np.ndarray  # indices of the validation rows
    # Score of predictions for the validation rows, and its standard error (None for too few rows).
    score_validation: Callable[[np.ndarray], tuple[float, float | None]]
    # Whether the time limit is reached; boosting then stops and keeps the rounds fitted so far.
    is_over: Callable[[], bool] = lambda: False
    # Whether the limits allow a fit of this many seconds.
    allows: Callable[[float], bool] = lambda seconds: True


@dataclass(frozen=True)
class SelfTuningResult:
    """Result of a self-tuning candidate: curve, validation score and the candidate to fit to all rows."""

    points: list[CurvePoint]
    parameter: str
    log_axis: bool
    scheme_title: str
    score_title: str
    candidate: Candidate
    score: float  # validation score by the study's metric, which compares candidates
    standard_error: float | None  # of the score
    fitted_to_all_rows: Any = None  # estimator that is already fitted to all rows, or None
    fitted_without_validation: Any = None  # estimator fitted to the training rows
    validation_predictions: ValidationPredictions | None = (
        None  # predictions for the validation rows
    )
    finished: bool = True  # False if the time limit stopped the rounds


@dataclass(frozen=True)
class SelfTuned(Candidate):
    """A candidate that tunes its complexity during the fit, by cost-complexity pruning or early stopping."""

    tune: Callable[[TuningTask], SelfTuningResult]
    from_setting: Callable[[dict[str, Any]], Candidate | None]  # recreates a tuned candidate
    ways: frozenset[str] = field(default=frozenset({"cv", "validation"}))
    keeps_rounds: bool = False  # whether a fit stops at the time limit and keeps its rounds


def trial_estimator(candidate: Candidate, seed: int) -> Any:
    """Return the unfitted estimator by which a candidate is compared."""
    make_trial = candidate.make_trial if isinstance(candidate, Staged) else None
    return (make_trial or candidate.make)(seed)


def candidate_with(method: Method, shape: TableShape, setting: dict[str, Any]) -> Candidate | None:
    """Return the candidate of a method with a given setting, for example one read from a checkpoint.

    It may be a self-tuned candidate, which is not among `method.candidates`. Return None if there is none.
    """
    setting_as_json, candidates = to_json_types(setting), method.candidates(shape)
    for candidate in candidates:
        if to_json_types(candidate.setting) == setting_as_json:
            return candidate
    for candidate in candidates:
        if isinstance(candidate, SelfTuned):
            recreated = candidate.from_setting(setting)
            if recreated is not None:
                return recreated
    return None


def groups_of(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Group the candidates that share a fit, in the order of their first members."""
    groups: dict[Any, list[Candidate]] = {}
    for position, candidate in enumerate(candidates):
        key = ("family", candidate.family) if isinstance(candidate, Staged) else ("alone", position)
        groups.setdefault(key, []).append(candidate)
    return list(groups.values())


def adjacent_candidates(candidates: list[Candidate], setting: dict[str, Any]) -> list[Candidate]:
    """Return the candidate with this setting and its neighbours in order; all candidates if none has it."""
    positions = [
        k
        for k, candidate in enumerate(candidates)
        if to_json_types(candidate.setting) == to_json_types(setting)
    ]
    return candidates[max(positions[0] - 1, 0) : positions[0] + 2] if positions else candidates


def middle_first(candidates: list[Candidate]) -> list[Candidate]:
    """Order the candidates so that a search can stop at any time: the middle first, then the quarters, ...

    Candidates that share a fit stay together.
    """
    groups = groups_of(candidates)
    return [
        candidate for position in middle_first_order(len(groups)) for candidate in groups[position]
    ]


def middle_first_order(n: int) -> list[int]:
    """Return 0 to n - 1 in bisection order: the middle, then the middles of both halves, ..."""
    order, intervals = [], [(0, n)]
    while intervals:
        low, high = intervals.pop(0)
        if low < high:
            middle = (low + high) // 2
            order.append(middle)
            intervals += [(low, middle), (middle + 1, high)]
    return order
