r"""
AdaBoost in thirty lines
========================

*Write AdaBoost yourself, from the algorithm as the lecture has it.* Below it is, stumps included,
and then it is held to the library's: the same stumps, the same :math:`\alpha_t`, the same weights,
the same vote.

The stump is the one of the *fast stumps* exercise: columns are sorted once, and a cumulative sum
of :math:`w_i y_i` gives the error of every threshold at a stroke. If W is the sum of all
:math:`w_i y_i` and P that of the rows up to the threshold, then the rule "-1 up to here, +1 after"
agrees with the labels by :math:`W - 2P`, and errs by :math:`(1 - (W - 2P))/2`; its opposite by
:math:`(1 + (W - 2P))/2`.
"""

import matplotlib.pyplot as plt
import numpy as np

from bosquet import AdaBoostClassifier, plot
from bosquet.datasets import Moons


# %%
# The thirty lines
# ----------------
def best_stump(X, order, y, w):
    """(feature, threshold, sign) with the least weighted error; says `sign` above the threshold."""
    best = (np.inf, 0, 0.0, 1)
    for j in range(X.shape[1]):
        x = X[order[:, j], j]
        agreement = np.sum(w * y) - 2 * np.cumsum((w * y)[order[:, j]])[:-1]
        agreement = np.where(x[1:] > x[:-1], agreement, 0.0)  # no threshold between equal values
        k = np.argmax(np.abs(agreement))
        error = (1 - abs(agreement[k])) / 2
        if error < best[0] - 1e-12:
            best = (error, j, (x[k] + x[k + 1]) / 2, 1 if agreement[k] > 0 else -1)
    return best[1:]


def says(stump, X):
    feature, threshold, sign = stump
    return np.where(X[:, feature] > threshold, sign, -sign)


def adaboost(X, y, rounds):
    order = np.argsort(X, axis=0, kind="stable")
    w = np.full(len(y), 1 / len(y))
    model, weights = [], []
    for _ in range(rounds):
        h = best_stump(X, order, y, w)
        error = w[says(h, X) != y].sum()
        if error >= 1 / 2:  # no better than a coin: alpha would be 0, and nothing would change
            break
        if error == 0:  # outvotes all others, and leaves nothing to learn
            return [(1.0, h)], w[None, :]
        alpha = np.log((1 - error) / error) / 2
        weights.append(w)
        w = w * np.exp(-alpha * y * says(h, X)) / (2 * np.sqrt(error * (1 - error)))
        model.append((alpha, h))
    return model, np.array(weights)


# %%
# Held to the library
# -------------------
X, y = Moons(0.25).sample(300, random_state=3)
signs = np.where(y == 1, 1, -1)
ours, weights = adaboost(X, signs, 100)
library = AdaBoostClassifier(n_estimators=100).fit(X, y)

alphas = np.array([alpha for alpha, _ in ours])
votes = sum(alpha * says(h, X) for alpha, h in ours)
print(f"rounds                         {len(ours)} and {library.n_estimators_}")
print(f"largest difference of alphas   {np.abs(alphas - library.certificate_.alphas).max():.1e}")
print(f"largest difference of votes    {np.abs(votes - library.decision_function(X)).max():.1e}")
same = [
    np.array_equal(np.where(learner.predict(X) == 1, 1, -1), says(h, X))
    for learner, (_, h) in zip(library.estimators_, ours, strict=True)
]
print(f"stumps that say the same       {sum(same)} of {len(same)}")

# %%
# The identities of the lecture hold line by line: weights are what the vote lost so far,
# :math:`w_{t+1}(i) = e^{-y_i f_t(x_i)} / (m \prod Z_s)`, the error is at most :math:`\prod Z_t`,
# and the next weights give the last stump an error of exactly one half.
Z = library.certificate_.normalisers
told = np.array([alpha * says(h, X) for alpha, h in ours])
for t in (1, 10, 50):
    unravelled = np.exp(-signs * told[:t].sum(axis=0)) / (len(y) * Z[:t].prod())
    half = weights[t][says(ours[t - 1][1], X) != signs].sum()
    wrong = np.mean(signs * told[:t].sum(axis=0) <= 0)
    print(
        f"t = {t:2d}   weights differ by {np.abs(weights[t] - unravelled).max():.0e}"
        f"   last stump's error now {half:.6f}   training error {wrong:.3f} <= ΠZ {Z[:t].prod():.3f}"
    )

# %%
# Both in a picture: the vote on the plane after some rounds, and the alphas of both on each other.
plot.decision_rounds(library, X, y, at=(1, 2, 3, 5, 10, 100))
plt.show()

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
rounds = np.arange(1, len(ours) + 1)
left.plot(rounds, library.certificate_.alphas, color="#8a8a8a", lw=4, alpha=0.5, label="library")
left.plot(rounds, alphas, color="#b8433f", lw=1, label="thirty lines")
left.set(xlabel="round", ylabel="α", ylim=(0, None))
left.legend(frameon=False)
plot.error_curve(library, X, y, *Moons(0.25).sample(5000, random_state=4), ax=right)
left.spines[["top", "right"]].set_visible(False)
plt.show()
