"""Types of the study's record, a JSON document: the study writes it, the report and the CLI read it.

Numbers are Python numbers and absent values are ``None``. Every key is present unless it is marked
``NotRequired``. A method is identified by its ``name``. Scores are values of the study's metric, which also
states its direction (``higher_is_better``). A difference is the score of the method minus the score of the
best method: that of a worse method is negative if higher is better and positive otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

Task = Literal["binary", "multiclass", "regression"]
# Outcome of a method: it has a score; it raised an error; it is unsuited to the table; the time limit stopped
# it; the time limit was reached before its turn.
Status = Literal["done", "failed", "unsuited", "stopped", "not reached"]


class MetricRecord(TypedDict):
    """Name and direction of a metric."""

    name: str  # "log_loss", "rmse", "average_precision", ...
    title: str  # "Log loss"
    higher_is_better: bool


class Finding(TypedDict):
    """A problem or remark found by the exploration of the table."""

    # leak, duplicates, design, constant, identifier, missing, outliers, correlated, drift, rare, date
    kind: str
    severity: Literal["high", "medium", "low"]
    columns: list[str]
    message: str  # one sentence: what was found and what to do


class Histogram(TypedDict):
    """Counts per class (or of one group ``"all"``) in the bins of a number or the levels of a category."""

    edges: list[float] | None  # numbers: bin edges, one more than bins
    levels: list[str] | None  # categories: most frequent first, or in their order; "(others)" last
    counts: Mapping[str, Sequence[float]]  # numbers of rows, or sums of sample weights
    ordered: NotRequired[bool]  # whether the category is ordered


class ColumnRecord(TypedDict):
    """Summary of one column of the table."""

    name: str
    kind: Literal["number", "category", "date", "text", "identifier", "constant"]
    missing: int
    distinct: int
    used: bool  # whether the methods use it as a feature
    mean: float | None
    deviation: float | None  # standard deviation
    quantiles: list[float] | None  # 0, 1/4, 1/2, 3/4, 1
    outliers: int  # values beyond the whiskers of a box plot
    relation: float | None  # association with the target, 0 to 1
    histogram: Histogram


class Exploration(TypedDict):
    """Result of the exploration of the table."""

    n_rows: int
    n_columns: int
    duplicates: int
    target: Histogram
    columns: list[ColumnRecord]
    # {"names": [...], "matrix": [[...]]}: Spearman, of the numbers most associated with the target
    correlations: dict[str, Any]
    warnings: list[Finding]  # most severe first
    proposed: NotRequired[dict[str, str]]  # option (time, group, weight) -> proposed column


class CurvePoint(TypedDict):
    """Score of one candidate in tuning."""

    complexity: float  # position on the horizontal axis
    label: str  # "k = 7", "C = 0.1"
    setting: dict[str, Any]
    score: float
    standard_error: float | None  # of the score
    chosen: bool


class CurveRecord(TypedDict):
    """Tuning score against complexity, computed on the training set only."""

    parameter: str  # "neighbours k"
    log: bool  # whether the horizontal axis is logarithmic
    by: str  # "5-fold cross-validation", "out of bag", "validation rows", "bootstrap", "AIC", "BIC"
    score: str  # label of the vertical axis: the title of the metric, "AIC", ...
    points: list[CurvePoint]


class MethodProperties(TypedDict):
    """Properties of a method: yes, no or partly, each with a short reason."""

    readable: tuple[str, str]
    score_or_interval: tuple[str, str]
    consistent: tuple[str, str]
    minimax: tuple[str, str]
    non_asymptotic: tuple[str, str]
    parameter_free: tuple[str, str]
    online: tuple[str, str]


class Difference(TypedDict):
    """Paired difference to the best method over the splits, corrected for overlapping training sets."""

    mean: float
    low: float | None
    high: float | None
    distinguishable: bool


class MethodRecord(TypedDict):
    """Results of one method."""

    name: str
    title: str
    status: Status
    message: str  # the reason if it has no score, or the warnings of the fit; "" otherwise
    rows_used: int
    subsampled: bool
    finished: bool  # False if the time limit cut its rounds or its last fit short
    setting: dict[str, Any]  # hyper-parameters chosen on the first split
    curve: CurveRecord | None
    scores: list[float]  # one per split
    mean: float | None
    interval: list[float] | None  # corrected 95 % confidence interval of the mean
    difference: Difference | None
    metrics: dict[str, float]  # all metrics of the task, means over the splits
    fit_seconds: float  # tuning and fitting on the first split
    predict_microseconds: float  # per row
    properties: MethodProperties
    details: dict[str, Any]  # of the method: support vectors, margin, coefficients, leaves, ...
    test: NotRequired[EvaluationRecord]  # results on the test set of the first split


class EvaluationRecord(TypedDict):
    """Results on the test set of the first split, as the report draws them; a few hundred points per curve.

    With sample weights, counts are sums of weights, which have mean 1 over the table.
    """

    n_rows: int
    roc: NotRequired[dict[str, list[list[float]]]]  # class -> [[fpr, tpr], ...]
    pr: NotRequired[dict[str, list[list[float]]]]  # class -> [[recall, precision], ...]
    calibration: NotRequired[list[dict[str, float]]]  # forecast, observed, low, high, n
    thresholds: NotRequired[list[dict[str, float]]]  # binary: threshold, tn, fp, fn, tp
    threshold: NotRequired[float]  # 1/2; with costs or a rare class, chosen on the training set
    confusion: NotRequired[list[list[float]]]  # confusion matrix: rows truth, columns prediction
    scatter: NotRequired[list[list[float]]]  # regression: [truth, prediction] of a sample of rows
    residuals: NotRequired[Histogram]  # regression


class TreeNode(TypedDict):
    """Node of a tree, with its subtree."""

    id: int
    rule: str  # "" at a leaf
    n: int
    value: list[float]  # class proportions, or the mean
    children: list[TreeNode]  # [left, right], empty at a leaf


class Reason(TypedDict):
    """Contribution of one feature to the prediction for a row."""

    feature: str
    value: str  # value of the feature in this row, as text
    effect: float  # Shapley value on the raw scale of the model


class ExplainedRow(TypedDict):
    """A row of the test set with an explanation of its prediction."""

    row: int | str  # label of the row in the table
    kind: Literal["worst", "outlier", "typical"]
    truth: str
    prediction: str
    score: float  # loss of the row, or its outlier score
    values: dict[str, str]
    reasons: list[Reason]  # largest first
    base: float


class DependenceRecord(TypedDict):
    """Partial dependence or effect curve of one feature."""

    feature: str
    grid: list[float] | list[str]
    mean: list[float]
    low: list[float] | None
    high: list[float] | None
    unit: str  # "probability of >50K", "rings"


class ChosenRecord(TypedDict):
    """Explanation of the chosen model."""

    name: str
    why: str  # one or two sentences: accuracy, probabilities, interpretability
    runner_up: str | None
    importances: list[dict[str, Any]]  # {"feature", "value" (the largest is 100), "spread"}
    importance_kind: str  # "permutation on the test rows", ...
    dependence: list[DependenceRecord]
    learning_curve: list[dict[str, Any]]  # rows, score, spread (None for a single fit)
    learning_text: str  # summary of the curve: whether more rows are likely to help
    certificate: dict[str, Any] | None  # boosted models: text, rounds, error, bound, edges
    margins: Histogram | None
    tree: TreeNode | None
    tree_title: str  # the pruned tree itself, or a surrogate tree and its fidelity
    rows: list[ExplainedRow]
    rows_called: NotRequired[str]  # a sentence: how rows are numbered or named
    coverage: dict[str, float] | None  # nominal, observed, mean width or mean set size
    calibration: dict[str, float] | None  # Brier score and ECE, before and after calibration


class GivenDesign(TypedDict):
    """How rows were split, and the columns passed for it."""

    splits: Literal["time", "group", "fixed", "random"]
    # Option (time, group, weight, offset, exposure, split) -> column, "" for an array.
    columns: dict[str, str]


class ScoredTable(TypedDict):
    """Scores of the chosen model, fitted to all rows, on the rows of a test table that have a target."""

    n_rows: int
    without_target: int
    unknown_classes: int  # rows left out because their class is not in the training table
    weighted: bool  # whether rows are weighted by the weight column
    metrics: dict[str, float]
    interval: list[float]  # bootstrap 95 % confidence interval of the study's metric
    promised: list[float] | None  # interval of the chosen method over the splits of the study


class Verdict(TypedDict):
    """Conclusion of the study, and the titles of methods that are suited to the table but have no score.

    "model": the best method is significantly better than the constant. "weak": it is not, although all
    methods have a score. "constant": the constant is best. "inconclusive": no method is significantly better
    than the constant, but some methods were stopped, failed or were not reached.
    """

    kind: Literal["model", "weak", "constant", "inconclusive"]
    stopped: list[str]
    failed: list[str]
    not_reached: list[str]
    cut_short: list[str]  # stopped by the time limit, but scored with the rounds fitted so far


class Comparison(TypedDict):
    """How confidence intervals were computed, and the best method, to which the others are compared."""

    best: str | None
    # Corrected t interval over splits, or bootstrap of the first test set.
    interval: Literal["splits", "draws"]
    splits: int
    confidence: float
    simultaneous: str  # correction of the differences for multiple comparisons: "Dunnett", "max-t"
    comparisons: int


class FinalFit(TypedDict):
    """Final fit of the chosen model."""

    rows: int  # number of rows it was fitted to
    of: int  # number of rows of the table
    seconds: float
    why: str  # why it was not fitted to all rows; "" if it was


class Record(TypedDict):
    """Complete record of a study."""

    version: int
    bosquet: str
    title: str
    source: str
    task: Task
    target: str
    classes: list[str]
    positive: str | None  # positive class of a binary target: the one passed, or the rarer one
    metric: MetricRecord
    metrics: list[MetricRecord]
    costs: list[list[float]] | None
    n_rows: int
    n_test: int
    repeats: int
    budget: float | None  # seconds
    seconds: float
    random_state: int
    exploration: Exploration
    methods: list[MethodRecord]  # best first; methods without a score last
    comparison: Comparison
    verdict: Verdict
    final: FinalFit
    chosen: ChosenRecord | None
    notes: list[str]  # remarks for the reader: subsampling, splits left out, ...
    design: NotRequired[GivenDesign]
    test_table: NotRequired[ScoredTable]


def chosen_method(record: Record) -> MethodRecord | None:
    """Return the results of the chosen method."""
    name = record["chosen"]["name"] if record["chosen"] else None
    return next((method for method in record["methods"] if method["name"] == name), None)


def to_json_types(value: Any) -> Any:
    """Convert NumPy values and containers to Python numbers, lists and dicts; anything else to text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return to_json_types(value.item())
    if isinstance(value, int | float):
        return value
    if isinstance(value, dict):
        return {str(key): to_json_types(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_types(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return to_json_types(value.tolist())
    return str(value)


def non_finite_to_none(value: Any) -> Any:
    """Replace NaN and infinite numbers, which JSON does not support, by None."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {key: non_finite_to_none(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [non_finite_to_none(inner) for inner in value]
    return value
