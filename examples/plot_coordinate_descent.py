"""
AdaBoost as coordinate descent on the exponential loss
======================================================

    python examples/plot_coordinate_descent.py

The script writes coordinate-descent.png. Left: the objective F(α) = Σ exp(-y f(x)) with f = α₁h₁ +
α₂h₂ for two stumps, as contour lines. Each round selects the stump whose weighted error is furthest
from one half, which is the coordinate with the steepest slope, and moves to the minimum along it.
The step is ½ ln((1-ε)/ε); it is negative if the opposite of the stump is better. The two stumps
have neighbouring thresholds, so their predictions are strongly correlated, the valley is diagonal
and the path is a zigzag. Right: other losses of the margin y f that can be minimised in the same
way (AnyBoost), scaled to 1 at 0.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import plot
from bosquet.datasets import Moons

X, labels = Moons(0.25).sample(300, random_state=0)
y = np.where(labels == 1, 1, -1)
predictions = np.column_stack([np.where(X[:, 1] < threshold, 1, -1) for threshold in (0.15, 0.4)])


def F(alpha):
    return np.exp(-y * (predictions @ alpha)).sum()


path = [np.zeros(2)]
for t in range(8):
    weights = np.exp(-y * (predictions @ path[-1]))
    weights /= weights.sum()
    errors = weights @ (predictions != y[:, None])
    slopes = -(1 - 2 * errors) * F(path[-1])
    h = int(np.argmax(np.abs(slopes)))
    step = np.log((1 - errors[h]) / errors[h]) / 2
    path.append(path[-1] + step * np.eye(2)[h])
    print(
        f"round {t + 1}: slopes {slopes.round(1)}, errors {errors.round(3)}: stump {h + 1}, "
        f"step {step:.3f}, F {F(path[-1]):.2f}"
    )
path = np.array(path)

figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.4), layout="constrained")
across, up = np.linspace(-0.2, 1.2, 120), np.linspace(-0.2, 1.4, 120)
heights = np.array([[F(np.array([a, b])) for a in across] for b in up])
left.contour(across, up, heights, levels=25, cmap="Blues_r", linewidths=0.8)
left.plot(*path.T, "o-", color="#d9822b", ms=4, lw=1.5)
for t in (0, 1, 2):
    left.annotate(
        f"{t} rounds" if t != 1 else "1 round", path[t], (6, 5), textcoords="offset points"
    )
left.set(xlabel="α₁", ylabel="α₂")
plot.losses(
    {
        "0-1": lambda yf: (yf <= 0).astype(float),
        "exponential": lambda yf: np.exp(-yf),
        "logistic": lambda yf: np.log1p(np.exp(-yf)) / np.log(2),
        "hinge": lambda yf: np.maximum(0, 1 - yf),
        "squared": lambda yf: (1 - yf) ** 2,
    },
    interval=(-2, 3),
    ax=right,
)
right.set_ylim(0, 5)
left.spines[["top", "right"]].set_visible(False)
figure.savefig("coordinate-descent.png", dpi=100)
print("wrote coordinate-descent.png")
