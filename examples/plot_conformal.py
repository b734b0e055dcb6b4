"""
Conformal prediction intervals: constant width, adaptive width, and groups
==========================================================================

    python examples/plot_conformal.py [conformal.png]

The data are the progression of diabetes after one year, and a simulation whose noise grows with a
feature. Split conformal intervals have a constant width; conformalised quantile regression gives
narrow intervals where the noise is small. Both cover 90 % on average, but only the method with
groups covers 90 % of each group.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from bosquet import ConformalModel, GradientBoostingRegressor, RandomForestRegressor, plot
from bosquet.trust import covered


def growing_noise(rows, seed):
    random = np.random.default_rng(seed)
    X = random.random((rows, 4))
    return X, 3 * X[:, 1] + (0.1 + 1.9 * X[:, 0]) * random.standard_normal(rows)


def draw(path):
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.6), layout="constrained")
    X, X_test, y, y_test = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
    forest = ConformalModel(
        RandomForestRegressor(200, min_samples_leaf=5, random_state=0), "oob"
    ).fit(X, y)
    bounds = forest.predict_interval(X_test)
    plot.intervals(y_test, bounds, forest.predict(X_test), ax=axes[0, 0])
    axes[0, 0].set_title("diabetes: out-of-bag residuals of a forest", loc="left")

    X, y = growing_noise(3000, 0)
    X_test, y_test = growing_noise(5000, 1)
    quarter = np.array(["calm", "fair", "rough", "wild"])[np.minimum((4 * X[:, 0]).astype(int), 3)]
    quarter_test = np.array(["calm", "fair", "rough", "wild"])[
        np.minimum((4 * X_test[:, 0]).astype(int), 3)
    ]
    boosted = {"n_estimators": 60, "max_leaf_nodes": 8, "random_state": 0}
    one_width = ConformalModel(GradientBoostingRegressor(**boosted), random_state=0)
    by_group = ConformalModel(GradientBoostingRegressor(**boosted), random_state=0)
    quantiles = GradientBoostingRegressor("quantile", quantile=[0.05, 0.95], **boosted)
    adaptive = ConformalModel(quantiles, "cqr", random_state=0)
    bounds = {
        "split": one_width.fit(X, y).predict_interval(X_test),
        "split, per group": by_group.fit(X, y, groups=quarter).predict_interval(
            X_test, groups=quarter_test
        ),
        "quantiles": adaptive.fit(X, y).predict_interval(X_test),
    }
    for ax, name in ((axes[0, 1], "split"), (axes[1, 0], "quantiles")):
        plot.intervals(y_test, bounds[name], X_test[:, 0], ax=ax)
        ax.lines[-1].remove()  # the diagonal is only for predictions
        ax.set(xlabel="feature that the noise grows with", title="")
        ax.set_title(f"growing noise: {name}", loc="left")
    inside = {name: covered(y_test, some) for name, some in bounds.items()}
    plot.coverage_by_group(inside, quarter_test, ax=axes[1, 1])
    for name, some in bounds.items():
        shares = [
            f"{inside[name][quarter_test == group].mean():.3f}" for group in np.unique(quarter)
        ]
        width = np.diff(some, axis=1).mean()
        print(
            f"{name:17} covers {inside[name].mean():.3f}, mean width {width:.2f}; by group {shares}"
        )
    figure.savefig(path, dpi=100)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "conformal.png")
