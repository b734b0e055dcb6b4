"""
Label noise: AdaBoost, BrownBoost, and detecting outliers by boosting
=====================================================================

    python examples/plot_outliers.py

The script writes outliers.png. Left: the weight of a row against its margin. The weight in AdaBoost
grows without limit as the margin becomes negative; the weight in BrownBoost decreases again, and
its maximum moves as the remaining time decreases. Middle: the test error on clean labels against
the share of flipped labels in the training set. Right: one label in twelve is flipped (rings); the
rows with the largest mean weight in AdaBoost are mostly those.
"""

import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bosquet import AdaBoostClassifier, BrownBoostClassifier
from bosquet.boosting import outlier_scores
from bosquet.datasets import Moons

warnings.simplefilter("ignore", ConvergenceWarning)  # BrownBoost warns if time is left
truth = Moons(noise=0.15)


def turned(share, seed, n=600):
    """Return moons with a share of flipped labels, and which rows have one."""
    X, y = truth.sample(n, random_state=seed)
    wrong = np.random.default_rng(seed).random(n) < share
    return X, np.where(wrong, 1 - y, y), wrong


def models(share):
    return {
        "AdaBoost": (AdaBoostClassifier(n_estimators=300), "#d9822b"),
        "BrownBoost": (
            BrownBoostClassifier(n_estimators=300, target_error=max(1.5 * share, 0.03)),
            "#3b6ea5",
        ),
    }


figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
m = np.linspace(-6, 4, 201)
left.plot(m, np.exp(-m), color="#d9822b", label="AdaBoost, $e^{-m}$")
for s, shade in ((4.0, 0.3), (2.0, 0.6), (0.0, 1.0)):
    name = f"BrownBoost, time {s:g} of 4 left"
    left.plot(m, np.exp(-((m + s) ** 2) / 4), color="#3b6ea5", alpha=shade, label=name)
left.set(xlabel="margin m = y f(x) of a row", ylabel="weight", ylim=(0, 3))

X_test, y_test = truth.sample(5_000, random_state=99)
shares = (0.0, 0.05, 0.1, 0.15, 0.2)
for name in ("AdaBoost", "BrownBoost"):
    errors = []
    for share in shares:
        found = []
        for seed in range(3):
            X, y, _ = turned(share, seed)
            found.append(1 - models(share)[name][0].fit(X, y).score(X_test, y_test))
        errors.append(np.mean(found))
    print(f"{name}: test error on clean labels {np.round(errors, 3).tolist()}")
    middle.plot(shares, errors, marker="o", color=models(0)[name][1], label=name)
middle.set(xlabel="share of flipped labels", ylabel="test error on clean labels", ylim=(0, None))

X, y, wrong = turned(1 / 12, 0)
scores = outlier_scores(AdaBoostClassifier(n_estimators=60).fit(X, y), X, y)
top = np.argsort(-scores)[: wrong.sum()]
print(
    f"of the {wrong.sum()} rows with the largest weight {wrong[top].mean():.0%} have flipped labels, "
    f"of all rows {wrong.mean():.0%}"
)
for label, colour in ((0, "#d9822b"), (1, "#3b6ea5")):
    of = y == label
    right.scatter(*X[of].T, s=4 + 9 * scores[of], color=colour, alpha=0.7, linewidth=0)
right.scatter(*X[wrong].T, s=70, facecolor="none", edgecolor="#333333", linewidth=0.8)
right.set(title="area: mean weight in AdaBoost", xticks=[], yticks=[])
for ax in (left, middle):
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
figure.savefig("outliers.png", dpi=100)
print("wrote outliers.png")
