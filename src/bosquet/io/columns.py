"""What models of trees say of the columns they were fitted to, and whether their trees fit that."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._fitted import remember_columns
from bosquet.io.fields import LARGEST_NUMBER, field, optional, texts


def encoder_from(state: Any, trees: Ensemble) -> Any:
    """The encoder of a description, with the columns and the categories that the trees have."""
    from bosquet.data import TableEncoder

    encoder = TableEncoder.from_state(field(state, "encoder"))
    if encoder.n_features != trees.n_features:
        raise ModelFileError("the trees have another number of features than the description")
    if list(encoder.categories) != list(trees.categories):
        raise ModelFileError("the trees have other numbers of categories than the description")
    return encoder


def put_columns(model: Any, state: Any, trees: Ensemble) -> None:
    """Give a model the encoder of its description."""
    remember_columns(model, encoder_from(state, trees))


def check_sums(trees: Ensemble) -> None:
    """No prediction may be beyond what the formulas behind it can take."""
    if not (trees.reach() <= LARGEST_NUMBER).all():
        raise ModelFileError("the values of the leaves add up to numbers that are too large")


def names_state(model: Any) -> list[str] | None:
    """The names of the columns, of a model that has them."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def put_names(model: Any, state: Any, name: str, n_features: int) -> None:
    """Give a model of this many columns the names that its description has for them."""
    model.n_features_in_ = n_features
    if optional(state, name):
        model.feature_names_in_ = np.asarray(texts(state, name, n_features), dtype=object)
