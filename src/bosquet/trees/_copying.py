"""Copying of trees from one ensemble to another."""

from __future__ import annotations

import numpy as np

from bosquet import _core


def add_copy(
    ensemble: _core.Ensemble, other: _core.Ensemble, tree: int, scale: float = 1.0
) -> None:
    """Add a copy of a tree of another ensemble, with its values multiplied by `scale`."""
    rules = other.tree_arrays(tree)
    value = np.array(rules["value"], dtype=float) * scale
    _core.add_tree(
        ensemble,
        rules["feature"],
        rules["threshold"],
        rules["left"],
        rules["missing_left"],
        rules["left_categories"],
        value[:, None] if value.ndim == 1 else value,
        rules["gain"].astype(float),
        rules["cover"].astype(float),
    )
