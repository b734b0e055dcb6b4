"""
Feature importance of boosted trees
===================================

    python examples/plot_boosted_importance.py

The script writes boosted-importance.png. The data are Friedman's function of five features, with
five noise features added. Left: the share of each feature in the total reduction of the squared
error by the first trees. The first tree uses few features; as trees are added, all five relevant
features are used. Right: the importance over all trees, scaled so that the largest is 100.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import GradientBoostingRegressor
from bosquet.datasets import make_friedman1
from bosquet.explain import importance

TREES = 100
X, y = make_friedman1(1_000, noise=1.0, random_state=0)
settings = {"max_leaf_nodes": 6, "max_features": 1.0, "early_stopping": False, "random_state": 0}
marks = np.unique(np.geomspace(1, TREES, 20).astype(int))
models = [GradientBoostingRegressor(n_estimators=int(t), **settings).fit(X, y) for t in marks]
shares = np.array([model.feature_importances_ for model in models])
found = importance(models[-1], kind="gain")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
colours = plt.get_cmap("viridis")(np.linspace(0.05, 0.9, 5))
for j in range(10):
    colour, label = (colours[j], f"x{j}") if j < 5 else ("#b8b8b8", "noise" if j == 5 else None)
    left.plot(marks, shares[:, j], color=colour, label=label, lw=1.3)
    right.barh(f"x{j}", found.scaled[j], color=colour)
left.set(xlabel="trees", ylabel="share of the error reduction", xscale="log", ylim=(0, None))
left.xaxis.set_major_formatter("{x:g}")
left.legend(frameon=False, fontsize="small")
right.invert_yaxis()
right.set(xlabel="importance, largest 100")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
print(", ".join(f"{name} {value:.0f}" for name, value in found.ranking()))
figure.savefig("boosted-importance.png", dpi=100)
print("wrote boosted-importance.png")
