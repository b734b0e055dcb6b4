"""
Losses of the margin, the Bayes error, and the variance of a mean
=================================================================

    python examples/plot_losses.py

The script writes losses.png.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from bosquet import BaggingRegressor, plot


def rising(x):
    """Return the density 3x²/2 + x on [0, 1]."""
    return np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0.0)


def box(x):
    """Return the uniform density on [3/4, 7/4]."""
    return np.where((x >= 0.75) & (x <= 1.75), 1.0, 0.0)


def truth(x):
    return np.sin(6 * x)


generator = np.random.default_rng(0)
x = np.sort(generator.uniform(0, 1, 40))
y = truth(x) + generator.normal(0, 0.4, x.size)
wild = make_pipeline(PolynomialFeatures(9), LinearRegression())
bagging = BaggingRegressor(wild, 100, random_state=0).fit(x[:, None], y)

figure, axes = plt.subplots(1, 3, figsize=(15, 4), layout="constrained")
plot.losses(ax=axes[0])
axes[0].set_title("Losses of the margin")
plot.bayes_overlap(rising, box, (-0.1, 1.9), priors=(0.5, 0.5), ax=axes[1])
axes[1].set_title("Bayes error")
plot.variance_reduction(bagging, x[:, None], y, truth, ax=axes[2])
axes[2].set_title("A mean reduces the variance")
figure.savefig("losses.png", dpi=100)
print("wrote losses.png")
