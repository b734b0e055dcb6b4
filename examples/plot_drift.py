"""
Concept drift: detecting a change in a stream and fitting again
===============================================================

    python examples/plot_drift.py

The script writes drift.png. A forest is fitted in parts to a stream of tables. After 6,000 rows the
classes are swapped in one corner of the plane. Two change detectors raise an alarm: the
Page-Hinkley test, which is given the expected error rate, and the adaptive window, which needs no
such assumption. After the alarm a new forest is fitted to the following rows. Neither detector
raises a false alarm before the change.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import RandomForestClassifier, plot
from bosquet.datasets import Moons
from bosquet.forests import fit_in_parts
from bosquet.streams import AdaptiveWindow, PageHinkley

ROWS, CHANGE = 12_000, 6_000
X, y = Moons(noise=0.3).sample(ROWS, random_state=0)
turned = (np.arange(ROWS) >= CHANGE) & (X[:, 0] > 0.5)
y = np.where(turned, 1 - y, y)
model = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)


def parts(first, last, rows=500):
    return ((X[at : at + rows], y[at : at + rows]) for at in range(first, last, rows))


forest = fit_in_parts(model, parts(0, 2_000))
expected = np.mean(forest.predict(X[2_000:3_000]) != y[2_000:3_000])
page, window = PageHinkley(expected, tolerance=0.1, run_length=10**6), AdaptiveWindow(delta=0.01)
first = 3_000  # from here on, the forest predicts row by row before it sees the label
stubborn = forest.predict(X[first:]) != y[first:]
wrong, ready = stubborn.copy(), 0
for is_wrong in stubborn:
    page.update(is_wrong)
for place in range(wrong.size):
    if place < ready or not window.update(wrong[place]):
        continue
    # After an alarm, a new forest is fitted to the next thousand rows.
    row, ready = first + place, place + 1_000
    forest = fit_in_parts(model, parts(row, row + 1_000))
    wrong[ready:] = forest.predict(X[first + ready :]) != y[first + ready :]
print("window:", window.changes_)
print("Page-Hinkley:", page.changes_[:1])

figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), layout="constrained", sharex=True)
plot.changes(stubborn, page.changes_[:1], window=300, ax=top)
top.set_title("first forest, monitored by Page-Hinkley", fontsize="medium")
plot.changes(wrong, window.changes_, window=300, ax=bottom)
for change in window.changes_:
    bottom.axvspan(change.noticed, change.noticed + 1_000, color="#e8e8e8", zorder=0)
bottom.set_title("fitted again after an alarm of the window", fontsize="medium")
for ax in (top, bottom):
    ax.set_ylabel("error")
figure.savefig("drift.png", dpi=100)
print("wrote drift.png")
