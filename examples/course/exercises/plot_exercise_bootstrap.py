r"""
How many distinct rows a bootstrap sample has
=============================================

*A bootstrap sample of m rows is drawn with replacement from m rows.*

1. *How likely is a given row to be drawn in one draw?* Each row is as likely as any other:
   :math:`1/m`.
2. *How likely is it never to be drawn?* The m draws are independent: :math:`(1 - 1/m)^m`.
3. *What is its limit?* :math:`m \ln(1 - 1/m) = -1 - \frac{1}{2m} - \dots`, so it increases to
   :math:`e^{-1} = 36.8\,\%`.
4. *Which share of the rows does a sample contain?* A row is in it with probability
   :math:`1 - (1 - 1/m)^m`, which decreases to :math:`1 - 1/e =` **63.2 %**; by linearity of the
   expectation this is also the expected share of rows in it.
5. *How many different samples are there, if order does not matter?* A sample is given by the number
   of times that each row occurs: m integers :math:`\ge 0` that sum to m. Write m stars and put m - 1
   bars between them, to separate the rows: choosing the places of the stars among 2m - 1 places can
   be done in :math:`\binom{2m-1}{m}` ways.
"""

import math
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from bosquet import BaggingClassifier, plot
from bosquet.datasets import Moons
from bosquet.theory import distinct_samples, probability_drawn

for m in (1, 2, 3, 5, 10, 100, 10_000):
    digits = math.log10(distinct_samples(m))
    shown = f"10^{digits:.1f}" if digits > 7 else f"{distinct_samples(m):,}"
    print(f"m = {m:6d}   P(row drawn) = {probability_drawn(m):.4f}   different samples: {shown}")

# %%
# Three rows have C(5, 3) = 10 samples: all of them are drawn, but not equally often. A sample with
# counts :math:`k_1, k_2, k_3` corresponds to :math:`3!/(k_1! k_2! k_3!)` of the 27 ordered draws,
# so the sample of all three rows is six times as likely as the sample of one row three times.
random = np.random.default_rng(0)
seen = Counter(tuple(np.bincount(draw, minlength=3)) for draw in random.integers(0, 3, (27_000, 3)))
for counts, times in sorted(seen.items(), reverse=True):
    print(f"counts {tuple(int(k) for k in counts)}: {27 * times / 27_000:5.2f} of 27")
print(f"{len(seen)} samples; distinct_samples(3) = {distinct_samples(3)}")

# %%
# **In bagging.** ``estimators_samples_`` are the rows of each learner. The share of distinct rows
# varies around 63.2 %; for large m its standard deviation is :math:`\sqrt{(1/e - 2/e^2)/m}`, which
# decreases with the square root of m.
X, y = Moons(0.3).sample(400, random_state=1)
bag = BaggingClassifier(n_estimators=500, oob_score=True, random_state=0).fit(X, y)
held = np.array([np.unique(rows).size / 400 for rows in bag.estimators_samples_])
print(f"mean share {held.mean():.4f}, expected {probability_drawn(400):.4f}")
print(f"deviation  {held.std():.4f}, expected {np.sqrt((np.exp(-1) - 2 * np.exp(-2)) / 400):.4f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
sizes = np.arange(1, 41)
left.plot(sizes, [probability_drawn(int(m)) for m in sizes], "o-", ms=3, color="#3b6ea5")
left.axhline(1 - np.exp(-1), color="#d9822b", ls="--", label="1 - 1/e = 63.2 %")
left.set(xlabel="rows m", ylabel="P(a row is drawn)", ylim=(0.6, 1.02))
right.hist(held, bins=25, color="#3b6ea5", alpha=0.8)
right.axvline(1 - np.exp(-1), color="#d9822b", ls="--", label="1 - 1/e")
right.set(xlabel="share of distinct rows in a sample of 400", ylabel="learners of 500")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
plt.show()

# %%
# **Out-of-bag error.** Each learner has not seen more than a third of the rows, and each row was
# not seen by more than a third of the learners. The predictions of these learners give the
# out-of-bag error, an estimate of the error on new rows that needs no further fit and no test set.
X_test, y_test = Moons(0.3).sample(20_000, random_state=2)
print(
    f"out of bag {1 - bag.oob_score_:.4f}   new rows {1 - bag.score(X_test, y_test):.4f}"
    f"   training rows {1 - bag.score(X, y):.4f}   best possible {Moons(0.3).bayes_error:.4f}"
)
plot.oob_curve(bag)
plt.show()
