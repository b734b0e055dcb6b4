"""Conversion of super learners to states of model files and back; the learners are members of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.columns import feature_names_state, set_feature_names
from bosquet._state.fields import read_field, read_integer, read_numbers, read_texts
from bosquet._state.kinds import ModelKind
from bosquet._state.labels import labels_state, read_classes
from bosquet._state.members import check_member, check_names, n_outputs
from bosquet.experts._stacking import CHECKS, CVTable

if TYPE_CHECKING:
    from bosquet._types import Estimator, State
    from bosquet.experts._stacking import BaseSuperLearner


def _check(model: BaseSuperLearner) -> None:
    check_parameters(model, CHECKS)
    model._checked_pairs()


def _to_state(model: BaseSuperLearner) -> tuple[list[tuple[str, Estimator]], dict[str, Any]]:
    """Return the learners and their weights; the cross-validated predictions are not written."""
    fitted = model.named_estimators_
    return [(f"the learner {name!r}", member) for name, member in fitted.items()], {
        "classes": labels_state(getattr(model, "classes_", None)),
        "n_features": int(model.n_features_in_),
        "feature_names": feature_names_state(model),
        "names": list(fitted),
        "weights": model.weights_.tolist(),
        "cv_loss": model.cv_table_.loss.tolist(),
        "cv_standard_error": model.cv_table_.standard_error.tolist(),
    }


def _from_state(model: BaseSuperLearner, members: list[Any], state: State) -> Any:
    n_features, classes = read_integer(state, "n_features", 1), None
    if type(model).__name__.endswith("Classifier"):
        classes = model.classes_ = read_classes(read_field(state, "classes"))
    set_feature_names(model, state, "feature_names", n_features)
    for member in members:
        check_member(member, classes, n_features, probabilities=classes is not None)
        check_names(member, getattr(model, "feature_names_in_", None))
        if classes is None and n_outputs(member) != 1:
            raise ModelFileError(
                f"invalid model file: a learner predicts {n_outputs(member)} values per row; it must"
                " predict one"
            )
    names = read_texts(state, "names", len(members))
    model.named_estimators_, model.estimators_ = dict(zip(names, members, strict=True)), members
    model.weights_ = read_numbers(state, "weights", len(members), low=0, high=1)
    if not abs(model.weights_.sum() - 1) <= 1e-9:
        raise ModelFileError(
            f"invalid model file: 'weights' sums to {model.weights_.sum():g}; it must sum to 1"
        )
    loss = read_numbers(state, "cv_loss", len(members) + 1, low=0)
    error = read_numbers(state, "cv_standard_error", len(members) + 1, low=0)
    model.cv_table_ = CVTable(names, loss, error, model.weights_)
    return model


KINDS = {
    f"SuperLearner{task}": ModelKind(
        "bosquet.experts",
        _to_state,
        _from_state,
        _check,
        n_outputs=lambda model: n_outputs(model.estimators_[0]),
        members=lambda model: [(member, None) for member in model.estimators_],
        has_members=True,
    )
    for task in ("Classifier", "Regressor")
}
