"""Columns of a model in its state: encoder, feature names, and their consistency with the trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._fitted import set_feature_attributes
from bosquet._state.fields import LARGEST_NUMBER, has_value, read_field, read_texts
from bosquet.data import TableEncoder


def read_encoder(state: Any, trees: Ensemble) -> Any:
    """Read the encoder of a model; raise ModelFileError if it does not match the features of the trees."""
    encoder = TableEncoder.from_state(read_field(state, "encoder"))
    if encoder.n_features != trees.n_features:
        raise ModelFileError(
            f"invalid model file: the trees have {trees.n_features} features, but 'encoder' has"
            f" {encoder.n_features} columns"
        )
    if list(encoder.n_levels) != list(trees.categories):
        raise ModelFileError(
            "invalid model file: the numbers of categories of the trees and of 'encoder' differ"
        )
    return encoder


def set_encoder(model: Any, state: Any, trees: Ensemble) -> None:
    """Set the encoder and the feature attributes of a model from its state."""
    set_feature_attributes(model, read_encoder(state, trees))


def check_leaf_sums(trees: Ensemble) -> None:
    """Raise ModelFileError if predictions could be too large for the formulas that use them."""
    if not (trees.max_absolute_prediction() <= LARGEST_NUMBER).all():
        raise ModelFileError(
            f"invalid model file: the values of the leaves are too large; sums must be <= {LARGEST_NUMBER:g}"
        )


def feature_names_state(model: Any) -> list[str] | None:
    """Return the feature names of a model, None if it has none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def set_feature_names(model: Any, state: Any, name: str, n_features: int) -> None:
    """Set the number of features of a model, and its feature names from the field `name`."""
    model.n_features_in_ = n_features
    if has_value(state, name):
        model.feature_names_in_ = np.asarray(read_texts(state, name, n_features), dtype=object)
