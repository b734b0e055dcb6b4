"""
Random forest: out-of-bag error and three feature importances
=============================================================

    python examples/plot_forest.py

The script writes forest.png.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from bosquet import RandomForestClassifier, plot

data = load_breast_cancer(as_frame=True)
forest = RandomForestClassifier(300, oob_score=True, random_state=0)
forest.fit(data.data, data.target)
print(f"out-of-bag error {forest.oob_error_:.3f}, a single tree {forest.oob_tree_error_:.3f}")
strength, correlation = forest.strength_and_correlation(data.data, data.target)
print(f"strength {strength:.2f}, correlation {correlation:.2f}")

kinds = [
    forest.importance("permutation", data.data, data.target),
    forest.importance("impurity"),
    forest.importance("frequency"),
]
figure = plt.figure(figsize=(13, 8.5), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1.8])
plot.oob_curve(forest, ax=top.subplots())
plot.importances(*kinds, max_display=12, axes=bottom.subplots(1, 3, sharey=True))
figure.savefig("forest.png", dpi=110)
print("wrote forest.png")
