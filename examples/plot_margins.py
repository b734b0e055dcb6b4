"""
Why the test error decreases after the training error is 0: the margins grow
============================================================================

    python examples/plot_margins.py [letter.parquet]

The script writes margins.png. Trees are boosted on the letters of the UCI archive (16 features, 26
classes) if a table with the letter in a column `lettr` is given: the first 16,000 rows are the
training set, the others the test set. Otherwise the data are simulated letters: 26 classes of
points in 16 dimensions.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import AdaBoostClassifier, DecisionTreeClassifier, plot

ROUNDS = 200


def simulated_letters(n_rows, seed=0):
    """Simulate letters in three handwritings each, with much noise."""
    generator = np.random.default_rng(0)
    hands = generator.normal(0, 1, (26, 3, 16))
    generator = np.random.default_rng(seed)
    letter, hand = generator.integers(0, 26, n_rows), generator.integers(0, 3, n_rows)
    strokes = 3.5 * hands[letter, hand] + generator.normal(0, 1.6, (n_rows, 16))
    return np.clip(np.round(7.5 + strokes), 0, 15), np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))[
        letter
    ]


def letters(path):
    import pandas as pd

    frame = pd.read_parquet(path)
    y = frame.pop("lettr").to_numpy().astype(str)
    X = frame.to_numpy(dtype=float)
    return X[:16_000], y[:16_000], X[16_000:], y[16_000:]


if sys.argv[1:]:
    X, y, X_test, y_test = letters(sys.argv[1])
else:
    X, y = simulated_letters(4_000, seed=1)
    X_test, y_test = simulated_letters(4_000, seed=2)
tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)
model = AdaBoostClassifier(tree, n_estimators=ROUNDS, random_state=0).fit(X, y)

test_errors = [np.mean(predictions != y_test) for predictions in model.staged_predict(X_test)]
training_errors = model.certificate_.training_errors
zero = np.flatnonzero(training_errors == 0)
if zero.size:
    first = zero[0]
    print(f"training error 0 at round {first + 1}, test error {test_errors[first]:.3f} there")
print(f"after {len(test_errors)} rounds: test error {test_errors[-1]:.3f}")
print(f"smallest margin {model.certificate_.smallest_margin:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
plot.error_curve(model, X, y, X_test, y_test, bounds=False, ax=left)
plot.margins(model, X, y, at=(5, 20, len(test_errors)), ax=right)
figure.savefig("margins.png", dpi=100)
print("wrote margins.png")
