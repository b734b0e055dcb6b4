"""Boosting as every lecture draws it: regions round by round, error under its bound, margins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bosquet._sklearn import check_is_fitted, is_regressor
from bosquet.boosting._certificate_drawing import percent, whole_rounds
from bosquet.boosting._row_weights import weights_in_round
from bosquet.boosting.certificate import Certificate
from bosquet.plot._style import BLUE, GREY, INK, ORANGE, RED, new_axes, shades, tidy
from bosquet.theory._rounds import (
    is_scikit_learns,
    is_wrong,
    margins_of,
    rounds_of,
    signs_or_numbers,
)
from bosquet.theory.certifying import certificate as certificate_of
from bosquet.trees._colours import class_colour
from bosquet.trees.drawing import pyplot_or_error

NINE_ROUNDS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
_MANY_ROUNDS = 100  # from here on the first rounds are seen on a logarithmic axis only
_MEAN_AREA, _AREAS = 22.0, (3.0, 420.0)  # of a point, in square points


def decision_rounds(
    model: Any,
    X: Any,
    y: Any,
    at: Sequence[int] | None = None,
    *,
    names: Sequence[str] | None = None,
    resolution: int = 240,
    axes: Any = None,
) -> Any:
    """Decision regions of the vote round by round; the larger a point, the more its row weighs.

    Each panel shows the vote after round t: the boundary as a full line, the newest learner's as a
    dashed one, and a shade that deepens with the size of the vote. The area of a point is the weight
    that its row had when learner t was fitted, computed from the margins as the method does: for
    AdaBoost D_t(i) ∝ exp(-y_i f_{t-1}(x_i)), for BrownBoost that of its clock. LPBoost sets all its
    votes at the end: the areas are those of its `row_distribution_`, the same in every panel. A ring
    tells that the vote gets a row wrong.

    Parameters
    ----------
    model : fitted boosted classifier of two classes
        Bosquet's, or scikit-learn's `AdaBoostClassifier`.
    X : rows of two features
    y : their classes
    at : rounds to show, optional
        By default nine: 1, 2, 3, 5, 10, 20, 50, 100, 200, or as many as fit in the model's rounds.
    names : names of the two features, optional
        By default those of X, or x0 and x1.
    resolution : int, default=240
        Points of the grid a side.
    axes : one axes for each round, optional

    Returns
    -------
    array of axes
    """
    points, target = _plane(X), signs_or_numbers(model, y)
    if target.dtype.kind != "f":
        raise ValueError(f"the picture is for two classes, the model has {len(model.classes_)}")
    sides, grid = _grid(points, resolution)
    total = sum(1 for _ in rounds_of(model, X.iloc[:1] if hasattr(X, "iloc") else X[:1]))
    shown = _rounds_to_show(at, total)
    is_own_figure = axes is None
    if is_own_figure:
        columns = min(3, len(shown))
        rows = -(-len(shown) // columns)
        _, axes = pyplot_or_error().subplots(
            rows, columns, figsize=(3.1 * columns, 2.75 * rows), sharex=True, sharey=True,
            squeeze=False, layout="constrained",
        )  # fmt: skip
    axes = np.atleast_1d(axes)
    if axes.size < len(shown):
        raise ValueError(f"{len(shown)} rounds need as many axes, got {axes.size}")
    panels = dict(zip(shown, axes.ravel(), strict=False))
    vote: Any = np.zeros(target.size)
    field: Any = 0.0
    length = 0.0
    steps = zip(rounds_of(model, X), rounds_of(model, _like(X, grid)), strict=True)
    for t, (here, there) in enumerate(steps, start=1):
        before, vote, field = vote, vote + here.added, field + there.added
        length += there.size
        if t in panels:
            ax = panels[t]
            _draw_regions(ax, sides, field / (length or 1.0), there.said)
            weight = _row_weights(model, t - 1, target, before)
            _draw_points(ax, points, target, weight, is_wrong(vote, target))
            wrong = is_wrong(vote, target).mean()
            ax.set_title(f"{t} learner{'s' * (t > 1)}, {wrong:.1%} wrong", fontsize="medium")
    for ax in axes.ravel()[len(shown) :]:
        ax.set_visible(False)
    _name_features(axes, names if names is not None else getattr(X, "columns", ("x0", "x1")))
    _name_classes(panels[shown[0]], model.classes_, is_own_figure and len(shown) > 1)
    return axes


def _row_weights(model: Any, t: int, target: np.ndarray, vote: np.ndarray) -> np.ndarray:
    """The weights of round t (from 0), as the method itself has them."""
    even = np.full(target.size, 1.0 / target.size)
    kept = getattr(model, "row_distribution_", None)
    if kept is not None:
        return kept if kept.size == target.size else even
    if is_scikit_learns(model):
        return _softmax(-target * vote)
    found = weights_in_round(model, t, target, vote, even)
    return even if found is None else found


def _name_classes(ax: Any, classes: np.ndarray, above: bool) -> None:
    """A legend of the two classes by their labels, above all panels or in the first."""
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


def _plane(X: Any) -> np.ndarray:
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"the picture is of a plane: X must have two columns, got {points.shape}")
    return points


def _grid(points: np.ndarray, resolution: int) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.06 * np.where(high > low, high - low, 1.0)
    across = np.linspace(low[0] - room[0], high[0] + room[0], resolution)
    up = np.linspace(low[1] - room[1], high[1] + room[1], resolution)
    both = np.meshgrid(across, up)
    return (across, up), np.column_stack([part.ravel() for part in both])


def _like(X: Any, grid: np.ndarray) -> Any:
    """The grid in a frame of the same column names, where X has names: models check them."""
    return type(X)(grid, columns=X.columns) if hasattr(X, "iloc") else grid


def _rounds_to_show(at: Sequence[int] | None, total: int) -> list[int]:
    if at is not None:
        shown = sorted({int(t) for t in at})
        if not shown or shown[0] < 1 or shown[-1] > total:
            raise ValueError(f"at={list(at)} is out of range: the model has rounds 1 to {total}")
        return shown
    if total >= NINE_ROUNDS[-1]:
        return list(NINE_ROUNDS)
    spread = {int(t) for t in np.geomspace(1, total, min(9, total)).round()}
    for t in range(1, total + 1):  # rounding makes the first few meet; the gaps come next
        if len(spread) >= min(9, total):
            break
        spread.add(t)
    return sorted(spread)


def _draw_regions(
    ax: Any, sides: tuple[np.ndarray, np.ndarray], field: np.ndarray, newest: np.ndarray
) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = [class_colour(0, 0.55), class_colour(0, 0.14), class_colour(1, 0.14)]
    blend = LinearSegmentedColormap.from_list("vote", [*colours, class_colour(1, 0.55)])
    shape = (sides[1].size, sides[0].size)
    # The two halves meet in a step: on the boundary the class changes, however small the vote.
    shade = np.where(field > 0, 0.67 + 0.33 * field.clip(0, 1), 0.33 + 0.33 * field.clip(-1, 0))
    frame = (sides[0][0], sides[0][-1], sides[1][0], sides[1][-1])
    ax.imshow(shade.reshape(shape), cmap=blend, vmin=0, vmax=1, origin="lower", extent=frame,
              aspect="auto", interpolation="nearest")  # fmt: skip
    for values, style, width in ((newest, "--", 0.9), (field, "-", 1.4)):
        if values.min() <= 0 < values.max():
            above = (values > 0).astype(float).reshape(shape)
            ax.contour(*sides, above, levels=[0.5], colors=INK, linestyles=style, linewidths=width)


def _draw_points(
    ax: Any, points: np.ndarray, target: np.ndarray, weight: np.ndarray, wrong: np.ndarray
) -> None:
    area = np.clip(_MEAN_AREA * weight * weight.size, *_AREAS)
    order = np.argsort(-area, kind="stable")  # small ones on top of large ones
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
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    bounds: bool = True,
    ax: Any = None,
) -> Any:
    """Error in training and test against the number of learners, with the bound on the former.

    Parameters
    ----------
    model : fitted classifier or regressor
        Boosted: Bosquet's or scikit-learn's `AdaBoostClassifier`. Anything else with
        ``staged_predict``, such as `BaggingClassifier`, is drawn without a bound. Of a regressor the
        error is the root of the mean squared one.
    X, y : the training rows
    X_test, y_test : rows the model has not seen, optional
    bounds : bool, default=True
        Whether to draw bounds on the training error, Π Z_t and exp(-2 Σ γ_t²), where the model has
        them and they come into sight.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("give both X_test and y_test, or neither")
    ax = new_axes(ax)
    training, found = _training_errors(model, X, y)
    learners = np.arange(1, training.size + 1)
    dots = {"marker": "o", "markersize": 4} if learners.size < 12 else {}
    ax.plot(learners, training, color=BLUE, linewidth=1.6, label="training", **dots)
    top, above = float(training.max()), 1.15
    if X_test is not None:
        test = np.fromiter(_errors_on(model, X_test, y_test), dtype=float)
        ax.plot(learners, test, color=ORANGE, linewidth=1.6, label="test", **dots)
        top = max(top, float(test.max()))
    if found is not None and bounds:
        above = 1.6  # room for the bounds to come into sight
    top = above * top if is_regressor(model) else min(1.0, above * top)
    if found is not None and bounds:
        _draw_visible_bounds(ax, found, top)
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
    tidy(ax)
    ax.legend(frameon=False)
    return ax


def _draw_visible_bounds(ax: Any, found: Any, top: float) -> None:
    """Bounds on the training error, those of which some part lies inside the axes."""
    times = "" if found.factor == 1 else f"{found.factor:g} "
    for values, label, style in (
        (found.exponential_bound, "exp(-2 Σ γ²)", ":"),
        (found.product, "Π Z", "--"),
    ):
        if values is not None and (found.factor * values <= top).any():
            learners = np.arange(1, values.size + 1)
            ax.plot(learners, found.factor * values, color=GREY, linestyle=style, linewidth=1.3,
                    label=f"bound {times}{label}", zorder=1)  # fmt: skip


def _is_boosted(model: Any) -> bool:
    return is_scikit_learns(model) or hasattr(model, "certificate_")


def _training_errors(model: Any, X: Any, y: Any) -> tuple[np.ndarray, Any]:
    if not _is_boosted(model):
        return np.fromiter(_errors_on(model, X, y), dtype=float), None
    found = certificate_of(model, X, y)
    return found.training_errors, found


def _errors_on(model: Any, X: Any, y: Any) -> Iterator[float]:
    if not hasattr(model, "staged_predict"):
        raise ValueError(
            f"{type(model).__name__} has no staged_predict: it does not vote in stages"
        )
    truth = np.asarray(y)
    if is_regressor(model):
        return (float(np.sqrt(np.mean((said - truth) ** 2))) for said in model.staged_predict(X))
    return (float(np.mean(np.asarray(said) != truth)) for said in model.staged_predict(X))


def margins(model: Any, X: Any, y: Any, at: Sequence[int] | None = None, *, ax: Any = None) -> Any:
    """Margin distributions after several numbers of rounds: they grow when no row is wrong any more.

    A curve tells the share of rows whose margin y f / Σ|α| is at most θ. With several classes a margin
    is the true class's share of the vote less the largest other share.

    Parameters
    ----------
    model : fitted boosted classifier
    X, y : the training rows
    at : numbers of rounds, optional
        By default 5, 100, 1000 as in Schapire, Freund, Bartlett and Lee, where there are so many.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax, (6, 4))
    target = signs_or_numbers(model, y)
    kept: dict[int, tuple[np.ndarray, float]] = {}
    vote: Any = 0.0
    length, t = 0.0, 0
    wanted = set(at) if at is not None else {5, 100, 1000}
    for t, step in enumerate(rounds_of(model, X), start=1):
        vote = vote + step.added
        length += step.size
        if t in wanted:
            found = np.sort(margins_of(vote, target)) / (length or 1.0)
            kept[t] = found, float(is_wrong(vote, target).mean())
    if at is None and t not in kept:
        found = np.sort(margins_of(vote, target)) / (length or 1.0)
        kept[t] = found, float(is_wrong(vote, target).mean())
    elif at is not None and set(at) - set(kept):
        raise ValueError(f"at={list(at)} is out of range: the model has rounds 1 to {t}")
    ax.axvline(0, color=GREY, linewidth=0.8)
    share = np.arange(1, target.size + 1) / target.size
    for (rounds, (found, wrong)), colour in zip(kept.items(), shades(RED, len(kept)), strict=True):
        ax.step(np.concatenate([[-1], found, [1]]), np.concatenate([[0], share, [1]]), where="post",
                color=colour, linewidth=1.7,
                label=f"{rounds:,} round{'s' * (rounds > 1)}: {wrong:.1%} wrong")  # fmt: skip
    ax.set(xlabel="margin θ", ylabel="rows with at most this margin", xlim=(-1, 1), ylim=(0, 1.01))
    ax.yaxis.set_major_formatter(percent())
    tidy(ax)
    ax.legend(frameon=False, loc="upper left")
    return ax


def certificate(model: Any, axes: Any = None) -> Any:
    """A certificate, or that of a fitted model: edges, error under its bounds, margins."""
    if isinstance(model, Certificate):
        return model.plot(axes)
    check_is_fitted(model)
    found = getattr(model, "certificate_", None)
    if found is None:
        raise TypeError(
            f"{type(model).__name__} keeps no certificate: give a boosted classifier of Bosquet's, or what"
            " bosquet.theory.certificate(model, X, y) makes of another one"
        )
    return found.plot(axes)
