r"""
The Bayes error of two densities
================================

*Two classes are equally likely. Rows of the first have the density*
:math:`d_1(x) = \frac32 x^2 + x` *on* :math:`[0, 1]`, *rows of the second the density*
:math:`d_2(x) = 1` *on* :math:`[\frac34, \frac74]`. *Show that both are densities, and find the
error that no rule can avoid.*

**By hand.** Both functions are non-negative, and their integrals are 1:

.. math:: \int_0^1 \left(\tfrac32 x^2 + x\right) dx = \tfrac12 + \tfrac12 = 1, \qquad
          \int_{3/4}^{7/4} 1 \, dx = 1.

They overlap on :math:`[\frac34, 1]` only. There :math:`d_1(x) \ge d_1(\frac34) = \frac{51}{32} > 1
= d_2(x)`, so the smaller of the two is :math:`d_2`, and the area under the smaller one is a
rectangle of width 1/4 and height 1:

.. math:: \int \min(d_1, d_2) \, dx = \tfrac14.

The Bayes rule predicts the class with the larger density times prior probability: class 1 up to 1,
class 2 above. It makes no error on class 1, and misclassifies the quarter of class 2 that lies
below 1. Half of the rows are of class 2, so its error probability is 1/2 · 1/4 = **1/8**. The
lecture calls the area 1/4 the Bayes error; it is the sum of the two conditional error
probabilities, and becomes a probability when they are multiplied by the prior probabilities of the
classes.
"""

import matplotlib.pyplot as plt
import numpy as np

from bosquet import RandomForestClassifier, plot
from bosquet.theory import bayes_error


def d1(x):
    return np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0.0)


def d2(x):
    return np.where((x >= 0.75) & (x <= 1.75), 1.0, 0.0)


print(bayes_error([d1, d2], support=(0, 2)))

# %%
# Left: the overlap of the densities. Right: the overlap after each density was multiplied by the
# prior probability of its class; its area is the error probability.
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
plot.bayes_overlap(d1, d2, (-0.1, 1.9), ax=axes[0])
plot.bayes_overlap(d1, d2, (-0.1, 1.9), priors=(0.5, 0.5), ax=axes[1])
plt.show()

# %%
# **Other class probabilities.** If class 1 has the prior probability :math:`\pi`, the smaller of
# :math:`\pi d_1` and :math:`(1-\pi) d_2` counts. If class 1 is rare, the rule predicts class 2
# first at the left end of the overlap, since :math:`d_1` increases: :math:`\pi d_1(x) < (1-\pi)`
# for :math:`d_1(x) < (1-\pi)/\pi`. It predicts class 2 on the whole overlap if :math:`\frac52 \pi
# \le 1 - \pi`, that is for :math:`\pi \le 2/7`, and nowhere on it if :math:`\frac{51}{32}\pi \ge
# 1-\pi`, for :math:`\pi \ge 32/83`; above that the error is :math:`(1-\pi)/4`.
shares = np.linspace(0.01, 0.99, 99)
errors = [float(bayes_error([d1, d2], priors=[p, 1 - p], support=(0, 2)).value) for p in shares]
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
ax.plot(shares, errors, color="#3b6ea5", label="Bayes error")
ax.plot(
    shares,
    np.minimum(shares, 1 - shares),
    color="#8a8a8a",
    ls=":",
    label="always the more frequent class",
)
for place in (2 / 7, 32 / 83):
    ax.axvline(place, color="#d9822b", lw=0.8, ls="--")
ax.plot(0.5, 1 / 8, "o", color="#b8433f", label="the exercise: 1/8")
ax.set(xlabel="prior probability of class 1", ylabel="error", ylim=(0, 0.52))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# **What a learner achieves.** A learner does not know the densities. The error of a forest
# approaches 1/8 from above as the number of rows grows; no classifier has a smaller error.


def draw(n, random):
    """Draw n rows: the class with probability 1/2, then x by rejection under the maximum density 5/2."""
    y = random.integers(1, 3, n)
    candidates = random.random(40 * n)
    kept = candidates[2.5 * random.random(40 * n) < d1(candidates)][:n]
    return np.where(y == 1, kept, 0.75 + random.random(n))[:, None], y


random = np.random.default_rng(0)
X_test, y_test = draw(100_000, random)
best = np.where(X_test[:, 0] <= 1, 1, 2)
print(f"error of the Bayes rule on {y_test.size} rows: {np.mean(best != y_test):.4f}")
for n in (30, 300, 3_000, 30_000):
    errors = []
    for _ in range(10 if n < 10_000 else 2):
        forest = RandomForestClassifier(min_samples_leaf=max(1, n // 30), random_state=0)
        errors.append(1 - forest.fit(*draw(n, random)).score(X_test, y_test))
    print(f"error of forests fitted to {n:6d} rows: {np.mean(errors):.4f}")
