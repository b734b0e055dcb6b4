"""
Bagging: training, out-of-bag and test error against the number of models
=========================================================================

    python examples/plot_bagging_error.py [bagging-error.png]

The data are two moons with much noise: 400 training rows and 10,000 test rows. Three base learners
are bagged: full trees, trees with at most four leaves, and a support vector machine.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bosquet import BaggingClassifier

MODELS = 100
LEARNERS = {
    "full trees": DecisionTreeClassifier(),
    "trees of 4 leaves": DecisionTreeClassifier(max_leaf_nodes=4),
    "support vector machine": SVC(),
}
GREEN, GREY, ORANGE = "#2f6f4f", "#8d968f", "#c8783c"


def errors(model, X, y):
    """Return the error rate of the first 1, 2, ... models."""
    return np.array([np.mean(predictions != y) for predictions in model.staged_predict(X)])


def draw(path):
    X, y = make_moons(400, noise=0.35, random_state=0)
    X_test, y_test = make_moons(10_000, noise=0.35, random_state=1)
    plt.rcParams |= {"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"}
    plt.rcParams |= {"axes.spines.top": False, "axes.spines.right": False}
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True, layout="constrained")
    number = np.arange(1, MODELS + 1)
    for axis, (name, learner) in zip(axes, LEARNERS.items(), strict=True):
        model = BaggingClassifier(learner, MODELS, voting="hard", oob_score=True, random_state=0)
        model.fit(X, y)
        test = errors(model, X_test, y_test)
        axis.plot(number, errors(model, X, y), color=GREY, label="training")
        axis.plot(number, model.oob_curve_, color=ORANGE, label="out of bag")
        axis.plot(number, test, color=GREEN, label="test")
        axis.set(title=name, xlabel="models", ylim=(0, None))
        axis.yaxis.set_major_formatter("{x:.0%}")
        print(
            f"{name:24} test error {test[0]:.3f} with one model, {test[-1]:.3f} with {MODELS};"
            f" out of bag {model.oob_error_:.3f}"
        )
    axes[0].set_ylabel("misclassified")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=100)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "bagging-error.png")
