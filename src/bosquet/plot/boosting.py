"""Plots of boosting: decision regions by round, error curves with bounds, margins, certificates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pyplot
from bosquet._sklearn import check_is_fitted, is_regressor
from bosquet.boosting.adaboost.certificate import Certificate
from bosquet.boosting.adaboost.certificate_report import percent, whole_rounds
from bosquet.boosting.outliers import weights_in_round
from bosquet.plot._style import BLUE, GREY, INK, ORANGE, RED, hide_spines, new_axes, shades_of
from bosquet.theory.model_certificates import certificate as certificate_of
from bosquet.theory.rounds import (
    encode_labels,
    is_sklearn_adaboost,
    is_wrong,
    margins_of,
    rounds_of,
)
from bosquet.trees.colours import class_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike
    from bosquet.boosting import AdaBoostClassifier, AnyBoostClassifier


NINE_ROUNDS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
_MANY_ROUNDS = 100  # from this number on, the axis of the rounds is logarithmic
_MEAN_AREA, _AREAS = (
    22.0,
    (3.0, 420.0),
)  # mean, smallest and largest area of a point, in square points


def decision_rounds(
    model: Any,
    X: Any,
    y: ArrayLike,
    at: Sequence[int] | None = None,
    *,
    names: Sequence[str] | None = None,
    resolution: int = 240,
    axes: Any = None,
) -> Any:
    """Draw decision regions of a boosted model after several rounds, with the weights of the rows.

    Each panel shows the vote after round t: its decision boundary as a solid line, that of the newest
    learner as a dashed line, and a shade that deepens with the absolute value of the vote. The area of a
    point is proportional to the weight that its row had when learner t was fitted. The weights follow from
    the margins as in the boosting method: for AdaBoost, D_t(i) ∝ exp(-y_i f_{t-1}(x_i)). LPBoost sets all
    weights of its learners at the end, so that all panels use its `row_distribution_`. Rows that the vote
    misclassifies have a dark edge.

    Parameters
    ----------
    model : fitted boosted classifier of two classes
        Bosquet's, or scikit-learn's `AdaBoostClassifier`.
    X : table with two columns
    y : array of classes
    at : sequence of int, optional
        Rounds to show (default: nine, which are 1, 2, 3, 5, 10, 20, 50, 100, 200 if the model has as many).
    names : sequence of two str, optional
        Names of the features (default: the column names of X, or x0 and x1).
    resolution : int, default=240
        Number of grid points per side.
    axes : array of axes, optional
        One per round.

    Returns
    -------
    array of axes
    """
    points, target = _check_two_columns(X), encode_labels(model, y)
    if target.dtype.kind != "f":
        raise ValueError(
            f"the model has {len(model.classes_)} classes, but decision_rounds supports two; pass a model"
            " of two classes"
        )
    sides, grid = _grid(points, resolution)
    total = sum(1 for _ in rounds_of(model, X.iloc[:1] if hasattr(X, "iloc") else X[:1]))
    rounds_shown = _rounds_to_show(at, total)
    is_own_figure = axes is None
    if is_own_figure:
        columns = min(3, len(rounds_shown))
        rows = -(-len(rounds_shown) // columns)
        _, axes = import_pyplot().subplots(
            rows, columns, figsize=(3.1 * columns, 2.75 * rows), sharex=True, sharey=True,
            squeeze=False, layout="constrained",
        )  # fmt: skip
    axes = np.atleast_1d(axes)
    if axes.size < len(rounds_shown):
        raise ValueError(
            f"axes has {axes.size} axes, but {len(rounds_shown)} rounds are drawn; pass one axes per round"
        )
    panels = dict(zip(rounds_shown, axes.ravel(), strict=False))
    vote: Any = np.zeros(target.size)
    grid_vote: Any = 0.0
    length = 0.0
    steps = zip(rounds_of(model, X), rounds_of(model, _grid_table(X, grid)), strict=True)
    for t, (on_rows, on_grid) in enumerate(steps, start=1):
        previous, vote, grid_vote = vote, vote + on_rows.vote_term, grid_vote + on_grid.vote_term
        length += on_grid.size
        if t in panels:
            ax = panels[t]
            _draw_regions(ax, sides, grid_vote / (length or 1.0), on_grid.predictions)
            weight = _row_weights(model, t - 1, target, previous)
            _draw_points(ax, points, target, weight, is_wrong(vote, target))
            wrong = is_wrong(vote, target).mean()
            ax.set_title(f"{t} learner{'s' * (t > 1)}, {wrong:.1%} wrong", fontsize="medium")
    for ax in axes.ravel()[len(rounds_shown) :]:
        ax.set_visible(False)
    _name_features(axes, names if names is not None else getattr(X, "columns", ("x0", "x1")))
    _name_classes(panels[rounds_shown[0]], model.classes_, is_own_figure and len(rounds_shown) > 1)
    return axes


def _row_weights(model: Any, t: int, target: np.ndarray, vote: np.ndarray) -> np.ndarray:
    """Return weights of the rows in round t (from 0), by the rule of the boosting method."""
    uniform = np.full(target.size, 1.0 / target.size)
    distribution = getattr(model, "row_distribution_", None)
    if distribution is not None:
        return distribution if distribution.size == target.size else uniform
    if is_sklearn_adaboost(model):
        return _softmax(-target * vote)
    weights = weights_in_round(model, t, target, vote, uniform)
    return uniform if weights is None else weights


def _name_classes(ax: Axes, classes: np.ndarray, above: bool) -> None:
    """Add a legend with the labels of the two classes, above all panels or in the first one."""
    from matplotlib.lines import Line2D

    dots = [
        Line2D(
            [], [], linestyle="", marker="o", markersize=6, color=class_colour(k), label=str(label)
        )
        for k, label in enumerate(classes.tolist())
    ]
    if not above:
        ax.legend(handles=dots, fontsize="small", framealpha=0.8)
    else:
        ax.figure.legend(
            handles=dots, fontsize="small", frameon=False, loc="outside upper right", ncols=2
        )


def _check_two_columns(X: TableLike) -> np.ndarray:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X has shape {points.shape}; pass two columns")
    return points


def _grid(points: np.ndarray, resolution: int) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return coordinates along both axes, with a margin around the points, and all pairs of them."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.06 * np.where(high > low, high - low, 1.0)
    xs = np.linspace(low[0] - margin[0], high[0] + margin[0], resolution)
    ys = np.linspace(low[1] - margin[1], high[1] + margin[1], resolution)
    return (xs, ys), np.column_stack([side.ravel() for side in np.meshgrid(xs, ys)])


def _grid_table(X: Any, grid: np.ndarray) -> Any:
    """Return the grid as a table of the type of X, with its column names, which models check."""
    return type(X)(grid, columns=X.columns) if hasattr(X, "iloc") else grid


def _rounds_to_show(at: Sequence[int] | None, total: int) -> list[int]:
    if at is not None:
        shown = sorted({int(t) for t in at})
        if not shown or shown[0] < 1 or shown[-1] > total:
            raise ValueError(f"at={list(at)} is not valid: at must be rounds in [1, {total}]")
        return shown
    if total >= NINE_ROUNDS[-1]:
        return list(NINE_ROUNDS)
    spread = {int(t) for t in np.geomspace(1, total, min(9, total)).round()}
    for t in range(1, total + 1):  # rounding gives duplicates among the first rounds: fill up
        if len(spread) >= min(9, total):
            break
        spread.add(t)
    return sorted(spread)


def _draw_regions(
    ax: Axes, sides: tuple[np.ndarray, np.ndarray], vote: np.ndarray, newest: np.ndarray
) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = [class_colour(0, 0.55), class_colour(0, 0.14), class_colour(1, 0.14)]
    blend = LinearSegmentedColormap.from_list("vote", [*colours, class_colour(1, 0.55)])
    shape = (sides[1].size, sides[0].size)
    # The colour jumps at the boundary, where the class changes, even if the vote is small.
    shade = np.where(vote > 0, 0.67 + 0.33 * vote.clip(0, 1), 0.33 + 0.33 * vote.clip(-1, 0))
    frame = (sides[0][0], sides[0][-1], sides[1][0], sides[1][-1])
    ax.imshow(shade.reshape(shape), cmap=blend, vmin=0, vmax=1, origin="lower", extent=frame,
              aspect="auto", interpolation="nearest")  # fmt: skip
    for values, style, width in ((newest, "--", 0.9), (vote, "-", 1.4)):
        if values.min() <= 0 < values.max():
            above = (values > 0).astype(float).reshape(shape)
            ax.contour(*sides, above, levels=[0.5], colors=INK, linestyles=style, linewidths=width)


def _draw_points(
    ax: Any, points: np.ndarray, target: np.ndarray, weight: np.ndarray, wrong: np.ndarray
) -> None:
    area = np.clip(_MEAN_AREA * weight * weight.size, *_AREAS)
    order = np.argsort(-area, kind="stable")  # draw small points on top of large ones
    fill = np.where(target > 0, class_colour(1), class_colour(0))
    edge, width = np.where(wrong, INK, "white"), np.where(wrong, 1.1, 0.5)
    ax.scatter(*points[order].T, s=area[order], c=fill[order], edgecolors=edge[order],
               linewidths=width[order], alpha=0.9)  # fmt: skip
    ax.set(xticks=[], yticks=[])


def _softmax(values: np.ndarray) -> np.ndarray:
    raised = np.exp(values - values.max())
    return raised / raised.sum()


def _name_features(axes: np.ndarray, names: Any) -> None:
    table = np.atleast_2d(axes)
    for ax in table[-1]:
        ax.set_xlabel(str(names[0]))
    for ax in table[:, 0]:
        ax.set_ylabel(str(names[1]))


def error_curve(
    model: Any,
    X: TableLike,
    y: ArrayLike,
    X_test: Any = None,
    y_test: Any = None,
    *,
    bounds: bool = True,
    ax: Any = None,
) -> Axes:
    """Draw training and test error against the number of learners, with bounds on the training error.

    Parameters
    ----------
    model : fitted classifier or regressor
        A boosted model of Bosquet, or scikit-learn's `AdaBoostClassifier`. Other models with
        ``staged_predict``, such as `BaggingClassifier`, are drawn without bounds. The error of a regressor
        is the root mean squared error.
    X, y : training set
    X_test, y_test : test set, optional
    bounds : bool, default=True
        Draw the bounds Π Z_t and exp(-2 Σ γ_t²) on the training error, if the model has them and they
        are within the axis limits.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("only one of X_test and y_test was passed; pass both X_test and y_test")
    ax = new_axes(ax)
    training, bound_certificate = _training_errors(model, X, y)
    learners = np.arange(1, training.size + 1)
    dots = {"marker": "o", "markersize": 4} if learners.size < 12 else {}
    ax.plot(learners, training, color=BLUE, linewidth=1.6, label="training", **dots)
    top, headroom = float(training.max()), 1.15
    if X_test is not None:
        test = np.fromiter(_staged_errors(model, X_test, y_test), dtype=float)
        ax.plot(learners, test, color=ORANGE, linewidth=1.6, label="test", **dots)
        top = max(top, float(test.max()))
    if bound_certificate is not None and bounds:
        headroom = 1.6  # makes a part of the bounds visible
    top = headroom * top if is_regressor(model) else min(1.0, headroom * top)
    if bound_certificate is not None and bounds:
        _draw_visible_bounds(ax, bound_certificate, top)
    ax.set(xlabel="learners", xlim=(1, max(2, training.size)), ylim=(0, top or 1.0))
    if training.size >= _MANY_ROUNDS:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    else:
        whole_rounds(ax)
    if is_regressor(model):
        ax.set_ylabel("root mean squared error")
    else:
        ax.set_ylabel("misclassified")
        ax.yaxis.set_major_formatter(percent())
    hide_spines(ax)
    ax.legend(frameon=False)
    return ax


def _draw_visible_bounds(ax: Axes, certificate: Any, top: float) -> None:
    """Draw the bounds on the training error that are partly within the axis limits."""
    times = "" if certificate.factor == 1 else f"{certificate.factor:g} "
    for values, label, style in (
        (certificate.exponential_bound, "exp(-2 Σ γ²)", ":"),
        (certificate.product, "Π Z", "--"),
    ):
        if values is not None and (certificate.factor * values <= top).any():
            learners = np.arange(1, values.size + 1)
            ax.plot(learners, certificate.factor * values, color=GREY, linestyle=style, linewidth=1.3,
                    label=f"bound {times}{label}", zorder=1)  # fmt: skip


def _is_boosted(model: Any) -> bool:
    return is_sklearn_adaboost(model) or hasattr(model, "certificate_")


def _training_errors(model: Any, X: TableLike, y: ArrayLike) -> tuple[np.ndarray, Any]:
    if not _is_boosted(model):
        return np.fromiter(_staged_errors(model, X, y), dtype=float), None
    model_certificate = certificate_of(model, X, y)
    return model_certificate.training_errors, model_certificate


def _staged_errors(model: Any, X: TableLike, y: ArrayLike) -> Iterator[float]:
    if not hasattr(model, "staged_predict"):
        raise ValueError(
            f"{type(model).__name__} has no staged_predict, which error_curve needs; pass a boosted model or"
            " a bagging model of Bosquet"
        )
    truth = np.asarray(y)
    staged = model.staged_predict(X)
    if is_regressor(model):
        return (float(np.sqrt(np.mean((predicted - truth) ** 2))) for predicted in staged)
    return (float(np.mean(np.asarray(predicted) != truth)) for predicted in staged)


def margins(
    model: Any,
    X: TableLike,
    y: ArrayLike,
    at: Sequence[int] | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw cumulative distributions of the margins after several numbers of rounds.

    A curve is the fraction of rows whose margin y f / Σ|α| is at most θ. With more than two classes, the
    margin is the vote for the true class minus the largest vote for another class. Margins often keep
    growing after the training error has reached 0.

    Parameters
    ----------
    model : fitted boosted classifier
    X, y : training set
    at : sequence of int, optional
        Numbers of rounds (default: 5, 100 and 1000, as in Schapire, Freund, Bartlett and Lee, and the last).
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax, (6, 4))
    target = encode_labels(model, y)
    curves: dict[int, tuple[np.ndarray, float]] = {}
    vote: Any = 0.0
    length, t = 0.0, 0
    rounds_to_show = set(at) if at is not None else {5, 100, 1000}
    for t, step in enumerate(rounds_of(model, X), start=1):
        vote = vote + step.vote_term
        length += step.size
        if t in rounds_to_show:
            sorted_margins = np.sort(margins_of(vote, target)) / (length or 1.0)
            curves[t] = sorted_margins, float(is_wrong(vote, target).mean())
    if at is None and t not in curves:
        sorted_margins = np.sort(margins_of(vote, target)) / (length or 1.0)
        curves[t] = sorted_margins, float(is_wrong(vote, target).mean())
    elif at is not None and set(at) - set(curves):
        raise ValueError(f"at={list(at)} is not valid: at must be rounds in [1, {t}]")
    ax.axvline(0, color=GREY, linewidth=0.8)
    fraction = np.arange(1, target.size + 1) / target.size
    colours = shades_of(RED, len(curves))
    for (rounds, (values, wrong)), colour in zip(curves.items(), colours, strict=True):
        ax.step(np.concatenate([[-1], values, [1]]), np.concatenate([[0], fraction, [1]]), where="post",
                color=colour, linewidth=1.7,
                label=f"{rounds:,} round{'s' * (rounds > 1)}: {wrong:.1%} wrong")  # fmt: skip
    ax.set(xlabel="margin θ", ylabel="rows with at most this margin", xlim=(-1, 1), ylim=(0, 1.01))
    ax.yaxis.set_major_formatter(percent())
    hide_spines(ax)
    ax.legend(frameon=False, loc="upper left")
    return ax


def certificate(model: AdaBoostClassifier | AnyBoostClassifier, axes: Any = None) -> Any:
    """Plot a certificate, or that of a fitted model: edges, training error with bounds, margins."""
    if isinstance(model, Certificate):
        return model.plot(axes)
    check_is_fitted(model)
    result = getattr(model, "certificate_", None)
    if result is None:
        raise TypeError(
            f"{type(model).__name__} has no certificate_; pass a boosted classifier of Bosquet, or the result"
            " of bosquet.theory.certificate(model, X, y) for another model"
        )
    return result.plot(axes)
