"""
The Bayes rule and nearest neighbours
=====================================

    python examples/plot_bayes_rule.py

The script writes bayes-rule.png. Salaries by age and years of study are drawn from a known
distribution, so the decision boundary of the Bayes rule is known. The error of nearest neighbours
approaches the Bayes error as the number of rows grows: one neighbour has asymptotically at most
twice the Bayes error, log n neighbours have asymptotically the Bayes error itself.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bosquet import plot
from bosquet.datasets import Salaries
from bosquet.theory import log_neighbours, simple_rules

truth = Salaries()
X, y = truth.sample(1_000, random_state=1)
k = log_neighbours(1_000)
models = {
    f"{n} neighbour{'s' * (n > 1)}": make_pipeline(StandardScaler(), KNeighborsClassifier(n)).fit(
        X, y
    )
    for n in (k, 51)
}
rules = simple_rules(truth, n_samples=(50, 200, 1_000), n_draws=5, random_state=0)
print(rules)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
densities = [
    lambda x: np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0.0),
    lambda x: np.where((x >= 0.75) & (x <= 1.75), 1.0, 0.0),
]
plot.bayes_overlap(*densities, (-0.1, 1.9), ax=left)
plot.decision_boundary(truth, models, n_samples=300, names=("age", "years of study"), ax=middle)
middle.legend(fontsize="small", loc="lower left")
right.plot(rules.n_samples, rules.nearest, marker="o", label="one neighbour")
right.plot(rules.n_samples, rules.log_n, marker="o", label="log n neighbours")
for value, name, style in (
    (rules.bayes, "Bayes rule", "-"),
    (rules.bound, "bound on one neighbour", "--"),
    (rules.constant, "constant rule", ":"),
):
    right.axhline(value, color="#333333", linestyle=style, linewidth=1, label=name)
right.set(xlabel="rows", ylabel="error", xscale="log")
right.legend(frameon=False, fontsize="small")
figure.savefig("bayes-rule.png", dpi=100)
print("wrote bayes-rule.png")
