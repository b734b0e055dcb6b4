r"""
Leaf weights of gradient boosted trees
======================================

*A tree is added to a model whose predictions are* :math:`\hat y`. *Its structure is given. Which
value should each leaf have, for the squared loss and for the logistic loss?*

**In general.** Expand the loss to second order about :math:`\hat y_i`, with :math:`g_i` and
:math:`h_i` its first and second derivative there. A leaf with rows I and value w then adds to the
objective, with the penalty :math:`\frac\lambda2 w^2`,

.. math:: \sum_{i \in I} \left(g_i w + \tfrac12 h_i w^2\right) + \tfrac\lambda2 w^2
          = G w + \tfrac12 (H + \lambda) w^2, \qquad G = \sum_I g_i,\; H = \sum_I h_i.

This is a parabola with its minimum at

.. math:: w^* = -\frac{G}{H + \lambda}, \qquad \text{where it is } -\tfrac12 \frac{G^2}{H + \lambda}.

The penalty is added once per leaf, so :math:`\lambda` is added to the sum H and not to each of its
terms.

**Squared loss** :math:`\frac12 (y - \hat y)^2`: :math:`g = \hat y - y = -r` with r the residual,
and :math:`h = 1`. With n rows in the leaf

.. math:: w^* = \frac{\sum_I r_i}{n + \lambda},

the mean residual, shrunk towards 0. **Logistic loss** :math:`-y \ln p - (1-y) \ln(1-p)` with
:math:`p = 1 / (1 + e^{-\hat y})`: since :math:`p' = p(1-p)`, :math:`g = p - y` and
:math:`h = p(1-p)`, so

.. math:: w^* = \frac{\sum_I (y_i - p_i)}{\sum_I p_i(1-p_i) + \lambda}.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.datasets import Friedman1, Moons

OPTIONS = {
    "n_estimators": 3,
    "learning_rate": 1.0,
    "max_leaf_nodes": 4,
    "max_features": None,
    "early_stopping": False,
    "random_state": 0,
}


def leaves(before, after, g, h, penalty):
    """Return one pair per leaf: the value that a round added, and the derived value.

    A round adds to each prediction the value of the leaf of the row, so rows with the same increment
    share a leaf.
    """
    added = after - before
    leaf = np.unique(added.round(9), return_inverse=True)[1]
    derived = -np.bincount(leaf, g) / (np.bincount(leaf, h) + penalty)
    return [(added[leaf == k][0], value) for k, value in enumerate(derived)]


# %%
# **Squared loss.** Three rounds with four leaves, without shrinkage. The model starts from the
# mean, and the leaf values of each round are compared with the formula.
X, y = Friedman1().sample(500, random_state=0)
pairs = {}
for penalty in (0.0, 1.0, 50.0):
    model = GradientBoostingRegressor(l2_regularization=penalty, **OPTIONS).fit(X, y)
    stages = [np.full(y.size, y.mean()), *model.staged_predict(X)]
    found = []
    for before, after in pairwise(stages):
        found += leaves(before, after, before - y, np.ones(y.size), penalty)
    pairs[f"squared loss, λ = {penalty:g}"] = np.array(found)
    print(f"λ = {penalty:4g}: largest difference {np.abs(np.diff(found)).max():.1e}")

# %%
# **Logistic loss.** The same for log odds: the model starts from the log odds of the two classes.
X, y = Moons(0.3).sample(500, random_state=0)
for penalty in (0.0, 1.0, 50.0):
    model = GradientBoostingClassifier(l2_regularization=penalty, **OPTIONS).fit(X, y)
    start = np.log(y.mean() / (1 - y.mean()))
    stages = [np.full(y.size, start), *model.staged_decision_function(X)]
    found = []
    for before, after in pairwise(stages):
        p = 1 / (1 + np.exp(-before))
        found += leaves(before, after, p - y, p * (1 - p), penalty)
    pairs[f"logistic loss, λ = {penalty:g}"] = np.array(found)
    print(f"λ = {penalty:4g}: largest difference {np.abs(np.diff(found)).max():.1e}")

# %%
# Every leaf lies on the diagonal. A larger penalty moves the leaves along it towards 0, most of all
# leaves with few rows or with rows whose probability is close to 0 or 1.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, kind in zip(axes, ("squared", "logistic"), strict=True):
    of_kind = {name: found for name, found in pairs.items() if name.startswith(kind)}
    ends = np.concatenate(list(of_kind.values()))
    ax.plot([ends.min(), ends.max()], [ends.min(), ends.max()], color="#8a8a8a", lw=0.8)
    for (name, found), colour in zip(
        of_kind.items(), ("#3b6ea5", "#2f7d5b", "#d9822b"), strict=True
    ):
        ax.plot(
            found[:, 1], found[:, 0], "o", color=colour, ms=5, alpha=0.8, label=name.split(", ")[1]
        )
    ax.set(xlabel="derived", ylabel="value of the fitted leaf", title=f"{kind} loss")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
plt.show()

# %%
# **The gain of a split.** With its optimal value a leaf contributes :math:`-\frac12 G^2/(H +
# \lambda)` to the objective. Splitting it into a left and a right leaf, with a penalty
# :math:`\beta` per additional leaf, gains
#
# .. math:: \frac12\left[\frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}
#           - \frac{G^2}{H + \lambda}\right] - \beta .
#
# The figure shows the gain for every threshold on one column, at the first split of the moons. The
# library splits at the maximum, and not at all if :math:`\beta` (``min_split_gain``) exceeds it.
# (Values are rounded so that each has its own bin: the library splits between bins.)
x, p = (20 * X[:, 0]).round() / 20, y.mean()
cuts = np.unique(x)[:-1]
ONE = {**OPTIONS, "n_estimators": 1, "max_leaf_nodes": 2, "min_samples_leaf": 1}
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for penalty, colour in ((0.0, "#3b6ea5"), (50.0, "#d9822b")):
    worth = [
        sum(
            (y[side] - p).sum() ** 2 / (side.sum() * p * (1 - p) + penalty)
            for side in (x <= cut, x > cut)
        )
        for cut in cuts
    ]
    whole = (y - p).sum() ** 2 / (y.size * p * (1 - p) + penalty)
    gain = (np.array(worth) - whole) / 2
    ax.plot(cuts, gain, color=colour, label=f"λ = {penalty:g}")
    for price in (0.9 * gain.max(), 1.1 * gain.max()):
        model = GradientBoostingClassifier(
            l2_regularization=penalty, min_split_gain=price, **ONE
        ).fit(x[:, None], y)
        left = model.decision_function(x[:, None]) == model.decision_function([[x.min()]])
        print(
            f"λ = {penalty:2g}, β = {price:4.1f}: "
            + ("no split" if left.all() else f"split after {x[left].max():.3f}")
            + f"; the largest gain before β is {gain.max():.1f}, at {cuts[gain.argmax()]:.3f}"
        )
ax.set(xlabel="threshold on the first column", ylabel="gain of the split, β = 0", ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# **First order or second?** ``step="gradient"`` is Friedman's method: a least-squares tree on the
# residuals, and in each leaf the value that minimises the loss itself instead of its quadratic
# approximation. For the squared loss, which is quadratic, both are the same (with :math:`\lambda =
# 0`); for the logistic loss the Newton step is the first iteration towards the minimum.
newton = GradientBoostingClassifier(step="newton", **OPTIONS).fit(X, y)
gradient = GradientBoostingClassifier(step="gradient", **OPTIONS).fit(X, y)
for name, model in (("Newton", newton), ("gradient", gradient)):
    p = model.predict_proba(X)[:, 1]
    print(
        f"{name:9s} training log loss after 3 rounds: {-np.mean(np.log(np.where(y == 1, p, 1 - p))):.4f}"
    )
