"""Plots of a decision tree and of its pruning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet.trees.curves import draw_pruning, draw_scree
from bosquet.trees.pruning import weakest_link_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bosquet.trees.cart import BaseTree


def tree(model: BaseTree, **options: Any) -> Axes:
    """Draw a fitted decision tree; see `bosquet.trees.draw_tree` for options."""
    return model.plot(**options)


def pruning(model: BaseTree, ax: Axes | None = None) -> Axes:
    """Draw the error against the number of leaves, for a tree fitted with pruning="cv" or "validation"."""
    if not hasattr(model, "pruning_table_"):
        raise ValueError(
            "the tree has no attribute pruning_table_; fit it with pruning='cv' or 'validation'"
        )
    return draw_pruning(model.pruning_table_, ax=ax)


def scree(model: BaseTree, ax: Axes | None = None) -> Axes:
    """Draw the deviance of the nested subtrees against their number of leaves."""
    path = getattr(model, "pruning_path_", None)
    return draw_scree(path if path is not None else weakest_link_path(model.tree_), ax=ax)
