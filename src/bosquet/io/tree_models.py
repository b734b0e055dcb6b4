"""Single trees and forests to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._fitted import remember_columns
from bosquet._parameters import check_parameters
from bosquet.io.description import (
    classes_from,
    classes_state,
    number_from,
    number_or_none,
    plain_parameters,
)

# What a tree knows of its nodes besides the rules, which the core's part of the file holds.
_NODE_FIELDS = ("n_rows", "weight", "impurity")


def tree_metadata(estimator: Any) -> dict[str, Any]:
    """The description of a fitted decision tree."""
    tree = estimator.tree_
    metadata = _common(estimator)
    metadata["nodes"] = {name: getattr(tree, name).tolist() for name in _NODE_FIELDS}
    metadata["nodes"]["value"] = tree.value.tolist()
    metadata["nodes"]["competitors"] = [[_split(s) for s in at] for at in tree.competitors]
    metadata["nodes"]["surrogates"] = [[_split(s) for s in at] for at in tree.surrogates]
    if getattr(estimator, "_costs", None) is not None:
        metadata["row_factor"] = estimator._costs.row_factor.tolist()
        metadata["share_factor"] = estimator._costs.share_factor.tolist()
    return metadata


def _split(split: dict[str, Any]) -> dict[str, Any]:
    """A competitor or surrogate as JSON holds it, which has no NaN and no infinity."""
    plain = dict(split)
    threshold = float(plain["threshold"])
    plain["threshold"] = threshold if np.isfinite(threshold) else str(threshold)
    return plain


def _split_from(state: dict[str, Any]) -> dict[str, Any]:
    split = dict(state)
    split["feature"], split["threshold"] = int(split["feature"]), float(split["threshold"])
    if split["left_categories"] is not None:
        split["left_categories"] = [int(code) for code in split["left_categories"]]
    return split


def tree_from(cls: type, ensemble: Any, metadata: dict[str, Any]) -> Any:
    """The decision tree that `tree_metadata` described."""
    from bosquet.trees._class_costs import ClassCosts
    from bosquet.trees.arrays import TreeArrays
    from bosquet.trees.cart import CHECKS

    model = _bare(cls, ensemble, metadata, CHECKS)
    if ensemble.n_trees != 1:
        raise ModelFileError(f"a decision tree is one tree, not {ensemble.n_trees}")
    rules, nodes = ensemble.tree_arrays(0), metadata["nodes"]
    model.tree_ = TreeArrays(
        **{
            name: rules[name]
            for name in ("feature", "threshold", "left", "right", "missing_left", "gain")
        },
        left_categories=rules["left_categories"],
        value=np.asarray(nodes["value"], dtype=float),
        **{name: nodes[name] for name in _NODE_FIELDS},
        competitors=[[_split_from(s) for s in at] for at in nodes["competitors"]],
        surrogates=[[_split_from(s) for s in at] for at in nodes["surrogates"]],
    )
    outputs = int(np.sum(model.n_classes_)) if hasattr(model, "classes_") else ensemble.n_outputs
    if model.tree_.value.shape != (model.tree_.n_nodes, outputs):
        raise ModelFileError("the values of the nodes do not fit the tree")
    if not np.isfinite(model.tree_.value).all():
        raise ModelFileError("the value of a node is not finite")
    for split in (s for at in model.tree_.surrogates for s in at):
        if not 0 <= split["feature"] < model.n_features_in_:
            raise ModelFileError("the feature of a surrogate does not exist")
    if isinstance(getattr(model, "classes_", None), list):
        model._costs = None
    elif hasattr(model, "classes_"):
        row_factor = np.asarray(metadata["row_factor"], dtype=float)
        share_factor = np.asarray(metadata["share_factor"], dtype=float)
        if row_factor.shape != model.classes_.shape or share_factor.shape != row_factor.shape:
            raise ModelFileError("the factors of the classes do not fit them")
        costs = None if model.costs is None else np.asarray(model.costs, dtype=float)
        model._costs = ClassCosts(row_factor, share_factor, costs)
    else:
        model.n_outputs_ = ensemble.n_outputs
    return model


def forest_metadata(estimator: Any) -> dict[str, Any]:
    """The description of a fitted forest."""
    if hasattr(estimator, "_row_leaves"):
        raise ValueError(
            "a forest with keep_rows=True holds training rows, which a model file does not carry;"
            " use pickle or joblib"
        )
    metadata = _common(estimator)
    metadata["keys"] = estimator._keys
    metadata["seed"] = estimator._seed
    metadata["draws"] = estimator._draws
    if hasattr(estimator, "merged_rows_"):
        metadata["merged_rows"] = [int(rows) for rows in estimator.merged_rows_]
    kept = estimator._kept_rows
    metadata["kept_rows"] = None if kept is None else kept.tolist()
    for name in ("oob_error_", "oob_tree_error_", "oob_score_"):
        if hasattr(estimator, name):
            metadata[name] = number_or_none(getattr(estimator, name))
    if hasattr(estimator, "oob_curve_"):
        metadata["oob_curve_"] = [number_or_none(error) for error in estimator.oob_curve_]
    return metadata


def forest_from(cls: type, ensemble: Any, metadata: dict[str, Any]) -> Any:
    """The forest that `forest_metadata` described."""
    from bosquet.forests._base import CHECKS

    model = _bare(cls, ensemble, metadata, CHECKS)
    model._keys = [int(key) for key in metadata["keys"]]
    if len(model._keys) != ensemble.n_trees or not all(0 <= k < 2**64 for k in model._keys):
        raise ModelFileError("the keys of the trees do not fit the trees")
    model._seed, model._draws = int(metadata["seed"]), int(metadata["draws"])
    if not 1 <= model._draws <= 2**32 or model.n_samples_fit_ > 2**32:
        raise ModelFileError("the size of the bags is not valid")
    if "merged_rows" in metadata:
        model.merged_rows_ = [int(rows) for rows in metadata["merged_rows"]]
        if (
            min(model.merged_rows_, default=0) < 1
            or sum(model.merged_rows_) != model.n_samples_fit_
        ):
            raise ModelFileError("the rows of the merged parts do not fit the forest")
    kept = metadata["kept_rows"]
    model._kept_rows = None if kept is None else np.asarray(kept, dtype=np.int64)
    model._hardened = None
    if getattr(model, "voting", "soft") == "hard":
        model._hardened = model._harden()
    if not hasattr(model, "classes_"):
        model.n_outputs_ = ensemble.n_outputs
    for name in ("oob_error_", "oob_tree_error_", "oob_score_"):
        if name in metadata:
            setattr(model, name, number_from(metadata[name]))
    if "oob_curve_" in metadata:
        model.oob_curve_ = np.array([number_from(error) for error in metadata["oob_curve_"]])
    return model


def _put_classes(model: Any, state: Any, stored: int) -> None:
    """The classes of one target, or of several; a leaf of two classes stores one number."""
    if isinstance(state, list):
        model.classes_ = [classes_from(some) for some in state]
        counts = model.n_classes_ = [some.size for some in model.classes_]
        wanted = sum(counts)
        if len(counts) < 2:
            raise ModelFileError("the classes of one target are no list")
    else:
        model.classes_ = classes_from(state)
        model.n_classes_ = model.classes_.size
        counts, wanted = [model.n_classes_], 1 if model.n_classes_ == 2 else model.n_classes_
    model.n_outputs_ = len(counts)
    if min(counts) < 2 or stored != wanted:
        raise ModelFileError("the number of classes does not fit the trees")


def _common(estimator: Any) -> dict[str, Any]:
    return {
        "estimator": type(estimator).__name__,
        "parameters": plain_parameters(estimator),
        "encoder": estimator._encoder.to_state(),
        "classes": classes_state(getattr(estimator, "classes_", None)),
        "rows": estimator.n_samples_fit_,
    }


def _bare(cls: type, ensemble: Any, metadata: dict[str, Any], checks: Any) -> Any:
    """A model with what trees and forests have in common."""
    from bosquet.data import TableEncoder

    model: Any = cls()
    model.set_params(**metadata["parameters"])
    check_parameters(model, checks)
    encoder = TableEncoder.from_state(metadata["encoder"])
    if encoder.n_features != ensemble.n_features:
        raise ModelFileError("the trees do not fit the model's description")
    if list(encoder.categories) != list(ensemble.categories):
        raise ModelFileError("the trees' categories do not fit the model's description")
    if cls.__name__.endswith("Classifier"):
        _put_classes(model, metadata["classes"], ensemble.n_outputs)
    if ensemble.n_outputs > 1 and not ensemble.vector_leaves:
        raise ModelFileError("the leaves do not fit the model's description")
    model._ensemble = ensemble
    model.n_samples_fit_ = int(metadata["rows"])
    remember_columns(model, encoder)
    return model
