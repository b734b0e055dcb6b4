"""Plots of the theory: variance reduction by averaging, Bayes error, margin losses, polynomial degrees."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import trapezoid

from bosquet.losses import MARGIN_LOSSES
from bosquet.plot._style import BLUE, GREEN, GREY, INK, ORANGE, RED, hide_spines, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike
    from bosquet.bagging import BaggingRegressor


Density = Callable[[np.ndarray], np.ndarray]


def variance_reduction(
    model: BaggingRegressor,
    X: TableLike,
    y: ArrayLike,
    truth: Callable[[np.ndarray], np.ndarray],
    *,
    curves: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw curves of the learners of a bagging regressor with one feature, their mean and the true function.

    The errors of the learners differ in sign, so that their mean has a smaller error. The legend gives the
    mean squared errors along the axis.

    Parameters
    ----------
    model : fitted bagging regressor with one feature
        Bosquet's or scikit-learn's.
    X, y : training set
    truth : callable
        The true regression function; it receives an array of values of the feature.
    curves : int, default=10
        Number of learners to show; the mean is over all learners.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 1:
        raise ValueError(f"X has shape {points.shape}; pass one column")
    ax = new_axes(ax, (6.5, 4))
    x = np.linspace(points.min(), points.max(), 401)
    predictions = _learner_predictions(model, x[:, None])
    true, mean = np.asarray(truth(x), dtype=float), predictions.mean(axis=1)
    single_error = float(np.mean((predictions - true[:, None]) ** 2))
    mean_error = float(np.mean((mean - true) ** 2))
    ax.scatter(points[:, 0], y, s=10, color=GREY, alpha=0.5, linewidths=0, zorder=1)
    ax.plot(x, predictions[:, :curves], color=BLUE, linewidth=0.8, alpha=0.45, zorder=2)
    ax.plot([], [], color=BLUE, linewidth=0.8,
            label=f"single learners, mean squared error {single_error:.3g}")  # fmt: skip
    ax.plot(x, mean, color=ORANGE, linewidth=2.4, zorder=4,
            label=f"mean of {predictions.shape[1]}, mean squared error {mean_error:.3g}")  # fmt: skip
    ax.plot(x, true, color=INK, linewidth=1.6, linestyle="--", zorder=3, label="true function")
    low, high = float(np.min(y)), float(np.max(y))
    # The limits follow y: extreme curves may leave the plot, because they would compress all others.
    margin = 0.25 * (high - low)
    ax.set(xlabel="x", ylabel="y", xlim=(x[0], x[-1]), ylim=(low - margin, high + margin))
    hide_spines(ax)
    ax.legend(frameon=False)
    return ax


def _learner_predictions(model: Any, X: np.ndarray) -> np.ndarray:
    """Return predictions of each learner, of shape (rows, learners)."""
    if hasattr(model, "votes"):
        return np.asarray(model.votes(X))
    if not hasattr(model, "estimators_"):
        raise ValueError(
            f"{type(model).__name__} has no learners to show; pass a fitted bagging regressor"
        )
    return np.column_stack([learner.predict(X) for learner in model.estimators_])


def bayes_overlap(
    first: Density,
    second: Density,
    interval: tuple[float, float],
    *,
    priors: tuple[float, float] | None = None,
    names: tuple[str, str] = ("class 1", "class 2"),
    ax: Axes | None = None,
) -> Axes:
    """Draw two densities and the area under their minimum: the Bayes error, which no classifier can avoid.

    Without priors, the area is the overlap of the densities, the sum of the error probabilities of both
    classes. With priors π₁, π₂ it is ∫ min(π₁ d₁, π₂ d₂), the Bayes error.

    Parameters
    ----------
    first, second : callables
        Densities; they receive an array of values.
    interval : (float, float)
        Interval over which the densities are drawn and the area is computed.
    priors : (float, float), optional
        Prior probabilities of the two classes, of sum 1.
    names : (str, str), default=("class 1", "class 2")
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if priors is not None and (min(priors) < 0 or abs(sum(priors) - 1) > 1e-9):
        raise ValueError(
            f"priors={priors} is not valid: priors must be two probabilities that sum to 1"
        )
    if not interval[0] < interval[1]:
        raise ValueError(
            f"interval={interval} is not valid: interval must be a pair (low, high) with low < high"
        )
    ax = new_axes(ax, (6, 3.6))
    x = np.linspace(*interval, 20_001)
    factors = priors or (1.0, 1.0)
    heights = _weighted_densities(factors, (first, second), x)
    smaller = np.minimum(*heights)
    # The area needs a finer grid than the plot, because the trapezoid rule is inexact where a density jumps.
    fine = np.linspace(*interval, 1_000_001)
    area = float(trapezoid(np.minimum(*_weighted_densities(factors, (first, second), fine)), fine))
    ax.fill_between(x, smaller, color=RED, alpha=0.3, linewidth=0,
                    label=f"{'overlap' if priors is None else 'Bayes error'} {area:.4g}")  # fmt: skip
    for height, name, colour in zip(heights, names, (BLUE, ORANGE), strict=True):
        ax.plot(x, height, color=colour, linewidth=1.8, label=name)
        ax.fill_between(x, height, color=colour, alpha=0.07, linewidth=0)
    for boundary in _bayes_boundaries(x, heights[0] - heights[1]):
        ax.axvline(boundary, color=GREY, linestyle=":", linewidth=1)
    ax.set(xlabel="x", ylabel="density" if priors is None else "prior × density", xlim=interval)
    ax.set_ylim(0, None)
    hide_spines(ax)
    ax.legend(frameon=False)
    return ax


def _weighted_densities(
    factors: tuple[float, float], densities: tuple[Density, Density], x: np.ndarray
) -> list[np.ndarray]:
    """Return each density times its factor."""
    return [
        factor * np.asarray(density(x), dtype=float)
        for factor, density in zip(factors, densities, strict=True)
    ]


def _bayes_boundaries(x: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """Return decision boundaries of the Bayes rule: where the difference changes its sign."""
    nonzero = np.flatnonzero(difference != 0)
    signs = np.sign(difference[nonzero])
    change = np.flatnonzero(signs[1:] != signs[:-1])
    return (x[nonzero[change]] + x[nonzero[change + 1]]) / 2


# Shown for comparison with the losses that AnyBoost minimises.
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
    """Return the losses in the order of the legend, scaled to be 1 at margin 0."""
    at_zero = np.zeros(1)
    margin_losses = dict(_COMPARED)
    for name, kind in MARGIN_LOSSES.items():
        loss = kind()
        margin_losses[name.replace("_", " ")] = functools.partial(
            _scaled_loss, loss, float(loss.value(at_zero)[0])
        )
    styled = [name for name in _STYLES if name in margin_losses]
    return {
        name: margin_losses[name] for name in [*styled, *sorted(set(margin_losses) - set(styled))]
    }


def _scaled_loss(loss: Any, unit: float, margin: np.ndarray) -> np.ndarray:
    return loss.value(margin) / unit


def losses(
    functions: Mapping[str, Callable[[np.ndarray], ArrayLike]] | None = None,
    *,
    interval: tuple[float, float] = (-2.0, 2.0),
    ax: Axes | None = None,
) -> Axes:
    """Draw losses as functions of the margin y f, each scaled to be 1 at margin 0.

    They differ for negative margins (misclassified rows): the exponential loss penalises large negative
    margins most, the convex losses are unbounded, and doom2 and savage are bounded.

    Parameters
    ----------
    functions : dict of name -> callable, optional
        Losses that receive an array of margins; they are drawn without scaling. By default those of
        `AnyBoostClassifier` (`bosquet.losses.MARGIN_LOSSES`), each divided by its value at margin 0, with
        0-1, hinge and savage for comparison.
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
                f"the loss {name!r} returned shape {values.shape} for {margin.size} margins; it must return"
                " one value per margin"
            )
        colour, style, width = _STYLES.get(name, (None, "-", 1.7))
        ax.plot(margin, values, color=colour, linestyle=style, linewidth=width, label=name)
    ax.set(xlabel="margin y f", ylabel="loss", xlim=interval, ylim=(0, 4))
    ax.text(0.01, 1.01, "wrong", color=GREY, transform=ax.transAxes)
    ax.text(0.99, 1.01, "right", color=GREY, transform=ax.transAxes, ha="right")
    hide_spines(ax)
    ax.legend(frameon=False)
    return ax


def degrees(choice: Any, *, criterion: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw training error and estimated test error against the degree of a polynomial.

    The training error decreases with every degree. The error on other rows first decreases and then
    increases: underfitting on the left, overfitting on the right.

    Parameters
    ----------
    choice : DegreeChoice
        Result of `bosquet.theory.polynomial_degree`.
    criterion : {"cv", "validation", "bootstrap"}, optional
        The error estimate to draw (default: the criterion of `choice` if it is one of these, else "cv").
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    errors = ("cv", "validation", "bootstrap")
    shown_criterion = criterion or (choice.criterion if choice.criterion in errors else "cv")
    if shown_criterion not in errors:
        raise ValueError(
            f"criterion={shown_criterion!r} is not valid: criterion must be one of"
            f" {', '.join(map(repr, errors))}"
        )
    ax = new_axes(ax, (6.5, 4))
    is_finite = np.isfinite(choice.scores[shown_criterion])
    ax.plot(
        choice.degrees,
        choice.training,
        color=GREY,
        marker="o",
        markersize=4,
        label="training error",
    )
    ax.plot(choice.degrees[is_finite], choice.scores[shown_criterion][is_finite], color=ORANGE, marker="o",
            markersize=4, label=f"error by {shown_criterion}")  # fmt: skip
    for name, colour, style in (
        ("aic", BLUE, "--"),
        ("bic", GREEN, ":"),
        (shown_criterion, RED, "-"),
    ):
        ax.axvline(choice.best[name], color=colour, linestyle=style, linewidth=1.2,
                   label=f"degree {choice.best[name]} by {name}")  # fmt: skip
    ax.set(xlabel="degree", ylabel="mean squared error", yscale="log")
    hide_spines(ax)
    ax.legend(frameon=False, fontsize="small")
    return ax
