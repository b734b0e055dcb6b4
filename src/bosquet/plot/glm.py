"""Pictures of regression models: odds ratios, probabilities with their bands, interactions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from bosquet.plot._style import BLUE, FAINT, GREEN, GREY, INK, ORANGE, RED, new_axes, tidy

# Told apart by marker and dashes too, for eyes and printers that do not see colours.
_LOOKS = (
    (BLUE, "o", "-"),
    (ORANGE, "s", "--"),
    (GREEN, "^", "-."),
    (RED, "D", ":"),
    (INK, "v", (0, (5, 1))),
)


def odds_ratios(
    model: Any,
    *,
    level: float = 0.95,
    interval: str = "wald",
    units: Any = None,
    ax: Any = None,
    **classes: Any,
) -> Any:
    """The forest plot: each coefficient's odds ratio with its interval, on a logarithmic axis.

    Intervals that leave out 1, which is no effect, are drawn in colour. Ends too far out, or infinite, become
    arrows.

    Parameters
    ----------
    model : fitted model with `odds_ratios` (or `rate_ratios`)
    level, interval, units
        Handed on to it.
    ax : matplotlib Axes, optional
    **classes
        `j` and `k`, of a `MultinomialRegression`.

    Returns
    -------
    matplotlib Axes
    """
    table = _ratio_table(model, level, interval, units, classes)
    name = next(column for column in table if column.endswith("_ratio"))
    labels = list(table.index)
    if "unit" in table:
        labels = [
            k if u == 1 else f"{k}, {u:g} units" for k, u in zip(labels, table["unit"], strict=True)
        ]
    height = 0.34 * len(table) + 1.3
    ax = new_axes(ax, (6.4, height))
    low, at, high = (table[column].to_numpy(float) for column in ("low", name, "high"))
    left, right = _reach(low, at, high)
    ax.axvline(1, color=GREY, linewidth=1, linestyle="--", zorder=1)
    for place in range(len(table)):
        clear = low[place] > 1 or high[place] < 1
        colour = BLUE if clear else GREY
        y = len(table) - 1 - place
        ends = np.clip([low[place], high[place]], left, right)
        ax.plot(ends, [y, y], color=colour, linewidth=2, solid_capstyle="butt", zorder=2)
        for beyond, bound, marker in (
            (low[place] < left, left, "<"),
            (high[place] > right, right, ">"),
        ):
            if beyond:
                ax.plot([bound], [y], marker=marker, color=colour, markersize=6, zorder=3)
        if left <= at[place] <= right:
            ax.plot(
                [at[place]], [y], marker="o" if clear else "D", color=colour, markersize=6, zorder=4
            )
        told = f"{_short(at[place])} ({_short(low[place])} to {_short(high[place])})"
        ax.annotate(
            told, (1.01, y), xycoords=("axes fraction", "data"), va="center", fontsize=9, color=INK
        )
    ax.set_xscale("log")
    ax.set_yticks(np.arange(len(table))[::-1], labels)
    ax.set(xlim=(left / 1.08, right * 1.08), ylim=(-0.6, len(table) - 0.4))
    _plain_ticks(ax)
    against = f" of {classes['j']} against {classes['k']}" if {"j", "k"} <= set(classes) else ""
    ax.set_xlabel(f"{name.replace('_', ' ')}{against}, with {100 * level:g} % intervals")
    ax.tick_params(axis="y", length=0)
    tidy(ax)
    return ax


def _ratio_table(
    model: Any, level: float, interval: str, units: Any, classes: dict[str, Any]
) -> Any:
    if hasattr(model, "odds_ratios"):
        if classes:
            return model.odds_ratios(**classes, level=level)
        return model.odds_ratios(level=level, interval=interval, units=units)
    if hasattr(model, "rate_ratios"):
        return model.rate_ratios(level=level, interval=interval, units=units)
    raise TypeError(f"a {type(model).__name__} has neither odds ratios nor rate ratios")


def _reach(low: np.ndarray, at: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """The ends of the axis: every interval, but for what is a factor of 1000 or more from no effect."""
    every = np.concatenate([low, at, high, [1.0]])
    near = every[(every > 1e-3) & (every < 1e3)]
    left, right = near.min(), near.max()
    # Room for the arrows of those that go on.
    return left / (3 if (every <= 1e-3).any() else 1.1), right * (
        3 if (every >= 1e3).any() else 1.1
    )


def _plain_ticks(ax: Any) -> None:
    """0.5, 1, 2 rather than powers of ten, no more than there is room for."""
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


def _short(value: float) -> str:
    if not np.isfinite(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.2f}" if 0.005 <= abs(value) < 1000 else f"{value:.1e}"


def probability_curve(
    model: Any,
    X: Any,
    feature: str,
    *,
    by: str | None = None,
    at: Mapping[str, Any] | None = None,
    y: Any = None,
    level: float = 0.95,
    points: int = 120,
    ax: Any = None,
) -> Any:
    """What a model says along one column, with its confidence band, the other columns held still.

    Parameters
    ----------
    model : fitted model with `confidence_band`
    X : data frame
        The rows that the range of `feature` and the values of the other columns come from: their medians, or
        most frequent levels.
    feature : str
        The quantity on the axis.
    by : str, optional
        A column with a few levels: a curve for each.
    at : dict, optional
        Values to hold other columns at.
    y : array of 0 and 1 (or bool), optional
        Outcomes of the rows of X, drawn as small marks below and above.
    level : float, default=0.95
    points : int, default=120
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    columns = list(X.columns)
    for name in (feature, by, *(at or {})):
        if name is not None and name not in columns:
            raise ValueError(f"X has no column {name!r}")
    values = np.asarray(X[feature], dtype=float)
    groups = [None] if by is None else sorted(set(X[by]))
    if len(groups) > len(_LOOKS):
        raise ValueError(
            f"by={by!r} has {len(groups)} levels: one picture shows {len(_LOOKS)} at most"
        )
    grid = np.linspace(values.min(), values.max(), points)
    ax = new_axes(ax)
    for group, (colour, _, dashes) in zip(groups, _LOOKS, strict=False):
        held = {**_typical(X), **(at or {}), **({} if by is None else {by: group})}
        band = model.confidence_band(_rows_along(X, held, feature, grid), level=level)
        label = None if group is None else f"{by} {group}"
        ax.fill_between(grid, band["low"], band["high"], color=colour, alpha=0.16, linewidth=0)
        ax.plot(grid, band["estimate"], color=colour, linestyle=dashes, linewidth=1.9, label=label)
    if y is not None:
        _marks(ax, values, np.asarray(y))
    ax.set(xlabel=feature, ylabel=_what(model))
    if hasattr(model, "classes_"):
        ax.set_ylim(-0.04, 1.04)
    ax.margins(x=0.01)
    tidy(ax)
    if by is not None:
        # Below the marks of outcomes that happened.
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.01, 0.96))
    return ax


def _typical(X: Any) -> dict[str, Any]:
    """The median of each quantity, the most frequent level of anything else."""
    found = {}
    for name in X.columns:
        column = X[name]
        if getattr(column.dtype, "kind", "O") in "iuf":
            found[name] = float(column.median())
        else:
            found[name] = column.mode().iloc[0]
    return found


def _rows_along(X: Any, held: Mapping[str, Any], along: str, values: Any) -> Any:
    """Rows that differ in one column and keep the types of X's, numbers aside."""
    rows = X.iloc[np.zeros(len(values), dtype=int)].reset_index(drop=True)
    for name in X.columns:
        given = list(values) if name == along else [held[name]] * len(values)
        number = getattr(X[name].dtype, "kind", "O") in "iuf"
        rows[name] = type(X[name])(given, dtype=float if number else X[name].dtype)
    return rows


def _marks(ax: Any, values: np.ndarray, outcomes: np.ndarray) -> None:
    """A faint stroke for each row, at the bottom or at the top."""
    happened = outcomes.astype(bool)
    for which, height in ((~happened, -0.02), (happened, 1.02)):
        place = np.full(int(which.sum()), height)
        ax.plot(values[which], place, "|", color=GREY, alpha=0.35, markersize=5, zorder=1)


def _what(model: Any) -> str:
    target = re.sub(r"Q\(['\"](.+)['\"]\)", r"\1", model.formula_.split("~")[0].strip())
    classes = getattr(model, "classes_", None)
    return f"mean of {target}" if classes is None else f"probability of {target} = {classes[1]}"


def interaction(
    model: Any,
    X: Any,
    factor: str,
    by: str,
    *,
    at: Mapping[str, Any] | None = None,
    level: float = 0.95,
    ax: Any = None,
) -> Any:
    """The interaction plot of an analysis of variance: means by one factor, a line for each level of another.

    Lines that run parallel show no interaction. Bars are confidence intervals of the means.

    Parameters
    ----------
    model : fitted model with `confidence_band`
    X : data frame
        The rows that levels, and values of the other columns, come from: their medians, or most frequent
        levels.
    factor, by : str
        The factor on the axis, and the one that has a line for each level.
    at : dict, optional
        Values to hold other columns at.
    level : float, default=0.95
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    for name in (factor, by, *(at or {})):
        if name not in X.columns:
            raise ValueError(f"X has no column {name!r}")
    levels, lines = sorted(set(X[factor])), sorted(set(X[by]))
    if len(lines) > len(_LOOKS):
        raise ValueError(
            f"by={by!r} has {len(lines)} levels: one picture shows {len(_LOOKS)} at most"
        )
    ax = new_axes(ax)
    ax.grid(axis="y", color=FAINT, zorder=0)
    places = np.arange(len(levels))
    for number, (line, (colour, marker, dashes)) in enumerate(zip(lines, _LOOKS, strict=False)):
        held = {**_typical(X), **(at or {}), by: line}
        band = model.confidence_band(_rows_along(X, held, factor, levels), level=level)
        shift = places + 0.06 * (number - (len(lines) - 1) / 2)
        reach = np.vstack([band["estimate"] - band["low"], band["high"] - band["estimate"]])
        ax.errorbar(
            shift, band["estimate"], yerr=reach, color=colour, marker=marker, linestyle=dashes, markersize=6,
            linewidth=1.6, elinewidth=1.1, capsize=2.5, label=f"{by} {line}",
        )  # fmt: skip
    ax.set_xticks(places, [str(value) for value in levels])
    ax.set(xlabel=factor, ylabel=_what(model), xlim=(-0.35, len(levels) - 0.65))
    tidy(ax)
    ax.legend(frameon=False, loc="best")
    return ax
