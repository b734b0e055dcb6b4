"""
Probabilities before and after calibration: a forest that hesitates, boosting that is too sure
==============================================================================================

    python examples/plot_calibration.py [calibration.png]

Threenorm, 2,000 rows to learn from and 20,000 to judge by. A forest's shares of votes shy away from 0
and 1; boosting carried on too long says 0 and 1 too easily. Both bends are undone by a map that is
learned from rows the models had not seen, and the Brier score falls by what it calls reliability.
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
        said = {
            name: model.fit(X, y).predict_proba(X_test),
            "calibrated": CalibratedModel(model, "beta", cv=cv).fit(X, y).predict_proba(X_test),
        }
        plot.reliability(y_test, said, axes=column)
        for which, probabilities in said.items():
            parts = brier_decomposition(y_test, probabilities)
            print(
                f"{name}, {which:10} Brier score {parts.score:.4f}, of it reliability"
                f" {parts.reliability:.4f}, resolution {parts.resolution:.4f}"
            )
    figure.savefig(path, dpi=100)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "calibration.png")
