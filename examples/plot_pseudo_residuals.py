"""
Gradient boosting: each tree is fitted to the pseudo-residuals
==============================================================

    python examples/plot_pseudo_residuals.py

The script writes pseudo-residuals.png. Top: the rows and the current model F (line). Bottom: the
pseudo-residuals, the negative gradient of the loss at F, and the tree with four leaves that is
fitted to them by least squares and added with a step from a line search. The loss is the absolute
error: its pseudo-residuals are the signs of the errors, so the three outliers have no more
influence than any other row.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize_scalar

from bosquet import DecisionTreeRegressor, GradientBoostingRegressor

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(0, 1, 120))
y = np.sin(2 * np.pi * x) + rng.normal(0, 0.25, x.size)
y[[20, 60, 100]] = (-3.5, 3.5, 3.0)
X, tree = x[:, None], DecisionTreeRegressor(max_leaf_nodes=4)
shown = (0, 1, 4)

figure, axes = plt.subplots(
    2, 3, figsize=(13, 5.6), layout="constrained", sharex=True, sharey="row"
)
F = np.full(x.size, np.median(y))  # the best constant
for t in range(12):
    residuals = np.sign(y - F)
    h = tree.fit(X, residuals).predict(X)
    if t in shown:
        above, below = axes[:, shown.index(t)]
        above.plot(x, y, ".", color="#8a8a8a", ms=4)
        above.plot(x, F, color="#3b6ea5", lw=1.8, drawstyle="steps-mid")
        above.set_title("the best constant" if t == 0 else f"after {t} tree{'s' * (t > 1)}")
        below.plot(x, residuals, ".", color="#8a8a8a", ms=4)
        below.plot(x, h, color="#d9822b", lw=1.8, drawstyle="steps-mid")
        below.set(xlabel="x")
    step = minimize_scalar(lambda a, F=F, h=h: np.abs(y - F - a * h).sum(), (0, 1)).x
    F = F + step * h
    if t + 1 in (1, 4, 12):
        print(f"{t + 1} trees: mean absolute error {np.abs(y - F).mean():.3f}")
axes[0, 0].set_ylabel("y and F(x)")
axes[1, 0].set_ylabel("pseudo-residual and tree")
for ax in axes.ravel():
    ax.spines[["top", "right"]].set_visible(False)
library = GradientBoostingRegressor(
    "absolute_error", estimator=tree, n_estimators=12, learning_rate=1.0
)
error = np.abs(y - library.fit(X, y).predict(X)).mean()
print(f"12 trees of the library with the same learner and loss: mean absolute error {error:.3f}")
figure.savefig("pseudo-residuals.png", dpi=100)
print("wrote pseudo-residuals.png")
