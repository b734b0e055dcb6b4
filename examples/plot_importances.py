"""
Three feature importances compared, with a rare class
=====================================================

    python examples/plot_importances.py [importances.png]

Two common classes differ in x0 and x1. A rare third class, 2 % of the rows, differs in x2 only. The
other five features are noise. The importances by margin and by impurity weight all rows equally, so
x2 is small in them. The split frequency shows x2 in small trees such as these (full trees split on
noise as often as on anything else). The permutation importance per class shows which class depends
on x2.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import RandomForestClassifier, plot

NAMES = ["common 1", "common 2", "rare"]


def three_classes(rows=3000, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 8))
    y = (X[:, 0] + 0.7 * X[:, 1] + 0.8 * random.normal(size=rows) > 0).astype(int)
    y[(X[:, 2] > 1.85) & (random.random(rows) < 0.6)] = 2
    return X, y


def draw(path):
    X, y = three_classes()
    forest = RandomForestClassifier(200, max_leaf_nodes=8, oob_score=True, random_state=0).fit(X, y)
    kinds = [
        forest.importance("permutation", X, y),
        forest.importance("impurity"),
        forest.importance("frequency"),
    ]
    for found in kinds:
        first = ", ".join(f"{name} {value:.0f}" for name, value in found.ranking()[:4])
        print(f"{found.kind:22} {first}")
    figure = plt.figure(figsize=(11, 6.5), layout="constrained")
    top, bottom = figure.subfigures(2, 1)
    plot.importances(*kinds, axes=top.subplots(1, 3, sharey=True))
    top.suptitle("all rows")
    axes = bottom.subplots(1, 3, sharey=True)
    order = np.argsort(-kinds[0].mean, kind="stable")[::-1]
    for k, ax in enumerate(axes):
        by_class = kinds[0].per_class[k]
        ax.barh(np.arange(order.size), by_class[order], color="#3b6ea5")
        ax.set_yticks(np.arange(order.size), [f"x{f}" for f in order])
        ax.set(
            title=f"{NAMES[k]}, {np.mean(y == k):.0%} of the rows", xlabel="decrease of the margin"
        )
        ax.spines[["top", "right"]].set_visible(False)
    bottom.suptitle("rows of each class, by permutation")
    figure.savefig(path, dpi=100)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "importances.png")
