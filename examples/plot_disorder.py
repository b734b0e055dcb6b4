"""
Split criteria and impurity
===========================

    python examples/plot_disorder.py

The script writes disorder.png. Left: the reduction of the sum of squares (inertia) by each
threshold on a numeric feature; the tree splits at the maximum. Middle: a categorical feature with
eight levels has 127 splits (dots). Seven of them are cuts of the levels ordered by their mean
response (rings); the best of all splits is among these seven. Right: three impurity measures for
two classes, each scaled to a maximum of 1. All are 0 in a pure node. The misclassification rate is
piecewise linear and not strictly concave, so it cannot distinguish a split that produces a purer
node from one that does not.
"""

from itertools import combinations

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import DecisionTreeRegressor

rng = np.random.default_rng(0)
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")


def drop(goes_left, y):
    """Return the reduction of the inertia by the split: n1 n2 / n (mean1 - mean2)²."""
    n1 = goes_left.sum()
    means = y[goes_left].mean() - y[~goes_left].mean()
    return n1 * (y.size - n1) / y.size * means**2


x = rng.uniform(0, 10, 200)
y = np.where(x > 6.2, 3.0, 1.0) + 0.15 * x + rng.normal(0, 0.7, 200)
cuts = (np.sort(x)[1:] + np.sort(x)[:-1]) / 2
drops = [drop(x <= cut, y) for cut in cuts]
tree = DecisionTreeRegressor(max_depth=1).fit(x[:, None], y)
found = tree.tree_.threshold[0]
print(
    f"largest reduction {max(drops):.2f} at {cuts[np.argmax(drops)]:.3f}, the tree splits at {found:.3f}"
)
left.plot(cuts, drops, color="#3b6ea5")
left.axvline(found, color="#d9822b", linestyle="--", label=f"split of the tree, {found:.2f}")
scatter = left.twinx()
scatter.plot(x, y, ".", color="#8a8a8a", alpha=0.5)
scatter.set_ylabel("y (dots)", color="#8a8a8a")
left.set(
    xlabel="threshold",
    ylabel="reduction Δ of the inertia",
    title="numeric: one split per threshold",
)
left.legend(frameon=False, loc="upper left")

levels = rng.integers(0, 8, 240)
y = rng.normal(0, 1, 8)[levels] + rng.normal(0, 1, 240)
order = np.argsort([y[levels == k].mean() for k in range(8)])
groups = [g for k in range(1, 8) for g in combinations(range(8), k) if 7 not in g]
all_drops = np.sort([drop(np.isin(levels, g), y) for g in groups])
in_order = [drop(np.isin(levels, order[:k]), y) for k in range(1, 8)]
print(
    f"{len(groups)} groupings, largest reduction {all_drops[-1]:.3f}; of 7 cuts {max(in_order):.3f}"
)
middle.plot(np.arange(len(groups)), all_drops, ".", color="#8a8a8a", label="all groupings")
places = [np.abs(all_drops - value).argmin() for value in in_order]
middle.plot(
    places, in_order, "o", color="#d9822b", fillstyle="none", label="cuts in order of the mean"
)
middle.set(xlabel="groupings, in ascending order", ylabel="reduction Δ of the inertia")
middle.set_title("categorical: $2^{8-1}-1$ splits")
middle.legend(frameon=False)

p = np.linspace(1e-9, 1 - 1e-9, 401)
right.plot(p, 4 * p * (1 - p), color="#3b6ea5", label="Gini")
entropy = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
right.plot(p, entropy, color="#2f7d5b", label="deviance per row")
right.plot(p, 2 * np.minimum(p, 1 - p), color="#b8433f", label="misclassification rate")
right.set(xlabel="proportion of the first class", ylabel="impurity (maximum 1)")
right.legend(frameon=False)
for ax in (left, middle, right):
    ax.spines["top"].set_visible(False)
figure.savefig("disorder.png", dpi=100)
print("wrote disorder.png")
