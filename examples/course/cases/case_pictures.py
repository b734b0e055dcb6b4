"""Figures that several case studies draw from a study."""

import matplotlib.pyplot as plt

from bosquet import plot


def tidy(ax):
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def tuning_and_scores(study):
    """Plot the score against each method's complexity (left) and the scores of the tuned methods (right)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    plot.study_curves(study, ax=left)
    plot.study_scores(study, ax=right)
    return figure


def importances_and_effects(study):
    """Plot the feature importances and effects of the chosen model, if there was time to compute them."""
    if not study.record_["chosen"]["importances"]:
        print("(the budget left no time to explain the chosen model)")
        return
    plot.study_chosen(study)
