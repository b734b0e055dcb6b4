"""Super learners to files of parts and back: a part for each learner, all of them Bosquet's own."""

from __future__ import annotations

from typing import Any

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.columns import names_state, put_names
from bosquet.io.fields import field, numbers, texts, whole
from bosquet.io.kinds import Kind
from bosquet.io.labels import classes_from, labels_state
from bosquet.io.members import check_member, check_names, numbers_said


def _check(model: Any) -> None:
    from bosquet.experts._stacking import CHECKS

    check_parameters(model, CHECKS)
    model._checked_pairs()


def _describe(model: Any) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """The learners, and how they are weighed; predictions of the folds stay behind."""
    fitted = model.named_estimators_
    return [(f"the learner {name!r}", member) for name, member in fitted.items()], {
        "classes": labels_state(getattr(model, "classes_", None)),
        "n_features": int(model.n_features_in_),
        "feature_names": names_state(model),
        "names": list(fitted),
        "weights": model.weights_.tolist(),
        "cv_loss": model.cv_table_.loss.tolist(),
        "cv_standard_error": model.cv_table_.standard_error.tolist(),
    }


def _build(model: Any, members: list[Any], state: dict[str, Any]) -> Any:
    from bosquet.experts._stacking import CVTable

    n_features, classes = whole(state, "n_features", 1), None
    if type(model).__name__.endswith("Classifier"):
        classes = model.classes_ = classes_from(field(state, "classes"))
    put_names(model, state, "feature_names", n_features)
    for member in members:
        check_member(member, classes, n_features, probabilities=classes is not None)
        check_names(member, getattr(model, "feature_names_in_", None))
        if classes is None and numbers_said(member) != 1:
            raise ModelFileError("a learner predicts several numbers for a row")
    names = texts(state, "names", len(members))
    model.named_estimators_, model.estimators_ = dict(zip(names, members, strict=True)), members
    model.weights_ = numbers(state, "weights", len(members), low=0, high=1)
    if not abs(model.weights_.sum() - 1) <= 1e-9:
        raise ModelFileError("the weights of the learners do not add up to 1")
    loss = numbers(state, "cv_loss", len(members) + 1, low=0)
    error = numbers(state, "cv_standard_error", len(members) + 1, low=0)
    model.cv_table_ = CVTable(names, loss, error, model.weights_)
    return model


KINDS = {
    f"SuperLearner{task}": Kind("bosquet.experts", _describe, _build, _check, of_parts=True)
    for task in ("Classifier", "Regressor")
}
