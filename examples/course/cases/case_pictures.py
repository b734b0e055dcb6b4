"""Pictures that the case studies share: those of a study, side by side."""

import matplotlib.pyplot as plt

from bosquet import plot


def tidy(ax):
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def tuning_and_scores(study):
    """Left how the score depends on each method's complexity, right what the tuned methods scored."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    plot.study_curves(study, ax=left)
    plot.study_scores(study, ax=right)
    return figure


def importances_and_effects(study):
    """What the chosen model uses, and how its answer changes with the first of them, if there was time."""
    if not study.record_["chosen"]["importances"]:
        print("(the budget left no time to explain the chosen model)")
        return
    plot.study_chosen(study)
