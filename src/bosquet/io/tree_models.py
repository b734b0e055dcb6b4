"""Single trees to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.columns import put_columns
from bosquet.io.fields import (
    field,
    flag,
    gapless,
    inner,
    listed,
    numbers,
    optional,
    table,
    whole,
    wholes,
)
from bosquet.io.kinds import Kind
from bosquet.io.labels import classes_from, labels_state
from bosquet.trees.node_splits import COMPETITOR, SURROGATE, NodeSplits

# Of the fields of competitors and surrogates, so that the same model is written as the same bytes.
_ORDER = ("feature", "threshold", "left_categories", "gain", "agreement", "reversed")
_LARGEST = float(np.finfo(float).max)


def _check(model: Any) -> None:
    from bosquet.trees.cart import CHECKS

    check_parameters(model, CHECKS)
    model._check_criterion()


def _describe(model: Any) -> tuple[Ensemble, dict[str, Any]]:
    tree, costs = model.tree_, getattr(model, "_costs", None)
    return model._ensemble, common_state(model) | {
        "nodes": {
            "n_rows": tree.n_rows.tolist(),
            "weight": tree.weight.tolist(),
            "impurity": tree.impurity.tolist(),
            "value": tree.value.tolist(),
            "competitors": _splits_state(tree.competitors),
            "surrogates": _splits_state(tree.surrogates),
        },
        "costs": None if costs is None else _costs_state(costs),
    }


def _build(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    from bosquet.trees.arrays import TreeArrays

    put_common(model, trees, state)
    if trees.n_trees != 1:
        raise ModelFileError(f"a decision tree is one tree, not {trees.n_trees}")
    rules, nodes = trees.tree_arrays(0), inner(state, "nodes")
    size, outputs = rules["left"].size, trees.n_outputs
    if hasattr(model, "classes_"):
        outputs = int(np.sum(model.n_classes_))
    model.tree_ = TreeArrays(
        **{
            name: rules[name]
            for name in ("feature", "threshold", "left", "right", "missing_left", "gain")
        },
        left_categories=rules["left_categories"],
        value=table(nodes, "value", (size, outputs)),
        n_rows=np.array(wholes(nodes, "n_rows", 0, length=size)),
        weight=numbers(nodes, "weight", size, low=0),
        impurity=numbers(nodes, "impurity", size),
        competitors=_splits_from(inner(nodes, "competitors"), size, model._encoder, COMPETITOR),
        surrogates=_splits_from(inner(nodes, "surrogates"), size, model._encoder, SURROGATE),
    )
    _check_nodes(model, rules)
    if hasattr(model, "classes_"):
        several = isinstance(model.classes_, list)
        model._costs = None if several else _costs_from(inner(state, "costs"), model.classes_)
    return model


def _check_nodes(model: Any, rules: dict[str, Any]) -> None:
    """What is known of the nodes fits the trees that predict."""
    tree = model.tree_
    stored, leaf = rules["value"].reshape(tree.n_nodes, -1), tree.is_leaf
    value = tree.value[:, -stored.shape[1] :]  # of two classes the second alone is stored
    if not np.array_equal(value[leaf], stored[leaf]):
        raise ModelFileError("the values of the leaves are not those of the tree")
    if not np.array_equal(tree.weight.astype(np.float32), rules["cover"]):
        raise ModelFileError("the weights of the nodes are not those of the tree")
    if not hasattr(model, "classes_"):
        return
    if (tree.value < 0).any():
        raise ModelFileError("the share of a class in a node is negative")
    ends = np.cumsum(np.atleast_1d(model.n_classes_))[:-1]
    for shares in np.split(tree.value, ends, axis=1):
        if (np.abs(shares.sum(axis=1) - 1) > 1e-9).any():
            raise ModelFileError("the shares of the classes in a node do not add up to 1")


def _costs_state(costs: Any) -> dict[str, Any]:
    return {
        "row_factor": costs.row_factor.tolist(),
        "share_factor": costs.share_factor.tolist(),
        "matrix": None if costs.costs is None else costs.costs.tolist(),
    }


def _costs_from(state: dict[str, Any], classes: np.ndarray) -> Any:
    from bosquet.trees._class_costs import ClassCosts

    size, matrix = classes.size, None
    if optional(state, "matrix"):
        matrix = table(state, "matrix", (size, size), low=0)
    return ClassCosts(
        numbers(state, "row_factor", size, low=0),
        numbers(state, "share_factor", size, low=0),
        matrix,
    )


# --------------------------------------------------------------------- competitors and surrogates
def _splits_state(splits: NodeSplits) -> dict[str, Any]:
    codes = splits.left_categories
    columns = {name: _column_state(values) for name, values in splits.columns.items()}
    columns["left_categories"] = [codes.get(place) for place in range(splits.n_splits)]
    return {"counts": splits.counts.tolist()} | {
        name: columns[name] for name in _ORDER if name in columns
    }


def _column_state(values: np.ndarray) -> list[Any]:
    return gapless(values) if values.dtype.kind == "f" else values.tolist()


def _splits_from(state: dict[str, Any], size: int, encoder: Any, names: Any) -> NodeSplits:
    """The splits of so many nodes besides their own."""
    counts = wholes(state, "counts", 0, length=size)
    total = sum(counts)
    features = wholes(state, "feature", 0, encoder.n_features - 1, length=total)
    threshold = numbers(state, "threshold", total, low=-_LARGEST, high=_LARGEST, gaps=True)
    codes = {}
    for place, some in enumerate(listed(state, "left_categories", total)):
        known = _codes_from(some, encoder.categories[features[place]])
        if known is not None:
            codes[place] = known
        elif np.isnan(threshold[place]):
            raise ModelFileError("a competitor or surrogate has no threshold")
    columns = {"feature": features, "threshold": threshold}
    for name in names:
        if name == "reversed":
            turned = listed(state, name, total)
            columns[name] = [flag({name: one}, name) for one in turned]
        elif name not in columns:
            columns[name] = numbers(state, name, total)
    return NodeSplits(counts, {name: columns[name] for name in names}, codes)


def _codes_from(state: Any, levels: int) -> list[int] | None:
    """The categories that go left, of a feature with levels; None of any other."""
    if (state is not None) != (levels > 0):
        raise ModelFileError("a competitor or surrogate does not fit the feature it asks about")
    if state is None:
        return None
    return wholes({"left_categories": state}, "left_categories", 0, levels - 1)


# ------------------------------------------------------------------- what trees and forests share
def common_state(model: Any) -> dict[str, Any]:
    return {
        "encoder": model._encoder.to_state(),
        "classes": labels_state(getattr(model, "classes_", None)),
        "rows": int(model.n_samples_fit_),
    }


def put_common(model: Any, trees: Ensemble, state: dict[str, Any]) -> None:
    """Give a tree or a forest its trees, its columns and its classes."""
    if trees.n_outputs > 1 and not trees.vector_leaves:
        raise ModelFileError("the leaves do not fit the model's description")
    put_columns(model, state, trees)
    model._ensemble = trees
    model.n_samples_fit_ = whole(state, "rows", 1)
    if type(model).__name__.endswith("Classifier"):
        _put_classes(model, field(state, "classes"))
        counts = np.atleast_1d(model.n_classes_).tolist()
        if not trees.holds_shares(counts):
            raise ModelFileError("the leaves do not hold shares of the classes")
    else:
        model.n_outputs_ = trees.n_outputs
        if any(trees.base):
            raise ModelFileError("a tree that is grown by impurity does not start from a number")
        if not np.isfinite(trees.reach()).all():
            raise ModelFileError("the values of the leaves add up to infinity")


def _put_classes(model: Any, state: Any) -> None:
    """The classes of one target, or of several."""
    if isinstance(state, list):
        model.classes_ = [classes_from(some) for some in state]
        model.n_classes_ = [some.size for some in model.classes_]
        model.n_outputs_ = len(model.classes_)
    else:
        model.classes_ = classes_from(state)
        model.n_classes_ = model.classes_.size
        model.n_outputs_ = 1
    if np.min(model.n_classes_, initial=2) < 2 or (isinstance(state, list) and len(state) < 2):
        raise ModelFileError("a classifier has two classes at least, and several targets or one")


KINDS = {
    name: Kind("bosquet.trees", _describe, _build, _check)
    for name in ("DecisionTreeClassifier", "DecisionTreeRegressor")
}
