"""The plots one would draw anyway: a tree, its pruning, a forest's out-of-bag error, importances.

Every function takes `ax` to draw into, and returns the axes. Matplotlib is needed
(``pip install 'bosquet[plot]'``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.trees.curves import draw_pruning, draw_scree
from bosquet.trees.drawing import draw_tree, pyplot_or_error

__all__ = ["importances", "oob_curve", "pruning", "scree", "tree"]

BLUE, ORANGE, GREY = "#3b6ea5", "#d9822b", "#8a8a8a"


def tree(model: Any, **options: Any) -> Any:
    """Draw a fitted decision tree; see `bosquet.trees.draw_tree` for options."""
    return draw_tree(model.tree_, **{**model._reading(), **options})


def pruning(model: Any, ax: Any = None) -> Any:
    """Error against the number of leaves, of a tree fitted with pruning="cv" or "validation"."""
    if not hasattr(model, "pruning_table_"):
        raise ValueError("the tree has no pruning table: fit it with pruning='cv' or 'validation'")
    return draw_pruning(model.pruning_table_, ax=ax)


def scree(model: Any, ax: Any = None) -> Any:
    """Deviance of the nested subtrees against their leaves."""
    from bosquet.trees.pruning import weakest_link_path

    path = getattr(model, "pruning_path_", None)
    return draw_scree(path if path is not None else weakest_link_path(model.tree_), ax=ax)


def oob_curve(model: Any, ax: Any = None) -> Any:
    """The out-of-bag error against the number of trees; fit with oob_score=True."""
    if not hasattr(model, "oob_curve_"):
        raise ValueError("the model has no out-of-bag record: fit it with oob_score=True")
    ax = ax or pyplot_or_error().subplots(figsize=(6, 3.6), layout="constrained")[1]
    curve = np.asarray(model.oob_curve_)
    ax.plot(
        np.arange(1, curve.size + 1), curve, color=BLUE, label="vote of the trees without the row"
    )
    single = getattr(model, "oob_tree_error_", getattr(model, "oob_learner_error_", None))
    if single is not None:
        ax.axhline(single, color=GREY, linestyle="--", label="one tree alone, on average")
    ax.set(xlabel="trees", ylabel="out-of-bag error", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def importances(*found: Any, most: int = 15, axes: Any = None) -> Any:
    """Importances side by side, each scaled so that its largest is 100.

    Parameters
    ----------
    *found : Importance
        From ``forest.importance(...)``: one or several kinds.
    most : int, default=15
        How many features to show, the most important by the first kind.
    axes : one axes for each, optional

    Returns
    -------
    array of axes
    """
    if not found:
        raise ValueError("give at least one importance: forest.importance(...)")
    order = np.argsort(-found[0].mean, kind="stable")[:most][::-1]
    if axes is None:
        height = 0.28 * order.size + 1.2
        _, axes = pyplot_or_error().subplots(
            1, len(found), sharey=True, figsize=(3.2 * len(found) + 1, height), layout="constrained"
        )
    axes = np.atleast_1d(axes)
    for ax, one in zip(axes, found, strict=True):
        top = one.mean.max(initial=0.0)
        spread = 100 * one.std / top if top > 0 else one.std
        ax.barh(
            np.arange(order.size),
            one.scaled[order],
            xerr=np.nan_to_num(spread[order]),
            color=BLUE,
            error_kw={"ecolor": GREY, "elinewidth": 1},
        )
        ax.set_yticks(np.arange(order.size), [one.feature_names[f] for f in order])
        ax.set(
            title=one.kind, xlabel="importance, largest = 100", xlim=(min(0, one.scaled.min()), 112)
        )
        ax.spines[["top", "right"]].set_visible(False)
    return axes
