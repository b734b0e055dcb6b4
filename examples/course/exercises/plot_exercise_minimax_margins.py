r"""
Games, minimax and margins
==========================

*Weights and classifiers play a game. Show that the edge of the weak learner and the margin of the
best vote are the two sides of it:* :math:`2\gamma = \rho`.

One player chooses a row i of the m rows, the other a classifier h, and the first pays the second
:math:`M_{ih} = y_i h(x_i)`: 1 if the classifier is correct for the row, -1 otherwise. With mixed
strategies, the first player has a distribution D over rows, the second weights :math:`\alpha` over
classifiers. By von Neumann's theorem it does not matter which player moves first:

.. math:: \min_D \max_h \sum_i D_i y_i h(x_i)
          = \max_\alpha \min_i \, y_i \frac{\sum_t \alpha_t h_t(x_i)}{\|\alpha\|_1} .

On the left, :math:`\sum_i D_i y_i h(x_i)` is the weight of the correctly classified rows minus the
weight of the misclassified rows, :math:`1 - 2\varepsilon = 2(\frac12 - \varepsilon)`: twice the
edge. So the left side is :math:`2\gamma`, where :math:`\gamma` is the edge that some classifier has
for any weights. The right side is :math:`\rho`, the smallest margin of the best vote. If the
learner always has an edge, some vote therefore classifies every row correctly, with this margin.
"""

import matplotlib.pyplot as plt
import numpy as np

from bosquet import AdaBoostClassifier, plot
from bosquet.datasets import Moons
from bosquet.theory import game_value, maximal_margin, weak_learnability

# %%
# Small games first
# -----------------
# A game with a saddle point has an optimal pure strategy: its value is an entry of the matrix, the
# smallest of its row and the largest of its column.
print(game_value([[4, 2, 3], [1, 0, 5]]))
# %%
# Without a saddle point, the player who moves first is at a disadvantage with pure strategies. The
# optimal mixed strategy makes the other player indifferent.
game = game_value([[3, -1], [-2, 1]])
print(game)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
p = np.linspace(0, 1, 101)
ax.plot(p, 3 * p - 2 * (1 - p), color="#3b6ea5", label="if columns play the first")
ax.plot(p, -p + (1 - p), color="#d9822b", label="if columns play the second")
ax.plot(
    p,
    np.minimum(5 * p - 2, 1 - 2 * p),
    color="#333333",
    lw=3,
    alpha=0.4,
    label="guaranteed payoff of the rows",
)
ax.plot(game.row_strategy[0], game.value, "o", color="#b8433f", label=f"value {game.value:.3g}")
ax.set(xlabel="probability of the first row", ylabel="payment to rows")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# The game of boosting
# --------------------
# Sixty rows of two moons. All stumps that differ on these rows are the columns of a matrix, and the
# game is a linear programme. ``maximal_margin`` finds the same value by column generation, without
# the matrix, and ``weak_learnability`` computes it as a minimum over the weights.
X, y = Moons(0.15).sample(60, random_state=0)
signs = np.where(y == 1, 1.0, -1.0)
columns = [np.ones(len(y))]
for x in X.T:
    columns += [np.where(x > threshold, 1.0, -1.0) for threshold in np.sort(x)[:-1]]
rules = np.column_stack([*columns, *(-column for column in columns)])
# Rows of the matrix are the classifiers, which maximise; its columns are the rows of the table.
whole = game_value((signs[:, None] * rules).T)
margin = maximal_margin(X, y)
edge = weak_learnability("stumps", X, y)
print(f"value of the game, {rules.shape[1]} stumps and {len(y)} rows  {whole.value:.6f}")
print(f"largest margin ρ                            {margin.rho:.6f}")
print(f"twice the edge γ*                           {2 * edge.edge_low:.6f}")
print(margin)

# %%
# **AdaBoost in this game.** AdaBoost does not know ρ, and updates the weights round by round. Its
# smallest margin becomes positive. Proved is a margin of about half of ρ for full steps, and
# arbitrarily close to ρ for small steps; here both come close to ρ, small steps later.
margins = {}
for rate in (1.0, 0.1):
    model = AdaBoostClassifier(n_estimators=6000, learning_rate=rate).fit(X, y)
    weights = np.cumsum(np.abs(model.estimator_weights_)) / 2
    scores = np.array(list(model.staged_decision_function(X)))
    margins[rate] = (signs * scores).min(axis=1) / weights
    print(
        f"learning rate {rate:3g}: smallest margin {margins[rate][-1]:.4f} of at most {margin.rho:.4f}"
    )

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
heavy = margin.row_distribution
for label, colour in ((0, "#d9822b"), (1, "#3b6ea5")):
    of = y == label
    left.scatter(*X[of].T, s=15 + 900 * heavy[of], color=colour, alpha=0.7, edgecolor="white")
left.set(
    title=f"the hardest weights: {np.sum(heavy > 1e-9)} of {len(y)} rows have positive weight",
    xticks=[],
    yticks=[],
)
for (rate, found), colour in zip(margins.items(), ("#d9822b", "#3b6ea5"), strict=True):
    right.semilogx(
        np.arange(1, found.size + 1), found, color=colour, label=f"AdaBoost, learning rate {rate:g}"
    )
right.axhline(margin.rho, color="#2f7d5b", ls="--", label="ρ = 2γ*")
right.axhline(margin.rho / 2, color="#8a8a8a", ls=":", label="ρ / 2")
right.axhline(0, color="#333333", lw=0.6)
right.set(xlabel="rounds", ylabel="smallest margin", ylim=(-0.3, 1.3 * margin.rho))
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False, loc="lower right")
plt.show()

# %%
# The margins at the end: the best vote makes the margins of the hard rows as large as possible, and
# those of the other rows only as large as necessary.
figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
plot.margins(AdaBoostClassifier(n_estimators=1000).fit(X, y), X, y, at=(10, 100, 1000), ax=ax)
best = np.sort(signs * margin.model.decision_function(X))
ax.step(
    best,
    np.arange(1, best.size + 1) / best.size,
    color="#2f7d5b",
    where="post",
    label="largest smallest margin",
)
ax.legend(frameon=False)
plt.show()
