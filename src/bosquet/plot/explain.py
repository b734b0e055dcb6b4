"""Plots of explanations: Shapley values, dependence curves and shape functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pyplot
from bosquet.plot._style import BLUE, FAINT, GREY, INK, ORANGE, hide_spines, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bosquet.explain import Explanation


# Colours from low to high values of a feature, which colour-blind readers can distinguish.
_LOW_TO_HIGH = ["#3b6ea5", "#b9b9c8", "#d9822b"]
_MAX_NAME_LENGTH = 28
_GOLDEN = 0.6180339887498949  # multiples of it modulo 1 are a low-discrepancy sequence


def _label(name: str) -> str:
    return name if len(name) <= _MAX_NAME_LENGTH else name[: _MAX_NAME_LENGTH - 1] + "…"


def _height(bars: int) -> float:
    return 0.3 * bars + 1.1


def _axis_label(explanation: Explanation, quantity: str) -> str:
    names = explanation.output_names
    return f"{quantity} for {names[0]}" if names and len(names) == 1 else quantity


def shap_bar(
    explanation: Explanation,
    *,
    output: int | str | None = None,
    max_display: int = 15,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar chart of the mean |φ| of the most important features.

    Parameters
    ----------
    explanation : Explanation
        From ``model.explain(X)``.
    output : class or target by name or index, optional
        Default: all outputs, as stacked bars.
    max_display : int, default=15
        Number of features to show; the others share one bar.
    ax : matplotlib Axes, optional

    Returns
    -------
    axes
    """
    if output is not None:
        explanation = explanation.output(output)
    means = np.abs(explanation.main_values).mean(axis=0)
    means = means[:, None] if means.ndim == 1 else means
    order = np.argsort(-means.sum(axis=1), kind="stable")
    shown, others = order[:max_display], order[max_display:]
    bars, names = means[shown], [_label(explanation.feature_names[f]) for f in shown]
    if others.size:
        bars = np.vstack([bars, means[others].sum(axis=0)])
        names.append(f"{others.size} others")
    ax = new_axes(ax, (6.2, _height(len(names))))
    positions, left = np.arange(len(names))[::-1], np.zeros(len(names))
    colours = [BLUE] if means.shape[1] == 1 else _class_colours(means.shape[1])
    for k in range(means.shape[1]):
        outputs = explanation.output_names or [f"output {k}" for k in range(means.shape[1])]
        drawn = ax.barh(
            positions, bars[:, k], left=left, color=colours[k], label=outputs[k], height=0.7
        )
        if others.size:
            drawn[-1].set_alpha(0.35)  # the sum of many small ones may exceed the largest
        left = left + bars[:, k]
    ax.set_yticks(positions, names)
    ax.set_xlabel(_axis_label(explanation, "mean |SHAP value|"))
    ax.margins(y=0.02)
    if 1 < means.shape[1] <= 10:
        ax.legend(frameon=False, loc="lower right")
    hide_spines(ax)
    return ax


def _class_colours(count: int) -> list[Any]:
    if count <= 6:
        return [BLUE, ORANGE, "#7a5195", "#56b4a9", "#8a8a8a", "#c9b458"][:count]
    colours = import_pyplot().get_cmap("viridis")
    return [colours(k / (count - 1)) for k in range(count)]


def shap_beeswarm(
    explanation: Explanation,
    *,
    output: int | str | None = None,
    max_display: int = 15,
    max_rows: int = 2000,
    ax: Axes | None = None,
) -> Axes:
    """Draw a beeswarm plot with one point per row and feature, at φ, coloured by the value of the feature.

    Points are grey for missing values and for categorical features, whose levels have no order.

    Parameters
    ----------
    explanation : Explanation
        From ``model.explain(X)``.
    output : class or target by name or index
        Required if there are several.
    max_display : int, default=15
        Number of features to show.
    max_rows : int, default=2000
        Maximum number of rows to draw, chosen at equal distances.
    ax : matplotlib Axes, optional

    Returns
    -------
    axes
    """
    explanation = explanation.output(output)
    rows = np.unique(
        np.linspace(0, len(explanation) - 1, min(max_rows, len(explanation))).astype(int)
    )
    values, data = explanation.main_values[rows], explanation.data[rows]
    order = np.argsort(-np.abs(explanation.main_values).mean(axis=0), kind="stable")[:max_display]
    ax = new_axes(ax, (6.8, 0.36 * order.size + 1.2))
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("values", _LOW_TO_HIGH)
    ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
    for i, feature in enumerate(order[::-1]):
        height = i + _swarm_offsets(values[:, feature])
        shade = _ranks(data[:, feature])
        has_value = ~np.isnan(shade)
        size = 9 if len(rows) > 300 else 14
        ax.scatter(
            values[~has_value, feature], height[~has_value], color="#c8c8c8", s=size, linewidths=0
        )
        ax.scatter(
            values[has_value, feature],
            height[has_value],
            c=shade[has_value],
            cmap=colours,
            vmin=0,
            vmax=1,
            s=size,
            linewidths=0,
            rasterized=len(rows) > 500,
        )
    ax.set_yticks(range(order.size), [_label(explanation.feature_names[f]) for f in order[::-1]])
    ax.set_ylim(-0.6, order.size - 0.4)
    ax.set_xlabel(_axis_label(explanation, "SHAP value"))
    bar = ax.figure.colorbar(
        import_pyplot().cm.ScalarMappable(cmap=colours), ax=ax, aspect=30, pad=0.01, shrink=0.8
    )
    bar.set_ticks([0, 1], labels=["low", "high"])
    bar.set_label("feature value")
    bar.outline.set_visible(False)
    hide_spines(ax)
    return ax


def _swarm_offsets(values: np.ndarray) -> np.ndarray:
    """Return vertical offsets that place points of similar value next to each other."""
    width = np.ptp(values) or 1.0
    bins = np.floor((values - values.min()) / width * 60).astype(int)
    offsets = np.zeros(values.size)
    largest = np.bincount(bins).max()
    for number in np.unique(bins):
        in_bin = np.flatnonzero(bins == number)
        spread = 0.4 * in_bin.size / largest
        steps = np.linspace(-spread, spread, in_bin.size) if in_bin.size > 1 else np.zeros(1)
        # In a quasi-random order: in sorted order the points would form arrows.
        offsets[in_bin[np.argsort(in_bin * _GOLDEN % 1)]] = steps
    return offsets


def _ranks(column: np.ndarray) -> np.ndarray:
    """Return ranks of the values, scaled to [0, 1].

    The rank is NaN for missing values and values that are not numbers.
    """
    try:
        numbers = np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return np.full(len(column), np.nan)
    ranks = np.full(numbers.size, np.nan)
    is_finite = np.isfinite(numbers)
    distinct, rank = np.unique(numbers[is_finite], return_inverse=True)
    ranks[is_finite] = rank / max(1, distinct.size - 1)
    return ranks


def shap_waterfall(
    explanation: Explanation,
    row: int,
    *,
    output: int | str | None = None,
    max_display: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw a waterfall plot from the base to the prediction of a row; features in descending order of |φ|.

    Parameters
    ----------
    explanation : Explanation
        From ``model.explain(X)``.
    row : int
        Index of the row.
    output : class or target by name or index
        Required if there are several.
    max_display : int, default=10
        Number of features to show; the others share one step.
    ax : matplotlib Axes, optional

    Returns
    -------
    axes
    """
    explanation = explanation.output(output)
    if not 0 <= row < len(explanation):
        raise ValueError(
            f"row={row} is not valid: row must be an integer in [0, {len(explanation) - 1}]"
        )
    values = explanation.main_values[row]
    order = np.argsort(-np.abs(values), kind="stable")
    shown, others = order[:max_display], order[max_display:]
    steps = [(_name_with_value(explanation, row, f), values[f]) for f in shown]
    if others.size:
        steps.append((f"{others.size} others", values[others].sum()))
    ax = new_axes(ax, (6.4, _height(len(steps)) + 0.3))
    base = float(explanation.base)
    ends = [base, *(base + np.cumsum([step for _, step in steps]))]
    margin = 0.02 * (max(ends) - min(ends) or 1.0)
    for i, (_, step) in enumerate(steps):
        level = len(steps) - 1 - i
        colour = ORANGE if step > 0 else BLUE
        ax.barh(level, step, left=ends[i], color=colour, height=0.62)
        ax.plot([ends[i + 1]] * 2, [level - 1, level], color=GREY, linewidth=0.7, zorder=0)
        text_x = max(ends[i], ends[i + 1]) + margin
        ax.text(text_x, level, f"{step:+.3g}", va="center", fontsize=8, color=INK)
    ax.axvline(base, color=GREY, linestyle=":", linewidth=1, zorder=0)
    ax.set_yticks(range(len(steps)), [name for name, _ in steps][::-1])
    ax.set_xlim(min(ends) - 3 * margin, max(ends) + 9 * margin)
    ax.set_ylim(-0.9, len(steps) - 0.4)
    ax.set_title(f"base {base:.3g}  →  prediction {ends[-1]:.3g}", fontsize=10)
    ax.set_xlabel(_axis_label(explanation, "raw prediction"))
    hide_spines(ax)
    return ax


def _name_with_value(explanation: Explanation, row: int, feature: int) -> str:
    value = explanation.data[row, feature]
    try:
        text = f"{float(value):.3g}"
    except (TypeError, ValueError):
        text = "missing" if value is None else str(value)
    return f"{_label(explanation.feature_names[feature])} = {'missing' if text == 'nan' else text}"


def dependence(
    *found: Any, output: int = 0, max_curves: int = 100, columns: int = 3, axes: Any = None
) -> np.ndarray:
    """Draw plots of partial dependence, ICE or accumulated local effects, one per panel.

    Parameters
    ----------
    *found : Dependence
        From `partial_dependence`, `individual_conditional_expectation` or `accumulated_local_effects`.
    output : int, default=0
        Index of the output, if there are several.
    max_curves : int, default=100
        Maximum number of ICE curves to draw, chosen at equal distances.
    columns : int, default=3
        Number of panels per row.
    axes : array of axes, optional
        One per Dependence.

    Returns
    -------
    array of axes
    """
    if not found:
        raise ValueError(
            "no Dependence was passed; pass at least one, for example partial_dependence(model, X, feature)"
        )
    if axes is None:
        across = min(columns, len(found))
        down = -(-len(found) // across)
        figure, axes = import_pyplot().subplots(
            down, across, figsize=(3.3 * across, 2.7 * down), layout="constrained", squeeze=False
        )
        for spare in axes.flat[len(found) :]:
            figure.delaxes(spare)
        axes = axes.flat[: len(found)]
    axes = np.atleast_1d(axes)
    for ax, panel_dependence in zip(axes, found, strict=True):
        average = panel_dependence.average
        has_outputs = average.ndim > len(panel_dependence.grid)
        average = average[..., output] if has_outputs else average
        if len(panel_dependence.grid) == 2:
            _draw_surface(ax, panel_dependence, average)
        else:
            curves = panel_dependence.individual
            if curves is not None and has_outputs:
                curves = curves[..., output]
            _draw_curve(ax, panel_dependence, average, curves, max_curves)
    return axes


def _draw_curve(ax: Axes, panel: Any, average: np.ndarray, curves: Any, max_curves: int) -> None:
    grid = panel.grid[0]
    if grid.dtype == object:
        ax.bar(range(grid.size), average, color=BLUE, width=0.7)
        ax.set_xticks(range(grid.size), [_label(str(level)) for level in grid])
        if grid.size > 4:
            ax.tick_params(axis="x", rotation=90)
    else:
        if curves is not None:
            chosen = np.unique(np.linspace(0, len(curves) - 1, max_curves).astype(int))
            ax.plot(grid, curves[chosen].T, color=GREY, linewidth=0.5, alpha=0.35)
        ax.plot(grid, average, color=BLUE, linewidth=2)
    ax.set_xlabel(_label(panel.features[0]))
    ax.set_ylabel("raw prediction" if panel.kind == "raw" else "prediction")
    hide_spines(ax)


def _draw_surface(ax: Axes, panel: Any, average: np.ndarray) -> None:
    axes = [np.arange(g.size) if g.dtype == object else g for g in panel.grid]
    image = ax.pcolormesh(axes[0], axes[1], average.T, cmap="cividis", shading="nearest")
    ax.figure.colorbar(image, ax=ax)
    for grid, ticks in zip(panel.grid, (ax.set_xticks, ax.set_yticks), strict=True):
        if grid.dtype == object:
            ticks(range(grid.size), [_label(str(level)) for level in grid])
    ax.set(xlabel=_label(panel.features[0]), ylabel=_label(panel.features[1]))


def shapes(functions: Any, *, max_display: int = 9, output: int = 0, axes: Any = None) -> Any:
    """Draw the shape functions of an additive model of trees, in descending order of their range.

    Parameters
    ----------
    functions : ShapeFunctions
        From `bosquet.explain.shape_functions`.
    max_display : int, default=9
        Maximum number of panels; each shows the function of a single feature.
    output : int, default=0
        Index of the output.
    axes : array of axes, optional
        One per panel.

    Returns
    -------
    array of axes
    """
    spread = {f: np.ptp(v[:, output]) for f, v in functions.single.items()}
    chosen = sorted(spread, key=lambda f: -spread[f])[:max_display]
    if not chosen:
        raise ValueError("functions has no function of a single feature; pass at least one")
    if axes is None:
        across = min(3, len(chosen))
        down = -(-len(chosen) // across)
        figure, grid = import_pyplot().subplots(
            down, across, figsize=(3 * across, 2.4 * down), layout="constrained", sharey=True,
            squeeze=False,
        )  # fmt: skip
        for spare in grid.flat[len(chosen) :]:
            figure.delaxes(spare)
        axes = grid.flat[: len(chosen)]
    axes = np.atleast_1d(axes)
    for ax, feature in zip(axes, chosen, strict=True):
        cells, values = functions.cells[feature], functions.single[feature][:, output]
        if cells.edges is None:
            ax.bar(range(len(cells.levels)), values[:-1], color=BLUE)
            ax.set_xticks(range(len(cells.levels)), [_label(str(v)) for v in cells.levels])
        else:
            ends = cells.edges
            margin = 0.05 * (np.ptp(ends) or 1.0)
            at = np.concatenate([[ends[0] - margin], ends, [ends[-1] + margin]])
            ax.stairs(values[:-1], at, baseline=None, color=BLUE, linewidth=1.6)
        ax.axhline(0, color=FAINT, zorder=0)
        ax.set_xlabel(_label(cells.name))
        hide_spines(ax)
    return axes
