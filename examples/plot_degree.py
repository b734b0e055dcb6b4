"""
Underfitting and overfitting: the degree of a polynomial
========================================================

    python examples/plot_degree.py

The script writes degree.png. The training error selects the largest degree. Cross-validation, AIC
and BIC do not. Right: the excess risk of each degree as a sum of approximation and estimation
error. A large class of functions is close to the truth, but hard to estimate from 30 rows.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from bosquet import plot
from bosquet.datasets import Polynomial
from bosquet.theory import excess_risk, polynomial_degree

truth = Polynomial([0.0, 6.0, -18.0, 12.0], noise=0.15)
X, y = truth.sample(30, random_state=2)
choice = polynomial_degree(X, y, max_degree=9, random_state=0)
print(choice)

degrees = [1, 2, 3, 5, 7]
learners = [
    (f"degree {d}", make_pipeline(PolynomialFeatures(d), LinearRegression())) for d in degrees
]
risk = excess_risk(learners, truth, n_samples=30, n_large=5_000, n_draws=10, random_state=0)
print(risk)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
along = np.linspace(0, 1, 200)
left.scatter(X, y, s=14, color="#8a8a8a", label="30 rows")
for d, colour in ((1, "#3b6ea5"), (choice.degree, "#2f7d5b"), (9, "#b8433f")):
    fitted = np.polynomial.Polynomial.fit(np.ravel(X), y, d)
    left.plot(along, fitted(along), color=colour, label=f"degree {d}")
left.plot(along, truth.mean(along[:, None]), "k--", linewidth=1, label="the truth")
left.set(xlabel="x", ylabel="y", ylim=(np.min(y) - 0.3, np.max(y) + 0.3))
left.legend(frameon=False, fontsize="small")
plot.degrees(choice, ax=middle)
places = np.arange(len(risk))
below = np.array([max(part.approximation, 0) for part in risk])
right.bar(places, below, color="#3b6ea5", label="approximation")
right.bar(
    places, [part.estimation for part in risk], bottom=below, color="#d9822b", label="estimation"
)
right.set_xticks(places, [str(d) for d in degrees])
right.set(xlabel="degree", ylabel="excess risk")
right.legend(frameon=False, fontsize="small")
figure.savefig("degree.png", dpi=100)
print("wrote degree.png")
