"""
AdaBoost with confidence-rated learners
=======================================

    python examples/plot_sure_learners.py

The script writes sure-learners.png. Left: on [-1, 1] the exponential function lies below its chord;
the bound needs no more than that. Right: trees whose leaves predict the mean label of their rows, a
number between -1 and 1, compared with trees whose leaves predict a sign. Both use the same formula
for α, both training errors stay below their products of Z, and Z is never above 2√(ε(1-ε)). With
mean labels the error decreases more slowly: less confident learners take smaller steps.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet import AdaBoostClassifier
from bosquet.datasets import ChiSquare

truth = ChiSquare()
X, y = truth.sample(1_000, random_state=0)
X_test, y_test = truth.sample(5_000, random_state=1)
learners = {
    "signs": (DecisionTreeClassifier(max_depth=4, random_state=0), "#d9822b"),
    "numbers": (DecisionTreeRegressor(max_depth=4, random_state=0), "#3b6ea5"),
}

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
u, alpha = np.linspace(-1, 1, 101), 0.8
chord = (1 + u) / 2 * np.exp(-alpha) + (1 - u) / 2 * np.exp(alpha)
left.plot(u, np.exp(-alpha * u), color="#3b6ea5", label="$e^{-αu}$")
left.plot(u, chord, color="#333333", linestyle="--", label="its chord")
left.fill_between(u, np.exp(-alpha * u), chord, color="#3b6ea5", alpha=0.15)
left.plot([-1, 1], np.exp([alpha, -alpha]), "o", color="#d9822b", label="signs: u = ±1")
left.set(xlabel="u = y h(x)", ylabel="factor of a row's weight, α = 0.8")
for name, (learner, colour) in learners.items():
    model = AdaBoostClassifier(learner, n_estimators=45).fit(X, y)
    record = model.certificate_
    rounds = np.arange(1, len(record.alphas) + 1)
    right.semilogy(rounds, record.training_errors, color=colour, label=f"{name}: training error")
    right.semilogy(
        rounds, np.cumprod(record.normalisers), color=colour, linestyle=":", label="its ΠZ"
    )
    above = (record.normalisers - 2 * np.sqrt(record.errors * (1 - record.errors))).max()
    print(
        f"{name}: test error {1 - model.score(X_test, y_test):.3f}, "
        f"largest Z - 2√(ε(1-ε)) {above:.1e}"
    )
right.set(xlabel="rounds", ylabel="training error and bound")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
figure.savefig("sure-learners.png", dpi=100)
print("wrote sure-learners.png")
