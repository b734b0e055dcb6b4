"""A metric of the user's own: a function of targets and predictions, or a scorer of scikit-learn.

>>> import numpy as np
>>> from sklearn.metrics import fbeta_score, make_scorer
>>> from bosquet.study.metrics.own_metric import own_metric
>>> scorer = make_scorer(fbeta_score, beta=2, pos_label="yes")
>>> metric = own_metric(scorer, "binary", np.array(["no", "yes"]))
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
from bosquet._targets import class_numbers
from bosquet.study.metrics.scoring import Metric, MetricError, Needs, metrics_of
from bosquet.study.record import Task

# How scikit-learn names its functions: https://scikit-learn.org/stable/modules/model_evaluation.html
LOWER, HIGHER = ("_error", "_loss", "_deviance"), ("_score",)
LONGEST_NAME = 80


def own_metric(
    given: Any,
    task: Task,
    classes: Any = (),
    *,
    positive: int = 1,
    costs: Any = None,
    weighted: bool = False,
) -> Metric:
    """The metric that a function (y_true, y_pred) -> float, or a scorer of `make_scorer`, stands for.

    Parameters
    ----------
    given : callable
        Of a function alone the name tells whether higher is better, by scikit-learn's convention: it ends in
        _score, or in _error, _loss or _deviance.
    task, classes, positive, costs
        As in `metric_named`.
    weighted : bool
        Whether the study has weights, which a function has to take as `sample_weight`.
    """
    function, higher, settings, response = _parts(given)
    name = _name_of(function, settings)
    needs = _needs(response, task, name)
    takes_weight = _takes_weight(function)
    if weighted and not takes_weight:
        raise ValueError(
            f"metric={name} has no parameter sample_weight, and the rows of the study have weights: add one"
        )
    labels = np.asarray(classes)
    if name in [one.name for one in metrics_of(task, labels, positive=positive, costs=costs)]:
        name += " (own)"  # beside the study's own metric of that name
    place = _probability_of(settings, labels, name) if needs == "probability" else 0

    def formula(
        metric: Metric, y: np.ndarray, answer: np.ndarray, weight: np.ndarray | None
    ) -> float:
        truth, said = _as_users_know_them(metric, y, answer, place)
        more: dict[str, Any] = dict(settings)
        if weight is not None and takes_weight:
            counts = np.flatnonzero(weight)
            truth, said, more["sample_weight"] = truth[counts], said[counts], weight[counts]
        elif weight is not None:
            drawn = np.repeat(np.arange(len(truth)), np.asarray(weight, dtype=np.intp))
            truth, said = truth[drawn], said[drawn]
        return _called(function, metric.name, truth, said, more)

    costs = None if costs is None else np.asarray(costs, dtype=float)
    return Metric(name, name, higher, needs, formula, None, labels, positive, costs, bounded=False)


def check_metric(metric: Metric, y: np.ndarray, weight: np.ndarray | None, where: str) -> None:
    """Score constant predictions, as the study will: a metric that fails on these is found before any fit."""
    if metric.needs == "number":
        answer = np.full(len(y), float(np.average(y, weights=weight)))
    else:
        numbers = class_numbers(y, metric.classes)
        shares = np.bincount(numbers, weight, minlength=len(metric.classes))
        answer = np.tile(shares / shares.sum(), (len(y), 1))
    try:
        metric.score(y, answer, weight)
    except MetricError as error:
        raise ValueError(f"{error} ({where}, constant predictions)") from error.__cause__


def _parts(given: Any) -> tuple[Callable[..., Any], bool, Mapping[str, Any], tuple[str, ...]]:
    """The function, whether higher is better, further arguments, and what of a model it takes."""
    scorer = scorer_parts(given)
    if scorer is not None:
        return scorer
    name = _name_of(given, {})
    if name.endswith(LOWER):
        return given, False, {}, ("predict",)
    if name.endswith(HIGHER):
        return given, True, {}, ("predict",)
    raise ValueError(
        f"metric={name}: whether higher is better is not known; pass sklearn.metrics.make_scorer({name},"
        " greater_is_better=True) or False, or let its name end in _score, _error, _loss or _deviance"
    )


def _name_of(function: Any, settings: Mapping[str, Any]) -> str:
    inner = getattr(function, "func", function)  # of functools.partial
    bound: Mapping[str, Any] = getattr(function, "keywords", {}) or {}
    name = str(getattr(inner, "__name__", type(inner).__name__)).strip("<>")
    told = ", ".join(f"{key}={value!r}" for key, value in {**bound, **settings}.items())
    name = f"{name}({told})" if told else name
    return " ".join(name.split())[:LONGEST_NAME]


def _needs(response: tuple[str, ...], task: Task, name: str) -> Needs:
    if task == "regression":
        if "predict" not in response:
            raise ValueError(
                f"metric={name} takes probabilities, and the target is a number: it needs predictions"
            )
        return "number"
    if "predict_proba" in response:
        return "probability"
    if "predict" in response:
        return "class"
    raise ValueError(
        f"metric={name} takes {response[0]}, which not all methods have: use response_method 'predict' or"
        " 'predict_proba'"
    )


def _takes_weight(function: Any) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function without a signature, such as some of C
        return False


def _probability_of(settings: Mapping[str, Any], classes: np.ndarray, name: str) -> int:
    """Of two classes the one whose probability is passed: pos_label, or the second, as in scikit-learn."""
    label = settings.get("pos_label")
    if label is None:
        return 1
    known = [str(one) for one in classes]
    if str(label) not in known:
        raise ValueError(f"metric={name}: pos_label is none of the classes {', '.join(known[:6])}")
    return known.index(str(label))


def _as_users_know_them(
    metric: Metric, y: np.ndarray, answer: np.ndarray, place: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, labels, or probabilities: of one class of two, of all of several."""
    if metric.needs == "number":
        return y.copy(), answer.copy()  # a function may sort what it is given
    if metric.needs == "class":
        return metric.classes[y], metric.classes[answer]
    p = answer / np.maximum(answer.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return metric.classes[y], p[:, place] if len(metric.classes) == 2 else p


def _called(
    function: Callable[..., Any], name: str, y: np.ndarray, said: np.ndarray, more: dict[str, Any]
) -> float:
    try:
        found = function(y, said, **more)
    except Exception as error:
        line = " ".join(str(error).split())[:200]
        raise MetricError(
            f"metric={name} raised {type(error).__name__} on {len(y):,} rows: {line}"
        ) from error
    try:
        score = float(found)
    except (TypeError, ValueError) as error:
        kind = type(found).__name__
        raise MetricError(f"metric={name} returned a {kind}: it must return one number") from error
    if not math.isfinite(score):
        raise MetricError(
            f"metric={name} returned {score} on {len(y):,} rows: it must return a finite number for any"
            " predictions, also for constant ones"
        )
    return score
