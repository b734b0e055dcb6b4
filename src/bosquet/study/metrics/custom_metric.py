"""Custom metrics: a function of targets and predictions, or a scorer of scikit-learn.

>>> import numpy as np
>>> from sklearn.metrics import fbeta_score, make_scorer
>>> from bosquet.study.metrics.custom_metric import custom_metric
>>> scorer = make_scorer(fbeta_score, beta=2, pos_label="yes")
>>> metric = custom_metric(scorer, "binary", np.array(["no", "yes"]))
>>> metric.name, metric.higher_is_better, metric.needs
("fbeta_score(beta=2, pos_label='yes')", True, 'class')
>>> round(metric.score(["no", "yes", "yes"], np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]])), 3)
0.556
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bosquet._sklearn import scorer_parts
from bosquet._suggestions import with_article
from bosquet._targets import class_numbers
from bosquet.study.metrics.metric import Metric, MetricError, Needs, metrics_of
from bosquet.study.record import Task

# How scikit-learn names its functions: https://scikit-learn.org/stable/modules/model_evaluation.html
LOWER, HIGHER = ("_error", "_loss", "_deviance"), ("_score",)
LONGEST_NAME = 80


def custom_metric(
    function_or_scorer: Any,
    task: Task,
    classes: Any = (),
    *,
    positive: int = 1,
    costs: Any = None,
    weighted: bool = False,
) -> Metric:
    """Return the metric of a function (y_true, y_pred) -> float or of a scorer made by `make_scorer`.

    Parameters
    ----------
    function_or_scorer : callable
        The function or scorer. For a function, whether higher is better follows from its name, by the
        convention of scikit-learn: the name ends in _score, or in _error, _loss or _deviance.
    task, classes, positive, costs
        As in `metric_named`.
    weighted : bool
        Whether the study has sample weights. The function must then accept `sample_weight`.
    """
    function, higher, settings, response = _scorer_parts(function_or_scorer)
    name = _name_of(function, settings)
    needs = _needed_predictions(response, task, name)
    takes_weight = _takes_weight(function)
    if weighted and not takes_weight:
        raise ValueError(
            f"metric={name} has no parameter sample_weight, but the rows have sample weights; add the"
            " parameter to the function"
        )
    labels = np.asarray(classes)
    if name in [
        built_in.name for built_in in metrics_of(task, labels, positive=positive, costs=costs)
    ]:
        name += " (own)"  # the built-in metric of that name is reported too
    event = _positive_index(settings, labels, name) if needs == "probability" else 0

    def formula(
        metric: Metric, y: np.ndarray, predictions: np.ndarray, weight: np.ndarray | None
    ) -> float:
        truth, predicted = _as_labels(metric, y, predictions, event)
        arguments: dict[str, Any] = dict(settings)
        if weight is not None and takes_weight:
            weighted_rows = np.flatnonzero(weight)
            truth, predicted, arguments["sample_weight"] = (
                truth[weighted_rows],
                predicted[weighted_rows],
                weight[weighted_rows],
            )
        elif weight is not None:
            drawn = np.repeat(np.arange(len(truth)), np.asarray(weight, dtype=np.intp))
            truth, predicted = truth[drawn], predicted[drawn]
        return _call(function, metric.name, truth, predicted, arguments)

    costs = None if costs is None else np.asarray(costs, dtype=float)
    return Metric(name, name, higher, needs, formula, None, labels, positive, costs, bounded=False)


def check_metric(metric: Metric, y: np.ndarray, weight: np.ndarray | None, where: str) -> None:
    """Score constant predictions, so that a metric that fails on them is reported before any fit."""
    if metric.needs == "number":
        predictions = np.full(len(y), float(np.average(y, weights=weight)))
    else:
        numbers = class_numbers(y, metric.classes)
        shares = np.bincount(numbers, weight, minlength=len(metric.classes))
        predictions = np.tile(shares / shares.sum(), (len(y), 1))
    try:
        metric.score(y, predictions, weight)
    except MetricError as error:
        raise ValueError(f"{error} ({where}, constant predictions)") from error.__cause__


def _scorer_parts(
    function_or_scorer: Any,
) -> tuple[Callable[..., Any], bool, Mapping[str, Any], tuple[str, ...]]:
    """Return the function, whether higher is better, its further arguments, and its response methods."""
    scorer = scorer_parts(function_or_scorer)
    if scorer is not None:
        return scorer
    name = _name_of(function_or_scorer, {})
    if name.endswith(LOWER):
        return function_or_scorer, False, {}, ("predict",)
    if name.endswith(HIGHER):
        return function_or_scorer, True, {}, ("predict",)
    raise ValueError(
        f"metric={name}: it is unknown whether higher is better; pass sklearn.metrics.make_scorer({name},"
        " greater_is_better=True) (or False), or use a function name that ends in _score, _error, _loss or"
        " _deviance"
    )


def _name_of(function: Any, settings: Mapping[str, Any]) -> str:
    inner = getattr(function, "func", function)  # of functools.partial
    bound: Mapping[str, Any] = getattr(function, "keywords", {}) or {}
    name = str(getattr(inner, "__name__", type(inner).__name__)).strip("<>")
    arguments = ", ".join(f"{key}={value!r}" for key, value in {**bound, **settings}.items())
    name = f"{name}({arguments})" if arguments else name
    return " ".join(name.split())[:LONGEST_NAME]


def _needed_predictions(response: tuple[str, ...], task: Task, name: str) -> Needs:
    if task == "regression":
        if "predict" not in response:
            raise ValueError(
                f"metric={name} takes probabilities, but the target is a number; use a scorer with"
                " response_method='predict'"
            )
        return "number"
    if "predict_proba" in response:
        return "probability"
    if "predict" in response:
        return "class"
    raise ValueError(
        f"metric={name} takes {response[0]}, which not all methods have; use response_method='predict' or"
        " 'predict_proba'"
    )


def _takes_weight(function: Any) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions written in C have no signature
        return False


def _positive_index(settings: Mapping[str, Any], classes: np.ndarray, name: str) -> int:
    """Return the index of the class whose probability is passed: pos_label, by default the second class."""
    label = settings.get("pos_label")
    if label is None:
        return 1
    class_texts = [str(class_label) for class_label in classes]
    if str(label) not in class_texts:
        raise ValueError(
            f"metric={name}: pos_label={label!r} is not one of the classes {', '.join(class_texts[:6])}"
        )
    return class_texts.index(str(label))


def _as_labels(
    metric: Metric, y: np.ndarray, predictions: np.ndarray, event: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return targets and predictions as a function of scikit-learn expects them.

    These are numbers or labels; probabilities are those of one class of two, or of all of several classes.
    """
    if metric.needs == "number":
        return y.copy(), predictions.copy()  # the function may change its arguments in place
    if metric.needs == "class":
        return metric.classes[y], metric.classes[predictions]
    p = predictions / np.maximum(predictions.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return metric.classes[y], p[:, event] if len(metric.classes) == 2 else p


def _call(
    function: Callable[..., Any],
    name: str,
    y: np.ndarray,
    predicted: np.ndarray,
    more: dict[str, Any],
) -> float:
    try:
        returned = function(y, predicted, **more)
    except Exception as error:
        line = " ".join(str(error).split())[:200]
        raise MetricError(
            f"metric={name} raised {type(error).__name__} on {len(y):,} rows: {line}"
        ) from error
    try:
        score = float(returned)
    except (TypeError, ValueError) as error:
        kind = with_article(type(returned).__name__)
        raise MetricError(f"metric={name} returned {kind}; it must return one number") from error
    if not math.isfinite(score):
        raise MetricError(
            f"metric={name} returned {score} on {len(y):,} rows; it must return a finite number for all"
            " predictions, also for constant ones"
        )
    return score
