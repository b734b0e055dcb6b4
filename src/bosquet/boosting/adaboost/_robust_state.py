"""BrownBoost, LPBoost and AdaBoost.R2 models as metadata of a model file, and as trees of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_estimator, check_parameters
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
from bosquet._state.tree_sums import TreeSum
from bosquet._suggestions import with_article
from bosquet.boosting.adaboost._certificate_state import certificate_from, certificate_state
from bosquet.boosting.adaboost._vote_state import check_native, check_native_learner, check_scales
from bosquet.boosting.adaboost.votes import TreeVote

if TYPE_CHECKING:
    from bosquet._types import State
    from bosquet.boosting.adaboost._base import VoteClassifier


# The fitted attributes that a file stores besides the trees: numbers, and arrays with one entry per round or
# per learner. The distribution over the training rows is not stored, as a file has no training rows.
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


def _check(model: VoteClassifier) -> None:
    check_parameters(model, model._checks)
    check_estimator(model.estimator, none=True)


def _to_state(model: Any) -> tuple[Ensemble, State]:
    check_native(model)
    class_name = type(model).__name__
    return model._vote.ensemble, {
        "encoder": model._encoder.to_state(),
        "classes": labels_state(getattr(model, "classes_", None)),
        "certificate": certificate_state(getattr(model, "certificate_", None)),
        "rounds": int(model.n_iter_),
        "stopped_because": getattr(model, "stopped_because_", ""),
        "restarts": [int(t) for t in getattr(model, "restarts_", [])],
        "numbers": {name: _number_state(getattr(model, name)) for name in _NUMBERS[class_name]},
        "arrays": {name: to_json_numbers(getattr(model, name)) for name in _ARRAYS[class_name]},
    }


def _number_state(value: Any) -> list[Any] | None:
    """Return a number as a list of one JSON value, None for a bound that is not known."""
    return None if value is None else to_json_numbers([value])


def _from_state(model: Any, trees: Ensemble, state: State) -> Any:
    if trees.n_outputs != 1 or trees.vector_leaves or trees.n_trees == 0:
        raise ModelFileError(
            f"invalid model file: the file has {trees.n_trees} tree(s) with {trees.n_outputs} output(s); a"
            f" {type(model).__name__} has at least one tree, with one number per leaf"
        )
    check_leaf_sums(trees)
    check_native_learner(model.estimator_)
    set_encoder(model, state, trees)
    if type(model).__name__.endswith("Classifier"):
        model.classes_ = read_classes(read_field(state, "classes"))
        if model.classes_.size != 2:
            raise ModelFileError(
                f"invalid model file: 'classes' has {model.classes_.size} class(es);"
                f" {with_article(type(model).__name__)} has two"
            )
        model.certificate_ = certificate_from(read_field(state, "certificate"))
    else:
        model.restarts_ = read_integers(state, "restarts", 0)
    model._vote = TreeVote(trees)
    model.n_iter_ = read_integer(state, "rounds", 1)
    model.stopped_because_ = read_text(state, "stopped_because")
    _set_results(model, state, trees.n_trees)
    return model


def _set_results(model: Any, state: State, n_trees: int) -> None:
    class_name = type(model).__name__
    numbers, arrays = read_object(state, "numbers"), read_object(state, "arrays")
    for name in _NUMBERS[class_name]:
        value = None
        if has_value(numbers, name):
            value = float(read_numbers(numbers, name, 1, allow_non_finite=True)[0])
        setattr(model, name, value)
    for name in _ARRAYS[class_name]:
        setattr(model, name, read_numbers(arrays, name, allow_non_finite=True))
    weights = model.estimator_weights_
    if weights.size != n_trees or not ((weights > 0) & (weights < float("inf"))).all():
        raise ModelFileError(
            "invalid model file: 'estimator_weights_' must contain one finite number > 0 per tree"
            f" ({n_trees} trees)"
        )
    check_scales(weights, "estimator_weights_")
    if class_name == "BrownBoostClassifier" and not (
        0 < (model.c_ or 0) < float("inf")
        and model.times_.size == n_trees
        and model.potential_.size == n_trees + 1
    ):
        raise ModelFileError(
            f"invalid model file: 'c_' must be finite and > 0, 'times_' must have {n_trees} entries and"
            f" 'potential_' {n_trees + 1}"
        )


def _trees(model: Any) -> TreeSum | None:
    """Return the vote, which explanations show instead of the probabilities that BrownBoost has."""
    return TreeSum(ensemble=model._vote.ensemble) if isinstance(model._vote, TreeVote) else None


KINDS = {
    name: ModelKind(
        "bosquet.boosting",
        _to_state,
        _from_state,
        _check,
        # AdaBoost.R2 predicts a weighted median of its trees, which is not a sum.
        trees=None if name == "AdaBoostRegressor" else _trees,
        has_learner=True,
    )
    for name in _ARRAYS
}
