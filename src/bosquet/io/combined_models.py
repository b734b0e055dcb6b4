"""Models made of other models, bagged or voting, to files of parts and back.

The members are written as model files of their own, so that only models that have one can be: those
of Bosquet. The one exception is the learner of a bag that held a single class, a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.description import (
    classes_from,
    classes_state,
    number_from,
    number_or_none,
    plain_parameters,
)

# Names in files are looked up here.
BAGGED = ("BaggingClassifier", "BaggingRegressor")
VOTING = ("VotingClassifier", "VotingRegressor")

_OOB_NUMBERS = ("oob_score_", "oob_error_", "oob_learner_error_")


def combined_parts(model: Any, write: Callable[[Any], bytes]) -> tuple[list[bytes], dict[str, Any]]:
    """The members of a fitted model as files, by `write`, and its description."""
    metadata: dict[str, Any] = {
        "estimator": type(model).__name__,
        "parameters": plain_parameters(model),
        "classes": classes_state(getattr(model, "classes_", None)),
        "n_features": int(model.n_features_in_),
        "feature_names": None,
        "constants": [_constant_of(model, member) for member in model.estimators_],
    }
    if hasattr(model, "feature_names_in_"):
        metadata["feature_names"] = [str(name) for name in model.feature_names_in_]
    describe = _describe_bagged if metadata["estimator"] in BAGGED else _describe_voting
    names = describe(model, metadata)
    parts = [
        part_of(name, member, write)
        for name, member, constant in zip(
            names, model.estimators_, metadata["constants"], strict=True
        )
        if constant is None
    ]
    if not parts:
        raise ValueError("every bag held one class only: there is no model to write to a file")
    return parts, metadata


def part_of(name: str, member: Any, write: Callable[[Any], bytes]) -> bytes:
    kind = f"{type(member).__module__}.{type(member).__qualname__}"
    if not kind.startswith("bosquet."):
        raise ValueError(
            f"{name} is a {kind}, which a model file does not carry: members must be Bosquet's own models;"
            " use pickle or joblib"
        )
    try:
        return write(member)
    except ValueError as error:
        raise ValueError(f"{name} ({type(member).__name__}) cannot be saved: {error}") from error


def _constant_of(model: Any, member: Any) -> int | None:
    """The place in `classes_` of the class that a constant learner says; None for any other."""
    if not hasattr(model, "classes_") or not _is_constant(member):
        return None
    return int(np.searchsorted(model.classes_, member.classes_[0]))


def _is_constant(member: Any) -> bool:
    from sklearn.dummy import DummyClassifier

    return type(member) is DummyClassifier and member.classes_.size == 1


def _describe_bagged(model: Any, metadata: dict[str, Any]) -> list[str]:
    metadata["has_estimator"] = model.estimator is not None or model.base_estimator != "deprecated"
    metadata["sampler"] = model._sampler.to_state()
    metadata["features"] = [None if f is None else f.tolist() for f in model._features]
    for name in _OOB_NUMBERS:
        if hasattr(model, name):
            metadata[name] = number_or_none(getattr(model, name))
    if hasattr(model, "oob_curve_"):
        metadata["oob_curve_"] = [number_or_none(error) for error in model.oob_curve_]
    return [f"learner {number}" for number in range(len(model.estimators_))]


def _describe_voting(model: Any, metadata: dict[str, Any]) -> list[str]:
    fitted = model.named_estimators_
    metadata["names"] = list(fitted)
    metadata["dropped"] = [isinstance(member, str) for member in fitted.values()]
    return [
        f"the learner {name!r}" for name, member in fitted.items() if not isinstance(member, str)
    ]


# --------------------------------------------------------------------------------------- and back
def combined_from(
    parts: list[bytes], metadata: dict[str, Any], read: Callable[[bytes], Any]
) -> Any:
    """The model that `combined_parts` described; members by `read`."""
    import bosquet.bagging

    name = metadata["estimator"]
    if name not in (*BAGGED, *VOTING):
        raise ModelFileError(f"the model is a {name!r} of parts, which this version does not know")
    classes = classes_from(metadata["classes"]) if name.endswith("Classifier") else None
    if classes is not None and (classes.size == 0 or (classes[1:] <= classes[:-1]).any()):
        raise ModelFileError("the classes must ascend")
    n_features, names = metadata["n_features"], metadata["feature_names"]
    if type(n_features) is not int or n_features < 1:
        raise ModelFileError("the number of features is not valid")
    members = _members(parts, metadata["constants"], read, classes, n_features)
    build = _bagged_from if name in BAGGED else _voting_from
    model = build(getattr(bosquet.bagging, name), metadata, members, classes)
    model.estimators_ = members
    model.n_features_in_ = n_features
    if classes is not None:
        model.classes_ = classes
    if names is not None:
        if len(names) != n_features or not all(isinstance(name, str) for name in names):
            raise ModelFileError("the names of the features do not fit them")
        model.feature_names_in_ = np.asarray(names, dtype=object)
    return model


def _members(
    parts: list[bytes],
    constants: list[Any],
    read: Callable[[bytes], Any],
    classes: np.ndarray | None,
    n_features: int,
) -> list[Any]:
    if sum(constant is None for constant in constants) != len(parts):
        raise ModelFileError("the members do not fit the model's description")
    left = iter(parts)
    members = []
    for constant in constants:
        if constant is None:
            member = read(next(left))
            check_member(member, classes)
        else:
            member = _always(constant, classes, n_features)
        members.append(member)
    if classes is None and len({_columns_of(member) for member in members}) != 1:
        raise ModelFileError("the members do not agree on the number of targets")
    return members


def _always(place: Any, classes: np.ndarray | None, n_features: int) -> Any:
    from sklearn.dummy import DummyClassifier

    if classes is None or type(place) is not int or not 0 <= place < classes.size:
        raise ModelFileError("the class of a constant member does not exist")
    learner = DummyClassifier(strategy="most_frequent")
    return learner.fit(np.zeros((1, n_features)), classes[place : place + 1])


def check_member(member: Any, classes: np.ndarray | None) -> None:
    own = getattr(member, "classes_", None)
    if (own is None) != (classes is None) or isinstance(own, list):
        raise ModelFileError(f"a {type(member).__name__} cannot be a member of this model")
    # A member may lack a class, but its votes are placed by label.
    if own is not None and classes is not None and not np.isin(own, classes).all():
        raise ModelFileError("a member knows a class that the model does not")


def _columns_of(member: Any) -> int:
    """Numbers that a regressor says of a row."""
    if hasattr(member, "_loss_terms"):
        return int(member._loss_terms.outputs)
    if hasattr(member, "estimators_"):
        return _columns_of(member.estimators_[0])
    return int(member.n_outputs_)


def _bagged_from(
    cls: type, metadata: dict[str, Any], members: list[Any], classes: np.ndarray | None
) -> Any:
    from bosquet._sklearn import clone
    from bosquet.bagging._base import KINDS
    from bosquet.bagging._learners import ClassVotes, Predictions
    from bosquet.bagging._sampling import Sampler

    model: Any = cls()
    model.set_params(**metadata["parameters"])
    check_parameters(model, KINDS)
    # A learner differs from what it was cloned from by its seeds alone.
    template = clone(next(member for member in members if not _is_constant(member)))
    seeds = [name for name in template.get_params() if name.endswith("random_state")]
    model.estimator_ = template.set_params(**dict.fromkeys(seeds))
    if metadata["has_estimator"]:
        model.estimator = template
    model._sampler = Sampler.from_state(metadata["sampler"])
    n_features = metadata["n_features"]
    model._features = [_features(some, n_features) for some in metadata["features"]]
    for member, some in zip(members, model._features, strict=True):
        if not _is_constant(member):
            check_width(member, n_features if some is None else some.size)
    if classes is not None:
        model._vote = ClassVotes(classes, soft=model.voting == "soft")
    else:
        model._vote, model._n_targets = Predictions(), _columns_of(members[0])
    for name in _OOB_NUMBERS:
        if name in metadata:
            setattr(model, name, number_from(metadata[name]))
    if "oob_curve_" in metadata:
        model.oob_curve_ = np.array([number_from(error) for error in metadata["oob_curve_"]])
    return model


def _features(state: Any, n_features: int) -> np.ndarray | None:
    if state is None:
        return None
    if not state or any(type(f) is not int or not 0 <= f < n_features for f in state):
        raise ModelFileError("a member has a feature that does not exist")
    return np.asarray(state, dtype=np.intp)


def check_width(member: Any, n_features: int) -> None:
    if member.n_features_in_ != n_features:
        raise ModelFileError("a member was fitted to another number of features")


def _voting_from(
    cls: type, metadata: dict[str, Any], members: list[Any], classes: np.ndarray | None
) -> Any:
    from sklearn.utils import Bunch

    from bosquet._sklearn import clone
    from bosquet.bagging.voting import KINDS

    names, dropped = metadata["names"], metadata["dropped"]
    if sum(gone is False for gone in dropped) != len(members):
        raise ModelFileError("the names of the members do not fit them")
    left = iter(members)
    fitted = {
        name: "drop" if gone else next(left) for name, gone in zip(names, dropped, strict=True)
    }
    model: Any = cls([(n, m if isinstance(m, str) else clone(m)) for n, m in fitted.items()])
    model.set_params(**metadata["parameters"])
    check_parameters(model, KINDS)
    model._check_estimators()
    model._kept_weights()
    for member in members:
        check_width(member, metadata["n_features"])
    model.named_estimators_ = Bunch(**fitted)
    return model
