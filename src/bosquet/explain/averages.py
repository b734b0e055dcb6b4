"""Averages of models: what each feature adds to an average is the average of what it adds to the members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import check_is_fitted
from bosquet.bagging._base import BaseBagging
from bosquet.bagging._learners import some_columns
from bosquet.bagging.voting import BaseVoting
from bosquet.data import decode_dictionaries
from bosquet.explain._models import names_of_features, names_of_outputs, tree_model
from bosquet.explain.explanation import Explanation
from bosquet.forests._base import BaseForest
from bosquet.trees._base import BaseTree


@dataclass
class Member:
    """A model of an average, the columns it sees (None: all), and its share."""

    model: Any
    features: np.ndarray | None
    share: float


def is_average(model: Any) -> bool:
    return isinstance(model, BaseBagging | BaseVoting)


def explain_average(
    model: Any, X: Any, background: Any, interactions: bool, explain: Callable[..., Explanation]
) -> Explanation:
    """The explanation of a bag or a vote of models that `explain` can explain, in units of its answer."""
    members = _members(model)
    classes = getattr(model, "classes_", None)
    values: Any = 0.0
    base: Any = 0.0
    for member in members:
        told = explain(
            member.model,
            some_columns(X, member.features),
            None if background is None else some_columns(background, member.features),
            interactions,
        )
        its_values, its_base = _with_outputs(told)
        if classes is not None:
            its_values, its_base = _by_class(its_values, its_base, member.model.classes_, classes)
        values = values + member.share * _in_place(
            its_values, member.features, model.n_features_in_, interactions
        )
        base = base + member.share * its_base
    if values.shape[-1] == 2 and classes is not None:
        values, base = values[..., 1:], base[1:]
    names = names_of_outputs(values.shape[-1], classes)
    if values.shape[-1] == 1:
        values, base = values[..., 0], float(base[0])
    return Explanation(
        values,
        base,
        np.asarray(decode_dictionaries(X)),
        names_of_features(model.n_features_in_, getattr(model, "feature_names_in_", None)),
        names,
        interactions,
    )


def _members(model: Any) -> list[Member]:
    check_is_fitted(model, "estimators_")
    owner = type(model).__name__
    if getattr(model, "voting", "soft") != "soft":
        raise TypeError(
            f"explain takes {owner} apart into its members' shares of classes, and voting={model.voting!r}"
            " does not add those up; fit it with voting='soft'"
        )
    if isinstance(model, BaseBagging):
        share = 1 / len(model.estimators_)
        members = [
            Member(one, features, share)
            for one, features in zip(model.estimators_, model._features, strict=True)
        ]
    else:
        members = [
            Member(one, None, float(share))
            for one, share in zip(model.estimators_, model._kept_weights(), strict=True)
        ]
    for member in members:
        if not _adds_up(member.model, hasattr(model, "classes_")):
            raise TypeError(
                f"explain needs members of {owner} whose values add up to what they answer (trees,"
                f" forests, boosted regressors of Bosquet), and {type(member.model).__name__} is none"
            )
    return members


def _adds_up(member: Any, classes: bool) -> bool:
    """Whether the values explain what the member casts in the vote, and not something it is made from."""
    if classes:
        return isinstance(member, BaseTree | BaseForest)
    found = tree_model(member)
    return found is not None and found.linear


def _with_outputs(told: Explanation) -> tuple[np.ndarray, np.ndarray]:
    if np.ndim(told.base) == 0:
        return told.values[..., None], np.array([told.base])
    return told.values, np.asarray(told.base)


def _by_class(
    values: np.ndarray, base: np.ndarray, own: np.ndarray, every: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One output a class of the average; a member of two classes tells the second's share alone."""
    if base.size == 1 and own.size == 2:
        values = np.concatenate([-values, values], axis=-1)
        base = np.array([1 - base[0], base[0]])
    places = np.searchsorted(every, own)
    wide = np.zeros((*values.shape[:-1], every.size))
    wide[..., places] = values
    shares = np.zeros(every.size)
    shares[places] = base
    return wide, shares


def _in_place(
    values: np.ndarray, features: np.ndarray | None, count: int, interactions: bool
) -> np.ndarray:
    """Values at the columns of the whole table; a column drawn twice adds up."""
    if features is None:
        return values
    rows, outputs = values.shape[0], values.shape[-1]
    if interactions:
        whole = np.zeros((count, count, rows, outputs))
        np.add.at(whole, np.ix_(features, features), values.transpose(1, 2, 0, 3))
        return whole.transpose(2, 0, 1, 3)
    whole = np.zeros((count, rows, outputs))
    np.add.at(whole, features, values.transpose(1, 0, 2))
    return whole.transpose(1, 0, 2)
