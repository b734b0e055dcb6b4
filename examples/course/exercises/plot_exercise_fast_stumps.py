r"""
Fast decision stumps
====================

*Find the decision stump with the least weighted error on m rows of d columns. How long does it
take?*

A stump compares a column with a threshold :math:`\theta`. Only the rank of :math:`\theta` among the
m values of the column matters, so there are m - 1 thresholds per column and two signs. For each,
the error

.. math:: \sum_{y_i = 1} w_i [x_{ij} > \theta] + \sum_{y_i = -1} w_i [x_{ij} \le \theta]

is a sum over m rows (with :math:`y_i = \pm 1` and weights :math:`w_i` that sum to 1; this stump
predicts +1 up to :math:`\theta`, and the opposite stump has 1 minus this error): :math:`O(dm^2)` in
total. But between one threshold and the next a single row changes sides. If the column is sorted
once, one pass needs one addition per row: :math:`O(dm)` after :math:`O(dm \log m)` for sorting. The
order of the rows does not depend on the weights, so boosting sorts only once for all rounds.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from bosquet import AdaBoostClassifier
from bosquet.datasets import ChiSquare


def naive(X, y, w):
    """Return the smallest error; compute the error of every threshold from all rows: O(dm²)."""
    best = np.inf
    for column in X.T:
        for threshold in column:
            error = w[np.where(column > threshold, 1, -1) != y].sum()
            best = min(best, error, 1 - error)
    return best


def in_order(X, y, w, order):
    """Return the smallest error by one pass over each sorted column: O(dm). All values are distinct."""
    signed, best = w * y, 0.0
    for rows in order:
        agreement = signed.sum() - 2 * np.cumsum(signed[rows])
        best = max(best, np.abs(agreement).max())
    return (1 - best) / 2


def seconds(work, *given, repeats=7):
    """Return the shortest time of several runs, which other processes disturb least."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work(*given)
        times.append(time.perf_counter() - start)
    return min(times)


# %%
# Both searches find the same error, which is the error of the library's first round.
X, y = ChiSquare().sample(400, random_state=0)
signs, w = np.where(y == ChiSquare().classes[1], 1, -1), np.full(400, 1 / 400)
order = np.argsort(X.T, axis=1)
library = AdaBoostClassifier(n_estimators=1).fit(X, y)
print(f"naive     {naive(X, signs, w):.6f}")
print(f"sorted    {in_order(X, signs, w, order):.6f}")
print(f"library   {library.certificate_.errors[0]:.6f}")

# %%
# The times: with twice the rows the naive search takes four times as long, the sorted search twice.
# The time of a round of the library is computed from fits of 10 and 60 rounds, which share the
# sorting. (Small sizes are dominated by overhead, and tables that do not fit into the cache are
# slower in NumPy. The exponents are estimated from the last three sizes.)
sizes = {"naive": (200, 400, 800, 1600, 3200), "sorted": (200, 800, 3200, 12800, 51200)}
sizes["library, one round"] = sizes["sorted"]
times = {name: [] for name in sizes}
for name, ms in sizes.items():
    for m in ms:
        X, y = ChiSquare().sample(m, random_state=0)
        signs, w = np.where(y == ChiSquare().classes[1], 1, -1), np.full(m, 1 / m)
        if name == "naive":
            times[name].append(seconds(naive, X, signs, w, repeats=1))
        elif name == "sorted":
            order = np.argsort(X.T, axis=1)
            times[name].append(seconds(in_order, X, signs, w, order))
        else:
            few, many = (
                seconds(AdaBoostClassifier(n_estimators=r, n_jobs=1).fit, X, y) for r in (10, 60)
            )
            times[name].append(max(many - few, 1e-9) / 50)
for name, ms in sizes.items():
    slope = np.polyfit(np.log(ms[-3:]), np.log(times[name][-3:]), 1)[0]
    print(
        f"{name:19s} {times[name][-1] * 1e3:8.2f} ms for {ms[-1]:5d} rows, grows like m^{slope:.1f}"
    )

# %%
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, ms), colour in zip(sizes.items(), ("#d9822b", "#2f7d5b", "#3b6ea5"), strict=True):
    ax.loglog(ms, times[name], "o-", color=colour, label=name)
ax.loglog([200, 3200], times["naive"][-1] / np.array([256, 1]), ":", color="#8a8a8a", label="∝ m²")
ax.loglog([200, 51200], times["sorted"][0] * np.array([1, 256]), "--", color="#8a8a8a", label="∝ m")
ax.set(xlabel="rows", ylabel="seconds for one stump on 10 columns")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
