r"""
The VC dimension of votes
=========================

*How rich are votes of T classifiers? Stumps on a line have VC dimension 2; functions with r pieces
have at least r. Show that votes of stumps contain the latter, and bound the number of points that
votes can shatter.*

**Stumps on a line: 2.** Two points can be labelled in all four ways. Three points cannot be
labelled + - +, because a stump changes its sign once. **Functions with r pieces: r.** With one
piece per point, r points can be labelled in every way; the labels + - + - ... of r + 1 points need
r + 1 pieces.

**Functions with r pieces are votes.** A function with r pieces has values :math:`a_1, \dots, a_r =
\pm 1` and :math:`r - 1` cuts :math:`\theta_1 < \dots < \theta_{r-1}`. It is

.. math:: \frac{a_1 + a_r}2
          + \sum_{j=1}^{r-1} \frac{a_{j+1} - a_j}2 \operatorname{sign}(x - \theta_j),

since on piece k, to the right of exactly the first k - 1 cuts, the sum is :math:`\frac12 (a_k -
a_1) - \frac12 (a_r - a_k)`. This is a vote of at most r stumps: one per cut, and a constant, which
is a stump whose threshold is to the left of all points.

**Upper bound.** Classifiers of VC dimension d label m points in at most :math:`(em/d)^d` ways
(Sauer), T of them in at most :math:`(em/d)^{dT}` ways, and the linear combination of T predictions
adds a factor of :math:`(em/T)^T`. Shattered points have all :math:`2^m` labellings, so :math:`2^m
\le (em/d)^{dT} (em/T)^T \le m^{(d+1)T}` (for T and d at least 3), hence :math:`m \le T(d+1)(3
\ln(T(d+1)) + 2)`.
"""

from itertools import combinations, product

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog

from bosquet import AdaBoostClassifier
from bosquet.datasets import Pieces
from bosquet.theory import pieces_as_vote, vc_dim_of_stumps, vc_dim_of_votes

vote = pieces_as_vote(cuts=[1, 2.5, 4], values=[1, -1, 1, -1])
print(vote)
print(f"stumps on 1, 2, 3, 10 columns: {[int(vc_dim_of_stumps(n)) for n in (1, 2, 3, 10)]}")

# %%
# Exactly, on a line
# ------------------
# Which labellings can votes of T stumps produce? A vote changes its sign at most T times, once at
# each threshold. But far to the left every stump has the opposite sign of its value far to the
# right, and so has their sum: if all T thresholds are used, the number of changes is odd. An even
# number needs one stump as a constant. So T + 1 points are shattered for odd T, and only T points
# for even T: the dimension is :math:`2 \lceil T/2 \rceil`. Two stumps are no better than one: the
# one with the larger weight decides.
#
# An enumeration of all labellings of n points confirms it. Weights may be negative, so each
# threshold needs only one stump; whether some weights give a labelling is a linear programme.


def reaches(stumps, labels):
    """Return whether some weighted vote of these columns has these signs."""
    signed = -labels[:, None] * stumps
    return linprog(
        np.zeros(stumps.shape[1]), signed, -np.ones(labels.size), bounds=(None, None)
    ).success


def shattered(T, n):
    """Return whether votes of T stumps shatter n points on a line."""
    points, thresholds = np.arange(n), np.arange(n) - 0.5
    stumps = np.where(points[:, None] > thresholds, 1.0, -1.0)
    choices = [stumps[:, chosen] for chosen in combinations(range(n), min(T, n))]
    # A labelling and its opposite are both possible or both impossible: the first sign can be fixed
    # to +.
    return all(
        any(reaches(chosen, np.array((1.0, *rest))) for chosen in choices)
        for rest in product((1.0, -1.0), repeat=n - 1)
    )


exact = {}
for T in range(1, 6):
    exact[T] = max(n for n in range(1, T + 3) if shattered(T, n))
    print(f"votes of {T} stumps shatter {exact[T]} points; 2⌈T/2⌉ = {2 * -(-T // 2)}")

# %%
# The bound of the theorem is far larger. It is evaluated for d = 3, the smallest value that it
# allows (a class of dimension 2 also satisfies it), and holds for every class of that dimension,
# not only for stumps.
Ts = np.unique(np.geomspace(3, 300, 40).astype(int))


def largest(T, d):
    """Return the largest m that satisfies the counting argument, before it is simplified to a formula."""
    m = np.arange(max(T, d), 60 * T * d + 200)
    ways = d * T * np.log(np.e * m / d) + T * np.log(np.e * m / T)
    return m[m * np.log(2) <= ways].max()


figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
x = np.linspace(0, 5.2, 1000)
left.plot(x, vote.decision_function(x), color="#333333", lw=2, label="the vote")
for j, (theta, weight) in enumerate(zip(vote.thresholds, vote.weights, strict=True), start=1):
    stump = weight * np.where(x > theta, 1, -1)
    left.plot(x, stump - 2.6 * j, lw=1.5, label=f"{weight:+g} sign(x - {theta:g})")
left.set(xlabel="x", ylim=(-9, 4), yticks=[], title="four pieces as a vote of three stumps")
left.legend(frameon=False, ncols=2, loc="upper center")
right.loglog(
    Ts,
    [float(vc_dim_of_votes(int(T), 3)) for T in Ts],
    color="#b8433f",
    label="T(d+1)(3 ln(T(d+1)) + 2), d = 3",
)
right.loglog(
    Ts,
    [largest(int(T), 3) for T in Ts],
    color="#d9822b",
    label="largest m with $2^m ≤ (em/d)^{dT}(em/T)^T$",
)
right.loglog(Ts, 2 * np.ceil(Ts / 2), color="#3b6ea5", label="stumps on a line, exact")
right.loglog(list(exact), list(exact.values()), "o", color="#3b6ea5", ms=4, label="by enumeration")
right.set(xlabel="T", ylabel="VC dimension")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False, fontsize=8)
plt.show()

# %%
# **T as a hyper-parameter.** T controls the complexity of the votes. The data are a function with
# eight pieces and 10 % flipped labels: few stumps cannot represent the function, and many overfit
# the noise.
data = Pieces(cuts=tuple(np.arange(1, 8) / 8), label_noise=0.1)
X, y = data.sample(150, random_state=0)
X_test, y_test = data.sample(20_000, random_state=1)
model = AdaBoostClassifier(n_estimators=1000).fit(X, y)
training = model.certificate_.training_errors
test = 1 - np.array(list(model.staged_score(X_test, y_test)))
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
rounds = np.arange(1, len(test) + 1)
ax.semilogx(rounds, training, color="#3b6ea5", label="training")
ax.semilogx(rounds, test, color="#d9822b", label="test")
ax.axhline(data.bayes_error, color="#8a8a8a", ls=":", label="Bayes error")
ax.set(xlabel="T", ylabel="error", ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
print(f"lowest test error {test.min():.3f} with T = {test.argmin() + 1}")
print(f"test error {test[-1]:.3f} with T = {len(test)}")
