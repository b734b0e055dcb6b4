"""Plots of models and results.

There are plots of trees and pruning, forests, boosting, mixtures of experts, explanations, calibration and
prediction intervals, regression models, Haar features and detections, decision boundaries, streams,
studies, and of results of the theory.

Every function accepts `ax` or `axes` to draw into, and returns them. Matplotlib is required
(``pip install ".[plot]"`` in a clone of the repository).
"""

from bosquet.plot.boosting import certificate, decision_rounds, error_curve, margins
from bosquet.plot.experts import (
    expert_contributions,
    expert_losses,
    expert_regret,
    expert_weights,
)
from bosquet.plot.explain import dependence, shap_bar, shap_beeswarm, shap_waterfall, shapes
from bosquet.plot.forests import importances, oob_curve
from bosquet.plot.glm import interaction, odds_ratios, probability_curve
from bosquet.plot.planes import decision_boundary, svm_margin
from bosquet.plot.streams import changes
from bosquet.plot.study import study_chosen, study_curves, study_scores
from bosquet.plot.theory import bayes_overlap, degrees, losses, variance_reduction
from bosquet.plot.trees import pruning, scree, tree
from bosquet.plot.trust import coverage_by_group, intervals, reliability
from bosquet.plot.vision import detection_roc, detections, haar_features_chosen

__all__ = [
    "bayes_overlap",
    "certificate",
    "changes",
    "coverage_by_group",
    "decision_boundary",
    "decision_rounds",
    "degrees",
    "dependence",
    "detection_roc",
    "detections",
    "error_curve",
    "expert_contributions",
    "expert_losses",
    "expert_regret",
    "expert_weights",
    "haar_features_chosen",
    "importances",
    "interaction",
    "intervals",
    "losses",
    "margins",
    "odds_ratios",
    "oob_curve",
    "probability_curve",
    "pruning",
    "reliability",
    "scree",
    "shap_bar",
    "shap_beeswarm",
    "shap_waterfall",
    "shapes",
    "study_chosen",
    "study_curves",
    "study_scores",
    "svm_margin",
    "tree",
    "variance_reduction",
]
