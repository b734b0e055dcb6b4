"""
Histogram splits with integer sums: the same bits for any number of threads
===========================================================================

    python examples/plot_bins.py

The script writes bins.png. Left: the gradients of 20,000 rows are added up in 50 bins of a column
(the library uses at most 255), together with the gain of a split after each bin. The sums are all
that the split search needs. Right: the same 20,000 gradients are added in 500 different orders, as
threads might add them. Sums of floating-point numbers differ in their last digits; gradients
rounded to integer multiples of a common unit always have the same sum. Therefore models fitted with
one, two and four threads are identical, bit for bit.
"""

import hashlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import GradientBoostingRegressor
from bosquet.io import model_bytes

ROWS, BINS = 20_000, 50
rng = np.random.default_rng(0)
x = rng.gamma(2, 1, ROWS)
y = np.where(x > 2.5, 1.0, 0.0) + 0.2 * x + rng.normal(0, 1, ROWS)
gradient = (
    y.mean() - y
)  # of half the squared loss, at the best constant; the second derivatives are 1

edges = np.unique(np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1]))
bin_of = np.searchsorted(edges, x, side="right")
sums = np.bincount(bin_of, gradient, BINS)
counts = np.bincount(bin_of, minlength=BINS)
G, H = sums.cumsum()[:-1], counts.cumsum()[:-1]
gain = (G**2 / H + (sums.sum() - G) ** 2 / (ROWS - H)) / 2
print(f"best split of {BINS} bins: x < {edges[gain.argmax()]:.2f}")

unit = np.abs(gradient).max() / 2**15
whole = np.rint(gradient / unit).astype(np.int64)
floats, integers = [], []
for _ in range(500):
    order = rng.permutation(ROWS)
    floats.append(np.cumsum(gradient[order])[-1])  # one after the other
    integers.append(int(whole[order].sum()))
print(f"{len(set(floats))} different sums of floats and {len(set(integers))} of integers")
for threads in (1, 2, 4):
    model = GradientBoostingRegressor(n_estimators=20, n_jobs=threads, random_state=0)
    model.fit(x[:, None], y).set_params(n_jobs=None)
    print(f"{threads} threads: {hashlib.sha256(model_bytes(model)).hexdigest()[:16]}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4), layout="constrained")
places = np.arange(BINS)
left.bar(places, sums, color="#3b6ea5", width=0.8, label="sum of gradients")
left.set(xlabel="bin of the column (equal numbers of rows)", ylabel="sum of gradients")
beside = left.twinx()
beside.plot(places[:-1] + 0.5, gain, color="#d9822b", label="gain of the split here")
beside.axvline(gain.argmax() + 0.5, color="#333333", ls="--", lw=1)
beside.set(ylabel="gain", ylim=(0, None))
handles = [left.containers[0], beside.lines[0]]
left.legend(
    handles, ["sum of gradients", "gain of a split after the bin"], frameon=False, loc="center left"
)
shift = np.array(floats) - np.median(floats)
right.hist(shift, 40, color="#3b6ea5", label="floats: in 500 orders")
right.axvline(0, color="#d9822b", lw=2, label="integers: one sum")
right.set(xlabel="sum minus the median sum", ylabel="orders", yticks=[])
right.legend(frameon=False, fontsize="small")
for ax in (left, right, beside):
    ax.spines["top"].set_visible(False)
right.spines["right"].set_visible(False)
figure.savefig("bins.png", dpi=100)
print("wrote bins.png")
