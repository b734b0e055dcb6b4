"""Descriptions of methods: their candidates of increasing complexity, and their properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bosquet.study.record import MethodProperties, Task
from bosquet.study.table.offset import OffsetColumn

# Names of methods with a special role: the same prediction for all rows, the Bayes rule of simulated data,
# and gradient boosting with default parameters, which is fitted first.
BASELINE, BAYES_RULE, INCUMBENT = "constant", "bayes", "gradient-boosting-defaults"


@dataclass(frozen=True)
class TableShape:
    """Properties of the training rows on which the candidates of a method depend."""

    task: Task
    n_rows: int
    n_numbers: int  # numeric columns
    n_categories: int
    n_indicators: int  # columns after one-hot encoding
    n_classes: int  # 1 for regression
    rarest_share: float  # share of the rarest class, 1.0 for regression
    target_is_count: bool = False  # whether the target is a count 0, 1, 2, ...
    offset: OffsetColumn | None = None  # used by methods with `takes_offset`


@dataclass(frozen=True)
class Candidate:
    """One complexity of a method; its estimator accepts the tidy table and includes all preprocessing."""

    complexity: float
    label: str
    setting: dict[str, Any]
    make: Callable[[int], Any]  # seed -> an unfitted scikit-learn estimator


@dataclass(frozen=True)
class ChosenCandidate:
    """The tuned candidate of another method on the same training rows, and the seconds of one fit."""

    candidate: Candidate
    seconds: float


def all_rows(shape: TableShape, seconds: float) -> int:
    """Return all rows; for methods that are cheap for any table."""
    return shape.n_rows


@dataclass(frozen=True)
class Method:
    """A method of the study, one row of the leaderboard.

    `candidates` returns the candidates in order of complexity. Their settings must differ and be
    JSON-serialisable, because a checkpoint identifies a candidate by its setting. `rows_affordable` returns
    the number of training rows that one fit can use in the given seconds. If there are more rows, the study
    fits the method to a subsample and reports this.

    A method with `combine` is fitted after all others. It receives the chosen candidates, by method name, of
    all methods that were fitted to all training rows, and the seconds left (None: no limit). The candidates
    that it returns replace its own, unless there are none. "learners" in their setting lists the names of the
    combined methods.
    """

    name: str
    title: str
    tasks: frozenset[Task]
    parameter: str  # label of the complexity axis
    log_axis: bool  # whether the complexity axis is logarithmic
    candidates: Callable[[TableShape], Sequence[Candidate]]
    properties: MethodProperties
    scheme: str = "cv"  # default validation scheme: cv, validation, oob, bootstrap, aic or bic
    likelihood: bool = False  # whether its fits have a likelihood, for AIC and BIC
    rows_affordable: Callable[[TableShape, float], int] = all_rows
    # Facts about a fitted candidate, for the report.
    details: Callable[[Any], dict[str, Any]] = field(default=lambda fitted: {})
    # "" or the reason why the method is unsuited to the table.
    why_unsuited: Callable[[TableShape], str] = field(default=lambda shape: "")
    takes_offset: bool = False  # whether its candidates use `TableShape.offset`
    combine: (
        Callable[[TableShape, Mapping[str, ChosenCandidate], float | None], Sequence[Candidate]]
        | None
    ) = None
