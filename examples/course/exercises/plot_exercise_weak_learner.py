r"""
A weak learner with γ = 1/12
============================

*Consider functions on a line with three pieces b, -b, b. Show that the best decision stump on a
sample is a weak learner for them, with* :math:`\gamma = 1/12`.

**By hand.** Let a distribution D give the pieces the weights :math:`p_1, p_2, p_3`. Three
classifiers are correct on two pieces each: the constant b is wrong on the middle piece only; the
stump that changes at the first cut and is correct on the last two pieces is wrong on the first
piece only; the stump that changes at the second cut is wrong on the last piece only. So the error
of the best of them is at most

.. math:: \min(p_1, p_2, p_3) \le \tfrac13 = \tfrac12 - \tfrac16 .

A learner does not know D, but has m rows drawn from it. Stumps on a line have VC dimension 2: with
:math:`m \ge C \ln(1/\delta) / \epsilon^2` rows, the error of the best stump on the sample exceeds
the error of the best stump by at most :math:`\epsilon`, with probability :math:`1 - \delta`. With
half of the edge, :math:`\epsilon = 1/12`:

.. math:: \tfrac13 + \tfrac1{12} = \tfrac5{12} = \tfrac12 - \tfrac1{12} .
"""

import matplotlib.pyplot as plt
import numpy as np

from bosquet import AdaBoostClassifier
from bosquet.datasets import Pieces
from bosquet.theory import weak_learnability

pieces = Pieces()
found = weak_learnability("stumps", pieces, random_state=0)
print(found)

# %%
# The game between weights and stumps is solved exactly: γ* = 1/6. The hardest weights are positive
# on three rows only, one of each piece, with 1/3 each. The number of rows in the VC bound is
# sufficient for any D; a simulation shows how many are needed for the hardest D. The best stump on
# a sample of m rows is evaluated by its true error, the weight of the pieces that it misclassifies.


def best_of_sample(m, random):
    """Return the true error of the best stump on a sample, for weights of 1/3 per piece."""
    X, y = pieces.sample(m, random_state=random)
    stump = AdaBoostClassifier(n_estimators=1).fit(X, y) if np.unique(y).size == 2 else None
    where = np.linspace(0.0005, 0.9995, 1000)[:, None]
    predictions = y[0] if stump is None else stump.predict(where)
    return np.mean(predictions != pieces.bayes_predict(where))


random = np.random.default_rng(0)
sizes = [3, 5, 10, 20, 40, 80, 160]
errors = {
    m: np.array([best_of_sample(m, int(random.integers(1e9))) for _ in range(150)]) for m in sizes
}
for m in sizes:
    failed = np.mean(errors[m] > 5 / 12)
    print(
        f"m = {m:3d}: mean error {errors[m].mean():.3f}, above 5/12 in {failed:6.1%} of the samples"
    )

# %%
# Left: the error of the best stump as a function of the weights of the pieces; its maximum is 1/3,
# in the middle. Right: the errors of stumps fitted to samples. From a few dozen rows on they stay
# below 5/12.
p1, p2 = np.meshgrid(np.linspace(0, 1, 301), np.linspace(0, 1, 301))
least = np.where(p1 + p2 <= 1, np.minimum(np.minimum(p1, p2), 1 - p1 - p2), np.nan)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
shown = left.contourf(p1, p2, least, levels=np.linspace(0, 1 / 3, 11), cmap="Blues")
left.plot(1 / 3, 1 / 3, "o", color="#b8433f")
left.annotate("1/3 each: error 1/3", (1 / 3, 1 / 3), (0.42, 0.75), arrowprops={"arrowstyle": "-"})
left.set(xlabel="weight of the first piece", ylabel="weight of the middle piece", aspect="equal")
figure.colorbar(shown, ax=left, label="error of the best stump")
right.boxplot(list(errors.values()), tick_labels=sizes, whis=(2.5, 97.5), showfliers=False)
for level, name, colour in (
    (1 / 2, "chance", "#8a8a8a"),
    (5 / 12, "½ - 1/12", "#b8433f"),
    (1 / 3, "½ - 1/6", "#2f7d5b"),
):
    right.axhline(level, color=colour, ls="--", lw=1, label=name)
right.set(xlabel="rows in the sample", ylabel="true error of the sample's best stump")
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False, loc="upper right")
plt.show()

# %%
# **Boosting.** The argument holds for the weights of any round, so the best stump always has an
# edge of at least 1/6. After T rounds the training error is at most :math:`e^{-2T(1/6)^2} =
# e^{-T/18}`. It is a multiple of 1/m, so it is 0 once the bound is below 1/m, after more than
# :math:`18 \ln m` rounds. AdaBoost does not know γ, and is often much faster: three stumps, one per
# cut and a constant, are enough to represent the function.
X, y = pieces.sample(300, random_state=1)
model = AdaBoostClassifier(n_estimators=20).fit(X, y)
errors_by_round = model.certificate_.training_errors
print(f"errors of the rounds  {model.certificate_.errors[:4].round(3)}")
print(f"training errors       {errors_by_round[:4].round(3)}")
print(f"smallest edge         {0.5 - model.certificate_.errors.max():.3f}, guaranteed {1 / 6:.3f}")
print(
    f"no error from round   {1 + np.argmax(errors_by_round == 0)}, guaranteed {int(18 * np.log(len(y))) + 1}"
)
