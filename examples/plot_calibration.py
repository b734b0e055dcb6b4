"""
Calibration: probabilities of a forest and of boosting, before and after
========================================================================

    python examples/plot_calibration.py [calibration.png]

The data are Threenorm, with 2,000 training rows and 20,000 test rows. The vote shares of a forest
avoid the extremes 0 and 1 (it is underconfident); boosting with too many rounds predicts
probabilities close to 0 and 1 too often (it is overconfident). A calibration map, fitted to rows
that the models have not seen, corrects both. The Brier score decreases by its reliability term.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from bosquet import (
    CalibratedModel,
    GradientBoostingClassifier,
    RandomForestClassifier,
    plot,
)
from bosquet.datasets import Threenorm
from bosquet.trust import brier_decomposition

MODELS = {
    "forest": (RandomForestClassifier(n_estimators=200, random_state=0), "oob"),
    "boosting": (
        GradientBoostingClassifier(
            n_estimators=300, learning_rate=0.3, early_stopping=False, random_state=0
        ),
        5,
    ),
}


def draw(path):
    X, y = Threenorm().sample(2000, random_state=0)
    X_test, y_test = Threenorm().sample(20_000, random_state=1)
    figure, axes = plt.subplots(
        2, 2, sharex=True, figsize=(9.6, 5.8), height_ratios=[3.2, 1], layout="constrained"
    )
    for column, (name, (model, cv)) in zip(axes.T, MODELS.items(), strict=True):
        probabilities_by_model = {
            name: model.fit(X, y).predict_proba(X_test),
            "calibrated": CalibratedModel(model, "beta", cv=cv).fit(X, y).predict_proba(X_test),
        }
        plot.reliability(y_test, probabilities_by_model, axes=column)
        for which, probabilities in probabilities_by_model.items():
            parts = brier_decomposition(y_test, probabilities)
            print(
                f"{name}, {which:10} Brier score {parts.score:.4f}, reliability"
                f" {parts.reliability:.4f}, resolution {parts.resolution:.4f}"
            )
    figure.savefig(path, dpi=100)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "calibration.png")
