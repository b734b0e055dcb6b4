"""What the study knows of a method: how to build it at each complexity, and its qualities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bosquet.study.record import Card, Task
from bosquet.study.table.offset import OffsetColumn

# Names of the methods that have a role of their own: one constant for all rows, the best possible rule of
# simulated data, and gradient boosting with its default parameters, which is fitted first.
BASELINE, BAYES_RULE, INCUMBENT = "constant", "bayes", "gradient-boosting-defaults"


@dataclass(frozen=True)
class TableShape:
    """What a method may ask of the training rows before it proposes its candidates."""

    task: Task
    n_rows: int
    n_numbers: int  # columns
    n_categories: int
    n_indicators: int  # columns once every category has its own, missing values filled in
    n_classes: int  # 1 for numbers
    rarest: float  # share of the rarest class, 1.0 for numbers
    counts: bool = False  # whether the target holds whole numbers from 0 on, as counts do
    offset: OffsetColumn | None = None  # of the table; methods that take it predict by it


@dataclass(frozen=True)
class Candidate:
    """One complexity of a method: an estimator that takes the table as it came and does its own preparing."""

    complexity: float
    label: str
    setting: dict[str, Any]
    make: Callable[[int], Any]  # seed -> an unfitted scikit-learn estimator


@dataclass(frozen=True)
class Chosen:
    """What was chosen of another method on the same training rows, and the seconds that one fit took."""

    candidate: Candidate
    seconds: float


def all_rows(shape: TableShape, seconds: float) -> int:
    """For methods that any table is not too dear for."""
    return shape.n_rows


@dataclass(frozen=True)
class Method:
    """A row of the leaderboard.

    `candidates` are in order of complexity; `rows_affordable` is the number of training rows beyond which
    one fit costs more than the seconds given (the study then hands it a subsample, and says so).

    A method that `combines` is tried after all others, and told what was chosen of each that was fitted to
    all training rows, by its name, and the seconds there are (None: no limit). The candidates that it
    gives back take the place of its own, unless there are none; "learners" in their setting are the names
    of those they combine. Choices are known again by their settings, which have to differ and to be JSON.
    """

    name: str
    title: str
    tasks: frozenset[Task]
    parameter: str  # label of the complexity axis
    log: bool  # whether that axis is read in logarithms
    candidates: Callable[[TableShape], Sequence[Candidate]]
    card: Card
    by: str = "cv"  # or validation, oob, bootstrap, aic, bic: how it is tuned unless told otherwise
    likelihood: bool = False  # whether its fits have one, to take AIC or BIC of
    rows_affordable: Callable[[TableShape, float], int] = all_rows
    details: Callable[[Any], dict[str, Any]] = field(
        default=lambda fitted: {}
    )  # of a fitted candidate
    suits: Callable[[TableShape], str] = field(
        default=lambda shape: ""
    )  # "" or why it is left out here
    takes_offset: bool = False  # whether its candidates heed `TableShape.offset`
    combines: (
        Callable[[TableShape, Mapping[str, Chosen], float | None], Sequence[Candidate]] | None
    ) = None
