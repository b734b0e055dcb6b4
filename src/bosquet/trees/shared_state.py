"""The state that decision trees and forests share in model files, and the mean of trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._state.columns import set_encoder
from bosquet._state.fields import read_field, read_integer
from bosquet._state.labels import labels_state, read_classes
from bosquet._state.tree_sums import TreeSum
from bosquet.trees.growing import class_shares


def common_state(model: Any) -> dict[str, Any]:
    """Return the part of the state that trees and forests share."""
    return {
        "encoder": model._encoder.to_state(),
        "classes": labels_state(getattr(model, "classes_", None)),
        "rows": int(model.n_samples_fit_),
    }


def set_common_state(model: Any, trees: Ensemble, state: dict[str, Any]) -> None:
    """Set the trees, the columns and the classes of a tree or a forest."""
    if trees.n_outputs > 1 and not trees.vector_leaves:
        raise ModelFileError(
            f"invalid model file: the trees have {trees.n_outputs} outputs, but leaves with one number"
        )
    set_encoder(model, state, trees)
    model._ensemble = trees
    model.n_samples_fit_ = read_integer(state, "rows", 1)
    if type(model).__name__.endswith("Classifier"):
        _set_classes(model, read_field(state, "classes"))
        counts = np.atleast_1d(model.n_classes_).tolist()
        if not trees.holds_class_shares(counts):
            raise ModelFileError(
                "invalid model file: the values of the leaves are not proportions of the classes; they must"
                " be in [0, 1] and sum to 1 for each target"
            )
    else:
        model.n_outputs_ = trees.n_outputs
        if any(trees.base):
            raise ModelFileError(
                f"invalid model file: the base of a tree or a forest is {list(trees.base)}; it must be 0"
            )
        if not np.isfinite(trees.max_absolute_prediction()).all():
            raise ModelFileError(
                "invalid model file: the sum of the values of the leaves overflows to infinity"
            )


def _set_classes(model: Any, state: Any) -> None:
    """Read the classes of one target or of several."""
    if isinstance(state, list):
        model.classes_ = [read_classes(target) for target in state]
        model.n_classes_ = [classes.size for classes in model.classes_]
        model.n_outputs_ = len(model.classes_)
    else:
        model.classes_ = read_classes(state)
        model.n_classes_ = model.classes_.size
        model.n_outputs_ = 1
    if np.min(model.n_classes_, initial=2) < 2 or (isinstance(state, list) and len(state) < 2):
        raise ModelFileError(
            "invalid model file: 'classes' must have at least two classes per target; for one target it"
            " must not be a list"
        )


def mean_of_trees(model: Any, ensemble: Ensemble, *, has_surrogates: bool = False) -> TreeSum:
    """Return the mean of trees whose leaves hold class shares, or numeric predictions."""
    if not hasattr(model, "classes_"):
        return TreeSum(ensemble=ensemble, is_mean=True, has_surrogates=has_surrogates)
    return TreeSum(
        ensemble=ensemble, is_mean=True, response=class_shares, has_surrogates=has_surrogates
    )
