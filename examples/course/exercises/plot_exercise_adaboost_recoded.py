r"""
AdaBoost in thirty lines
========================

*Write AdaBoost yourself, from Algorithm 1*: this is the last task of the exercise sheet; the other
questions are answered in :doc:`plot_exercise_sheet`. This page implements it, including the stumps,
and compares it with the library: the stumps, their coefficients, the weights and the vote are the
same.

The rows are :math:`x_1, \dots, x_m` with labels :math:`y_i = \pm 1`. In round t they have weights
:math:`w_t(1), \dots, w_t(m)` that sum to 1; the initial weights are :math:`w_1(i) = \frac1m`. The
round finds the stump :math:`h_t` with the smallest error :math:`\varepsilon_t`, the total weight of
the rows that it misclassifies, gives it the coefficient :math:`\alpha_t` in the vote
:math:`\mathrm{sign} \sum_t \alpha_t h_t`, and updates the weights:

.. math:: \varepsilon_t = \sum_{i:\, h_t(x_i) \ne y_i} w_t(i), \qquad
          \alpha_t = \frac12 \ln \frac{1 - \varepsilon_t}{\varepsilon_t}, \qquad
          w_{t+1}(i) = \frac{w_t(i)\, e^{-\alpha_t y_i h_t(x_i)}}{Z_t}, \qquad
          Z_t = 2\sqrt{\varepsilon_t (1 - \varepsilon_t)} .

Two errors are corrected here. The algorithm of the sheet starts its weights at index 0 and its
rounds at index 1, so its vote contains a :math:`h_0` that is never fitted. And where the lecture
writes the weights as one product, the label :math:`y_i` is missing in the exponent.

How is the stump found? Within a round, write :math:`w_i` for :math:`w_t(i)`. A stump on a column
predicts -1 up to a threshold and +1 above it, or the opposite. Let P be the sum of :math:`w_i y_i`
over the rows up to the threshold and W the sum over all rows. The agreement of the stump h with the
labels is

.. math:: \sum_i w_i y_i h(x_i) = \underbrace{(W - P)}_{\text{after}}
          - \underbrace{P}_{\text{up to it}} = W - 2P .

A correctly classified row adds its weight to this sum and a misclassified row subtracts it, so the
sum is :math:`(1 - \varepsilon) - \varepsilon`. Hence the error is :math:`\varepsilon = \frac12 (1 -
(W - 2P))`. The error of the opposite stump is :math:`\frac12 (1 + (W - 2P))`. The better of both
has the error :math:`\frac12 (1 - |W - 2P|)`, and one cumulative sum along the sorted column gives P
for every threshold. The exercise :doc:`plot_exercise_fast_stumps` measures how much time that
saves.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from bosquet import AdaBoostClassifier, plot
from bosquet.datasets import Moons


# %%
# The thirty lines
# ----------------
# The sheet stops when :math:`\varepsilon_t > \frac12`. At exactly one half :math:`\alpha_t` would
# be 0 and the weights would not change, so this implementation stops there too. The sheet does not
# define :math:`\varepsilon_t = 0`, where :math:`\alpha_t` is infinite: that stump outvotes all
# others, so only this stump is kept, and :math:`\alpha` can be any positive number. Here it is 1.
def best_stump(X, order, y, w):
    """Return the stump with the smallest weighted error; it predicts `sign` above `threshold`."""
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


def stump_predictions(stump, X):
    feature, threshold, sign = stump
    return np.where(X[:, feature] > threshold, sign, -sign)


def adaboost(X, y, rounds):
    order = np.argsort(X, axis=0, kind="stable")
    w = np.full(len(y), 1 / len(y))
    model, weights = [], []
    for _ in range(rounds):
        h = best_stump(X, order, y, w)
        error = w[stump_predictions(h, X) != y].sum()
        if (
            error >= 1 / 2
        ):  # no better than chance: alpha would be 0, and the weights would not change
            break
        if error == 0:  # outvotes all others, with any finite alpha
            return [(1.0, h)], w[None, :]
        alpha = np.log((1 - error) / error) / 2
        weights.append(w)
        w = w * np.exp(-alpha * y * stump_predictions(h, X)) / (2 * np.sqrt(error * (1 - error)))
        model.append((alpha, h))
    return model, np.array(weights)


# %%
# Compared with the library
# -------------------------
# First the library's own stumps. Then its weights: the library does not store them, but passes them
# to the base learner, so a learner that records them shows the weights of every round. (They have
# mean 1; here they are scaled to the sum 1.)
class RecordingStump(ClassifierMixin, BaseEstimator):
    """The stump from above as a base learner of the library, which records its sample weights."""

    weights = ()

    def fit(self, X, y, sample_weight):
        RecordingStump.weights = (*RecordingStump.weights, sample_weight / sample_weight.sum())
        self.classes_, signs = np.unique(y), np.where(y == np.max(y), 1, -1)
        self.stump_ = best_stump(
            X, np.argsort(X, axis=0, kind="stable"), signs, RecordingStump.weights[-1]
        )
        return self

    def predict(self, X):
        return self.classes_[(stump_predictions(self.stump_, X) + 1) // 2]


X, y = Moons(0.25).sample(300, random_state=3)
signs = np.where(y == 1, 1, -1)
ours, weights = adaboost(X, signs, 100)
library = AdaBoostClassifier(n_estimators=100).fit(X, y)
recorded = AdaBoostClassifier(RecordingStump(), n_estimators=100).fit(X, y)

alphas = np.array([alpha for alpha, _ in ours])
votes = sum(alpha * stump_predictions(h, X) for alpha, h in ours)
print(f"rounds                         {len(ours)} and {library.n_estimators_}")
print(f"largest difference of alphas   {np.abs(alphas - library.certificate_.alphas).max():.1e}")
print(f"largest difference of votes    {np.abs(votes - library.decision_function(X)).max():.1e}")
same = [
    np.array_equal(np.where(learner.predict(X) == 1, 1, -1), stump_predictions(h, X))
    for learner, (_, h) in zip(library.estimators_, ours, strict=True)
]
print(f"stumps with equal predictions  {sum(same)} of {len(same)}")
apart = np.abs(np.array(RecordingStump.weights) - weights).max()
print(f"largest difference of weights  {apart:.1e}, over {weights.size:,} weights")
apart = np.abs(recorded.decision_function(X) - library.decision_function(X)).max()
print(f"votes with and without recording differ by {apart:.1e}")

# %%
# If a stump makes no error, the library also stops, warns, and uses its own finite coefficient. The
# decisions are the same.
line, sides = np.arange(10.0)[:, None], np.repeat([-1, 1], 5)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    alone = AdaBoostClassifier(n_estimators=5).fit(line, sides)
print(str(caught[0].message).partition(";")[0])
((alpha, h),), _ = adaboost(line, sides, 5)
print(
    f"rows that one threshold separates: α {alpha:.3f} here, {alone.certificate_.alphas[0]:.3f} in the"
    f" library; {np.sum(np.sign(alpha * stump_predictions(h, line)) == alone.predict(line))} of"
    f" {len(sides)} decisions equal"
)

# %%
# The identities of the lecture
# -----------------------------
# Let :math:`f_t = \sum_{s \le t} \alpha_s h_s` be the vote after t rounds, :math:`Z_t =
# 2\sqrt{\varepsilon_t(1-\varepsilon_t)}` the normaliser of the weights of round t, and
# :math:`\gamma_t = \frac12 - \varepsilon_t` the edge of the stump over chance. The weights are the
# normalised exponential losses of the vote, :math:`w_{t+1}(i) = e^{-y_i f_t(x_i)} / (m \prod_{s \le
# t} Z_s)`. Under the next weights the last stump has an error of exactly one half. The training
# error is at most :math:`\prod_{s \le t} Z_s`, which is at most :math:`e^{-2 \sum_{s \le t}
# \gamma_s^2}`.
Z, edges = library.certificate_.normalisers, 0.5 - library.certificate_.errors
terms = np.array([alpha * stump_predictions(h, X) for alpha, h in ours])
for t in (1, 10, 50):
    closed_form = np.exp(-signs * terms[:t].sum(axis=0)) / (len(y) * Z[:t].prod())
    half = weights[t][stump_predictions(ours[t - 1][1], X) != signs].sum()
    wrong = np.mean(signs * terms[:t].sum(axis=0) <= 0)
    print(
        f"t = {t:2d}   weights differ by {np.abs(weights[t] - closed_form).max():.0e}"
        f"   error of the last stump {half:.6f}   training error {wrong:.3f} <= ΠZ {Z[:t].prod():.3f}"
        f" <= exp(-2Σγ²) {np.exp(-2 * np.sum(edges[:t] ** 2)):.3f}"
    )

# %%
# The vote on the plane after some rounds; class 0 in the legend is the label -1. The full line is
# the decision boundary of the vote, the dashed line the newest stump (in the first panel they
# coincide). The colour is darker for a larger vote. The area of a point is the weight of its row
# when the newest stump was fitted; a ring marks a row that the vote misclassifies.
plot.decision_rounds(library, X, y, at=(1, 2, 3, 5, 10, 100), names=("column 1", "column 2"))
plt.show()

# %%
# Left: the :math:`\alpha_t` of both implementations, which coincide. Right: the errors of the vote
# of the first t stumps with both bounds. The axes of t are logarithmic, because most of the change
# is early.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
rounds = np.arange(1, len(ours) + 1)
left.plot(rounds, library.certificate_.alphas, color="#8a8a8a", lw=4, alpha=0.5, label="library")
left.plot(rounds, alphas, color="#b8433f", lw=1, label="thirty lines")
left.set(xlabel="round t", ylabel="α", xscale="log", xlim=(1, len(ours)), ylim=(0, None))
left.xaxis.set_major_formatter("{x:g}")
left.legend(frameon=False)
plot.error_curve(library, X, y, *Moons(0.25).sample(5000, random_state=4), ax=right)
right.set_xlabel("round t")
left.spines[["top", "right"]].set_visible(False)
plt.show()
