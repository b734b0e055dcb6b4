"""BrownBoost, LPBoost and AdaBoost.R2 to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.columns import check_leaf_sums, set_encoder
from bosquet._state.fields import (
    has_value,
    read_field,
    read_integer,
    read_integers,
    read_numbers,
    read_object,
    read_text,
    to_json_numbers,
)
from bosquet._state.kinds import ModelKind
from bosquet._state.labels import labels_state, read_classes
from bosquet.boosting._inputs import check_learner
from bosquet.boosting.adaboost._certificate_state import certificate_from, certificate_state
from bosquet.boosting.adaboost._vote_state import check_native, check_native_learner, check_scales
from bosquet.boosting.adaboost._votes import TreeVote

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


def _check(model: Any) -> None:
    check_parameters(model, model._checks)
    check_learner(model.estimator)


def _to_state(model: Any) -> tuple[Ensemble, dict[str, Any]]:
    check_native(model._vote, model.estimator_)
    name = type(model).__name__
    return model._vote.ensemble, {
        "encoder": model._encoder.to_state(),
        "classes": labels_state(getattr(model, "classes_", None)),
        "certificate": certificate_state(getattr(model, "certificate_", None)),
        "rounds": int(model.n_iter_),
        "stopped_because": getattr(model, "stopped_because_", ""),
        "restarts": [int(t) for t in getattr(model, "restarts_", [])],
        "numbers": {one: _number_state(getattr(model, one)) for one in _NUMBERS[name]},
        "arrays": {one: to_json_numbers(getattr(model, one)) for one in _ARRAYS[name]},
    }


def _number_state(value: Any) -> list[Any] | None:
    """None for a bound that nobody has proved."""
    return None if value is None else to_json_numbers([value])


def _from_state(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    if trees.n_outputs != 1 or trees.vector_leaves or trees.n_trees == 0:
        raise ModelFileError("the trees are not those of a vote")
    check_leaf_sums(trees)
    check_native_learner(model.estimator_)
    set_encoder(model, state, trees)
    if type(model).__name__.endswith("Classifier"):
        model.classes_ = read_classes(read_field(state, "classes"))
        if model.classes_.size != 2:
            raise ModelFileError(f"the vote is on two classes, not on {model.classes_.size}")
        model.certificate_ = certificate_from(read_field(state, "certificate"))
    else:
        model.restarts_ = read_integers(state, "restarts", 0)
    model._vote = TreeVote(trees)
    model.n_iter_ = read_integer(state, "rounds", 1)
    model.stopped_because_ = read_text(state, "stopped_because")
    _put_results(model, state, trees.n_trees)
    return model


def _put_results(model: Any, state: dict[str, Any], n_trees: int) -> None:
    name = type(model).__name__
    results, arrays = read_object(state, "numbers"), read_object(state, "arrays")
    for one in _NUMBERS[name]:
        given = has_value(results, one)
        setattr(
            model,
            one,
            float(read_numbers(results, one, 1, allow_non_finite=True)[0]) if given else None,
        )
    for one in _ARRAYS[name]:
        setattr(model, one, read_numbers(arrays, one, allow_non_finite=True))
    weights = model.estimator_weights_
    if weights.size != n_trees or not ((weights > 0) & (weights < float("inf"))).all():
        raise ModelFileError("the weights of the learners do not fit the trees")
    check_scales(weights)
    if name == "BrownBoostClassifier" and not (
        0 < (model.c_ or 0) < float("inf")
        and model.times_.size == n_trees
        and model.potential_.size == n_trees + 1
    ):
        raise ModelFileError("the rounds of the description do not fit the trees")


KINDS = {
    name: ModelKind("bosquet.boosting", _to_state, _from_state, _check, has_learner=True)
    for name in _ARRAYS
}
