"""Whether scores and intervals can be trusted: reliability, intervals, coverage by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bosquet.plot._style import BLUE, FAINT, GREEN, GREY, INK, ORANGE, RED, new_axes, tidy
from bosquet.trees.drawing import pyplot_or_error
from bosquet.trust.coverage import covered
from bosquet.trust.reliability import (
    calibration_error,
    reliability_curve,
    wilson_interval,
)

# Told apart by shade and by marker too, for eyes and printers that do not see colours.
_LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (RED, "D"), (INK, "v"))


def reliability(
    y: Any,
    probabilities: Any,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = 0.95,
    of: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    axes: Any = None,
) -> Any:
    """The reliability diagram: what was observed against what was said, and how often it was said.

    The legend tells each model's expected calibration error, less what chance adds, and its interval.

    Parameters
    ----------
    y : array of shape (rows,)
        True classes.
    probabilities : array, or dict {name: array}
        Of one model or of several (at most five), as `predict_proba` gives them.
    n_bins, strategy, confidence, of, classes, sample_weight
        As in `bosquet.trust.reliability_curve`.
    axes : two matplotlib Axes, optional
        For the diagram and for the histogram below.

    Returns
    -------
    array of two matplotlib Axes
    """
    models = probabilities if isinstance(probabilities, Mapping) else {None: probabilities}
    if not 1 <= len(models) <= len(_LOOKS):
        raise ValueError(f"one picture shows 1 to {len(_LOOKS)} models, not {len(models)}")
    if axes is None:
        _, axes = pyplot_or_error().subplots(
            2, 1, sharex=True, figsize=(5.2, 5.6), height_ratios=[3.2, 1], layout="constrained"
        )
    diagram, histogram = np.asarray(axes).ravel()
    diagram.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1, zorder=1)
    options = {"n_bins": n_bins, "strategy": strategy, "of": of, "classes": classes}
    options["sample_weight"] = sample_weight
    for (name, said), (colour, marker) in zip(models.items(), _LOOKS, strict=False):
        curve = reliability_curve(y, said, confidence=confidence, **options)
        error = calibration_error(y, said, n_bootstrap=200, **options)
        told = f"calibration error {error.corrected:.3f} ({error.low:.3f} to {error.high:.3f})"
        filled = curve.count > 0
        diagram.fill_between(
            curve.score[filled], curve.low[filled], curve.high[filled],
            color=colour, alpha=0.15, linewidth=0, zorder=2,
        )  # fmt: skip
        diagram.plot(
            curve.score[filled], curve.observed[filled], color=colour, marker=marker,
            markersize=4.5, linewidth=1.5, zorder=3, label=told if name is None else f"{name}: {told}",
        )  # fmt: skip
        scores = _scores(y, said, of, classes)
        histogram.hist(
            scores, bins=np.linspace(0, 1, 31), weights=np.full(scores.size, 1 / scores.size),
            histtype="step", color=colour, linewidth=1.4,
        )  # fmt: skip
    diagram.set(ylabel="share observed", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    above = diagram.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)
    above.set_in_layout(True)
    histogram.set(xlabel="probability said", ylabel="share of rows")
    for ax in (diagram, histogram):
        tidy(ax)
    return np.array([diagram, histogram])


def _scores(y: Any, said: Any, of: Any, classes: Any) -> np.ndarray:
    from bosquet.trust._outcomes import one_event

    return one_event(y, said, classes, of)[1]


def intervals(
    y: Any, bounds: Any, prediction: Any = None, *, most: int = 150, ax: Any = None
) -> Any:
    """Intervals along the prediction, with the truth of each row: blue inside, orange outside.

    Parameters
    ----------
    y : array of shape (rows,)
        What was true.
    bounds : array of shape (rows, 2)
        From `predict_interval`.
    prediction : array of shape (rows,), optional
        What the rows are ordered by; the middles of the intervals by default.
    most : int, default=150
        Rows to draw, evenly spaced along the prediction. Coverage and width are of all rows.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    truth, bounds = np.asarray(y, dtype=float), np.asarray(bounds, dtype=float)
    inside = covered(truth, bounds)
    middle = bounds.mean(axis=1) if prediction is None else np.asarray(prediction, dtype=float)
    if middle.shape != truth.shape:
        raise ValueError(f"prediction has shape {middle.shape}, but there are {truth.size} rows")
    order = np.argsort(middle, kind="stable")
    shown = order[np.unique(np.linspace(0, order.size - 1, min(most, order.size)).astype(int))]
    ax = new_axes(ax, (6.4, 4.2))
    ax.vlines(
        middle[shown], *bounds[shown].T, color=BLUE, alpha=0.35, linewidth=1.6,
        label=f"interval, {np.diff(bounds, axis=1).mean():.3g} wide on average",
    )  # fmt: skip
    within, outside = shown[inside[shown]], shown[~inside[shown]]
    ax.plot(middle[within], truth[within], "o", color=BLUE, markersize=3.2, zorder=3,
            label=f"truth inside: {inside.mean():.1%} of {inside.size:,} rows")  # fmt: skip
    ax.plot(middle[outside], truth[outside], "X", color=ORANGE, markersize=6, zorder=4,
            label=f"truth outside: {1 - inside.mean():.1%}")  # fmt: skip
    ends = np.array([middle[shown].min(), middle[shown].max()])
    ax.plot(ends, ends, color=GREY, linestyle="--", linewidth=1, zorder=1)
    low, high = ax.get_ylim()
    # Room for the legend, which would lie on some rows wherever it were put.
    ax.set(xlabel="prediction", ylabel="truth", ylim=(low, high + 0.28 * (high - low)))
    tidy(ax)
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    return ax


def coverage_by_group(
    inside: Any,
    groups: Any,
    coverage: float = 0.9,
    *,
    confidence: float = 0.95,
    most: int = 25,
    ax: Any = None,
) -> Any:
    """The share of rows covered in each group, with its interval, and what was asked for.

    Parameters
    ----------
    inside : array of bool of shape (rows,), or dict {name: array}
        From `bosquet.trust.covered`; of several models side by side (at most three).
    groups : array of shape (rows,)
    coverage : float, default=0.9
        What was asked for.
    confidence : float, default=0.95
        Level of the intervals of the shares.
    most : int, default=25
        Groups to draw: where there are more, those whose coverage is farthest from what was asked.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    models = dict(inside) if isinstance(inside, Mapping) else {None: inside}
    if not 1 <= len(models) <= 3:
        raise ValueError(f"one picture shows 1 to 3 models, not {len(models)}")
    names, number = np.unique(np.asarray(groups), return_inverse=True)
    size = np.bincount(number)
    shares = {}
    for name, hits in models.items():
        hits = np.asarray(hits, dtype=float)
        if hits.shape != number.shape:
            raise ValueError(f"inside has shape {hits.shape}, but groups has {number.shape}")
        shares[name] = np.bincount(number, hits) / size
    shown = np.arange(names.size)
    if names.size > most:
        farthest = np.max([np.abs(share - coverage) for share in shares.values()], axis=0)
        shown = np.sort(np.argsort(-farthest, kind="stable")[:most])
    shown = shown[::-1]  # the first group stands on top
    ax = new_axes(ax, (6, 0.24 * max(shown.size, 3) * (0.6 + 0.4 * len(models)) + 1.3))
    place = np.arange(shown.size)
    ax.hlines(place, 0, 1, color=FAINT, linewidth=0.8, zorder=0)
    ax.axvline(coverage, color=INK, linestyle="--", linewidth=1, label=f"asked for: {coverage:.0%}")
    lowest = 1.0
    for which, ((name, share), (colour, marker)) in enumerate(
        zip(shares.items(), _LOOKS, strict=False)
    ):
        low, high = wilson_interval(share[shown], size[shown].astype(float), confidence)
        lowest = min(lowest, float(low.min()))
        at = place - 0.22 * (which - (len(shares) - 1) / 2)
        ax.hlines(at, low, high, color=colour, alpha=0.45, linewidth=2.5)
        ax.plot(share[shown], at, marker, color=colour, markersize=5, label=name or "covered")
    ax.set_yticks(place, [f"{names[g]} ({size[g]:,})" for g in shown])
    which_groups = "" if names.size <= most else f": the {most} of {names.size} farthest off"
    ax.set(xlabel="share of rows covered", ylabel=f"group (rows){which_groups}")
    ax.set_xlim(max(0.0, lowest - 0.05), 1.01)
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    tidy(ax)
    columns = len(shares) + 1 if len(shares) < 3 else 2
    ax.legend(
        frameon=False, fontsize=9, ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0)
    )
    return ax
