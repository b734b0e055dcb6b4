"""Shapley values of averages of models: the average of the members' Shapley values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import check_is_fitted, columns_of
from bosquet._state.kinds import nearest_kind
from bosquet._suggestions import with_article
from bosquet.data import decode_dictionaries
from bosquet.explain.explanation import Explanation, explain_trees
from bosquet.explain.tree_models import feature_names, output_names, tree_model


@dataclass
class WeightedMember:
    """A member of an average of models, the columns it uses (None: all), and its weight."""

    model: Any
    features: np.ndarray | None
    weight: float

    def table(self, X: Any) -> Any:
        """Return the columns of X that the member uses."""
        return X if self.features is None else columns_of(X, self.features)


def explain_average(
    model: Any, members: list[WeightedMember], X: Any, background: Any, interactions: bool
) -> Explanation:
    """Compute the explanation of a bagging or voting ensemble, on the scale of its predictions."""
    classes = getattr(model, "classes_", None)
    values: Any = 0.0
    base: Any = 0.0
    for member in members:
        explanation = explain_trees(
            member.model,
            member.table(X),
            None if background is None else member.table(background),
            interactions,
        )
        member_values, member_base = _with_output_axis(explanation)
        if classes is not None:
            member_values, member_base = _spread_over_classes(
                member_values, member_base, member.model.classes_, classes
            )
        values = values + member.weight * _to_all_features(
            member_values, member.features, model.n_features_in_, interactions
        )
        base = base + member.weight * member_base
    if values.shape[-1] == 2 and classes is not None:
        values, base = values[..., 1:], base[1:]
    names = output_names(values.shape[-1], classes)
    if values.shape[-1] == 1:
        values, base = values[..., 0], float(base[0])
    return Explanation(
        values,
        base,
        np.asarray(decode_dictionaries(X)),
        feature_names(model.n_features_in_, getattr(model, "feature_names_in_", None)),
        names,
        interactions,
    )


def weighted_members(model: Any) -> list[WeightedMember] | None:
    """Return the members of a fitted bagging or voting ensemble; None for a model that is not an average."""
    kind = nearest_kind(model)
    if kind is None or kind.weights is None:
        return None
    check_is_fitted(model)
    owner = type(model).__name__
    if getattr(model, "voting", "soft") != "soft":
        raise TypeError(
            f"explain does not support {owner} with voting={model.voting!r}, which does not average"
            " probabilities; fit it with voting='soft'"
        )
    members = [
        WeightedMember(member, features, weight)
        for (member, features), weight in zip(kind.members(model), kind.weights(model), strict=True)
    ]
    for member in members:
        if not _is_additive(member.model, hasattr(model, "classes_")):
            raise TypeError(
                f"explain does not support {with_article(type(member.model).__name__)} as a member of"
                f" {owner}; its members must be Bosquet's decision trees, forests or, for regression, boosted"
                " trees that predict their sum (no logarithmic link, one quantile or expectile)"
            )
    return members


def _is_additive(member: Any, is_classification: bool) -> bool:
    """Whether Shapley values of the member add up to the prediction that the ensemble averages."""
    trees = tree_model(member)
    if trees is None:
        return False
    # A mean of trees is a mean of class shares.
    return trees.is_mean if is_classification else trees.linear


def _with_output_axis(explanation: Explanation) -> tuple[np.ndarray, np.ndarray]:
    if np.ndim(explanation.base) == 0:
        return explanation.values[..., None], np.array([explanation.base])
    return explanation.values, np.asarray(explanation.base)


def _spread_over_classes(
    values: np.ndarray,
    base: np.ndarray,
    member_classes: np.ndarray,
    all_classes: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return values and base with one output per class of the ensemble; 0 for classes the member lacks."""
    # A binary member explains only the second class.
    if base.size == 1 and member_classes.size == 2:
        values = np.concatenate([-values, values], axis=-1)
        base = np.array([1 - base[0], base[0]])
    columns = np.searchsorted(all_classes, member_classes)
    all_values = np.zeros((*values.shape[:-1], all_classes.size))
    all_values[..., columns] = values
    all_bases = np.zeros(all_classes.size)
    all_bases[columns] = base
    return all_values, all_bases


def _to_all_features(
    values: np.ndarray, features: np.ndarray | None, count: int, interactions: bool
) -> np.ndarray:
    """Return values for all columns of the table; values of a column that was drawn twice are added."""
    if features is None:
        return values
    n_rows, outputs = values.shape[0], values.shape[-1]
    if interactions:
        all_values = np.zeros((count, count, n_rows, outputs))
        np.add.at(all_values, np.ix_(features, features), values.transpose(1, 2, 0, 3))
        return all_values.transpose(2, 0, 1, 3)
    all_values = np.zeros((count, n_rows, outputs))
    np.add.at(all_values, features, values.transpose(1, 0, 2))
    return all_values.transpose(1, 0, 2)
