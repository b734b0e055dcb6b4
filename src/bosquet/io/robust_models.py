"""BrownBoost, LPBoost and AdaBoost.R2 to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._fitted import remember_columns
from bosquet._parameters import check_parameters
from bosquet.io.certificates import certificate_from, certificate_state
from bosquet.io.description import classes_from, classes_state, plain_parameters
from bosquet.io.vote_models import _learner_from

# What each model keeps besides its trees: numbers, and arrays with an entry a round or a learner.
# The distribution of rows is about training rows, which a file does not hold.
_NUMBERS = {
    "BrownBoostClassifier": ("c_", "time_left_"),
    "LPBoostClassifier": ("rho_", "value_", "agreement_", "upper_bound_", "gap_"),
    "AdaBoostRegressor": (),
}
_ARRAYS = {
    "BrownBoostClassifier": ("estimator_weights_", "estimator_errors_", "times_", "potential_"),
    "LPBoostClassifier": ("estimator_weights_", "values_", "agreements_"),
    "AdaBoostRegressor": ("estimator_weights_", "estimator_errors_"),
}
NAMES = tuple(_ARRAYS)


def robust_metadata(estimator: Any) -> dict[str, Any]:
    """The description of a fitted vote of native learners."""
    from bosquet.boosting._votes import TreeVote

    learner = estimator.estimator_
    if not isinstance(estimator._vote, TreeVote):
        raise ValueError(
            f"a vote of {type(learner).__name__} holds objects of other libraries, which a model file does"
            " not carry; use pickle or joblib"
        )
    name = type(estimator).__name__
    parameters = plain_parameters(estimator)
    for one in ("estimator", "base_estimator"):
        parameters.pop(one, None)  # described by itself
    return {
        "estimator": name,
        "parameters": parameters,
        "learner_given": estimator.estimator is not None
        or not isinstance(estimator.base_estimator, str),
        "learner": None
        if learner is None
        else {"name": type(learner).__name__, "parameters": plain_parameters(learner)},
        "encoder": estimator._encoder.to_state(),
        "classes": classes_state(getattr(estimator, "classes_", None)),
        "certificate": certificate_state(getattr(estimator, "certificate_", None)),
        "rounds": int(estimator.n_iter_),
        "stopped_because": getattr(estimator, "stopped_because_", ""),
        "restarts": [int(t) for t in getattr(estimator, "restarts_", [])],
        "numbers": {field: _number(getattr(estimator, field)) for field in _NUMBERS[name]},
        "arrays": {field: getattr(estimator, field).tolist() for field in _ARRAYS[name]},
    }


def _number(value: Any) -> float | None:
    """None for a bound that nobody has proved."""
    return None if value is None else float(value)


def robust_from(cls: type, ensemble: Any, metadata: dict[str, Any]) -> Any:
    """The estimator that `robust_metadata` described."""
    from bosquet.boosting._votes import TreeVote
    from bosquet.data import TableEncoder

    model: Any = cls()
    _take_parameters(model, metadata)
    encoder = TableEncoder.from_state(metadata["encoder"])
    if encoder.n_features != ensemble.n_features or ensemble.n_outputs != 1:
        raise ModelFileError("the trees do not fit the model's description")
    if ensemble.vector_leaves or ensemble.n_trees == 0:
        raise ModelFileError("the trees are not those of a vote")
    if list(encoder.categories) != list(ensemble.categories):
        raise ModelFileError("the trees' categories do not fit the model's description")
    if cls.__name__.endswith("Classifier"):
        model.classes_ = classes_from(metadata["classes"])
        if model.classes_.size != 2:
            raise ModelFileError(f"a {cls.__name__} has two classes, not {model.classes_.size}")
        model.certificate_ = certificate_from(metadata.get("certificate"))
    else:
        model.restarts_ = [int(t) for t in metadata["restarts"]]
    model._vote = TreeVote(ensemble)
    model.n_iter_ = int(metadata["rounds"])
    model.stopped_because_ = str(metadata.get("stopped_because", ""))
    remember_columns(model, encoder)
    _take_results(model, metadata, ensemble.n_trees)
    return model


def _take_parameters(model: Any, metadata: dict[str, Any]) -> None:
    parameters = metadata["parameters"]
    if "estimator" in parameters or "base_estimator" in parameters:
        raise ModelFileError("a learner is described by itself, not among the parameters")
    model.set_params(**parameters)
    model.estimator_ = _learner_from(metadata["learner"])
    if metadata["learner_given"]:
        model.set_params(estimator=model.estimator_)
    check_parameters(model, model._checks)
    threads = model.n_jobs
    if threads is not None and not (isinstance(threads, int) and abs(threads) < 2**15):
        raise ModelFileError(f"n_jobs={threads!r} is not a number of threads")


def _take_results(model: Any, metadata: dict[str, Any], n_trees: int) -> None:
    name = type(model).__name__
    numbers = metadata["numbers"]
    for field in _NUMBERS[name]:
        setattr(model, field, _number(numbers[field]))
    for field in _ARRAYS[name]:
        setattr(model, field, np.asarray(metadata["arrays"][field], dtype=float))
        if getattr(model, field).ndim != 1:
            raise ModelFileError(f"{field} is not a list of numbers")
    weights = model.estimator_weights_
    if weights.size != n_trees or not (weights > 0).all():
        raise ModelFileError("the weights of the learners do not fit the trees")
    if name == "BrownBoostClassifier" and not (
        (model.c_ or 0) > 0
        and model.times_.size == n_trees
        and model.potential_.size == n_trees + 1
    ):
        raise ModelFileError("the rounds of the description do not fit the trees")
