"""
Number of rounds, learning rate and early stopping
==================================================

    python examples/plot_rounds_and_steps.py

The script writes rounds-and-steps.png. Trees with four leaves are boosted on ten features, with 10
% flipped labels. Left: the loss on the training set, which always decreases, and on the validation
set, which does not; early stopping selects its minimum (dot). Right: the test loss with learning
rates ν = 1, 0.3 and 0.1, mean of four samples; the dots are the test losses with early stopping.
Smaller learning rates need more rounds and reach a lower loss, but 0.1 is hardly better than 0.3.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import GradientBoostingClassifier
from bosquet.datasets import ChiSquare

ROUNDS, SAMPLES = 250, 4
truth = ChiSquare()
settings = {"max_leaf_nodes": 4, "max_features": 1.0, "early_stopping": False, "random_state": 0}


def noisy(n, seed):
    X, y = truth.sample(n, random_state=seed)
    return X, np.where(np.random.default_rng(seed).random(n) < 0.1, 1 - (y > 0), y > 0)


def losses(model, X, y):
    """Return the mean logistic loss after every round."""
    rows, true = np.arange(len(y)), y.astype(int)
    return np.array([-np.log(p[rows, true]).mean() for p in model.staged_predict_proba(X)])


rounds = np.arange(1, ROUNDS + 1)
X_test, y_test = noisy(1_000, 1000)
figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.2), layout="constrained")
for rate, colour in ((1.0, "#b8433f"), (0.3, "#d9822b"), (0.1, "#3b6ea5")):
    on_test, chosen, kept = [], [], []
    for seed in range(SAMPLES):
        X, y = noisy(1_000, seed)
        model = GradientBoostingClassifier(learning_rate=rate, n_estimators=ROUNDS, **settings).fit(
            X, y
        )
        X_aside, y_aside = noisy(500, 100 + seed)
        aside = losses(model, X_aside, y_aside)
        on_test.append(losses(model, X_test, y_test))
        chosen.append(aside.argmin() + 1)
        kept.append(on_test[-1][aside.argmin()])
        if rate == 0.3 and seed == 0:
            left.plot(rounds, losses(model, X, y), color="#8a8a8a", label="training")
            left.plot(rounds, aside, color=colour, label="validation")
            left.plot(chosen[0], aside.min(), "o", color=colour)
    mean = np.mean(on_test, axis=0)
    right.plot(rounds, mean, color=colour, label=f"ν = {rate}")
    right.plot(np.mean(chosen), np.mean(kept), "o", color=colour)
    print(
        f"ν = {rate}: {np.mean(chosen):.0f} rounds selected on average, test loss {np.mean(kept):.3f}; "
        f"after {ROUNDS} rounds {mean[-1]:.3f}"
    )
left.set(xlabel="round", ylabel="logistic loss", title="ν = 0.3, one sample", ylim=(0, None))
right.set(xlabel="round", ylabel="logistic test loss", title="dots: early stopping")
right.set_ylim(0.4, 0.9)
for ax in (left, right):
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("rounds-and-steps.png", dpi=100)
print("wrote rounds-and-steps.png")
