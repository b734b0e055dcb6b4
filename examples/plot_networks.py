"""
Neural networks: number of units, weight decay and early stopping
=================================================================

    python examples/plot_networks.py

The script writes networks.png. Left: one sigmoid unit gives a straight boundary, a few units a
curved one, and many units without weight decay overfit single rows. Middle: the test error and the
norm of the weights for a fixed number of units against the weight decay. Right: the error on the
training set and on the validation set per epoch; training stops at the minimum of the validation
error.
"""

import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from bosquet import plot
from bosquet.datasets import Moons

warnings.simplefilter("ignore", ConvergenceWarning)
truth = Moons(noise=0.3)
X, y = truth.sample(120, random_state=3)
X_test, y_test = truth.sample(5_000, random_state=4)


def network(units, decay, **options):
    settings = {"activation": "tanh", "solver": "lbfgs", "max_iter": 2_000, "random_state": 0}
    return MLPClassifier((units,), alpha=decay, **{**settings, **options})


figure, (left, middle, right) = plt.subplots(1, 3, figsize=(16, 4.4), layout="constrained")
shown = {
    f"{units} unit{'s' * (units > 1)}, decay {decay:g}": network(units, decay).fit(X, y)
    for units, decay in ((1, 0.01), (20, 0.0), (20, 0.1))
}
for name, model in shown.items():
    print(f"{name}: test error {1 - model.score(X_test, y_test):.3f}")
plot.decision_boundary(truth, shown, n_samples=120, random_state=3, resolution=150, ax=left)
left.legend(fontsize="x-small", loc="upper left")

decays = np.geomspace(1e-4, 100, 13)
fitted = [network(20, decay).fit(X, y) for decay in decays]
middle.semilogx(decays, [1 - f.score(X, y) for f in fitted], color="#3b6ea5", label="training")
middle.semilogx(
    decays, [1 - f.score(X_test, y_test) for f in fitted], color="#d9822b", label="test"
)
middle.axhline(truth.bayes_error, color="#333333", linestyle="--", label="Bayes rule")
middle.set(xlabel="weight decay δ, 20 units", ylabel="error")
weights = middle.twinx()
norms = [np.sqrt(sum((part**2).sum() for part in f.coefs_)) for f in fitted]
weights.loglog(decays, norms, color="#8a8a8a", linestyle=":")
weights.set_ylabel("‖b‖ (dotted)", color="#8a8a8a")

by_passes = network(
    30, 0.0, solver="sgd", learning_rate_init=0.15, momentum=0.9, batch_size=10, random_state=1
)
errors = []
for _ in range(400):
    by_passes.partial_fit(X, y, classes=[0, 1])
    errors.append([1 - by_passes.score(*rows) for rows in ((X, y), (X_test, y_test))])
errors = np.array(errors)
stop = errors[:, 1].argmin()
for k, (name, colour) in enumerate((("training", "#3b6ea5"), ("validation set", "#d9822b"))):
    right.semilogx(np.arange(1, len(errors) + 1), errors[:, k], color=colour, label=name)
right.axvline(stop + 1, color="#2f7d5b", linestyle="--", label=f"stop after {stop + 1} epochs")
right.set(xlabel="epochs (with momentum)", ylabel="error", ylim=(0, None))
for ax in (middle, right):
    ax.spines["top"].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
figure.savefig("networks.png", dpi=100)
print("wrote networks.png")
