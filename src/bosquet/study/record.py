"""What a study has found, as plain JSON: the study writes it, the page and the command line read it.

Numbers are Python's, absent values ``None``, every key always there unless it is marked ``NotRequired``.
A method is known by its ``name`` throughout. Scores are of the study's metric, in its own direction
(``higher_is_better``); differences are "this method minus the best", so that a worse method has a
negative difference when higher is better and a positive one otherwise.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Task = Literal["binary", "multiclass", "regression"]


class Metric(TypedDict):
    name: str  # "log_loss", "rmse", "average_precision", ...
    title: str  # "Log loss"
    higher_is_better: bool


class Finding(TypedDict):
    """One thing that exploring the table brought up, worst first."""

    kind: str  # leak, duplicates, constant, identifier, missing, outliers, correlated, drift, rare, date
    severity: Literal["high", "medium", "low"]
    columns: list[str]
    message: str  # one sentence: what it is and what to do


class Histogram(TypedDict):
    """Counts by class (or one group ``"all"``) over the edges of a number, or over levels."""

    edges: list[float] | None  # numbers: len(counts) + 1 of them
    levels: list[str] | None  # categories: the commonest first, "(others)" last
    counts: dict[str, list[int]]


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
    status: Literal["done", "failed", "skipped", "waiting"]
    message: str  # why it failed or was skipped; warnings of the fit; "" otherwise
    rows_used: int
    subsampled: bool
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
    """What the page draws from the first split's test rows; at most a few hundred points a curve."""

    n_rows: int
    roc: NotRequired[dict[str, list[list[float]]]]  # class -> [[fpr, tpr], ...]
    pr: NotRequired[dict[str, list[list[float]]]]  # class -> [[recall, precision], ...]
    calibration: NotRequired[list[dict[str, float]]]  # forecast, observed, low, high, n
    thresholds: NotRequired[list[dict[str, float]]]  # binary: threshold, tn, fp, fn, tp
    threshold: NotRequired[float]  # the one chosen: 1/2, or from the cost matrix on training rows
    confusion: NotRequired[list[list[int]]]  # rows: truth, columns: decision
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
    learning_curve: list[dict[str, float]]  # rows, score, spread
    certificate: dict[str, Any] | None  # text, rounds, error, bound, edges; of boosted models
    margins: Histogram | None
    tree: TreeNode | None
    tree_title: str  # whose tree it is: the pruned tree's own, or a surrogate and its fidelity
    rows: list[ExplainedRow]
    rows_called: NotRequired[str]  # a sentence: what the numbers or names of rows are
    coverage: dict[str, float] | None  # nominal, observed, mean width (or mean set size)
    calibration: dict[str, float] | None  # brier, ece, after calibration too


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
    methods: list[MethodRecord]  # best first; failed and skipped ones last
    winner: Winner | None
    notes: list[str]  # what a reader should know: subsampling, splits left out, ...
