"""Plots of forests: out-of-bag error and feature importance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pyplot
from bosquet.plot._style import BLUE, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bosquet.bagging import BaggingClassifier, BaggingRegressor
    from bosquet.forests import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )


def oob_curve(
    model: RandomForestClassifier
    | RandomForestRegressor
    | ExtraTreesClassifier
    | ExtraTreesRegressor
    | BaggingClassifier
    | BaggingRegressor,
    ax: Axes | None = None,
) -> Axes:
    """Draw the out-of-bag error against the number of trees, of a model fitted with oob_score=True."""
    if not hasattr(model, "oob_curve_"):
        raise ValueError("the model has no attribute oob_curve_; fit it with oob_score=True")
    ax = ax or import_pyplot().subplots(figsize=(6, 3.6), layout="constrained")[1]
    curve = np.asarray(model.oob_curve_)
    ax.plot(np.arange(1, curve.size + 1), curve, color=BLUE, label="out-of-bag vote of the trees")
    single = getattr(model, "oob_tree_error_", getattr(model, "oob_learner_error_", None))
    if single is not None:
        ax.axhline(single, color=GREY, linestyle="--", label="mean of the single trees")
    ax.set(xlabel="trees", ylabel="out-of-bag error", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def importances(*found: Any, max_display: int = 15, axes: Any = None) -> Any:
    """Draw bar charts of feature importances side by side, each scaled so that its largest is 100.

    Parameters
    ----------
    *found : ForestImportance or Importance
        From ``forest.importance(...)`` or `bosquet.explain.importance`, of one or several kinds.
    max_display : int, default=15
        Number of features to show, the most important by the first kind.
    axes : array of axes, optional
        One per importance.

    Returns
    -------
    array of axes
    """
    if not found:
        raise ValueError(
            "no importance was passed; pass at least one, for example forest.importance(...)"
        )
    order = np.argsort(-found[0].mean, kind="stable")[:max_display][::-1]
    if axes is None:
        height = 0.28 * order.size + 1.2
        _, axes = import_pyplot().subplots(
            1, len(found), sharey=True, figsize=(3.2 * len(found) + 1, height), layout="constrained"
        )
    axes = np.atleast_1d(axes)
    for ax, importance in zip(axes, found, strict=True):
        top = importance.mean.max(initial=0.0)
        spread = 100 * importance.standard_error / top if top > 0 else importance.standard_error
        ax.barh(
            np.arange(order.size),
            importance.scaled[order],
            xerr=np.nan_to_num(spread[order]),
            color=BLUE,
            error_kw={"ecolor": GREY, "elinewidth": 1},
        )
        ax.set_yticks(np.arange(order.size), [importance.feature_names[f] for f in order])
        ax.set(
            title=importance.kind,
            xlabel="importance, largest = 100",
            xlim=(min(0, importance.scaled.min()), 112),
        )
        ax.spines[["top", "right"]].set_visible(False)
    return axes
