"""The metrics of each task, and predictions in the form that they score.

A metric knows the classes of the whole table, in sorted order. A cross-validation fold or a test set that
lacks one of them is therefore scored like any other.

>>> import numpy as np
>>> from bosquet.study.metrics.metric import metric_named
>>> metric = metric_named("accuracy", "binary", np.array(["no", "yes"]))
>>> metric.score(np.array(["no", "yes"]), np.array([[0.8, 0.2], [0.6, 0.4]]))
0.5
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.special import expit, softmax

from bosquet._suggestions import nearest
from bosquet._targets import class_numbers
from bosquet.study import record
from bosquet.study.metrics.ranking_areas import RankedScores
from bosquet.study.record import Task

DRAWS_AT_A_TIME = 25  # bounds the memory of vectorised bootstrap scores
Needs = Literal["class", "probability", "number"]

# Probabilities are clipped at this value, as in scikit-learn, so that the log loss is finite.
SMALLEST_PROBABILITY = float(np.finfo(float).eps)


class MetricError(Exception):
    """A custom metric failed. This is not the fault of a method, so it ends the study."""


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric that scores the predictions of a model.

    Attributes
    ----------
    name : identifier, for example "log_loss"
    title : name in the report, for example "Log loss"
    higher_is_better : bool
    needs : "class", "probability" or "number"
        What `score` takes: class labels, a matrix of `predict_proba` with one column per class, or numbers.
        A metric of class labels also accepts the matrix. It then predicts the most probable class or, with
        `costs`, the class of the smallest expected cost.
    classes : sorted labels; empty for regression
    positive : index of the positive class in binary tasks
    costs : array of shape (n_classes, n_classes) or None; rows are true classes, columns predicted classes
    bounded : whether `range` is known; False for custom metrics
    """

    name: str
    title: str
    higher_is_better: bool
    needs: Needs
    formula: Callable[[Metric, np.ndarray, np.ndarray, np.ndarray | None], float]
    row_losses: Callable[[Metric, np.ndarray, np.ndarray], np.ndarray] | None = None
    classes: np.ndarray = field(default_factory=lambda: np.zeros(0))
    positive: int = 1
    costs: np.ndarray | None = None
    bounded: bool = True

    def score(self, y: Any, predictions: Any, weight: Any = None) -> float:
        """Return the score of predictions of the targets y, with optional sample weights."""
        weight = None if weight is None or np.size(weight) == 0 else np.asarray(weight, dtype=float)
        return float(self.formula(self, self._truth(y), self._predictions(predictions), weight))

    def losses(self, y: Any, predictions: Any) -> np.ndarray | None:
        """Return the loss of each row, or None for a metric without losses per row."""
        if self.row_losses is None:
            return None
        return self.row_losses(self, self._truth(y), self._predictions(predictions))

    def bootstrap_scores(self, y: Any, predictions: Any, counts: np.ndarray) -> np.ndarray:
        """Return the score of each bootstrap sample.

        `counts` has shape (n_draws, n_rows): how often each row occurs in each sample.
        """
        truth, predicted = self._truth(y), self._predictions(predictions)
        if self.name in ("roc_auc", "average_precision"):
            ranked = ranked_classes(self, truth, predicted)
            scores = np.empty(len(counts))
            for first in range(0, len(counts), DRAWS_AT_A_TIME):
                block = counts[first : first + DRAWS_AT_A_TIME]
                areas = np.array([getattr(ranking, self.name)(block) for ranking in ranked])
                is_defined = np.isfinite(areas)
                total = np.where(is_defined, areas, 0.0).sum(axis=0)
                scores[first : first + len(block)] = total / np.maximum(is_defined.sum(axis=0), 1)
            return scores
        return np.array(
            [self._score_of_draw(truth, predicted, draw_counts) for draw_counts in counts]
        )

    def _score_of_draw(self, truth: np.ndarray, predicted: np.ndarray, counts: np.ndarray) -> float:
        try:
            return self.formula(self, truth, predicted, counts)
        except MetricError:  # a bootstrap sample may lack a class
            return float("nan")

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible score, for example (0, inf) for the log loss."""
        if not self.bounded:
            return -np.inf, np.inf
        if self.higher_is_better:
            return {"mcc": -1.0, "r2": -np.inf}.get(self.name, 0.0), 1.0
        lowest = float(self.costs.min()) if self.name == "cost" and self.costs is not None else 0.0
        return lowest, np.inf

    def is_better(self, a: float, b: float) -> bool:
        """Return whether score a is better than score b."""
        return a > b if self.higher_is_better else a < b

    @property
    def sign(self) -> int:
        """+1 if higher is better, -1 otherwise."""
        return 1 if self.higher_is_better else -1

    def describe(self) -> record.MetricRecord:
        """Return the entry of the metric in the study's record."""
        return {"name": self.name, "title": self.title, "higher_is_better": self.higher_is_better}

    def _truth(self, y: Any) -> np.ndarray:
        if self.needs == "number":
            return np.asarray(y, dtype=float)
        return class_numbers(np.asarray(y), self.classes)

    def _predictions(self, predictions: Any) -> np.ndarray:
        """Return numbers, probabilities, or the indices of the predicted classes."""
        predictions = np.asarray(predictions)
        if self.needs == "number":
            return predictions.astype(float).ravel()
        if self.needs == "probability":
            return _probabilities(predictions, self.classes)
        if predictions.ndim == 2:
            return class_decisions(_probabilities(predictions, self.classes), self.costs)
        return class_numbers(predictions, self.classes)


def class_decisions(probabilities: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray:
    """Return the index of the most probable class, or of the class of the smallest expected cost."""
    if costs is None:
        return np.argmax(probabilities, axis=1)
    return np.argmin(probabilities @ costs, axis=1)


def predictions_for(estimator: Any, X: Any, metric: Metric) -> np.ndarray:
    """Return the predictions of a fitted estimator in the form that all metrics of the task accept.

    These are numbers for regression. For classification they are probabilities with one column per class of
    the metric; classes that the estimator was not trained on have probability 0. Without `predict_proba`, the
    margins of `decision_function` are passed through the logistic function (softmax for several classes).
    With `predict` only, the predicted class has probability 1.
    """
    if metric.needs == "number":
        return np.asarray(estimator.predict(X), dtype=float).ravel()
    if hasattr(estimator, "predict_proba"):
        outputs = np.asarray(estimator.predict_proba(X), dtype=float)
    elif hasattr(estimator, "decision_function"):
        outputs = _margins_to_probabilities(np.asarray(estimator.decision_function(X), dtype=float))
    else:
        predicted = class_numbers(np.asarray(estimator.predict(X)), metric.classes)
        return np.eye(len(metric.classes))[predicted]
    seen = class_numbers(np.asarray(estimator.classes_), metric.classes)
    if len(seen) == len(metric.classes):
        return outputs
    probabilities = np.zeros((len(outputs), len(metric.classes)))
    probabilities[:, seen] = outputs
    return probabilities


def _margins_to_probabilities(margins: np.ndarray) -> np.ndarray:
    if margins.ndim == 1:
        second = expit(margins)
        return np.column_stack([1 - second, second])
    return softmax(margins, axis=1)


def _probabilities(predictions: np.ndarray, classes: np.ndarray) -> np.ndarray:
    if predictions.ndim != 2 or predictions.shape[1] != len(classes):
        raise ValueError(
            f"probabilities have shape {predictions.shape}, but must have one column for each of the"
            f" {len(classes)} classes"
        )
    return predictions


# --- the formulas: (metric, truth, predictions, weight) -> score ---


def _mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    return float(np.average(values, weights=weight))


def _mean_loss(transform: Callable[[float], float] = lambda mean: mean) -> Any:
    """Return the formula of a metric that is a function of the mean loss per row."""

    def formula(metric: Metric, y: np.ndarray, a: np.ndarray, w: np.ndarray | None) -> float:
        assert metric.row_losses is not None
        return transform(_mean(metric.row_losses(metric, y, a), w))

    return formula


def _log_losses(metric: Metric, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    total = np.maximum(p.sum(axis=1), SMALLEST_PROBABILITY)
    true_probability = p[np.arange(len(y)), y] / total
    return -np.log(np.clip(true_probability, SMALLEST_PROBABILITY, 1.0))


def _brier_losses(metric: Metric, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    if len(metric.classes) == 2:
        return (p[:, metric.positive] - (y == metric.positive)) ** 2
    truth = np.eye(len(metric.classes))[y]
    return ((p - truth) ** 2).sum(axis=1)


def _zero_one_losses(metric: Metric, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y != predicted).astype(float)


def _cost_losses(metric: Metric, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    assert metric.costs is not None
    return metric.costs[y, predicted]


def _squared_errors(metric: Metric, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y - predicted) ** 2


def _absolute_errors(metric: Metric, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return np.abs(y - predicted)


def _curve_area(name: str) -> Any:
    """Return the formula of an area under a curve: of the positive class, or the one-vs-rest mean."""

    def formula(metric: Metric, y: np.ndarray, p: np.ndarray, w: np.ndarray | None) -> float:
        areas = [getattr(ranking, name)(w) for ranking in ranked_classes(metric, y, p)]
        areas = [float(area) for area in areas if np.isfinite(area)]
        return float(np.mean(areas)) if areas else float("nan")

    return formula


def ranked_classes(metric: Metric, y: np.ndarray, p: np.ndarray) -> list[RankedScores]:
    """Return ranked scores of the positive class; with several classes, of each class against the rest."""
    class_indices = [metric.positive] if len(metric.classes) == 2 else range(len(metric.classes))
    return [RankedScores(y == k, p[:, k]) for k in class_indices]


def _confusion_matrix(
    metric: Metric, y: np.ndarray, predicted: np.ndarray, w: np.ndarray | None
) -> np.ndarray:
    k = len(metric.classes)
    return np.bincount(y * k + predicted, weights=w, minlength=k * k).reshape(k, k).astype(float)


def _balanced_accuracy(
    metric: Metric, y: np.ndarray, predicted: np.ndarray, w: np.ndarray | None
) -> float:
    table = _confusion_matrix(metric, y, predicted, w)
    present = table.sum(axis=1) > 0
    return float((np.diag(table)[present] / table.sum(axis=1)[present]).mean())


def _f1(metric: Metric, y: np.ndarray, predicted: np.ndarray, w: np.ndarray | None) -> float:
    """Return F1 of the positive class or, with several classes, the mean F1."""
    table = _confusion_matrix(metric, y, predicted, w)
    denominators = table.sum(axis=0) + table.sum(axis=1)
    scores = np.divide(
        2 * np.diag(table), denominators, out=np.zeros(len(denominators)), where=denominators > 0
    )
    return float(scores[metric.positive] if len(scores) == 2 else scores[denominators > 0].mean())


def _matthews_correlation(
    metric: Metric, y: np.ndarray, predicted: np.ndarray, w: np.ndarray | None
) -> float:
    """Return the Matthews correlation coefficient."""
    table = _confusion_matrix(metric, y, predicted, w)
    n, truths, decisions = table.sum(), table.sum(axis=1), table.sum(axis=0)
    joint = np.trace(table) * n - truths @ decisions
    scale = np.sqrt((n**2 - truths @ truths) * (n**2 - decisions @ decisions))
    return float(joint / scale) if scale > 0 else 0.0


def _r2(metric: Metric, y: np.ndarray, predicted: np.ndarray, w: np.ndarray | None) -> float:
    variance = _mean((y - _mean(y, w)) ** 2, w)
    return 1 - _mean((y - predicted) ** 2, w) / variance if variance > 0 else float("nan")


def _median_error(
    metric: Metric, y: np.ndarray, predicted: np.ndarray, w: np.ndarray | None
) -> float:
    errors = np.abs(y - predicted)
    if w is None:
        return float(np.median(errors))
    order = np.argsort(errors)
    reached = np.cumsum(w[order])
    return float(errors[order][np.searchsorted(reached, reached[-1] / 2)])


# name: (title, higher is better, needs, formula, losses per row)
_CLASSIFICATION: dict[str, tuple[str, bool, Needs, Any, Any]] = {
    "log_loss": ("Log loss", False, "probability", _mean_loss(), _log_losses),
    "roc_auc": ("ROC AUC", True, "probability", _curve_area("roc_auc"), None),
    "average_precision": (
        "Average precision",
        True,
        "probability",
        _curve_area("average_precision"),
        None,
    ),
    "brier": ("Brier score", False, "probability", _mean_loss(), _brier_losses),
    "accuracy": ("Accuracy", True, "class", _mean_loss(lambda wrong: 1 - wrong), _zero_one_losses),
    "balanced_accuracy": ("Balanced accuracy", True, "class", _balanced_accuracy, _zero_one_losses),
    "f1": ("F1", True, "class", _f1, _zero_one_losses),
    "mcc": ("Matthews correlation", True, "class", _matthews_correlation, _zero_one_losses),
}
_REGRESSION: dict[str, tuple[str, bool, Needs, Any, Any]] = {
    "rmse": ("RMSE", False, "number", _mean_loss(np.sqrt), _squared_errors),
    "mae": ("Mean absolute error", False, "number", _mean_loss(), _absolute_errors),
    "median_error": ("Median absolute error", False, "number", _median_error, _absolute_errors),
    "r2": ("R²", True, "number", _r2, _squared_errors),
}
_COST: tuple[str, bool, Needs, Any, Any] = ("Mean cost", False, "class", _mean_loss(), _cost_losses)

# Names of other libraries for the same metrics.
_ALIASES = {"auc": "roc_auc", "pr_auc": "average_precision", "logloss": "log_loss"}


def metric_named(
    name: str,
    task: Task,
    classes: Any = (),
    *,
    positive: int = 1,
    costs: Any = None,
) -> Metric:
    """Return the metric of a task by its name; an unknown name raises an error that lists the known ones."""
    definitions = dict(_REGRESSION if task == "regression" else _CLASSIFICATION)
    if costs is not None and task != "regression":
        definitions["cost"] = _COST
    name = _ALIASES.get(name, name)
    if name not in definitions:
        raise ValueError(
            f"metric={name!r} is not a metric for a {task} task; available: {', '.join(definitions)}"
            + _suggestion(name, definitions)
        )
    title, higher, needs, formula, losses = definitions[name]
    return Metric(
        name,
        title,
        higher,
        needs,
        formula,
        losses,
        np.asarray(classes),
        positive,
        None if costs is None else np.asarray(costs, dtype=float),
    )


def _suggestion(name: str, names: Any) -> str:
    if name == "cost":
        return "; 'cost' needs a classification task and a cost matrix: pass costs"
    near = nearest(name, names)
    return "" if near is None else f"; did you mean {near!r}?"


def metrics_of(
    task: Task, classes: Any = (), *, positive: int = 1, costs: Any = None
) -> list[Metric]:
    """Return all metrics of a task; with costs, the mean cost is the first."""
    names: Sequence[str] = tuple(_REGRESSION if task == "regression" else _CLASSIFICATION)
    if costs is not None and task != "regression":
        names = ("cost", *names)
    return [metric_named(name, task, classes, positive=positive, costs=costs) for name in names]


# If the rarer class has a smaller share, a model that never predicts it scores well by most metrics.
RARE = 0.1


def default_metric(task: Task, rarest: float, costs: Any = None) -> str:
    """Return the default metric of a study.

    This is the mean cost if costs are given, average precision if the rarer of two classes is rare, the log
    loss for other classes and RMSE for regression.
    """
    if task == "regression":
        return "rmse"
    if costs is not None:
        return "cost"
    return "average_precision" if task == "binary" and rarest < RARE else "log_loss"
