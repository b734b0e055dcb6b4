"""Pictures of a study's record that the case studies share."""

import matplotlib.pyplot as plt
import numpy as np

BLUE, ORANGE, GREEN, GREY, RED = "#3b6ea5", "#d9822b", "#2f7d5b", "#8a8a8a", "#b8433f"


def tidy(ax):
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def tuning_and_scores(study):
    """Left how the score depends on each method's complexity, right what the tuned methods scored."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    draw_curves(study, left)
    draw_scores(study, right)
    return figure


def draw_curves(study, ax):
    """A line a method, over its own range of complexities; a dot is the choice."""
    for method in study.record_["methods"]:
        curve = method["curve"]
        if curve is None or len(curve["points"]) < 2:
            continue
        places = np.array([point["complexity"] for point in curve["points"]], dtype=float)
        scores = np.array([point["score"] for point in curve["points"]])
        places = np.log(places) if curve["log"] and (places > 0).all() else places
        order = np.argsort(places)
        along = (places - places.min()) / max(np.ptp(places), 1e-12)
        (line,) = ax.plot(
            along[order], scores[order], lw=1.2, label=f"{method['title']}: {curve['parameter']}"
        )
        chosen = [k for k, point in enumerate(curve["points"]) if point["chosen"]]
        ax.plot(along[chosen], scores[chosen], "o", color=line.get_color())
    ax.set(xlabel="complexity, from least to most tried", ylabel=study.record_["metric"]["title"])
    ax.set_xticks([])
    tidy(ax).legend(
        frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=2
    )


def draw_scores(study, ax):
    """Means over the splits, best on top, with corrected intervals; the constant is left out."""
    done = [
        method
        for method in study.record_["methods"]
        if method["mean"] is not None and method["name"] != "constant"
    ]
    done.sort(
        key=lambda method: method["mean"], reverse=study.record_["metric"]["higher_is_better"]
    )
    for place, method in enumerate(done):
        colour = RED if method["name"] == study.record_["winner"]["name"] else BLUE
        if method["interval"] is not None:
            ax.plot(method["interval"], [place, place], color=colour, lw=2, alpha=0.4)
        ax.plot(method["scores"], [place] * len(method["scores"]), ".", color=GREY, ms=4)
        ax.plot(method["mean"], place, "o", color=colour)
    ax.set_yticks(range(len(done)), [method["title"] for method in done])
    ax.set_ylim(len(done) - 0.5, -0.5)
    ax.set_xlabel(f"{study.record_['metric']['title']} on test rows (red: chosen)")
    tidy(ax)


def importances_and_effects(study, most=8, effects=2):
    """What the chosen model uses, and how its answer changes with the first of them."""
    winner = study.record_["winner"]
    if not winner["importances"]:
        print("(the budget left no time to explain the chosen model)")
        return None
    shown = [found for found in winner["dependence"] if found["mean"]][:effects]
    figure, axes = plt.subplots(
        1, 1 + len(shown), figsize=(4 + 4 * len(shown), 3.6), layout="constrained"
    )
    axes = np.atleast_1d(axes)
    top = winner["importances"][:most]
    axes[0].barh([found["feature"] for found in top], [found["value"] for found in top], color=BLUE)
    axes[0].invert_yaxis()
    axes[0].set_xlabel("importance, largest 100")
    for ax, found in zip(axes[1:], shown, strict=True):
        if isinstance(found["grid"][0], str):
            ax.bar(found["grid"], found["mean"], color=BLUE)
            ax.tick_params(axis="x", rotation=60, labelsize=8)
        else:
            ax.plot(found["grid"], found["mean"], color=BLUE)
        ax.set(xlabel=found["feature"], ylabel=found["unit"])
    for ax in axes:
        tidy(ax)
    return figure


def method_named(study, name):
    return next(method for method in study.record_["methods"] if method["name"] == name)
