"""Plots of regression models: odds ratios, probability curves with confidence bands, interactions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.plot._style import BLUE, FAINT, GREEN, GREY, INK, ORANGE, RED, hide_spines, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    from bosquet.glm.binomial import BinomialRegression
    from bosquet.glm.linear import LinearModel
    from bosquet.glm.loglinear import LogLinearModel
    from bosquet.glm.multinomial import MultinomialRegression
    from bosquet.glm.poisson import PoissonRegression

    FormulaModel = (
        BinomialRegression
        | LinearModel
        | LogLinearModel
        | MultinomialRegression
        | PoissonRegression
    )


# Markers and line styles differ as well as colours, for colour-blind readers and black-and-white print.
_STYLES = (
    (BLUE, "o", "-"),
    (ORANGE, "s", "--"),
    (GREEN, "^", "-."),
    (RED, "D", ":"),
    (INK, "v", (0, (5, 1))),
)


def odds_ratios(
    model: FormulaModel,
    *,
    confidence: float = 0.95,
    interval: str = "wald",
    units: Mapping[str, float] | None = None,
    ax: Axes | None = None,
    **classes: Any,
) -> Axes:
    """Draw a forest plot: odds ratios of the coefficients with confidence intervals, on a logarithmic axis.

    Intervals that exclude 1 (no effect) are coloured. Bounds that are infinite or far away are drawn as
    arrows.

    Parameters
    ----------
    model : fitted model with `odds_ratios` or `rate_ratios`
    confidence, interval, units
        Passed to that method.
    ax : matplotlib Axes, optional
    **classes
        `j` and `k` for a `MultinomialRegression`.

    Returns
    -------
    matplotlib Axes
    """
    table = _ratio_table(model, confidence, interval, units, classes)
    name = next(column for column in table if column.endswith("_ratio"))
    labels = list(table.index)
    if "unit" in table:
        labels = [
            k if u == 1 else f"{k}, {u:g} units" for k, u in zip(labels, table["unit"], strict=True)
        ]
    height = 0.34 * len(table) + 1.3
    ax = new_axes(ax, (6.4, height))
    low, ratio, high = (table[column].to_numpy(float) for column in ("low", name, "high"))
    left, right = _axis_limits(low, ratio, high)
    ax.axvline(1, color=GREY, linewidth=1, linestyle="--", zorder=1)
    for i in range(len(table)):
        significant = low[i] > 1 or high[i] < 1
        colour, marker = (BLUE, "o") if significant else (GREY, "D")
        y = len(table) - 1 - i
        ends = np.clip([low[i], high[i]], left, right)
        ax.plot(ends, [y, y], color=colour, linewidth=2, solid_capstyle="butt", zorder=2)
        for outside, bound, arrow in ((low[i] < left, left, "<"), (high[i] > right, right, ">")):
            if outside:
                ax.plot([bound], [y], marker=arrow, color=colour, markersize=6, zorder=3)
        if left <= ratio[i] <= right:
            ax.plot([ratio[i]], [y], marker=marker, color=colour, markersize=6, zorder=4)
        text = f"{_short_number(ratio[i])} ({_short_number(low[i])} to {_short_number(high[i])})"
        ax.annotate(
            text, (1.01, y), xycoords=("axes fraction", "data"), va="center", fontsize=9, color=INK
        )
    ax.set_xscale("log")
    ax.set_yticks(np.arange(len(table))[::-1], labels)
    ax.set(xlim=(left / 1.08, right * 1.08), ylim=(-0.6, len(table) - 0.4))
    _decimal_ticks(ax)
    against = f" of {classes['j']} against {classes['k']}" if {"j", "k"} <= set(classes) else ""
    ax.set_xlabel(f"{name.replace('_', ' ')}{against}, with {100 * confidence:g} % intervals")
    ax.tick_params(axis="y", length=0)
    hide_spines(ax)
    return ax


def _ratio_table(
    model: Any, confidence: float, interval: str, units: Any, classes: dict[str, Any]
) -> Any:
    if hasattr(model, "odds_ratios"):
        if classes:
            return model.odds_ratios(**classes, confidence=confidence)
        return model.odds_ratios(confidence=confidence, interval=interval, units=units)
    if hasattr(model, "rate_ratios"):
        return model.rate_ratios(confidence=confidence, interval=interval, units=units)
    raise TypeError(
        f"{type(model).__name__} has neither odds ratios nor rate ratios; pass a model with odds_ratios or"
        " rate_ratios"
    )


def _axis_limits(low: np.ndarray, ratio: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return limits that contain all values within a factor of 1000 of no effect."""
    values = np.concatenate([low, ratio, high, [1.0]])
    near = values[(values > 1e-3) & (values < 1e3)]
    left, right = near.min(), near.max()
    # A larger margin where arrows are drawn.
    return left / (3 if (values <= 1e-3).any() else 1.1), right * (
        3 if (values >= 1e3).any() else 1.1
    )


def _decimal_ticks(ax: Axes) -> None:
    """Set ticks such as 0.5, 1, 2 instead of powers of ten, at most eight."""
    low, high = ax.get_xlim()
    steps = (
        (1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9),
        (1, 1.5, 2, 3, 5, 7),
        (1, 2, 5),
        (1, 3),
        (1,),
    )
    decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    for step in steps:
        ticks = np.array([s * 10.0**d for d in decades for s in step])
        ticks = ticks[(ticks >= low) & (ticks <= high)]
        if ticks.size <= 8:
            break
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def _short_number(value: float) -> str:
    if not np.isfinite(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.2f}" if 0.005 <= abs(value) < 1000 else f"{value:.1e}"


def probability_curve(
    model: FormulaModel,
    X: DataFrame,
    feature: str,
    *,
    by: str | None = None,
    at: Mapping[str, object] | None = None,
    y: ArrayLike | None = None,
    confidence: float = 0.95,
    points: int = 120,
    ax: Axes | None = None,
) -> Axes:
    """Draw the prediction of a model along one column, with its confidence band; the other columns are fixed.

    Parameters
    ----------
    model : fitted model with `confidence_band`
    X : data frame
        Gives the range of `feature`, and the values of the other columns: their medians or most frequent
        levels.
    feature : str
        The numeric column on the axis.
    by : str, optional
        A column with a few levels; one curve is drawn per level.
    at : dict, optional
        Values of other columns, instead of medians and most frequent levels.
    y : array of 0 and 1 (or bool), optional
        Outcomes of the rows of X, drawn as small marks at the bottom (0) and the top (1).
    confidence : float, default=0.95
    points : int, default=120
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    columns = list(X.columns)
    for name in (feature, by, *(at or {})):
        if name is not None and name not in columns:
            raise ValueError(f"X has no column {name!r}; its columns are {list(X.columns)}")
    values = np.asarray(X[feature], dtype=float)
    groups = [None] if by is None else sorted(set(X[by]))
    if len(groups) > len(_STYLES):
        raise ValueError(
            f"by={by!r} has {len(groups)} levels; pass a column with at most {len(_STYLES)}"
        )
    grid = np.linspace(values.min(), values.max(), points)
    ax = new_axes(ax)
    for group, (colour, _, dashes) in zip(groups, _STYLES, strict=False):
        fixed = {**_typical_row(X), **(at or {}), **({} if by is None else {by: group})}
        band = model.confidence_band(_rows_along(X, fixed, feature, grid), confidence=confidence)
        label = None if group is None else f"{by} {group}"
        ax.fill_between(grid, band["low"], band["high"], color=colour, alpha=0.16, linewidth=0)
        ax.plot(grid, band["estimate"], color=colour, linestyle=dashes, linewidth=1.9, label=label)
    if y is not None:
        _draw_outcomes(ax, values, np.asarray(y))
    ax.set(xlabel=feature, ylabel=_response_label(model))
    if hasattr(model, "classes_"):
        ax.set_ylim(-0.04, 1.04)
    ax.margins(x=0.01)
    hide_spines(ax)
    if by is not None:
        # Below the marks of outcomes 1.
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.01, 0.96))
    return ax


def _typical_row(X: DataFrame) -> dict[str, Any]:
    """Return the median of each numeric column, the most frequent level of the others."""
    typical = {}
    for name in X.columns:
        column = X[name]
        if getattr(column.dtype, "kind", "O") in "iuf":
            typical[name] = float(column.median())
        else:
            typical[name] = column.mode().iloc[0]
    return typical


def _rows_along(X: DataFrame, fixed: Mapping[str, object], along: str, values: Any) -> Any:
    """Return rows that differ in the column `along` only; numbers become floats, other types are kept."""
    rows = X.iloc[np.zeros(len(values), dtype=int)].reset_index(drop=True)
    for name in X.columns:
        column = list(values) if name == along else [fixed[name]] * len(values)
        is_number = getattr(X[name].dtype, "kind", "O") in "iuf"
        rows[name] = type(X[name])(column, dtype=float if is_number else X[name].dtype)
    return rows


def _draw_outcomes(ax: Axes, values: np.ndarray, outcomes: np.ndarray) -> None:
    """Draw a faint mark for each row, at the bottom (0) or at the top (1)."""
    positive = outcomes.astype(bool)
    for rows, height in ((~positive, -0.02), (positive, 1.02)):
        heights = np.full(int(rows.sum()), height)
        ax.plot(values[rows], heights, "|", color=GREY, alpha=0.35, markersize=5, zorder=1)


def _response_label(model: FormulaModel) -> str:
    target = re.sub(r"Q\(['\"](.+)['\"]\)", r"\1", model.formula_.split("~")[0].strip())
    classes = getattr(model, "classes_", None)
    return f"mean of {target}" if classes is None else f"probability of {target} = {classes[1]}"


def interaction(
    model: FormulaModel,
    X: DataFrame,
    factor: str,
    by: str,
    *,
    at: Mapping[str, object] | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw an interaction plot (analysis of variance): means by one factor, with a line per level of another.

    Parallel lines mean that there is no interaction. Bars are confidence intervals of the means.

    Parameters
    ----------
    model : fitted model with `confidence_band`
    X : data frame
        Gives the levels, and the values of the other columns: their medians or most frequent levels.
    factor, by : str
        The factor on the axis, and the factor with one line per level.
    at : dict, optional
        Values of other columns, instead of medians and most frequent levels.
    confidence : float, default=0.95
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    for name in (factor, by, *(at or {})):
        if name not in X.columns:
            raise ValueError(f"X has no column {name!r}; its columns are {list(X.columns)}")
    levels, lines = sorted(set(X[factor])), sorted(set(X[by]))
    if len(lines) > len(_STYLES):
        raise ValueError(
            f"by={by!r} has {len(lines)} levels; pass a column with at most {len(_STYLES)}"
        )
    ax = new_axes(ax)
    ax.grid(axis="y", color=FAINT, zorder=0)
    positions = np.arange(len(levels))
    for i, (line, (colour, marker, dashes)) in enumerate(zip(lines, _STYLES, strict=False)):
        fixed = {**_typical_row(X), **(at or {}), by: line}
        band = model.confidence_band(_rows_along(X, fixed, factor, levels), confidence=confidence)
        shifted = positions + 0.06 * (i - (len(lines) - 1) / 2)
        errors = np.vstack([band["estimate"] - band["low"], band["high"] - band["estimate"]])
        ax.errorbar(
            shifted, band["estimate"], yerr=errors, color=colour, marker=marker, linestyle=dashes,
            markersize=6, linewidth=1.6, elinewidth=1.1, capsize=2.5, label=f"{by} {line}",
        )  # fmt: skip
    ax.set_xticks(positions, [str(value) for value in levels])
    ax.set(xlabel=factor, ylabel=_response_label(model), xlim=(-0.35, len(levels) - 0.65))
    hide_spines(ax)
    ax.legend(frameon=False, loc="best")
    return ax
