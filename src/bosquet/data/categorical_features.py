"""Interpretation of the parameter `categorical_features`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bosquet._types import CategoricalFeatures


FROM_DTYPE = "from_dtype"


def categorical_mask(
    categorical_features: CategoricalFeatures, n_features: int, names: list[str] | None
) -> np.ndarray | None:
    """Return a mask of the categorical columns, or None if the type of each column decides."""
    if categorical_features is None:
        return np.zeros(n_features, dtype=bool)
    if isinstance(categorical_features, str):
        if categorical_features == FROM_DTYPE:
            return None
        raise ValueError(
            f"categorical_features={categorical_features!r} is not valid: categorical_features must be "
            "'from_dtype', None, a boolean mask, or a list of indices or names (also for a single name)"
        )
    try:
        items: list[Any] = list(categorical_features)
    except TypeError:
        raise TypeError(
            f"categorical_features={categorical_features!r} is not valid: categorical_features must be "
            "'from_dtype', None, a boolean mask, or a list of indices or names"
        ) from None
    kinds = {_kind_of_item(item) for item in items}
    if not items:
        return np.zeros(n_features, dtype=bool)
    if kinds == {"bool"}:
        return _from_mask(items, n_features)
    if kinds == {"int"}:
        return _from_indices(items, n_features)
    if kinds == {"str"}:
        return _from_names(items, n_features, names)
    raise TypeError(
        f"categorical_features={categorical_features!r} is not valid: categorical_features must contain"
        " only booleans, only indices, or only names"
    )


def _kind_of_item(item: object) -> str:
    if isinstance(item, (bool, np.bool_)):
        return "bool"
    if isinstance(item, (int, np.integer)):
        return "int"
    return "str" if isinstance(item, str) else "other"


def _from_mask(mask: list[bool], n_features: int) -> np.ndarray:
    if len(mask) != n_features:
        raise ValueError(
            f"categorical_features is a mask with {len(mask)} entries, but X has {n_features} features; pass "
            "one entry per feature"
        )
    return np.array(mask, dtype=bool)


def _from_indices(indices: list[int], n_features: int) -> np.ndarray:
    chosen = np.zeros(n_features, dtype=bool)
    for index in indices:
        if not 0 <= index < n_features:
            raise ValueError(
                f"categorical_features contains the index {index}, but X has {n_features} features; indices "
                f"must be in [0, {n_features - 1}]"
            )
        chosen[index] = True
    return chosen


def _from_names(given_names: list[str], n_features: int, names: list[str] | None) -> np.ndarray:
    if names is None:
        raise ValueError(
            f"categorical_features contains the name {given_names[0]!r}, but X has no feature names; pass"
            " indices"
        )
    index_of = {name: index for index, name in enumerate(names)}
    unknown = [name for name in given_names if name not in index_of]
    if unknown:
        raise ValueError(
            f"categorical_features contains {unknown}, but X has no columns of these names; pass names of"
            " columns of X"
        )
    return _from_indices([index_of[name] for name in given_names], n_features)
