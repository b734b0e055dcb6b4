"""Three pictures behind the theory: why a mean helps, what no rule can avoid, losses side by side."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from bosquet.losses import MARGIN_LOSSES
from bosquet.plot._style import BLUE, GREEN, GREY, INK, ORANGE, RED, new_axes, tidy

Density = Callable[[np.ndarray], np.ndarray]


def variance_reduction(
    model: Any, X: Any, y: Any, truth: Callable[..., Any], *, curves: int = 10, ax: Any = None
) -> Any:
    """Wild curves of a bagged regression on one feature, their mean, and the truth.

    The learners err in different directions, and where they do the mean errs less. How much less is
    told in the legend: mean squared distance from the truth along the axis.

    Parameters
    ----------
    model : fitted bagging regressor of one feature
        Bosquet's or scikit-learn's.
    X, y : the rows it was fitted to
    truth : callable
        The regression function, of an array of values of the feature.
    curves : int, default=10
        How many learners to show; the mean is over all of them.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 1:
        raise ValueError(f"the picture has one feature: X must have one column, got {points.shape}")
    ax = new_axes(ax, (6.5, 4))
    along = np.linspace(points.min(), points.max(), 401)
    votes = _votes(model, along[:, None])
    true, mean = np.asarray(truth(along), dtype=float), votes.mean(axis=1)
    alone = float(np.mean((votes - true[:, None]) ** 2))
    together = float(np.mean((mean - true) ** 2))
    ax.scatter(points[:, 0], y, s=10, color=GREY, alpha=0.5, linewidths=0, zorder=1)
    ax.plot(along, votes[:, :curves], color=BLUE, linewidth=0.8, alpha=0.45, zorder=2)
    ax.plot([], [], color=BLUE, linewidth=0.8, label=f"one learner, off by {alone:.3g} on average")
    ax.plot(along, mean, color=ORANGE, linewidth=2.4, zorder=4,
            label=f"mean of {votes.shape[1]}, off by {together:.3g}")  # fmt: skip
    ax.plot(along, true, color=INK, linewidth=1.6, linestyle="--", zorder=3, label="the truth")
    low, high = float(np.min(y)), float(np.max(y))
    room = 0.25 * (high - low)  # wild curves may leave the picture, or nothing else would be seen
    ax.set(xlabel="x", ylabel="y", xlim=(along[0], along[-1]), ylim=(low - room, high + room))
    tidy(ax)
    ax.legend(frameon=False)
    return ax


def _votes(model: Any, X: np.ndarray) -> np.ndarray:
    """What each learner says, of shape (rows, learners)."""
    if hasattr(model, "votes"):
        return np.asarray(model.votes(X))
    if not hasattr(model, "estimators_"):
        raise ValueError(f"{type(model).__name__} has no learners to show: fit a bagging regressor")
    return np.column_stack([learner.predict(X) for learner in model.estimators_])


def bayes_overlap(
    first: Density,
    second: Density,
    interval: tuple[float, float],
    *,
    priors: tuple[float, float] | None = None,
    names: tuple[str, str] = ("class 1", "class 2"),
    ax: Any = None,
) -> Any:
    """Two densities and the area under the smaller one: the error that no rule can avoid.

    Without priors the area is the overlap of the densities themselves, the sum of the two chances of
    being wrong. With priors π₁, π₂ it is ∫ min(π₁ d₁, π₂ d₂), the Bayes error.

    Parameters
    ----------
    first, second : callables
        Densities, of an array of values.
    interval : (float, float)
        Where to draw them; the area is taken over it.
    priors : (float, float), optional
        Chances of the two classes, of sum 1.
    names : (str, str), optional
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if priors is not None and (min(priors) < 0 or abs(sum(priors) - 1) > 1e-9):
        raise ValueError(f"priors={priors} must be two chances that sum to 1")
    if not interval[0] < interval[1]:
        raise ValueError(f"interval={interval} must go from a smaller to a larger number")
    ax = new_axes(ax, (6, 3.6))
    x = np.linspace(*interval, 20_001)
    share = priors or (1.0, 1.0)
    heights = _weighed(share, (first, second), x)
    least = np.minimum(*heights)
    # Where a density jumps a step of the grid is lost: it is finer for the number than for the picture.
    fine = np.linspace(*interval, 1_000_001)
    area = float(trapezoid(np.minimum(*_weighed(share, (first, second), fine)), fine))
    ax.fill_between(x, least, color=RED, alpha=0.3, linewidth=0,
                    label=f"{'overlap' if priors is None else 'Bayes error'} {area:.4g}")  # fmt: skip
    for height, name, colour in zip(heights, names, (BLUE, ORANGE), strict=True):
        ax.plot(x, height, color=colour, linewidth=1.8, label=name)
        ax.fill_between(x, height, color=colour, alpha=0.07, linewidth=0)
    for border in _borders(x, heights[0] - heights[1]):
        ax.axvline(border, color=GREY, linestyle=":", linewidth=1)
    ax.set(xlabel="x", ylabel="density" if priors is None else "prior × density", xlim=interval)
    ax.set_ylim(0, None)
    tidy(ax)
    ax.legend(frameon=False)
    return ax


def _weighed(
    shares: tuple[float, float], densities: tuple[Density, Density], x: np.ndarray
) -> list[np.ndarray]:
    """Each density times its class's share."""
    return [
        part * np.asarray(density(x), dtype=float)
        for part, density in zip(shares, densities, strict=True)
    ]


def _borders(x: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """Where the Bayes rule changes its mind: the one density overtakes the other."""
    there = np.flatnonzero(difference != 0)
    signs = np.sign(difference[there])
    turn = np.flatnonzero(signs[1:] != signs[:-1])
    return (x[there[turn]] + x[there[turn + 1]]) / 2


# What is shown for comparison beside the losses that AnyBoost descends.
_COMPARED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "0-1": lambda m: (m <= 0).astype(float),
    "hinge": lambda m: np.maximum(0, 1 - m),
    "savage": lambda m: 4 / (1 + np.exp(2 * m)) ** 2,
}
_STYLES = {
    "0-1": (INK, "-", 2.2),
    "exponential": (RED, "-", 1.7),
    "logistic": (BLUE, "-", 1.7),
    "squared": (BLUE, "--", 1.5),
    "hinge": (GREEN, "-", 1.7),
    "squared hinge": (GREEN, "--", 1.5),
    "smooth hinge": (GREEN, ":", 2.0),
    "doom2": (ORANGE, "-", 1.7),
    "savage": (ORANGE, "--", 1.5),
}


def _all_losses() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """In the order of the legend, scaled to be 1 at margin 0."""
    at_zero = np.zeros(1)
    found = dict(_COMPARED)
    for name, kind in MARGIN_LOSSES.items():
        loss = kind()
        found[name.replace("_", " ")] = functools.partial(
            _scaled, loss, float(loss.value(at_zero)[0])
        )
    known = [name for name in _STYLES if name in found]
    return {name: found[name] for name in [*known, *sorted(set(found) - set(known))]}


def _scaled(loss: Any, unit: float, margin: np.ndarray) -> np.ndarray:
    return loss.value(margin) / unit


def losses(
    functions: Mapping[str, Callable[[np.ndarray], Any]] | None = None,
    *,
    interval: tuple[float, float] = (-2.0, 2.0),
    ax: Any = None,
) -> Any:
    """Losses of the margin y f side by side, each scaled to be 1 where the vote is even.

    On the left, where rows are wrong, they part: the exponential loss pays most for a row far on the
    wrong side, the convex ones grow without end, and doom2 and savage give such rows up.

    Parameters
    ----------
    functions : dict of name -> callable, optional
        Losses of an array of margins, drawn as they are. By default those of `AnyBoostClassifier`
        (`bosquet.losses.MARGIN_LOSSES`), each divided by its value at margin 0, with 0-1, hinge and
        savage for comparison.
    interval : (float, float), default=(-2, 2)
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax, (6.5, 4))
    margin = np.linspace(*interval, 801)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    for name, loss in (_all_losses() if functions is None else functions).items():
        values = np.asarray(loss(margin), dtype=float)
        if values.shape != margin.shape:
            raise ValueError(
                f"the loss {name!r} gave shape {values.shape} for {margin.size} margins"
            )
        colour, style, width = _STYLES.get(name, (None, "-", 1.7))
        ax.plot(margin, values, color=colour, linestyle=style, linewidth=width, label=name)
    ax.set(xlabel="margin y f", ylabel="loss", xlim=interval, ylim=(0, 4))
    ax.text(0.01, 1.01, "wrong", color=GREY, transform=ax.transAxes)
    ax.text(0.99, 1.01, "right", color=GREY, transform=ax.transAxes, ha="right")
    tidy(ax)
    ax.legend(frameon=False)
    return ax


def degrees(choice: Any, *, criterion: str | None = None, ax: Any = None) -> Any:
    """Training error and error on other rows against the degree of a polynomial.

    The training error falls with every degree; the error on rows that were not fitted to falls first and
    then rises: underfitting on the left, overfitting on the right.

    Parameters
    ----------
    choice : DegreeChoice
        What `bosquet.theory.polynomial_degree` returns.
    criterion : {"cv", "validation", "bootstrap"}, optional
        Which of the errors to draw; by default the one that chose, or "cv".
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    errors = ("cv", "validation", "bootstrap")
    shown = criterion or (choice.criterion if choice.criterion in errors else "cv")
    if shown not in errors:
        raise ValueError(f"criterion={shown!r} must be one of {', '.join(map(repr, errors))}")
    ax = new_axes(ax, (6.5, 4))
    known = np.isfinite(choice.scores[shown])
    ax.plot(
        choice.degrees,
        choice.training,
        color=GREY,
        marker="o",
        markersize=4,
        label="training error",
    )
    ax.plot(choice.degrees[known], choice.scores[shown][known], color=ORANGE, marker="o", markersize=4,
            label=f"error by {shown}")  # fmt: skip
    for name, colour, style in (("aic", BLUE, "--"), ("bic", GREEN, ":"), (shown, RED, "-")):
        ax.axvline(choice.best[name], color=colour, linestyle=style, linewidth=1.2,
                   label=f"degree {choice.best[name]} by {name}")  # fmt: skip
    ax.set(xlabel="degree", ylabel="mean squared error", yscale="log")
    tidy(ax)
    ax.legend(frameon=False, fontsize="small")
    return ax
