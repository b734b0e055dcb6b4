"""Models made of other models, bagged or voting, to files of parts and back.

The members are written as model files of their own, so that only models that have one can be: those
of Bosquet. The one exception is the learner of a bag that held a single class, a constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet._sklearn import tags_of
from bosquet.io.columns import names_state, put_names
from bosquet.io.fields import field, flag, inner, listed, texts, whole, wholes
from bosquet.io.forest_models import out_of_bag_state, put_out_of_bag
from bosquet.io.kinds import Kind
from bosquet.io.labels import classes_from, labels_state
from bosquet.io.members import check_member, check_names, column_kinds, numbers_said

_OOB_NUMBERS = ("oob_score_", "oob_error_", "oob_learner_error_")
_MOST_FEATURES = 2**30

Members = list[tuple[str, Any]]


def _common_state(model: Any) -> dict[str, Any]:
    return {
        "classes": labels_state(getattr(model, "classes_", None)),
        "n_features": int(model.n_features_in_),
        "feature_names": names_state(model),
    }


def _put_common(model: Any, state: dict[str, Any]) -> np.ndarray | None:
    """Give a model the columns and the classes of its description, and return the latter."""
    n_features = whole(state, "n_features", 1, _MOST_FEATURES)
    classes = None
    if type(model).__name__.endswith("Classifier"):
        classes = model.classes_ = classes_from(field(state, "classes"))
    put_names(model, state, "feature_names", n_features)
    return classes


# ----------------------------------------------------------------------------------------- bagging
def _check_bagged(model: Any) -> None:
    from bosquet.bagging._base import KINDS
    from bosquet.bagging._learners import check_learner

    check_parameters(model, KINDS)
    check_learner(model._chosen_estimator(), "estimator")


def _describe_bagged(model: Any) -> tuple[Members, dict[str, Any]]:
    constants = [_constant_of(model, member) for member in model.estimators_]
    members = [
        (f"learner {number}", member)
        for number, (member, constant) in enumerate(zip(model.estimators_, constants, strict=True))
        if constant is None
    ]
    if not members:
        raise ValueError("every bag held one class only: there is no model to write to a file")
    return members, _common_state(model) | {
        "constants": constants,
        "soft": bool(getattr(model._vote, "soft", False)),
        "sampler": model._sampler.to_state(),
        "features": [None if f is None else f.tolist() for f in model._features],
        "out_of_bag": out_of_bag_state(model, _OOB_NUMBERS),
    }


def _constant_of(model: Any, member: Any) -> int | None:
    """The place in `classes_` of the class that a constant learner predicts; None for any other."""
    if not hasattr(model, "classes_") or not _is_constant(member):
        return None
    return int(np.searchsorted(model.classes_, member.classes_[0]))


def _is_constant(member: Any) -> bool:
    from sklearn.dummy import DummyClassifier

    return type(member) is DummyClassifier and member.classes_.size == 1


def _build_bagged(model: Any, members: list[Any], state: dict[str, Any]) -> Any:
    from bosquet.bagging._learners import ClassVotes, Predictions, check_learner
    from bosquet.bagging._sampling import Sampler

    classes = _put_common(model, state)
    check_learner(model.estimator_, "learner")
    constants = listed(state, "constants")
    model._sampler = Sampler.from_state(inner(state, "sampler"))
    drawn = listed(state, "features", len(constants))
    model._features = [_features(some, model.n_features_in_) for some in drawn]
    if sum(constant is None for constant in constants) != len(members) or not members:
        raise ModelFileError("the members do not fit the model's description")
    left, model.estimators_, constant = iter(members), [], _Constants(classes)
    names = getattr(model, "feature_names_in_", None)
    for number, features in enumerate(model._features):
        width = model.n_features_in_ if features is None else features.size
        if constants[number] is None:
            member = next(left)
            check_member(member, classes, width)
            check_names(member, names if features is None or names is None else names[features])
        else:
            member = constant.learner(constants[number], width)
        model.estimators_.append(member)
    # Rows are checked by what the learner takes, before the members see them.
    takes_text = tags_of(model.estimator_).input_tags.string
    if not takes_text and "text" in column_kinds(model).values():
        raise ModelFileError("the members take text, and the learner of the model does not")
    if classes is not None:
        model._vote = ClassVotes(classes, soft=flag(state, "soft"))
    else:
        model._vote, model._n_targets = Predictions(), _agreed_numbers(members)
    put_out_of_bag(model, inner(state, "out_of_bag"), _OOB_NUMBERS)
    return model


def _features(state: Any, n_features: int) -> np.ndarray | None:
    if state is None:
        return None
    found = wholes({"features": state}, "features", 0, n_features - 1)
    if not found:
        raise ModelFileError("a member has no features")
    return np.asarray(found, dtype=np.intp)


class _Constants:
    """Learners that predict the same class for every row; bags of the same class share one."""

    def __init__(self, classes: np.ndarray | None):
        self.classes = classes
        self.made: dict[tuple[int, int], Any] = {}

    def learner(self, constant: Any, n_features: int) -> Any:
        from sklearn.dummy import DummyClassifier

        if self.classes is None:
            raise ModelFileError("a constant member predicts a class, and the model has none")
        place = whole({"constants": constant}, "constants", 0, self.classes.size - 1)
        if (place, n_features) not in self.made:
            # The number of features is the file's word alone: no memory is taken for it.
            row, label = np.broadcast_to(0.0, (1, n_features)), self.classes[place : place + 1]
            learner = DummyClassifier(strategy="most_frequent").fit(row, label)
            self.made[place, n_features] = learner
        return self.made[place, n_features]


def _agreed_numbers(members: list[Any]) -> int:
    found = {numbers_said(member) for member in members}
    if len(found) != 1:
        raise ModelFileError("the members do not agree on the number of targets")
    return found.pop()


# ------------------------------------------------------------------------------------------ voting
def _check_voting(model: Any) -> None:
    from bosquet.bagging.voting import KINDS

    check_parameters(model, KINDS)
    model._check_estimators()
    model._kept_weights()


def _describe_voting(model: Any) -> tuple[Members, dict[str, Any]]:
    fitted = model.named_estimators_
    dropped = [isinstance(member, str) for member in fitted.values()]
    kept = [name for name, gone in zip(fitted, dropped, strict=True) if not gone]
    members = [(f"the learner {name!r}", fitted[name]) for name in kept]
    return members, _common_state(model) | {"names": list(fitted), "dropped": dropped}


def _build_voting(model: Any, members: list[Any], state: dict[str, Any]) -> Any:
    from sklearn.utils import Bunch

    classes = _put_common(model, state)
    names = texts(state, "names")
    dropped = listed(state, "dropped", len(names))
    if not set(map(type, dropped)) <= {bool} or dropped.count(False) != len(members):
        raise ModelFileError("the names of the members do not fit them")
    if not members or len(model._kept_weights()) != len(members):
        raise ModelFileError("the weights of the members do not fit them")
    for member in members:
        check_member(member, classes, model.n_features_in_)
        check_names(member, getattr(model, "feature_names_in_", None))
    if classes is None:
        _agreed_numbers(members)
    else:
        _check_votes(model, members)
    left = iter(members)
    fitted = [
        (name, "drop" if gone else next(left)) for name, gone in zip(names, dropped, strict=True)
    ]
    model.named_estimators_ = Bunch(**dict(fitted))
    model.estimators_ = members
    return model


def _check_votes(model: Any, members: list[Any]) -> None:
    """The members can vote as they are to, and with decisions in as many columns each."""
    needed = {"soft": "predict_proba", "real": "decision_function"}.get(model.voting, "predict")
    if not all(hasattr(member, needed) for member in members):
        raise ModelFileError(f"a member has no {needed}, which voting={model.voting!r} needs")
    if model.voting == "real" and any(m.classes_.size != model.classes_.size for m in members):
        raise ModelFileError("a member does not decide between all classes")


KINDS = {
    f"Bagging{task}": Kind(
        "bosquet.bagging",
        _describe_bagged,
        _build_bagged,
        _check_bagged,
        of_parts=True,
        has_learner=True,
    )
    for task in ("Classifier", "Regressor")
} | {
    f"Voting{task}": Kind(
        "bosquet.bagging", _describe_voting, _build_voting, _check_voting, of_parts=True
    )
    for task in ("Classifier", "Regressor")
}
