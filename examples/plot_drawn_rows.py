"""
AdaBoost by resampling, for learners without sample weights
===========================================================

    python examples/plot_drawn_rows.py

The script writes drawn-rows.png. Left: two moons; the area of a point is its weight before round 6.
Middle: the sample of that round, drawn with replacement with probabilities proportional to the
weights. The area is the number of times that a row was drawn; crosses are rows that were not drawn.
Right: the test error of stumps fitted with the weights and of stumps fitted to such samples (five
runs). The error ε of a stump fitted to a sample is still computed on all rows with their weights.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from bosquet import AdaBoostClassifier, DecisionTreeClassifier
from bosquet.datasets import Moons

ROUNDS, SHOWN = 80, 6
moons = Moons(0.25)
X, y = moons.sample(200, random_state=0)
X_test, y_test = moons.sample(2_000, random_state=1)


class Remembering(ClassifierMixin, BaseEstimator):
    """A stump without sample weights, which stores the rows that it was fitted to."""

    def fit(self, X, y):
        self.rows_ = X
        self.stump_ = DecisionTreeClassifier(max_leaf_nodes=2).fit(X, y)
        self.classes_ = self.stump_.classes_
        return self

    def predict(self, X):
        return self.stump_.predict(X)


weighted = AdaBoostClassifier(n_estimators=ROUNDS).fit(X, y)
drawn = [
    AdaBoostClassifier(Remembering(), ROUNDS, reweight="resample", random_state=seed).fit(X, y)
    for seed in range(5)
]
one = drawn[0]
votes = sum(
    alpha * np.where(learner.predict(X) == 1, 1, -1)
    for alpha, learner in zip(one.certificate_.alphas[: SHOWN - 1], one.estimators_, strict=False)
)
weights = np.exp(-np.where(y == 1, 1, -1) * votes)
weights /= weights.sum()
sample = one.estimators_[SHOWN - 1].rows_
times = np.array([np.sum(np.all(sample == row, axis=1)) for row in X])

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
colours = np.where(y == 1, "#3b6ea5", "#d9822b")
left.scatter(*X.T, s=22 * len(y) * weights, c=colours, edgecolors="white", lw=0.4)
left.set_title(f"weights before round {SHOWN}", fontsize="medium")
there = times > 0
middle.scatter(*X[there].T, s=22 * times[there], c=colours[there], edgecolors="white", lw=0.4)
middle.scatter(*X[~there].T, s=14, c=colours[~there], marker="x", lw=0.7)
middle.set_title(f"sample: {there.sum()} distinct rows of {len(y)}", fontsize="medium")
rounds = np.arange(1, ROUNDS + 1)
for run, model in enumerate([*drawn, weighted]):
    colour = "#3b6ea5" if model is weighted else "#d9822b"
    label = "weights" if model is weighted else "resampling" if run == 0 else None
    errors = 1 - np.array(list(model.staged_score(X_test, y_test)))
    right.plot(
        rounds[: errors.size],
        errors,
        color=colour,
        label=label,
        lw=1.6 if model is weighted else 0.6,
    )
right.set(xlabel="round", ylabel="test error", ylim=(0, None))
right.legend(frameon=False)
right.spines[["top", "right"]].set_visible(False)
for ax in (left, middle):
    ax.set(xticks=[], yticks=[])
first = [np.mean(model.certificate_.errors) for model in (weighted, one)]
print(f"mean error ε of the stumps: {first[0]:.3f} with weights, {first[1]:.3f} by resampling")
print(
    f"test error after {ROUNDS} rounds: {1 - weighted.score(X_test, y_test):.3f} with weights,",
    end=" ",
)
print(f"{np.mean([1 - model.score(X_test, y_test) for model in drawn]):.3f} by resampling")
figure.savefig("drawn-rows.png", dpi=100)
print("wrote drawn-rows.png")
