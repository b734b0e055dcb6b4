"""Decision trees as states of model files, and as trees of the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.fields import (
    has_value,
    read_bool,
    read_integers,
    read_list,
    read_matrix,
    read_numbers,
    read_object,
    to_json_numbers,
)
from bosquet._state.kinds import ModelKind
from bosquet._state.tree_sums import TreeSum
from bosquet.trees._class_costs import ClassCosts
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.node_splits import COMPETITOR, SURROGATE, NodeSplits
from bosquet.trees.shared_state import common_state, mean_of_trees, set_common_state

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import State
    from bosquet.data import TableEncoder
    from bosquet.trees._base import BaseTree


# Fixed order of the fields of competitors and surrogates, so that equal models give equal bytes.
_FIELD_ORDER = ("feature", "threshold", "left_categories", "gain", "agreement", "reversed")
_LARGEST = float(np.finfo(float).max)


def _check(model: Any) -> None:
    check_parameters(model, model._checks)


def _to_state(model: BaseTree) -> tuple[Ensemble, State]:
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


def _from_state(model: BaseTree, trees: Ensemble, state: State) -> BaseTree:
    set_common_state(model, trees, state)
    if trees.n_trees != 1:
        raise ModelFileError(
            f"invalid model file: a decision tree must have one tree, but the file has {trees.n_trees}"
        )
    rules, nodes = trees.tree_arrays(0), read_object(state, "nodes")
    size, outputs = rules["left"].size, trees.n_outputs
    if hasattr(model, "classes_"):
        outputs = int(np.sum(model.n_classes_))
    model.tree_ = TreeArrays.from_core(
        rules,
        value=read_matrix(nodes, "value", (size, outputs)),
        n_rows=np.array(read_integers(nodes, "n_rows", 0, length=size)),
        weight=read_numbers(nodes, "weight", size, low=0),
        impurity=read_numbers(nodes, "impurity", size),
        competitors=_splits_from(
            read_object(nodes, "competitors"), size, model._encoder, COMPETITOR
        ),
        surrogates=_splits_from(read_object(nodes, "surrogates"), size, model._encoder, SURROGATE),
    )
    _check_nodes(model, rules)
    if hasattr(model, "classes_"):
        has_several_targets = isinstance(model.classes_, list)
        model._costs = (
            None
            if has_several_targets
            else _costs_from(read_object(state, "costs"), model.classes_)
        )
    return model


def _check_nodes(model: BaseTree, rules: dict[str, Any]) -> None:
    """Raise ModelFileError unless the nodes in the metadata match the tree that predicts."""
    tree = model.tree_
    stored, leaf = rules["value"].reshape(tree.n_nodes, -1), tree.is_leaf
    value = tree.value[:, -stored.shape[1] :]  # for two classes only the second is stored
    if not np.array_equal(value[leaf], stored[leaf]):
        raise ModelFileError("invalid model file: 'value' differs from the leaves of the tree")
    if not np.array_equal(tree.weight.astype(np.float32), rules["cover"]):
        raise ModelFileError(
            "invalid model file: 'weight' differs from the weights of the tree's nodes"
        )
    if not hasattr(model, "classes_"):
        return
    if (tree.value < 0).any():
        raise ModelFileError("invalid model file: 'value' contains a negative class proportion")
    ends = np.cumsum(np.atleast_1d(model.n_classes_))[:-1]
    for shares in np.split(tree.value, ends, axis=1):
        if (np.abs(shares.sum(axis=1) - 1) > 1e-9).any():
            raise ModelFileError(
                "invalid model file: the class proportions of a node in 'value' do not sum to 1"
            )


def _costs_state(costs: ClassCosts) -> State:
    return {
        "row_factor": costs.row_factor.tolist(),
        "share_factor": costs.share_factor.tolist(),
        "matrix": None if costs.costs is None else costs.costs.tolist(),
    }


def _costs_from(state: State, classes: np.ndarray) -> ClassCosts:
    size, matrix = classes.size, None
    if has_value(state, "matrix"):
        matrix = read_matrix(state, "matrix", (size, size), low=0)
    return ClassCosts(
        read_numbers(state, "row_factor", size, low=0),
        read_numbers(state, "share_factor", size, low=0),
        matrix,
    )


# --------------------------------------------------------------------- competitors and surrogates
def _splits_state(splits: NodeSplits) -> State:
    codes = splits.left_categories
    columns = {name: _column_state(values) for name, values in splits.columns.items()}
    columns["left_categories"] = [codes.get(index) for index in range(splits.n_splits)]
    return {"counts": splits.counts.tolist()} | {
        name: columns[name] for name in _FIELD_ORDER if name in columns
    }


def _column_state(values: np.ndarray) -> list[object]:
    return to_json_numbers(values) if values.dtype.kind == "f" else values.tolist()


def _splits_from(
    state: State, size: int, encoder: TableEncoder, names: Sequence[str]
) -> NodeSplits:
    """Read the competitors or the surrogates of `size` nodes."""
    counts = read_integers(state, "counts", 0, length=size)
    total = sum(counts)
    features = read_integers(state, "feature", 0, encoder.n_features - 1, length=total)
    threshold = read_numbers(
        state, "threshold", total, low=-_LARGEST, high=_LARGEST, allow_non_finite=True
    )
    codes = {}
    for index, categories in enumerate(read_list(state, "left_categories", total)):
        left_codes = _codes_from(categories, encoder.n_levels[features[index]])
        if left_codes is not None:
            codes[index] = left_codes
        elif np.isnan(threshold[index]):
            raise ModelFileError(
                f"invalid model file: competitor or surrogate {index} has neither a threshold nor categories"
            )
    columns: dict[str, ArrayLike] = {"feature": features, "threshold": threshold}
    for name in names:
        if name == "reversed":
            flags = read_list(state, name, total)
            columns[name] = [read_bool({name: one}, name) for one in flags]
        elif name not in columns:
            columns[name] = read_numbers(state, name, total)
    return NodeSplits(counts, {name: columns[name] for name in names}, codes)


def _codes_from(state: object, levels: int) -> list[int] | None:
    """Read the categories that go left; None for a quantitative feature."""
    if (state is not None) != (levels > 0):
        raise ModelFileError(
            "invalid model file: a competitor or surrogate must have 'left_categories' if and only if its"
            " feature is categorical"
        )
    if state is None:
        return None
    return read_integers({"left_categories": state}, "left_categories", 0, levels - 1)


def _trees(model: Any) -> TreeSum:
    has_surrogates = model.tree_.surrogates.n_splits > 0
    return mean_of_trees(model, model._ensemble, has_surrogates=has_surrogates)


KINDS = {
    name: ModelKind("bosquet.trees", _to_state, _from_state, _check, trees=_trees)
    for name in ("DecisionTreeClassifier", "DecisionTreeRegressor")
}
