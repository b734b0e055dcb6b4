"""Conversion of bagging and voting models to states of model files and back.

Each member is written as a model file of its own, so members must be models of Bosquet. The only exception is
the constant classifier of a bag that contains a single class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.utils import Bunch

from bosquet._core import ModelFileError
from bosquet._parameters import check_estimator, check_parameters
from bosquet._state.columns import feature_names_state, set_feature_names
from bosquet._state.fields import (
    read_bool,
    read_field,
    read_integer,
    read_integers,
    read_list,
    read_object,
    read_texts,
)
from bosquet._state.kinds import ModelKind
from bosquet._state.labels import labels_state, read_classes
from bosquet._state.members import (
    check_member,
    check_names,
    check_same_class,
    n_outputs,
)
from bosquet._state.out_of_bag import out_of_bag_state, set_out_of_bag
from bosquet.bagging._base import CHECKS as BAGGING_CHECKS
from bosquet.bagging._learners import ClassifierVotes, RegressorVotes
from bosquet.bagging._sampling import Sampler
from bosquet.bagging.voting import CHECKS as VOTING_CHECKS

if TYPE_CHECKING:
    from bosquet._types import Estimator, State


_OOB_NUMBERS = ("oob_score_", "oob_error_", "oob_learner_error_")
_MAX_FEATURES = 2**30

Members: TypeAlias = "list[tuple[str, Estimator]]"


def _common_state(model: Any) -> State:
    return {
        "classes": labels_state(getattr(model, "classes_", None)),
        "n_features": int(model.n_features_in_),
        "feature_names": feature_names_state(model),
    }


def _set_common_state(model: Any, state: State) -> np.ndarray | None:
    """Set the features and the classes of a model from its state, and return the classes."""
    n_features = read_integer(state, "n_features", 1, _MAX_FEATURES)
    classes = None
    if type(model).__name__.endswith("Classifier"):
        classes = model.classes_ = read_classes(read_field(state, "classes"))
    set_feature_names(model, state, "feature_names", n_features)
    return classes


# ----------------------------------------------------------------------------------------- bagging
def _check_bagged(model: Any) -> None:
    check_parameters(model, BAGGING_CHECKS)
    check_estimator(model._chosen_estimator(), "estimator")


def _bagged_to_state(model: Any) -> tuple[Members, dict[str, Any]]:
    constants = [_constant_of(model, member) for member in model.estimators_]
    members = [
        (f"learner {number}", member)
        for number, (member, constant) in enumerate(zip(model.estimators_, constants, strict=True))
        if constant is None
    ]
    if not members:
        raise ValueError(
            "every bag has one class only, so all members are constants, which a model file cannot store;"
            " use pickle or joblib"
        )
    return members, _common_state(model) | {
        "constants": constants,
        "soft": bool(getattr(model._votes_of, "soft", False)),
        "sampler": model._sampler.to_state(),
        "features": [None if f is None else f.tolist() for f in model._features],
        "out_of_bag": out_of_bag_state(model, _OOB_NUMBERS),
    }


def _constant_of(model: Any, member: Any) -> int | None:
    """Return the index in `classes_` of the class that a constant member predicts; None for other members."""
    if not hasattr(model, "classes_") or not _is_constant(member):
        return None
    return int(np.searchsorted(model.classes_, member.classes_[0]))


def _is_constant(member: Any) -> bool:
    from sklearn.dummy import DummyClassifier

    return type(member) is DummyClassifier and member.classes_.size == 1


def _bagged_from_state(model: Any, members: list[Any], state: State) -> Any:
    classes = _set_common_state(model, state)
    check_estimator(model.estimator_, "learner")
    constants = read_list(state, "constants")
    model._sampler = Sampler.from_state(read_object(state, "sampler"))
    features_drawn = read_list(state, "features", len(constants))
    model._features = [_read_features(one, model.n_features_in_) for one in features_drawn]
    if sum(constant is None for constant in constants) != len(members) or not members:
        raise ModelFileError(
            f"invalid model file: the number of members ({len(members)}) does not match the entries of"
            " 'constants' that are null"
        )
    check_same_class(members, model.estimator_)
    remaining, model.estimators_, constant = iter(members), [], _Constants(classes)
    names = getattr(model, "feature_names_in_", None)
    for number, features in enumerate(model._features):
        width = model.n_features_in_ if features is None else features.size
        if constants[number] is None:
            member = next(remaining)
            check_member(member, classes, width)
            check_names(member, names if features is None or names is None else names[features])
        else:
            member = constant.learner(constants[number], width)
        model.estimators_.append(member)
    if classes is not None:
        model._votes_of = ClassifierVotes(classes, soft=read_bool(state, "soft"))
    else:
        model._votes_of, model._n_targets = RegressorVotes(), _common_n_outputs(members)
    set_out_of_bag(model, read_object(state, "out_of_bag"), _OOB_NUMBERS)
    return model


def _read_features(state: State, n_features: int) -> np.ndarray | None:
    if state is None:
        return None
    indices = read_integers({"features": state}, "features", 0, n_features - 1)
    if not indices:
        raise ModelFileError("invalid model file: an entry of 'features' is empty")
    return np.asarray(indices, dtype=np.intp)


class _Constants:
    """Classifiers that predict one class for every row; bags of the same class share one."""

    def __init__(self, classes: np.ndarray | None):
        self.classes = classes
        self.learners: dict[tuple[int, int], Any] = {}

    def learner(self, constant: Any, n_features: int) -> Any:
        from sklearn.dummy import DummyClassifier

        if self.classes is None:
            raise ModelFileError(
                "invalid model file: 'constants' contains a class index, but the model is a regressor"
            )
        index = read_integer({"constants": constant}, "constants", 0, self.classes.size - 1)
        if (index, n_features) not in self.learners:
            # The number of features is only a number in the file, so no memory may be allocated for it.
            row, label = np.broadcast_to(0.0, (1, n_features)), self.classes[index : index + 1]
            learner = DummyClassifier(strategy="most_frequent").fit(row, label)
            self.learners[index, n_features] = learner
        return self.learners[index, n_features]


def _common_n_outputs(members: list[Any]) -> int:
    """Return the number of targets of all members; raise ModelFileError if it differs."""
    counts = {n_outputs(member) for member in members}
    if len(counts) != 1:
        raise ModelFileError(
            f"invalid model file: the members differ in their number of targets: {sorted(counts)}"
        )
    return counts.pop()


# ------------------------------------------------------------------------------------------ voting
def _check_voting(model: Any) -> None:
    check_parameters(model, VOTING_CHECKS)
    model._check_estimators()
    model._used_weights()


def _voting_to_state(model: Any) -> tuple[Members, dict[str, Any]]:
    fitted = model.named_estimators_
    dropped = [isinstance(member, str) for member in fitted.values()]
    names = [name for name, is_dropped in zip(fitted, dropped, strict=True) if not is_dropped]
    members = [(f"the learner {name!r}", fitted[name]) for name in names]
    return members, _common_state(model) | {"names": list(fitted), "dropped": dropped}


def _voting_from_state(model: Any, members: list[Any], state: dict[str, Any]) -> Any:
    classes = _set_common_state(model, state)
    names = read_texts(state, "names")
    dropped = read_list(state, "dropped", len(names))
    if not set(map(type, dropped)) <= {bool} or dropped.count(False) != len(members):
        raise ModelFileError(
            "invalid model file: the number of false entries in 'dropped' must be the number of members,"
            f" {len(members)}"
        )
    if not members or len(model._used_weights()) != len(members):
        raise ModelFileError(
            f"invalid model file: the number of weights must be the number of members, {len(members)}"
        )
    for member in members:
        check_member(member, classes, model.n_features_in_)
        check_names(member, getattr(model, "feature_names_in_", None))
    if classes is None:
        _common_n_outputs(members)
    else:
        _check_votes(model, members)
    remaining = iter(members)
    fitted = [
        (name, "drop" if is_dropped else next(remaining))
        for name, is_dropped in zip(names, dropped, strict=True)
    ]
    model.named_estimators_ = Bunch(**dict(fitted))
    model.estimators_ = members
    return model


def _check_votes(model: Any, members: list[Any]) -> None:
    """Raise ModelFileError if a member lacks the method or the classes that the voting needs."""
    needed = {"soft": "predict_proba", "real": "decision_function"}.get(model.voting, "predict")
    if not all(hasattr(member, needed) for member in members):
        raise ModelFileError(
            f"invalid model file: a member has no {needed}, which voting={model.voting!r} needs"
        )
    if model.voting == "real" and any(m.classes_.size != model.classes_.size for m in members):
        raise ModelFileError(
            "invalid model file: a member lacks a class; with voting='real' all members must have all classes"
        )


KINDS = {
    f"Bagging{task}": ModelKind(
        "bosquet.bagging",
        _bagged_to_state,
        _bagged_from_state,
        _check_bagged,
        n_outputs=lambda model: int(model._n_targets),
        members=lambda model: list(zip(model.estimators_, model._features, strict=True)),
        weights=lambda model: [1 / len(model.estimators_)] * len(model.estimators_),
        bagged_rows=lambda model: model._sampler.n_rows,
        has_members=True,
        has_learner=True,
    )
    for task in ("Classifier", "Regressor")
} | {
    f"Voting{task}": ModelKind(
        "bosquet.bagging",
        _voting_to_state,
        _voting_from_state,
        _check_voting,
        n_outputs=lambda model: n_outputs(model.estimators_[0]),
        members=lambda model: [(member, None) for member in model.estimators_],
        weights=lambda model: model._used_weights().tolist(),
        has_members=True,
    )
    for task in ("Classifier", "Regressor")
}
