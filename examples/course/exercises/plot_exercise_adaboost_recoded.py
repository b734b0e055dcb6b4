r"""
AdaBoost in thirty lines
========================

*Write AdaBoost yourself, from Algorithm 1*: the last task of the exercise sheet, whose other
questions are answered in :doc:`plot_exercise_sheet`. Below it is, stumps included, and then it is
held to the library's: the same stumps, the same say of each in the vote, the same weights, the same
vote.

The rows are :math:`x_1, \dots, x_m` with labels :math:`y_i = \pm 1`. In round t they have weights
:math:`w_t(1), \dots, w_t(m)` that sum to 1, at first :math:`w_1(i) = \frac1m`; the round looks for
the stump :math:`h_t` with the least error :math:`\varepsilon_t`, the weight of the rows that it has
wrong, gives it the say :math:`\alpha_t` in the vote :math:`\mathrm{sign} \sum_t \alpha_t h_t`, and
changes the weights:

.. math:: \varepsilon_t = \sum_{i:\, h_t(x_i) \ne y_i} w_t(i), \qquad
          \alpha_t = \frac12 \ln \frac{1 - \varepsilon_t}{\varepsilon_t}, \qquad
          w_{t+1}(i) = \frac{w_t(i)\, e^{-\alpha_t y_i h_t(x_i)}}{Z_t}, \qquad
          Z_t = 2\sqrt{\varepsilon_t (1 - \varepsilon_t)} .

Two slips are put right here: the sheet's algorithm begins its weights at 0 and its rounds at 1,
and adds a :math:`h_0` to the vote that nobody has learned; and where the lecture writes the weights
as one product the label :math:`y_i` is missing from the exponent.

How is the stump found? Within a round, with :math:`w_i` for :math:`w_t(i)`: a stump on a column
says -1 up to a threshold and +1 after it, or the contrary. Let P be the sum of :math:`w_i y_i` over
the rows up to the threshold and W the sum over all rows. What the stump h agrees with the labels by
is

.. math:: \sum_i w_i y_i h(x_i) = \underbrace{(W - P)}_{\text{after}}
          - \underbrace{P}_{\text{up to it}} = W - 2P .

A row that is right adds its weight to this sum and a row that is wrong takes it off, so the sum
is :math:`(1 - \varepsilon) - \varepsilon`, with :math:`\varepsilon` the weight of the wrong ones:
the error is :math:`\varepsilon = \frac12 (1 - (W - 2P))`. For the contrary stump it is
:math:`\frac12 (1 + (W - 2P))`. The best of both errs by :math:`\frac12 (1 - |W - 2P|)`, and one
cumulative sum along the sorted column has P for every threshold. How much time that saves is the
exercise :doc:`plot_exercise_fast_stumps`.
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
# The sheet stops when :math:`\varepsilon_t > \frac12`; at one half itself :math:`\alpha_t` would be
# 0 and nothing would ever change, so here it stops there too. It says nothing of
# :math:`\varepsilon_t = 0`, where :math:`\alpha_t` is infinite: that stump outvotes all others, so
# it is kept alone, and any positive number will do for its :math:`\alpha`. Here that is 1.
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
        if error == 0:  # outvotes all others: alone, whatever finite alpha it is given
            return [(1.0, h)], w[None, :]
        alpha = np.log((1 - error) / error) / 2
        weights.append(w)
        w = w * np.exp(-alpha * y * says(h, X)) / (2 * np.sqrt(error * (1 - error)))
        model.append((alpha, h))
    return model, np.array(weights)


# %%
# Held to the library
# -------------------
# The library's own stumps first. Then its weights: it does not keep them, but hands them to the
# learner, so a learner that takes them down tells what they were in every round. (It is handed
# weights of mean 1; here they are made to sum to 1.)
class Witness(ClassifierMixin, BaseEstimator):
    """The stump from above as a learner for the library, which remembers the weights it was given."""

    given = ()

    def fit(self, X, y, sample_weight):
        Witness.given = (*Witness.given, sample_weight / sample_weight.sum())
        self.classes_, signs = np.unique(y), np.where(y == np.max(y), 1, -1)
        self.stump_ = best_stump(X, np.argsort(X, axis=0, kind="stable"), signs, Witness.given[-1])
        return self

    def predict(self, X):
        return self.classes_[(says(self.stump_, X) + 1) // 2]


X, y = Moons(0.25).sample(300, random_state=3)
signs = np.where(y == 1, 1, -1)
ours, weights = adaboost(X, signs, 100)
library = AdaBoostClassifier(n_estimators=100).fit(X, y)
witnessed = AdaBoostClassifier(Witness(), n_estimators=100).fit(X, y)

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
apart = np.abs(np.array(Witness.given) - weights).max()
print(f"largest difference of weights  {apart:.1e}, over {weights.size:,} of them")
apart = np.abs(witnessed.decision_function(X) - library.decision_function(X)).max()
print(f"votes with and without witness differ by {apart:.1e}")

# %%
# Where a stump makes no error the library stops too, says so, and gives it a finite number of its
# own. The decisions are the same.
line, sides = np.arange(10.0)[:, None], np.repeat([-1, 1], 5)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    alone = AdaBoostClassifier(n_estimators=5).fit(line, sides)
print(str(caught[0].message).partition(";")[0])
((alpha, h),), _ = adaboost(line, sides, 5)
print(
    f"rows that one threshold parts: α {alpha:.3f} here, {alone.certificate_.alphas[0]:.3f} there; "
    f"{np.sum(np.sign(alpha * says(h, line)) == alone.predict(line))} of {len(sides)} decisions equal"
)

# %%
# The identities of the lecture
# -----------------------------
# Let :math:`f_t = \sum_{s \le t} \alpha_s h_s` be the vote after t rounds,
# :math:`Z_t = 2\sqrt{\varepsilon_t(1-\varepsilon_t)}` what the weights of round t are divided by,
# and :math:`\gamma_t = \frac12 - \varepsilon_t` the edge of the round's stump over a coin. Weights
# are what the vote lost so far, :math:`w_{t+1}(i) = e^{-y_i f_t(x_i)} / (m \prod_{s \le t} Z_s)`;
# the next weights give the last stump an error of exactly one half; and the training error is at
# most :math:`\prod_{s \le t} Z_s`, which is at most :math:`e^{-2 \sum_{s \le t} \gamma_s^2}`.
Z, edges = library.certificate_.normalisers, 0.5 - library.certificate_.errors
told = np.array([alpha * says(h, X) for alpha, h in ours])
for t in (1, 10, 50):
    unravelled = np.exp(-signs * told[:t].sum(axis=0)) / (len(y) * Z[:t].prod())
    half = weights[t][says(ours[t - 1][1], X) != signs].sum()
    wrong = np.mean(signs * told[:t].sum(axis=0) <= 0)
    print(
        f"t = {t:2d}   weights differ by {np.abs(weights[t] - unravelled).max():.0e}"
        f"   last stump's error now {half:.6f}   training error {wrong:.3f} <= ΠZ {Z[:t].prod():.3f}"
        f" <= exp(-2Σγ²) {np.exp(-2 * np.sum(edges[:t] ** 2)):.3f}"
    )

# %%
# The vote on the plane after some rounds; class 0 in the legend is the label -1. The full line is
# where the vote changes its mind, the dashed one the newest stump (in the first panel they are the
# same, one under the other), and the shade is the deeper the larger the vote. The area of a point
# is the weight that its row had when the newest stump was looked for; a ring tells that the vote has
# the row wrong.
plot.decision_rounds(library, X, y, at=(1, 2, 3, 5, 10, 100), names=("column 1", "column 2"))
plt.show()

# %%
# Left the :math:`\alpha_t` of both, one on the other; right the errors of the vote of the first t
# stumps with both bounds. The axes of t are logarithmic, as most happens early.
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
