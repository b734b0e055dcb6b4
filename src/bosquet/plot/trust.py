"""Plots of calibration and conformal prediction: reliability, intervals, coverage by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pyplot
from bosquet.plot._style import BLUE, FAINT, GREEN, GREY, INK, ORANGE, RED, hide_spines, new_axes
from bosquet.trust.coverage import covered
from bosquet.trust.outcomes import binary_event
from bosquet.trust.reliability import (
    calibration_error,
    reliability_curve,
    wilson_interval,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


# Markers differ as well as colours, for colour-blind readers and black-and-white print.
_STYLES = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (RED, "D"), (INK, "v"))


def reliability(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = 0.95,
    of: Any = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    axes: Any = None,
) -> Any:
    """Draw a reliability diagram: observed frequency against predicted probability, with a histogram.

    The legend gives the bias-corrected expected calibration error of each model, with its interval.

    Parameters
    ----------
    y : array of shape (rows,)
        True classes.
    probabilities : array, or dict {name: array}
        Probabilities of one model, or of up to five, as `predict_proba` returns them.
    n_bins, strategy, confidence, of, classes, sample_weight
        As in `bosquet.trust.reliability_curve`.
    axes : two matplotlib Axes, optional
        For the diagram and the histogram below it.

    Returns
    -------
    array of two matplotlib Axes
    """
    models = probabilities if isinstance(probabilities, Mapping) else {None: probabilities}
    if not 1 <= len(models) <= len(_STYLES):
        raise ValueError(f"probabilities has {len(models)} models; pass 1 to {len(_STYLES)} models")
    if axes is None:
        _, axes = import_pyplot().subplots(
            2, 1, sharex=True, figsize=(5.2, 5.6), height_ratios=[3.2, 1], layout="constrained"
        )
    diagram, histogram = np.asarray(axes).ravel()
    diagram.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1, zorder=1)
    options = {"n_bins": n_bins, "strategy": strategy, "of": of, "classes": classes}
    options["sample_weight"] = sample_weight
    for (name, predicted), (colour, marker) in zip(models.items(), _STYLES, strict=False):
        curve = reliability_curve(y, predicted, confidence=confidence, **options)
        error = calibration_error(y, predicted, n_bootstrap=200, **options)
        label = f"calibration error {error.corrected:.3f} ({error.low:.3f} to {error.high:.3f})"
        filled = curve.count > 0
        diagram.fill_between(
            curve.score[filled], curve.low[filled], curve.high[filled],
            color=colour, alpha=0.15, linewidth=0, zorder=2,
        )  # fmt: skip
        diagram.plot(
            curve.score[filled], curve.observed[filled], color=colour, marker=marker,
            markersize=4.5, linewidth=1.5, zorder=3, label=label if name is None else f"{name}: {label}",
        )  # fmt: skip
        scores = _event_probability(y, predicted, of, classes)
        histogram.hist(
            scores, bins=np.linspace(0, 1, 31), weights=np.full(scores.size, 1 / scores.size),
            histtype="step", color=colour, linewidth=1.4,
        )  # fmt: skip
    diagram.set(ylabel="observed frequency", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    above = diagram.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)
    above.set_in_layout(True)
    histogram.set(xlabel="predicted probability", ylabel="fraction of rows")
    for ax in (diagram, histogram):
        hide_spines(ax)
    return np.array([diagram, histogram])


def _event_probability(y: Any, probabilities: Any, of: Any, classes: Any) -> np.ndarray:
    return binary_event(y, probabilities, classes, of)[1]


def intervals(
    y: ArrayLike,
    bounds: ArrayLike,
    prediction: ArrayLike | None = None,
    *,
    max_display: int = 150,
    ax: Axes | None = None,
) -> Axes:
    """Draw prediction intervals along the prediction, with the targets: blue inside, orange outside.

    Parameters
    ----------
    y : array of shape (rows,)
        Targets.
    bounds : array of shape (rows, 2)
        From `predict_interval`.
    prediction : array of shape (rows,), optional
        Position of each row on the axis (default: midpoints of the intervals).
    max_display : int, default=150
        Number of rows to draw, chosen at equal distances in the order of the prediction. Coverage and
        width in the legend are those of all rows.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    truth, bounds = np.asarray(y, dtype=float), np.asarray(bounds, dtype=float)
    inside = covered(truth, bounds)
    middle = bounds.mean(axis=1) if prediction is None else np.asarray(prediction, dtype=float)
    if middle.shape != truth.shape:
        raise ValueError(
            f"prediction has shape {middle.shape}, but y has {truth.size} rows; pass one prediction per row"
        )
    order = np.argsort(middle, kind="stable")
    shown_rows = order[
        np.unique(np.linspace(0, order.size - 1, min(max_display, order.size)).astype(int))
    ]
    ax = new_axes(ax, (6.4, 4.2))
    ax.vlines(
        middle[shown_rows], *bounds[shown_rows].T, color=BLUE, alpha=0.35, linewidth=1.6,
        label=f"interval, {np.diff(bounds, axis=1).mean():.3g} wide on average",
    )  # fmt: skip
    within, outside = shown_rows[inside[shown_rows]], shown_rows[~inside[shown_rows]]
    ax.plot(middle[within], truth[within], "o", color=BLUE, markersize=3.2, zorder=3,
            label=f"target inside the interval: {inside.mean():.1%} of {inside.size:,} rows")  # fmt: skip
    ax.plot(middle[outside], truth[outside], "X", color=ORANGE, markersize=6, zorder=4,
            label=f"target outside: {1 - inside.mean():.1%}")  # fmt: skip
    ends = np.array([middle[shown_rows].min(), middle[shown_rows].max()])
    ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1, zorder=1)
    low, high = ax.get_ylim()
    # Extra space at the top for the legend, which would cover rows anywhere else.
    ax.set(xlabel="prediction", ylabel="target", ylim=(low, high + 0.28 * (high - low)))
    hide_spines(ax)
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    return ax


def coverage_by_group(
    inside: Any,
    groups: ArrayLike | None,
    coverage: float = 0.9,
    *,
    confidence: float = 0.95,
    max_display: int = 25,
    ax: Axes | None = None,
) -> Axes:
    """Draw the observed coverage in each group, with its confidence interval, and the nominal coverage.

    Parameters
    ----------
    inside : array of bool of shape (rows,), or dict {name: array}
        From `bosquet.trust.covered`, for one model or for up to three.
    groups : array of shape (rows,)
    coverage : float, default=0.9
        Nominal coverage.
    confidence : float, default=0.95
        Confidence level of the intervals.
    max_display : int, default=25
        Maximum number of groups to draw; if there are more, those whose coverage differs most from the
        nominal coverage.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    models = dict(inside) if isinstance(inside, Mapping) else {None: inside}
    if not 1 <= len(models) <= 3:
        raise ValueError(f"inside has {len(models)} models; pass 1 to 3 models")
    names, number = np.unique(np.asarray(groups), return_inverse=True)
    size = np.bincount(number)
    observed = {}
    for name, hits in models.items():
        hits = np.asarray(hits, dtype=float)
        if hits.shape != number.shape:
            raise ValueError(
                f"inside has shape {hits.shape}, but groups has {number.shape}; pass one entry per row each"
            )
        observed[name] = np.bincount(number, hits) / size
    shown_groups = np.arange(names.size)
    if names.size > max_display:
        deviation = np.max([np.abs(share - coverage) for share in observed.values()], axis=0)
        shown_groups = np.sort(np.argsort(-deviation, kind="stable")[:max_display])
    shown_groups = shown_groups[::-1]  # the first group is on top
    ax = new_axes(ax, (6, 0.24 * max(shown_groups.size, 3) * (0.6 + 0.4 * len(models)) + 1.3))
    position = np.arange(shown_groups.size)
    ax.hlines(position, 0, 1, color=FAINT, linewidth=0.8, zorder=0)
    ax.axvline(coverage, color=INK, linestyle="--", linewidth=1, label=f"nominal: {coverage:.0%}")
    lowest = 1.0
    for i, ((name, share), (colour, marker)) in enumerate(
        zip(observed.items(), _STYLES, strict=False)
    ):
        low, high = wilson_interval(
            share[shown_groups], size[shown_groups].astype(float), confidence
        )
        lowest = min(lowest, float(low.min()))
        y = position - 0.22 * (i - (len(observed) - 1) / 2)
        ax.hlines(y, low, high, color=colour, alpha=0.45, linewidth=2.5)
        ax.plot(
            share[shown_groups], y, marker, color=colour, markersize=5, label=name or "observed"
        )
    ax.set_yticks(position, [f"{names[g]} ({size[g]:,})" for g in shown_groups])
    which_groups = (
        ""
        if names.size <= max_display
        else f", {max_display} of {names.size} farthest from nominal"
    )
    ax.set(xlabel="coverage", ylabel=f"group (rows){which_groups}")
    ax.set_xlim(max(0.0, lowest - 0.05), 1.01)
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    hide_spines(ax)
    columns = len(observed) + 1 if len(observed) < 3 else 2
    ax.legend(
        frameon=False, fontsize=9, ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0)
    )
    return ax
