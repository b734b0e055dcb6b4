"""
Averaging over hyper-parameters, and nested cross-validation
============================================================

    python examples/plot_settings.py

The script writes settings.png. Left: unstable curves and their mean, which has a smaller error than
they have. Middle: nearest neighbours with many values of k vote, so k need not be selected. Right:
labels that do not depend on the features. The best of many random classifiers has a cross-validated
accuracy above one half; nested cross-validation, which repeats the selection inside outer folds,
shows its true accuracy.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

from bosquet import BaggingRegressor, DecisionTreeRegressor, plot
from bosquet.bagging import vote_over_grid
from bosquet.datasets import Moons
from bosquet.theory import selection_optimism

rng = np.random.default_rng(0)
x = rng.uniform(0, 1, (60, 1))
target = np.sin(2 * np.pi * x[:, 0]) + rng.normal(0, 0.3, 60)
bags = BaggingRegressor(DecisionTreeRegressor(), n_estimators=50, random_state=0).fit(x, target)

moons = Moons(noise=0.3)
X, y = moons.sample(300, random_state=0)
X_test, y_test = moons.sample(4_000, random_state=1)
values = [1, 3, 7, 15, 31, 61, 121]
alone = [1 - KNeighborsClassifier(k).fit(X, y).score(X_test, y_test) for k in values]
vote = vote_over_grid(KNeighborsClassifier(), {"n_neighbors": values}, voting="soft").fit(X, y)
together = 1 - vote.score(X_test, y_test)
print(f"test error: best k {min(alone):.3f}, worst k {max(alone):.3f}, vote of all {together:.3f}")

coin, seeds = DummyClassifier(strategy="uniform"), range(15)
found = [
    selection_optimism(coin, {"random_state": seeds}, np.zeros((60, 1)), np.arange(60) % 2,
                       cv=3, outer=3, random_state=seed)
    for seed in range(6)
]  # fmt: skip
print(found[0])

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
plot.variance_reduction(bags, x, target, lambda at: np.sin(2 * np.pi * at), ax=left)
middle.plot(values, alone, marker="o", label="one value of k")
middle.axhline(together, color="#d9822b", label="vote of all values")
middle.axhline(moons.bayes_error, color="#333333", linestyle="--", label="Bayes rule")
middle.set(xlabel="k", ylabel="test error", xscale="log")
middle.legend(frameon=False, fontsize="small")
right.axhline(0.5, color="#333333", linestyle="--", linewidth=1)
for place, scores in enumerate(
    [
        [one.scores.mean() for one in found],
        [one.promised for one in found],
        [one.kept for one in found],
    ]
):
    right.scatter(np.full(len(scores), place), scores, alpha=0.6)
right.set_xticks(
    range(3), ["one random classifier", "best by\ncross-validation", "nested\ncross-validation"]
)
right.set(ylabel="accuracy on random labels", xlim=(-0.5, 2.5))
figure.savefig("settings.png", dpi=100)
print("wrote settings.png")
