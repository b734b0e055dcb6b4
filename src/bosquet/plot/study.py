"""Pictures of a study: how methods depend on their complexity, what they scored, what the chosen one uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from bosquet.plot._style import BLUE, GREY, RED, new_axes, tidy
from bosquet.trees.drawing import pyplot_or_error


def study_scores(study: Any, *, constant: bool = False, ax: Any = None) -> Any:
    """What the tuned methods scored on test rows, best on top.

    A dot is the mean over the splits, red for the method that was chosen; grey dots are the splits, and
    the line is the interval of the mean, corrected for the rows that splits share.

    Parameters
    ----------
    study : fitted Study, or its `record_`
    constant : bool, default=False
        Whether to show the constant too, which often lies far from all others.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from bosquet import Study, plot
    >>> x = np.linspace(0, 1, 40)
    >>> frame = pd.DataFrame({"x": x, "y": 2 * x + np.sin(40 * x)})
    >>> study = Study(methods=["linear"], budget=None, repeats=2, random_state=0, verbose=0)
    >>> ax = plot.study_scores(study.fit(frame, "y"), constant=True)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['Linear regression (ridge)', 'Constant']
    """
    record = _record_of(study)
    metric, winner = record["metric"], record["winner"]
    done = [m for m in record["methods"] if m["mean"] is not None]
    done = [m for m in done if constant or m["name"] != "constant"]
    done.sort(key=lambda method: method["mean"], reverse=metric["higher_is_better"])
    ax = new_axes(ax, (6.5, 0.4 * len(done) + 1.2))
    for place, method in enumerate(done):
        colour = RED if winner is not None and method["name"] == winner["name"] else BLUE
        if method["interval"] is not None:
            ax.plot(method["interval"], [place, place], color=colour, linewidth=2, alpha=0.4)
        ax.plot(method["scores"], [place] * len(method["scores"]), ".", color=GREY, markersize=4)
        ax.plot(method["mean"], place, "o", color=colour)
    ax.set_yticks(range(len(done)), [method["title"] for method in done])
    ax.set_ylim(len(done) - 0.5, -0.5)
    ax.set_xlabel(f"{metric['title']} on test rows (red: chosen)")
    tidy(ax)
    return ax


def study_curves(study: Any, *, ax: Any = None) -> Any:
    """The score of each method against its complexity, as tuning saw it; a dot is what was chosen.

    Methods count their complexity in units of their own (leaves, rounds, neighbours; the legend says
    which), so that each line goes from the least to the most that was tried. Where some were judged by
    the metric and others by AIC or BIC, those are drawn that most were judged by.

    Parameters
    ----------
    study : fitted Study, or its `record_`
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    record = _record_of(study)
    ax = new_axes(ax, (6.5, 4.2))
    drawn = [m for m in record["methods"] if m["curve"] and len(m["curve"]["points"]) > 1]
    judged_by = Counter(method["curve"]["score"] for method in drawn)
    unit = max(judged_by, key=judged_by.__getitem__, default=record["metric"]["title"])
    for method in drawn:
        curve = method["curve"]
        if curve["score"] != unit:
            continue
        places = np.array([point["complexity"] for point in curve["points"]], dtype=float)
        scores = np.array([point["score"] for point in curve["points"]], dtype=float)
        if curve["log"] and (places > 0).all():
            places = np.log(places)
        along = (places - places.min()) / max(float(np.ptp(places)), 1e-12)
        order = np.argsort(along, kind="stable")
        name = f"{method['title']}: {curve['parameter']}"
        (line,) = ax.plot(along[order], scores[order], linewidth=1.2, label=name)
        chosen = [k for k, point in enumerate(curve["points"]) if point["chosen"]]
        ax.plot(along[chosen], scores[chosen], "o", color=line.get_color())
    ax.set(
        xlabel="complexity, from the least to the most tried",
        ylabel=f"{unit} in tuning",
        xticks=[],
    )
    tidy(ax)
    if ax.get_lines():
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.09), "ncols": 2}
        ax.legend(frameon=False, fontsize="x-small", **below)
    return ax


def study_winner(study: Any, *, most: int = 8, effects: int = 2, axes: Any = None) -> Any:
    """What the chosen model goes by, and how its answer changes with the first of its features.

    Left the importances, the largest 100; then for some features the mean answer as the feature takes
    other values and all else stays, over rows of the table.

    Parameters
    ----------
    study : fitted Study, or its `record_`
    most : int, default=8
        How many features to show.
    effects : int, default=2
        Of how many the effect.
    axes : one axes and one for each effect, optional

    Returns
    -------
    array of axes
    """
    winner = _record_of(study)["winner"]
    if winner is None or not winner["importances"]:
        raise ValueError(
            "the study has no explanation of its winner: its budget left no time for one; give it more"
        )
    shown = [found for found in winner["dependence"] if found["mean"]][:effects]
    if axes is None:
        size = (4 + 4 * len(shown), 3.6)
        _, axes = pyplot_or_error().subplots(
            1, 1 + len(shown), figsize=size, layout="constrained", squeeze=False
        )
    axes = np.atleast_1d(axes).ravel()
    if axes.size < 1 + len(shown):
        raise ValueError(f"{len(shown)} effects need {1 + len(shown)} axes, got {axes.size}")
    top = winner["importances"][:most]
    axes[0].barh([found["feature"] for found in top], [found["value"] for found in top], color=BLUE)
    axes[0].invert_yaxis()
    axes[0].set_xlabel("importance, largest = 100")
    for ax, found in zip(axes[1:], shown, strict=False):
        if isinstance(found["grid"][0], str):
            ax.bar(found["grid"], found["mean"], color=BLUE)
            ax.tick_params(axis="x", rotation=60, labelsize=8)
        else:
            ax.plot(found["grid"], found["mean"], color=BLUE)
        ax.set(xlabel=found["feature"], ylabel=found["unit"])
    for ax in axes:
        tidy(ax)
    return axes


def _record_of(study: Any) -> Mapping[str, Any]:
    """What a study has found, from the study or as it is."""
    record = getattr(study, "record_", study)
    if not isinstance(record, Mapping) or "methods" not in record:
        raise ValueError(f"give a fitted Study or its record_, not {type(study).__name__}")
    return record
