"""
Discriminant analysis: centroids, Gaussians, kernels, neighbours
==================================================================

    python examples/plot_discriminant.py

The script writes discriminant.png. Every panel uses the same rule, the class with the largest π
d(x), but another estimate of the density d: a spherical Gaussian around each centroid, Gaussians
with one common covariance, Gaussians with two covariances, a kernel density estimate, and a count
of neighbours.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid

from bosquet import plot
from bosquet.datasets import Moons
from bosquet.discriminant import DensityDiscriminant

truth = Moons(noise=0.3)
X, y = truth.sample(300, random_state=1)
X_test, y_test = truth.sample(4_000, random_state=2)
rules = {
    "nearest centroid": NearestCentroid(),
    "linear": LinearDiscriminantAnalysis(),
    "quadratic": QuadraticDiscriminantAnalysis(),
    "kernels": DensityDiscriminant(bandwidth=0.25),
    "neighbours": DensityDiscriminant("neighbours", n_neighbors=15),
}
figure, axes = plt.subplots(1, 5, figsize=(19, 4), layout="constrained", sharey=True)
for ax, (name, rule) in zip(axes, rules.items(), strict=True):
    error = 1 - rule.fit(X, y).score(X_test, y_test)
    print(f"{name}: test error {error:.3f}, Bayes error {truth.bayes_error:.3f}")
    plot.decision_boundary(truth, {name: rule}, n_samples=200, resolution=120, ax=ax)
    ax.get_legend().remove()
    ax.set_title(f"{name}: error {error:.1%}", fontsize="medium")
figure.savefig("discriminant.png", dpi=100)
print("wrote discriminant.png")
