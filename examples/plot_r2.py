"""
AdaBoost.R2: boosted regression trees
=====================================

    python examples/plot_r2.py

The script writes r2.png. Left: one tree with eight leaves, and the weighted median of a hundred
such trees, each fitted to a sample in which rows with large errors are drawn more often. Right: the
test error against the number of rounds for the three losses. If the mean loss of a round is not
below half of the largest loss, the weights are reset to equal weights.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import AdaBoostRegressor, DecisionTreeRegressor

NOISE = 0.3
rng = np.random.default_rng(0)


def truth(x):
    return np.sin(x) + np.sin(3 * x) / 2


def sample(n):
    x = rng.uniform(0, 6, n)
    return x[:, None], truth(x) + rng.normal(0, NOISE, n)


X, y = sample(300)
X_test, y_test = sample(3_000)
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
tree = DecisionTreeRegressor(max_leaf_nodes=8)
x = np.linspace(0, 6, 600)
left.plot(X[:, 0], y, ".", color="#8a8a8a", alpha=0.6, label="rows")
left.plot(x, truth(x), color="#333333", linestyle="--", label="truth")
left.plot(x, tree.fit(X, y).predict(x[:, None]), color="#d9822b", label="one tree of 8 leaves")
for loss, colour in (("linear", "#3b6ea5"), ("square", "#b8433f"), ("exponential", "#2f7d5b")):
    model = AdaBoostRegressor(tree, 100, loss=loss, on_large_error="restart", random_state=0).fit(
        X, y
    )
    errors = [
        np.sqrt(np.mean((predictions - y_test) ** 2))
        for predictions in model.staged_predict(X_test)
    ]
    right.plot(np.arange(1, len(errors) + 1), errors, color=colour, label=f"{loss} loss")
    print(f"{loss}: {len(errors)} rounds, RMSE {errors[0]:.3f} first, {errors[-1]:.3f} last")
    if loss == "linear":
        left.plot(
            x, model.predict(x[:, None]), color=colour, label="median of 100 trees, linear loss"
        )
left.set(xlabel="x", ylabel="y", ylim=(-2.6, 2.6))
right.axhline(NOISE, color="#333333", linestyle="--", label="noise")
right.set(xlabel="rounds", ylabel="test RMSE", ylim=(0.28, None))
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
figure.savefig("r2.png", dpi=100)
print("wrote r2.png")
