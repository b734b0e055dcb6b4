"""Checks of the models that another model is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet.io.labels import members_of


def check_member(
    member: Any, classes: np.ndarray | None, n_features: int, *, probabilities: bool = False
) -> None:
    """A member predicts classes or numbers as the model does, from as many columns as it is given.

    With `probabilities` it also has `predict_proba`.
    """
    from bosquet._sklearn import is_classifier, is_regressor

    of_its_kind = is_regressor if classes is None else is_classifier
    if not of_its_kind(member) or (probabilities and not hasattr(member, "predict_proba")):
        raise ModelFileError(f"a {type(member).__name__} cannot be a member of this model")
    if isinstance(getattr(member, "classes_", None), list):
        raise ModelFileError("a classifier of several targets cannot be a member of this model")
    # A member may lack a class, but its votes are placed by label.
    if classes is not None and not members_of(member.classes_, classes):
        raise ModelFileError("a member knows a class that the model does not")
    if getattr(member, "n_features_in_", None) != n_features:
        raise ModelFileError("a member was fitted to another number of features")


def check_names(member: Any, names: np.ndarray | None) -> None:
    """A member knows the columns that it is given by the same names, or by none."""
    own = getattr(member, "feature_names_in_", None)
    if own is not None and (names is None or list(own) != list(names)):
        raise ModelFileError("a member was fitted to columns of other names")


def column_kinds(model: Any) -> dict[int, str]:
    """The columns that a model takes for text and those that it takes for numbers, by their place.

    Raises ModelFileError if two members of the model disagree: no table would suit both of them.
    """
    encoder = getattr(model, "_encoder", None) or getattr(
        getattr(model, "_design", None), "encoder", None
    )
    if encoder is not None:
        kinds = {place: _kind(levels) for place, levels in enumerate(encoder.levels)}
        return {place: kind for place, kind in kinds.items() if kind is not None}
    found: dict[int, str] = {}
    for member, columns in _members(model):
        for column, kind in column_kinds(member).items():
            place = column if columns is None else int(columns[column])
            if found.setdefault(place, kind) != kind:
                raise ModelFileError(
                    f"column {place} holds text for one member of the model and numbers for another"
                )
    return found


def _kind(levels: list[Any] | None) -> str | None:
    """None for a column of which only missing values were seen: it takes whatever comes."""
    if levels is None:
        return "numbers"
    return ("text" if isinstance(levels[0], str) else "numbers") if levels else None


def _members(model: Any) -> list[tuple[Any, Any]]:
    """The models inside a model, each with the columns that it is given (None: all of them)."""
    bagged = getattr(model, "estimators_", ())
    columns = getattr(model, "_features", None) or [None] * len(bagged)
    others = [*getattr(model, "models_", ()), *(m.model for m in getattr(model, "members_", ()))]
    return [*zip(bagged, columns, strict=True), *((other, None) for other in others)]


def numbers_said(member: Any) -> int:
    """How many numbers a regressor predicts for a row."""
    if hasattr(member, "_loss_terms"):  # gradient boosting
        return int(member._loss_terms.outputs)
    if hasattr(member, "_n_targets"):  # bagging
        return int(member._n_targets)
    if hasattr(member, "named_estimators_"):  # voting, super learners
        return numbers_said(member.estimators_[0])
    return int(getattr(member, "n_outputs_", 1))
