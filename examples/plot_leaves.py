"""
Stopping rules of a tree, class costs and priors
================================================

    python examples/plot_leaves.py

The script writes leaves.png. Left: with fewer rows required to split a node, or with more nodes
allowed, the training error decreases, but beyond some size the test error increases. Right: trees
with twelve leaves, without costs, with costs and with priors. If errors on class 1 cost more, or if
its prior is larger than its frequency in the table, class 1 is predicted in a larger region.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import DecisionTreeClassifier
from bosquet.datasets import Moons

truth = Moons(noise=0.35)
X, y = truth.sample(400, random_state=0)
X_test, y_test = truth.sample(10_000, random_state=1)

figure = plt.figure(figsize=(15, 4.4), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1])
few_rows, few_nodes = left.subplots(1, 2, sharey=True)
settings = {
    "min_samples_split": (
        few_rows,
        [2, 3, 5, 8, 12, 20, 35, 60, 100, 170, 300],
        "$d_{min}$: minimum rows to split",
    ),
    "max_nodes": (few_nodes, [3, 5, 7, 9, 13, 19, 29, 43, 65, 99, 149], "$n_{max}$: maximum nodes"),
}
for name, (ax, values, words) in settings.items():
    trees = [DecisionTreeClassifier(**{name: value}).fit(X, y) for value in values]
    training = [1 - tree.score(X, y) for tree in trees]
    test = [1 - tree.score(X_test, y_test) for tree in trees]
    best = int(np.argmin(test))
    print(f"{name}: lowest test error {test[best]:.3f} with {values[best]}")
    ax.semilogx(values, training, color="#3b6ea5", marker="o", markersize=4, label="training")
    ax.semilogx(values, test, color="#d9822b", marker="o", markersize=4, label="test")
    ax.axhline(truth.bayes_error, color="#333333", linestyle="--", label="Bayes rule")
    ax.set(xlabel=words, ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
few_rows.set_ylabel("error")
few_nodes.legend(frameon=False)

grid = np.stack(np.meshgrid(np.linspace(-2, 3, 200), np.linspace(-1.6, 2.1, 200)), axis=-1)
shape = {"max_leaf_nodes": 12}
panels = {
    "the majority": DecisionTreeClassifier(**shape),
    "missing 1 costs 5": DecisionTreeClassifier(costs=[[0, 1], [5, 0]], **shape),
    "prior of 1: 0.9": DecisionTreeClassifier(priors=[0.1, 0.9], **shape),
}
for ax, (title, tree) in zip(right.subplots(1, 3, sharey=True), panels.items(), strict=True):
    predictions = tree.fit(X, y).predict(grid.reshape(-1, 2)).reshape(200, 200)
    ax.contourf(
        grid[..., 0],
        grid[..., 1],
        predictions,
        levels=[-0.5, 0.5, 1.5],
        colors=["#e3a467", "#7396bd"],
        alpha=0.5,
    )
    for label, colour in ((0, "#d9822b"), (1, "#3b6ea5")):
        ax.plot(*X[y == label].T, ".", color=colour, markersize=3, label=f"class {label}")
    missed = np.mean(tree.predict(X_test)[y_test == 1] == 0)
    print(
        f"{title}: predicts 1 for {tree.predict(X_test).mean():.0%} of new rows, misses {missed:.0%} of"
        " class 1"
    )
    ax.set(title=title, xticks=[], yticks=[])
ax.legend(fontsize="x-small", loc="lower right")
figure.savefig("leaves.png", dpi=100)
print("wrote leaves.png")
