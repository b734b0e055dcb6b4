"""What a study has found, as plain JSON: the study writes it, the page and the command line read it.

Numbers are Python's, absent values ``None``, every key always there unless it is marked ``NotRequired``.
A method is known by its ``name`` throughout. Scores are of the study's metric, in its own direction
(``higher_is_better``); differences are "this method minus the best", so that a worse method has a
negative difference when higher is better and a positive one otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

Task = Literal["binary", "multiclass", "regression"]
# What came of a method: a score; an error of its own; it does not suit the table; the time limit stopped it;
# time was up before its turn.
Status = Literal["done", "failed", "unsuited", "stopped", "not reached"]


class Metric(TypedDict):
    name: str  # "log_loss", "rmse", "average_precision", ...
    title: str  # "Log loss"
    higher_is_better: bool


class Finding(TypedDict):
    """One thing that exploring the table brought up, worst first."""

    # leak, duplicates, design, constant, identifier, missing, outliers, correlated, drift, rare, date
    kind: str
    severity: Literal["high", "medium", "low"]
    columns: list[str]
    message: str  # one sentence: what it is and what to do


class Histogram(TypedDict):
    """Counts by class (or one group ``"all"``) over the edges of a number, or over levels."""

    edges: list[float] | None  # numbers: len(counts) + 1 of them
    levels: list[str] | None  # categories: the commonest first or in their order, "(others)" last
    counts: Mapping[str, Sequence[float]]  # rows, or sums of their weights
    ordered: NotRequired[bool]  # whether the levels are those of an ordered category


class Column(TypedDict):
    name: str
    kind: Literal["number", "category", "date", "text", "identifier", "constant"]
    missing: int
    distinct: int
    used: bool  # whether the methods saw it
    mean: float | None
    deviation: float | None
    quantiles: list[float] | None  # 0, 1/4, 1/2, 3/4, 1
    outliers: int  # outside the whiskers of a box plot
    relation: float | None  # strength of its relation to the target alone, 0 to 1
    histogram: Histogram


class Exploration(TypedDict):
    n_rows: int
    n_columns: int
    duplicates: int
    target: Histogram
    columns: list[Column]
    correlations: dict[
        str, Any
    ]  # {"names": [...], "matrix": [[...]]}: Spearman, of the most related numbers
    warnings: list[Finding]
    proposed: NotRequired[dict[str, str]]  # columns for the options time, group and weight


class CurvePoint(TypedDict):
    complexity: float  # place on the axis
    label: str  # "k = 7", "C = 0.1"
    setting: dict[str, Any]
    score: float
    spread: float | None  # standard error of the score
    chosen: bool


class Curve(TypedDict):
    """Score against complexity, as tuning saw it on the training rows alone."""

    parameter: str  # "neighbours k"
    log: bool  # whether the axis is read in logarithms
    by: str  # "5-fold cross-validation", "out of bag", "validation rows", "bootstrap", "AIC", "BIC"
    score: str  # what is on the vertical axis: the metric's title, "AIC", ...
    points: list[CurvePoint]


class Card(TypedDict):
    """A method's qualities: yes, no or partly, each with a reason of a few words."""

    readable: tuple[str, str]
    score_or_interval: tuple[str, str]
    consistent: tuple[str, str]
    minimax: tuple[str, str]
    non_asymptotic: tuple[str, str]
    parameter_free: tuple[str, str]
    online: tuple[str, str]


class Difference(TypedDict):
    """Paired difference to the best over the repeated splits, corrected for shared training rows."""

    mean: float
    low: float | None
    high: float | None
    distinguishable: bool


class MethodRecord(TypedDict):
    name: str
    title: str
    status: Status
    message: str  # why it has no score; warnings of the fit; "" otherwise
    rows_used: int
    subsampled: bool
    finished: bool  # False where the time limit cut its rounds or its last fit short
    setting: dict[str, Any]  # chosen in the first split
    curve: Curve | None
    scores: list[float]  # one a split
    mean: float | None
    interval: list[float] | None  # corrected 95 % interval of the mean
    difference: Difference | None
    metrics: dict[str, float]  # every metric of the task, mean over the splits
    fit_seconds: float  # tuning and fitting, first split
    predict_microseconds: float  # a row
    card: Card
    details: dict[
        str, Any
    ]  # of one kind of method: support vectors, margin, coefficients, leaves, ...
    test: NotRequired[HeldOut]  # on the first split


class HeldOut(TypedDict):
    """What the page draws from the first split's test rows; at most a few hundred points a curve.

    With weights, counts are sums of weights, which are 1 on average over the table.
    """

    n_rows: int
    roc: NotRequired[dict[str, list[list[float]]]]  # class -> [[fpr, tpr], ...]
    pr: NotRequired[dict[str, list[list[float]]]]  # class -> [[recall, precision], ...]
    calibration: NotRequired[list[dict[str, float]]]  # forecast, observed, low, high, n
    thresholds: NotRequired[list[dict[str, float]]]  # binary: threshold, tn, fp, fn, tp
    threshold: NotRequired[float]  # the one chosen: 1/2, or from the cost matrix on training rows
    confusion: NotRequired[list[list[float]]]  # rows: truth, columns: decision
    scatter: NotRequired[list[list[float]]]  # regression: [truth, prediction], a sample
    residuals: NotRequired[Histogram]


class TreeNode(TypedDict):
    """A tree to draw and to zoom."""

    id: int
    rule: str  # "" at a leaf
    n: int
    value: list[float]  # class shares, or the mean
    children: list[TreeNode]  # [left, right], empty at a leaf


class Reason(TypedDict):
    feature: str
    value: str  # the row's value, as text
    effect: float  # Shapley value on the raw scale


class ExplainedRow(TypedDict):
    row: int | str  # the row's label in the table
    kind: Literal["worst", "outlier", "typical"]
    truth: str
    prediction: str
    score: float  # the loss of this row, or its outlier score
    values: dict[str, str]
    reasons: list[Reason]  # largest first
    base: float


class Dependence(TypedDict):
    feature: str
    grid: list[float] | list[str]
    mean: list[float]
    low: list[float] | None
    high: list[float] | None
    unit: str  # "probability of >50K", "rings"


class Winner(TypedDict):
    """The chosen model, explained."""

    name: str
    why: str  # one or two sentences: accuracy, robustness, readability
    runner_up: str | None
    importances: list[dict[str, Any]]  # {"feature", "value" (largest 100), "spread"}
    importance_kind: str  # "permutation on the test rows", ...
    dependence: list[Dependence]
    learning_curve: list[dict[str, Any]]  # rows, score, spread (None where there was one fit)
    learning_text: str  # what the curve shows, and whether more rows would help, if it shows that
    certificate: dict[str, Any] | None  # text, rounds, error, bound, edges; of boosted models
    margins: Histogram | None
    tree: TreeNode | None
    tree_title: str  # whose tree it is: the pruned tree's own, or a surrogate and its fidelity
    rows: list[ExplainedRow]
    rows_called: NotRequired[str]  # a sentence: what the numbers or names of rows are
    coverage: dict[str, float] | None  # nominal, observed, mean width (or mean set size)
    calibration: dict[str, float] | None  # brier, ece, after calibration too


class GivenDesign(TypedDict):
    """How rows were split, and the columns given for it; "" for an array."""

    splits: Literal["time", "group", "fixed", "random"]
    columns: dict[str, str]  # by "time", "group", "weight", "offset", "exposure", "split"


class ScoredTable(TypedDict):
    """The chosen model, fitted to all rows, on the rows of another table that have a target."""

    n_rows: int
    without_target: int
    unknown_classes: int  # rows of classes that the model does not know: left out
    weighted: bool  # whether rows count by the weight column
    metrics: dict[str, float]
    interval: list[float]  # 95 % of the study's metric, from draws of the rows
    promised: list[float] | None  # the interval of the chosen method over the splits of the study


class Verdict(TypedDict):
    """What the study concludes, and the titles of methods that suit the table but have no score.

    "model": the best method is significantly better than the constant; "weak": it is not, though all
    methods have a score; "constant": the constant is best; "inconclusive": nothing is significantly better
    than the constant, but methods were stopped, failed or were not reached.
    """

    kind: Literal["model", "weak", "constant", "inconclusive"]
    stopped: list[str]
    failed: list[str]
    not_reached: list[str]
    cut_short: list[str]  # stopped by the time limit, with a score of what they had


class Comparison(TypedDict):
    """How the intervals were made, and the method that the differences are to."""

    best: str | None
    interval: Literal[
        "splits", "draws"
    ]  # corrected over splits, or draws of the first split's test rows
    splits: int
    confidence: float
    simultaneous: (
        str  # how differences to the best are corrected for their number: "Dunnett", "max-t"
    )
    comparisons: int


class FinalFit(TypedDict):
    """The fit of the model that is kept."""

    rows: int
    of: int  # rows of the table
    seconds: float
    why: str  # why it is not all rows; "" if it is


class Record(TypedDict):
    version: int
    bosquet: str
    title: str
    source: str
    task: Task
    target: str
    classes: list[str]
    positive: str | None  # of two classes the one that is looked for: asked for, or the rarer one
    metric: Metric
    metrics: list[Metric]
    costs: list[list[float]] | None
    n_rows: int
    n_test: int
    repeats: int
    budget: float | None  # seconds
    seconds: float
    random_state: int
    exploration: Exploration
    methods: list[MethodRecord]  # best first; those without a score last
    comparison: Comparison
    verdict: Verdict
    final: FinalFit
    winner: Winner | None
    notes: list[str]  # what a reader should know: subsampling, splits left out, ...
    design: NotRequired[GivenDesign]
    test_table: NotRequired[ScoredTable]


def plain(value: Any) -> Any:
    """Python's own numbers, lists and dicts in place of NumPy's; anything else as text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, int | float):
        return value
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return str(value)


def finite(value: Any) -> Any:
    """The same with None for numbers that JSON has no word for."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [finite(inner) for inner in value]
    return value
