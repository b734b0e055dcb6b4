"""Trees of the core as arrays with one entry per node: adding them to an ensemble, copying them.

NaN stands for what a node does not have: leaves and splits on categories have no threshold, inner nodes have
no value. `Ensemble.tree_arrays` returns NaN there, and `_core.add_tree` reads nothing there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bosquet import _core


def add_arrays(ensemble: _core.Ensemble, arrays: Mapping[str, Any], value: np.ndarray) -> None:
    """Add a tree from `Ensemble.tree_arrays` with other values: (nodes,), or (nodes, outputs)."""
    _core.add_tree(
        ensemble,
        arrays["feature"],
        arrays["threshold"],
        arrays["left"],
        arrays["missing_left"],
        arrays["left_categories"],
        np.ascontiguousarray(value.reshape(len(value), -1)),
        arrays["gain"].astype(float),
        arrays["cover"].astype(float),
    )


def add_copy(
    ensemble: _core.Ensemble, other: _core.Ensemble, tree: int, scale: float = 1.0
) -> None:
    """Add a copy of a tree of another ensemble, with its values multiplied by `scale`."""
    arrays = other.tree_arrays(tree)
    add_arrays(ensemble, arrays, arrays["value"] * scale)
