"""What a prediction is worth: the metrics of each task, with one way to ask a model and one to score it.

A metric knows the classes of the whole table, in sorted order, so that a fold or a test part that lacks one
of them is scored like any other.

>>> import numpy as np
>>> from bosquet.study.metrics.scoring import metric_named
>>> metric = metric_named("accuracy", "binary", np.array(["no", "yes"]))
>>> metric.score(np.array(["no", "yes"]), np.array([[0.8, 0.2], [0.6, 0.4]]))
0.5
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from bosquet._suggestions import nearest
from bosquet._targets import class_numbers
from bosquet.study import record
from bosquet.study.metrics.ranking_areas import RankedScores
from bosquet.study.record import Task

DRAWS_AT_A_TIME = 25
Needs = Literal["class", "probability", "number"]

# As scikit-learn has it: a probability of nothing costs no more than this one does.
SMALLEST_PROBABILITY = float(np.finfo(float).eps)


class MetricError(Exception):
    """A metric of the user's own failed: no method is to blame, and the study ends."""


@dataclass(frozen=True, eq=False)
class Metric:
    """A way to score the answers of a model.

    Attributes
    ----------
    name, title, higher_is_better
    needs : "class", "probability" or "number"
        What `score` takes: decisions, predict_proba's matrix with a column for each of `classes`, numbers.
        A metric of decisions also takes the matrix, and then decides itself: for the likeliest class, or
        where there are costs for the class of least expected cost.
    classes : the labels, sorted; empty for numbers
    positive : place of the class that counts as the positive one in two-class tasks
    costs : (classes, classes) or None, rows the truth, columns the decision
    bounded : whether `range` is known, as of all metrics but the user's own
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

    def score(self, y: Any, answer: Any, weight: Any = None) -> float:
        """The score of answers to the targets y, in the metric's own direction."""
        weight = None if weight is None or np.size(weight) == 0 else np.asarray(weight, dtype=float)
        return float(self.formula(self, self._truth(y), self._answers(answer), weight))

    def losses(self, y: Any, answer: Any) -> np.ndarray | None:
        """The loss of each row where the metric is a mean of such, or is a function of it; None otherwise."""
        if self.row_losses is None:
            return None
        return self.row_losses(self, self._truth(y), self._answers(answer))

    def scores_of_draws(self, y: Any, answer: Any, times: np.ndarray) -> np.ndarray:
        """The scores with each row counted so often as each draw has it; `times` is (draws, rows)."""
        truth, answers = self._truth(y), self._answers(answer)
        if self.name in ("roc_auc", "average_precision"):
            ranked = ranked_classes(self, truth, answers)
            found = np.empty(len(times))
            for first in range(0, len(times), DRAWS_AT_A_TIME):
                some = times[first : first + DRAWS_AT_A_TIME]
                areas = np.array([getattr(one, self.name)(some) for one in ranked])
                known = np.isfinite(areas)
                total = np.where(known, areas, 0.0).sum(axis=0)
                found[first : first + len(some)] = total / np.maximum(known.sum(axis=0), 1)
            return found
        return np.array([self._of_draw(truth, answers, each) for each in times])

    def _of_draw(self, truth: np.ndarray, answers: np.ndarray, times: np.ndarray) -> float:
        try:
            return self.formula(self, truth, answers, times)
        except MetricError:  # a draw may lack a class
            return float("nan")

    @property
    def range(self) -> tuple[float, float]:
        """Scores that there can be: no log loss is negative, no accuracy above 1."""
        if not self.bounded:
            return -np.inf, np.inf
        if self.higher_is_better:
            return {"mcc": -1.0, "r2": -np.inf}.get(self.name, 0.0), 1.0
        least = float(self.costs.min()) if self.name == "cost" and self.costs is not None else 0.0
        return least, np.inf

    def better(self, a: float, b: float) -> bool:
        """Whether score a is better than score b."""
        return a > b if self.higher_is_better else a < b

    @property
    def sign(self) -> int:
        """+1 where higher is better, -1 otherwise."""
        return 1 if self.higher_is_better else -1

    def described(self) -> record.Metric:
        """The metric as a record has it."""
        return {"name": self.name, "title": self.title, "higher_is_better": self.higher_is_better}

    def _truth(self, y: Any) -> np.ndarray:
        if self.needs == "number":
            return np.asarray(y, dtype=float)
        return class_numbers(np.asarray(y), self.classes)

    def _answers(self, answer: Any) -> np.ndarray:
        """Numbers, probabilities, or the places of the decided classes."""
        answer = np.asarray(answer)
        if self.needs == "number":
            return answer.astype(float).ravel()
        if self.needs == "probability":
            return _probabilities(answer, self.classes)
        if answer.ndim == 2:
            return decided(_probabilities(answer, self.classes), self.costs)
        return class_numbers(answer, self.classes)


def decided(probabilities: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray:
    """The place of the likeliest class, or of the one of least expected cost."""
    if costs is None:
        return np.argmax(probabilities, axis=1)
    return np.argmin(probabilities @ costs, axis=1)


def answer_of(estimator: Any, X: Any, metric: Metric) -> np.ndarray:
    """What a fitted estimator says of rows, in the form that any metric of the task takes.

    Numbers for regression, otherwise probabilities with a column for each of the metric's classes; those
    that the estimator has not seen have probability 0. Without `predict_proba` the margins of
    `decision_function` go through the logistic function, and mere decisions become certainties.
    """
    if metric.needs == "number":
        return np.asarray(estimator.predict(X), dtype=float).ravel()
    if hasattr(estimator, "predict_proba"):
        found = np.asarray(estimator.predict_proba(X), dtype=float)
    elif hasattr(estimator, "decision_function"):
        found = _from_margins(np.asarray(estimator.decision_function(X), dtype=float))
    else:
        said = class_numbers(np.asarray(estimator.predict(X)), metric.classes)
        return np.eye(len(metric.classes))[said]
    seen = class_numbers(np.asarray(estimator.classes_), metric.classes)
    if len(seen) == len(metric.classes):
        return found
    answer = np.zeros((len(found), len(metric.classes)))
    answer[:, seen] = found
    return answer


def _from_margins(margins: np.ndarray) -> np.ndarray:
    from scipy.special import expit, softmax

    if margins.ndim == 1:
        second = expit(margins)
        return np.column_stack([1 - second, second])
    return softmax(margins, axis=1)


def _probabilities(answer: np.ndarray, classes: np.ndarray) -> np.ndarray:
    if answer.ndim != 2 or answer.shape[1] != len(classes):
        raise ValueError(
            f"probabilities have shape {answer.shape}, but there are {len(classes)} classes"
        )
    return answer


# --- the formulas: (metric, truth, answer, weight) -> score ---


def _mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    return float(np.average(values, weights=weight))


def _of_rows(finish: Callable[[float], float] = lambda mean: mean) -> Any:
    """The formula of a metric that is a function of the mean loss of rows."""

    def formula(metric: Metric, y: np.ndarray, a: np.ndarray, w: np.ndarray | None) -> float:
        assert metric.row_losses is not None
        return finish(_mean(metric.row_losses(metric, y, a), w))

    return formula


def _log_losses(metric: Metric, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    total = np.maximum(p.sum(axis=1), SMALLEST_PROBABILITY)
    own = p[np.arange(len(y)), y] / total
    return -np.log(np.clip(own, SMALLEST_PROBABILITY, 1.0))


def _brier_losses(metric: Metric, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    if len(metric.classes) == 2:
        return (p[:, metric.positive] - (y == metric.positive)) ** 2
    truth = np.eye(len(metric.classes))[y]
    return ((p - truth) ** 2).sum(axis=1)


def _wrong(metric: Metric, y: np.ndarray, said: np.ndarray) -> np.ndarray:
    return (y != said).astype(float)


def _costs(metric: Metric, y: np.ndarray, said: np.ndarray) -> np.ndarray:
    assert metric.costs is not None
    return metric.costs[y, said]


def _squares(metric: Metric, y: np.ndarray, said: np.ndarray) -> np.ndarray:
    return (y - said) ** 2


def _absolutes(metric: Metric, y: np.ndarray, said: np.ndarray) -> np.ndarray:
    return np.abs(y - said)


def _area(name: str) -> Any:
    """The area under a curve of the positive class; of several classes the mean of each against the rest."""

    def formula(metric: Metric, y: np.ndarray, p: np.ndarray, w: np.ndarray | None) -> float:
        areas = [getattr(one, name)(w) for one in ranked_classes(metric, y, p)]
        areas = [float(area) for area in areas if np.isfinite(area)]
        return float(np.mean(areas)) if areas else float("nan")

    return formula


def ranked_classes(metric: Metric, y: np.ndarray, p: np.ndarray) -> list[RankedScores]:
    """Scores of the positive class against the other, or of each class against the rest."""
    places = [metric.positive] if len(metric.classes) == 2 else range(len(metric.classes))
    return [RankedScores(y == k, p[:, k]) for k in places]


def _confusion(metric: Metric, y: np.ndarray, said: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    k = len(metric.classes)
    return np.bincount(y * k + said, weights=w, minlength=k * k).reshape(k, k).astype(float)


def _balanced_accuracy(
    metric: Metric, y: np.ndarray, said: np.ndarray, w: np.ndarray | None
) -> float:
    table = _confusion(metric, y, said, w)
    there = table.sum(axis=1) > 0
    return float((np.diag(table)[there] / table.sum(axis=1)[there]).mean())


def _f1(metric: Metric, y: np.ndarray, said: np.ndarray, w: np.ndarray | None) -> float:
    """Of the positive class; of several classes the mean."""
    table = _confusion(metric, y, said, w)
    both = table.sum(axis=0) + table.sum(axis=1)
    scores = np.divide(2 * np.diag(table), both, out=np.zeros(len(both)), where=both > 0)
    return float(scores[metric.positive] if len(scores) == 2 else scores[both > 0].mean())


def _correlation(metric: Metric, y: np.ndarray, said: np.ndarray, w: np.ndarray | None) -> float:
    """Matthews' correlation of truth and decision."""
    table = _confusion(metric, y, said, w)
    n, truth, decision = table.sum(), table.sum(axis=1), table.sum(axis=0)
    joint = np.trace(table) * n - truth @ decision
    scale = np.sqrt((n**2 - truth @ truth) * (n**2 - decision @ decision))
    return float(joint / scale) if scale > 0 else 0.0


def _r2(metric: Metric, y: np.ndarray, said: np.ndarray, w: np.ndarray | None) -> float:
    spread = _mean((y - _mean(y, w)) ** 2, w)
    return 1 - _mean((y - said) ** 2, w) / spread if spread > 0 else float("nan")


def _median_error(metric: Metric, y: np.ndarray, said: np.ndarray, w: np.ndarray | None) -> float:
    errors = np.abs(y - said)
    if w is None:
        return float(np.median(errors))
    order = np.argsort(errors)
    reached = np.cumsum(w[order])
    return float(errors[order][np.searchsorted(reached, reached[-1] / 2)])


# name: (title, higher is better, needs, formula, losses of rows)
_CLASSIFYING: dict[str, tuple[str, bool, Needs, Any, Any]] = {
    "log_loss": ("Log loss", False, "probability", _of_rows(), _log_losses),
    "roc_auc": ("ROC AUC", True, "probability", _area("roc_auc"), None),
    "average_precision": (
        "Average precision",
        True,
        "probability",
        _area("average_precision"),
        None,
    ),
    "brier": ("Brier score", False, "probability", _of_rows(), _brier_losses),
    "accuracy": ("Accuracy", True, "class", _of_rows(lambda wrong: 1 - wrong), _wrong),
    "balanced_accuracy": ("Balanced accuracy", True, "class", _balanced_accuracy, _wrong),
    "f1": ("F1", True, "class", _f1, _wrong),
    "mcc": ("Matthews correlation", True, "class", _correlation, _wrong),
}
_REGRESSION: dict[str, tuple[str, bool, Needs, Any, Any]] = {
    "rmse": ("RMSE", False, "number", _of_rows(np.sqrt), _squares),
    "mae": ("Mean absolute error", False, "number", _of_rows(), _absolutes),
    "median_error": ("Median absolute error", False, "number", _median_error, _absolutes),
    "r2": ("R²", True, "number", _r2, _squares),
}
_COST: tuple[str, bool, Needs, Any, Any] = ("Mean cost", False, "class", _of_rows(), _costs)

# Names that other libraries use for the same.
_ALIASES = {"auc": "roc_auc", "pr_auc": "average_precision", "logloss": "log_loss"}


def metric_named(
    name: str,
    task: Task,
    classes: Any = (),
    *,
    positive: int = 1,
    costs: Any = None,
) -> Metric:
    """The metric of that name for a task; an error lists those there are."""
    known = dict(_REGRESSION if task == "regression" else _CLASSIFYING)
    if costs is not None and task != "regression":
        known["cost"] = _COST
    name = _ALIASES.get(name, name)
    if name not in known:
        raise ValueError(
            f"metric={name!r} is none of those for a {task} task: {', '.join(known)}"
            + _meant(name, known)
        )
    title, higher, needs, formula, losses = known[name]
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


def _meant(name: str, known: Any) -> str:
    if name == "cost":
        return "; 'cost' needs costs"
    near = nearest(name, known)
    return "" if near is None else f"; did you mean {near!r}?"


def metrics_of(
    task: Task, classes: Any = (), *, positive: int = 1, costs: Any = None
) -> list[Metric]:
    """Every metric of a task, costs first where there are any."""
    names: Sequence[str] = tuple(_REGRESSION if task == "regression" else _CLASSIFYING)
    if costs is not None and task != "regression":
        names = ("cost", *names)
    return [metric_named(name, task, classes, positive=positive, costs=costs) for name in names]


# Below this share of the rarer class a forecast that never names it looks good by most metrics.
RARE = 0.1


def default_metric(task: Task, rarest: float, costs: Any = None) -> str:
    """The metric a study judges by unless told: of costs where given; average precision for a rare class."""
    if task == "regression":
        return "rmse"
    if costs is not None:
        return "cost"
    return "average_precision" if task == "binary" and rarest < RARE else "log_loss"
