"""
Bias, variance and noise of an ensemble against its size
========================================================

    python examples/plot_bias_variance.py [bias-variance.png]

The data are Friedman's first regression function: 200 rows with noise of variance 1, drawn forty
times. Bagging averages full trees, which have low bias, and reduces their variance. Boosting adds
stumps, which have low variance, and reduces their bias. Large trees with large steps reach the
minimum within a few rounds; later rounds only add variance.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import BaggingRegressor, GradientBoostingRegressor
from bosquet.datasets import Friedman1
from bosquet.theory import bias_variance

COLOURS = {"noise": "#c9c9c9", "bias": "#3b6ea5", "variance": "#d9822b"}
SIZE = 200


def draw(path):
    models = {
        "bagged full trees": BaggingRegressor(n_estimators=60),
        "boosted stumps": GradientBoostingRegressor(
            n_estimators=SIZE, learning_rate=0.2, max_depth=1, early_stopping=False
        ),
        "boosted trees of 16 leaves, large steps": GradientBoostingRegressor(
            n_estimators=60,
            learning_rate=0.8,
            max_leaf_nodes=16,
            min_samples_leaf=1,
            early_stopping=False,
        ),
    }
    plt.rcParams |= {"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"}
    plt.rcParams |= {"axes.spines.top": False, "axes.spines.right": False}
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
    for axis, (name, model) in zip(axes, models.items(), strict=True):
        found = bias_variance(
            model, Friedman1(), n_train=200, n_test=500, n_draws=40, staged=True, random_state=0
        )
        rounds = np.arange(1, found.curves["error"].size + 1)
        parts = [np.maximum(found.curves[part], 0) for part in COLOURS]
        axis.stackplot(
            rounds, parts, colors=list(COLOURS.values()), labels=["noise", "bias²", "variance"]
        )
        axis.plot(rounds, found.curves["error"], color="black", linewidth=1, label="error")
        for k, end in enumerate(found.curve_intervals["error"].T):
            axis.plot(
                rounds,
                end,
                color="black",
                linewidth=0.8,
                linestyle=":",
                label="95 %" if k else None,
            )
        axis.set(title=name, xlabel="learners", xlim=(1, rounds[-1]))
        print(
            f"{name:40} error {found.curves['error'][0]:5.1f} -> {found.error:4.1f}"
            f" (bias² {found.bias:.1f}, variance {found.variance:.1f}, noise {found.noise:.1f});"
            f" best at {found.curves['error'].argmin() + 1}"
        )
    axes[0].set(ylabel="squared error", ylim=(0, 14))
    axes[1].legend(frameon=False, loc="upper right")
    figure.savefig(path, dpi=100)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "bias-variance.png")
