"""Checks of the member models of a composite model, when it is read from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import NotStored
from bosquet._state.kinds import kind_of
from bosquet._state.labels import is_subset
from bosquet._suggestions import with_article


def check_member(
    member: Any, classes: np.ndarray | None, n_features: int, *, probabilities: bool = False
) -> None:
    """Raise ModelFileError unless a member has the task, the classes and the number of features of the model.

    With `probabilities`, the member must also have `predict_proba`.
    """
    from bosquet._sklearn import is_classifier, is_regressor

    has_task = is_regressor if classes is None else is_classifier
    if not has_task(member) or (probabilities and not hasattr(member, "predict_proba")):
        raise ModelFileError(
            f"invalid model file: {with_article(type(member).__name__)} cannot be a member of this model"
        )
    if isinstance(getattr(member, "classes_", None), list):
        raise ModelFileError(
            "invalid model file: a classifier with several targets cannot be a member of this model"
        )
    # A member may lack a class, because its votes are assigned by label.
    if classes is not None and not is_subset(member.classes_, classes):
        raise ModelFileError(
            "invalid model file: a member has a class that the model does not have"
        )
    if getattr(member, "n_features_in_", None) != n_features:
        raise ModelFileError(
            f"invalid model file: a member has {getattr(member, 'n_features_in_', None)} features; it must"
            f" have {n_features}"
        )


def check_same_class(members: list[Any], template: Any) -> None:
    """Raise ModelFileError unless all members have the class of the estimator that they are clones of."""
    for member in members:
        if type(member) is not type(template) and not isinstance(template, NotStored):
            raise ModelFileError(
                f"invalid model file: a member is {with_article(type(member).__name__)}, but the estimator of"
                f" the model is {with_article(type(template).__name__)}"
            )


def check_names(member: Any, names: np.ndarray | None) -> None:
    """Raise ModelFileError if a member has feature names that differ from the names of its columns."""
    member_names = getattr(member, "feature_names_in_", None)
    if member_names is not None and (names is None or list(member_names) != list(names)):
        raise ModelFileError(
            "invalid model file: the feature names of a member differ from the model's"
        )


def column_kinds(model: Any) -> dict[int, str]:
    """Return "text" or "numbers" for each column of a model, by column index.

    Raises ModelFileError if two members of the model need different types: no table would be valid for both.
    """
    kind = kind_of(model)
    if kind is None:  # the constant classifier of a bag with one class
        return {}
    encoder = kind.encoder(model)
    if encoder is not None:
        kinds = {index: _column_kind(levels) for index, levels in enumerate(encoder.levels)}
        return {index: column for index, column in kinds.items() if column is not None}
    agreed: dict[int, str] = {}
    for member, columns in kind.members(model):
        for index, column in column_kinds(member).items():
            feature = index if columns is None else int(columns[index])
            if agreed.setdefault(feature, column) != column:
                raise ModelFileError(
                    f"invalid model file: column {feature} is text for one member and numeric for another"
                )
    return agreed


def _column_kind(levels: list[Any] | None) -> str | None:
    """Return None for a column with missing values only in training, which accepts all values."""
    if levels is None:
        return "numbers"
    return ("text" if isinstance(levels[0], str) else "numbers") if levels else None


def n_outputs(member: Any) -> int:
    """Return the number of values that a regressor predicts per row."""
    kind = kind_of(member)
    return 1 if kind is None else kind.n_outputs(member)
