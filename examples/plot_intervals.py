"""
Two intervals of a random forest: prediction interval and standard error
========================================================================

    python examples/plot_intervals.py [intervals.png]

The data are a sine with noise that grows to the right. The prediction interval, from the quantiles
of the training rows that share leaves with a point (Meinshausen 2006), becomes wider with the
noise. The standard error by the jackknife estimates how much the curve itself would change with
another training sample (Wager, Hastie and Efron 2014).
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import RandomForestRegressor

BLUE, GREY, ORANGE = "#3b6ea5", "#8a8a8a", "#d9822b"


def noisy_sine(rows, seed):
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(0, 6, rows))
    return x[:, None], np.sin(x) + (0.05 + 0.12 * x) * random.normal(size=rows)


def draw(path):
    X, y = noisy_sine(600, seed=0)
    forest = RandomForestRegressor(
        600, min_samples_leaf=20, max_features=None, keep_rows=True, random_state=0
    )
    forest.fit(X, y)
    grid = np.linspace(0, 6, 300)[:, None]
    low, middle, high = forest.predict_quantiles(grid, [0.05, 0.5, 0.95]).T
    mean, error = forest.predict(grid), forest.jackknife_standard_errors(grid)

    X_new, y_new = noisy_sine(5000, seed=1)
    below, above = forest.predict_quantiles(X_new, [0.05, 0.95]).T
    print(
        f"{np.mean((below <= y_new) & (y_new <= above)):.1%} of new rows lie in the 90 % interval"
    )
    print(f"mean standard error of a prediction {error.mean():.3f}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
    for ax in (left, right):
        ax.scatter(X[:, 0], y, s=7, color=GREY, alpha=0.5, linewidths=0)
        ax.plot(
            grid[:, 0],
            np.sin(grid[:, 0]),
            color="black",
            linewidth=1,
            linestyle="--",
            label="truth",
        )
        ax.set(xlabel="x")
        ax.spines[["top", "right"]].set_visible(False)
    left.fill_between(
        grid[:, 0], low, high, color=BLUE, alpha=0.25, linewidth=0, label="5 % to 95 %"
    )
    left.plot(grid[:, 0], middle, color=BLUE, label="median")
    left.set(title="prediction interval of a new observation", ylabel="y")
    right.fill_between(
        grid[:, 0], mean - 1.96 * error, mean + 1.96 * error,
        color=ORANGE, alpha=0.35, linewidth=0, label="± 1.96 standard errors",
    )  # fmt: skip
    right.plot(grid[:, 0], mean, color=ORANGE, label="forest")
    right.set(title="standard error of the prediction")
    for ax in (left, right):
        ax.legend(frameon=False, loc="lower left")
    figure.savefig(path, dpi=100)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "intervals.png")
