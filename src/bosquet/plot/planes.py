"""Plots of classifiers with two features: decision boundaries, and the margin of a support vector machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.plot._style import BLUE, GREEN, GREY, INK, ORANGE, RED, hide_spines, new_axes
from bosquet.theory.svm_margin import svm_margin as margin_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, RandomState, TableLike
    from bosquet.datasets.generator import ClassGenerator


_POINTS = (BLUE, ORANGE)
_LINES = (RED, GREEN, BLUE, ORANGE, GREY)


def decision_boundary(
    generator: ClassGenerator,
    models: Mapping[str, Estimator] | None = None,
    *,
    n_samples: int = 400,
    names: tuple[str, str] = ("x0", "x1"),
    resolution: int = 200,
    random_state: RandomState = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the decision boundary of the Bayes rule, and those of fitted models.

    The shade is the probability of the second class. The dashed line, where it is ½, is the boundary of
    the Bayes rule. The legend gives the fraction of sampled rows for which a model and the Bayes rule
    differ.

    Parameters
    ----------
    generator : generator of two classes with two features
        From `bosquet.datasets`, or an object with `sample` and `probability`.
    models : mapping of names to fitted classifiers, optional
    n_samples : int, default=400
        Number of rows to draw; 0 draws none.
    names : sequence of two str, default=("x0", "x1")
        Names of the features.
    resolution : int, default=200
        Number of grid points per side.
    random_state : int, default=0
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    X, y = generator.sample(max(n_samples, 200), random_state=random_state)
    probability = np.asarray(generator.probability(X))
    if X.shape[1] != 2 or probability.ndim != 2 or probability.shape[1] != 2:
        raise ValueError(
            f"the generator has {X.shape[1]} features and {probability.shape[-1]} classes; pass a"
            " generator of 2 features and 2 classes"
        )
    classes = np.asarray(generator.classes)
    ax = new_axes(ax, (6, 4.5))
    sides, grid = _grid(X, resolution)
    truth = np.asarray(generator.probability(grid))[:, 1].reshape(resolution, resolution)
    ax.contourf(*sides, truth, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.35, zorder=0)
    if n_samples:
        _draw_classes(ax, X[:n_samples], y[:n_samples] == classes[1], classes)
    _draw_line(ax, sides, truth - 0.5, INK, "Bayes rule", "--")
    best = probability[:, 1] > 0.5
    for (name, model), colour in zip((models or {}).items(), _LINES, strict=False):
        is_second = np.asarray(model.predict(grid)) == classes[1]
        differs = np.mean((np.asarray(model.predict(X)) == classes[1]) != best)
        values = is_second.reshape(resolution, resolution) - 0.5
        _draw_line(ax, sides, values, colour, f"{name}, differs on {differs:.0%}", "-")
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    hide_spines(ax)
    return ax


def svm_margin(
    model: Any,
    X: TableLike,
    y: ArrayLike,
    *,
    names: tuple[str, str] = ("x0", "x1"),
    resolution: int = 200,
    ax: Any = None,
) -> Axes:
    """Draw the decision boundary, margin and support vectors of a support vector machine with two features.

    The solid line is f(x) = 0, the dashed lines are f(x) = ±1; their distance is 2/‖w‖ for a linear kernel.
    Rings mark the support vectors.

    Parameters
    ----------
    model : fitted support vector machine of two classes
        As in `bosquet.theory.svm_margin`.
    X, y : training set with two features
    names : sequence of two str, default=("x0", "x1")
        Names of the features.
    resolution : int, default=200
        Number of grid points per side.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X has shape {points.shape}; pass two columns")
    margin_summary = margin_of(model, X, y)
    ax = new_axes(ax, (5.5, 4.5))
    sides, grid = _grid(points, resolution)
    values = np.asarray(model.decision_function(grid)).reshape(resolution, resolution)
    classes = np.asarray(model.classes_)
    _draw_classes(ax, points, np.asarray(y) == classes[1], classes)
    rings = points[margin_summary.support]
    ax.scatter(*rings.T, s=90, facecolors="none", edgecolors=INK, linewidths=1, zorder=4,
               label=f"{margin_summary.support.size} support vectors")  # fmt: skip
    ax.contour(*sides, values, levels=[-1, 0, 1], colors=INK, linestyles=["--", "-", "--"],
               linewidths=[1, 1.6, 1])  # fmt: skip
    wrong = f", {margin_summary.n_errors} wrong" if margin_summary.n_errors else ""
    width = (
        "no margin"
        if margin_summary.margin is None
        else f"margin 2/‖w‖ = {margin_summary.margin:.3g}"
    )
    ax.set_title(width + wrong, fontsize="medium")
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.legend(framealpha=0.8, fontsize="small")
    hide_spines(ax)
    return ax


def _grid(points: np.ndarray, resolution: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return coordinates along both axes, with a margin around the points, and all pairs of them."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.08 * (high - low)
    sides = [np.linspace(low[j] - margin[j], high[j] + margin[j], resolution) for j in (0, 1)]
    return sides, np.column_stack([side.ravel() for side in np.meshgrid(*sides)])


def _draw_classes(ax: Any, points: np.ndarray, second: np.ndarray, classes: np.ndarray) -> None:
    for flag, colour, marker in ((False, _POINTS[0], "o"), (True, _POINTS[1], "s")):
        chosen = points[second == flag]
        ax.scatter(*chosen.T, s=16, color=colour, marker=marker, linewidths=0, alpha=0.8, zorder=3,
                   label=str(classes[int(flag)]))  # fmt: skip


def _draw_line(
    ax: Axes, sides: list[np.ndarray], values: np.ndarray, colour: str, label: str, style: str
) -> None:
    ax.contour(*sides, values, levels=[0.0], colors=colour, linestyles=style, linewidths=1.8)
    ax.plot([], [], color=colour, linestyle=style, linewidth=1.8, label=label)
