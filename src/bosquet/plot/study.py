"""Plots of a study: scores of the methods, tuning curves, and features of the selected model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pyplot
from bosquet._suggestions import with_article
from bosquet.plot._style import BLUE, GREY, RED, hide_spines, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def study_scores(study: Any, *, constant: bool = False, ax: Axes | None = None) -> Axes:
    """Test scores of the tuned methods, best on top.

    A large dot is the mean over the splits, red for the selected method. Grey dots are the single splits.
    The line is the confidence interval of the mean, corrected for the rows that the splits share.

    Parameters
    ----------
    study : fitted Study, or its `record_`
    constant : bool, default=False
        Also show the constant prediction, which is often far from all other methods.
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
    metric, chosen = record["metric"], record["chosen"]
    scored_methods = [m for m in record["methods"] if m["mean"] is not None]
    scored_methods = [m for m in scored_methods if constant or m["name"] != "constant"]
    scored_methods.sort(key=lambda method: method["mean"], reverse=metric["higher_is_better"])
    ax = new_axes(ax, (6.5, 0.4 * len(scored_methods) + 1.2))
    for i, method in enumerate(scored_methods):
        colour = RED if chosen is not None and method["name"] == chosen["name"] else BLUE
        if method["interval"] is not None:
            ax.plot(method["interval"], [i, i], color=colour, linewidth=2, alpha=0.4)
        ax.plot(method["scores"], [i] * len(method["scores"]), ".", color=GREY, markersize=4)
        ax.plot(method["mean"], i, "o", color=colour)
    ax.set_yticks(range(len(scored_methods)), [method["title"] for method in scored_methods])
    ax.set_ylim(len(scored_methods) - 0.5, -0.5)
    ax.set_xlabel(f"{metric['title']} on the test sets (red: selected method)")
    hide_spines(ax)
    return ax


def study_curves(study: Any, *, ax: Any = None) -> Axes:
    """Draw the tuning score of each method against its complexity; a dot marks the selected value.

    Methods measure complexity in different units (leaves, rounds, neighbours; see the legend), so that
    each curve ranges from the smallest to the largest value tried. If some methods were tuned by the metric
    and others by AIC or BIC, only those with the most frequent criterion are drawn.

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
    tuned = [m for m in record["methods"] if m["curve"] and len(m["curve"]["points"]) > 1]
    criteria = Counter(method["curve"]["score"] for method in tuned)
    criterion = max(criteria, key=criteria.__getitem__, default=record["metric"]["title"])
    for method in tuned:
        curve = method["curve"]
        if curve["score"] != criterion:
            continue
        complexity = np.array([point["complexity"] for point in curve["points"]], dtype=float)
        scores = np.array([point["score"] for point in curve["points"]], dtype=float)
        if curve["log"] and (complexity > 0).all():
            complexity = np.log(complexity)
        scaled = (complexity - complexity.min()) / max(float(np.ptp(complexity)), 1e-12)
        order = np.argsort(scaled, kind="stable")
        name = f"{method['title']}: {curve['parameter']}"
        (line,) = ax.plot(scaled[order], scores[order], linewidth=1.2, label=name)
        chosen = [k for k, point in enumerate(curve["points"]) if point["chosen"]]
        ax.plot(scaled[chosen], scores[chosen], "o", color=line.get_color())
    ax.set(
        xlabel="complexity, from the smallest to the largest value tried",
        ylabel=f"{criterion} in tuning",
        xticks=[],
    )
    hide_spines(ax)
    if ax.get_lines():
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.09), "ncols": 2}
        ax.legend(frameon=False, fontsize="x-small", **below)
    return ax


def study_chosen(study: Any, *, max_display: int = 8, effects: int = 2, axes: Any = None) -> Any:
    """Draw the feature importances of the selected model, and the effects of its most important features.

    The first panel shows the importances, scaled so that the largest is 100. The others show the partial
    dependence of the prediction on single features.

    Parameters
    ----------
    study : fitted Study, or its `record_`
    max_display : int, default=8
        Number of importances to show.
    effects : int, default=2
        Number of effects to show.
    axes : array of axes, optional
        One for the importances, and one per effect.

    Returns
    -------
    array of axes
    """
    chosen = _record_of(study)["chosen"]
    if chosen is None or not chosen["importances"]:
        raise ValueError(
            "the study has no explanation of its chosen model, because its budget was too small; fit it"
            " with a larger budget"
        )
    shown_records = [record for record in chosen["dependence"] if record["mean"]][:effects]
    if axes is None:
        size = (4 + 4 * len(shown_records), 3.6)
        _, axes = import_pyplot().subplots(
            1, 1 + len(shown_records), figsize=size, layout="constrained", squeeze=False
        )
    axes = np.atleast_1d(axes).ravel()
    if axes.size < 1 + len(shown_records):
        raise ValueError(
            f"axes has {axes.size} axes, but {len(shown_records)} effects need"
            f" {1 + len(shown_records)}; pass as many axes"
        )
    top = chosen["importances"][:max_display]
    axes[0].barh(
        [record["feature"] for record in top], [record["value"] for record in top], color=BLUE
    )
    axes[0].invert_yaxis()
    axes[0].set_xlabel("importance, largest = 100")
    for ax, record in zip(axes[1:], shown_records, strict=False):
        if isinstance(record["grid"][0], str):
            ax.bar(record["grid"], record["mean"], color=BLUE)
            ax.tick_params(axis="x", rotation=60, labelsize=8)
        else:
            ax.plot(record["grid"], record["mean"], color=BLUE)
        ax.set(xlabel=record["feature"], ylabel=record["unit"])
    for ax in axes:
        hide_spines(ax)
    return axes


def _record_of(study: Any) -> Mapping[str, Any]:
    """Return the record of a fitted study; a record itself is returned unchanged."""
    record = getattr(study, "record_", study)
    if not isinstance(record, Mapping) or "methods" not in record:
        raise ValueError(
            f"study is {with_article(type(study).__name__)}; pass a fitted Study or its record_"
        )
    return record
