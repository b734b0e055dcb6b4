"""
Four identities of AdaBoost's weights
=====================================

    python examples/plot_four_identities.py

The script writes four-identities.png, for stumps on two moons. From left to right: (1) the weights
of the next round are exp(-y f) of the vote so far, divided by m and by the product of all Z (every
row of three rounds, on the diagonal); (2) Z as a function of α is smallest at the chosen α, shown
for three rounds; (3) at this α, Z equals 2√(ε(1-ε)); (4) after the update, the rows that the stump
misclassifies have half of the total weight.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet import AdaBoostClassifier
from bosquet.datasets import Moons

ROUNDS = 60
X, labels = Moons(0.25).sample(300, random_state=0)
y = np.where(labels == 1, 1, -1)
model = AdaBoostClassifier(n_estimators=ROUNDS).fit(X, labels)
predictions = np.array([np.where(learner.predict(X) == 1, 1, -1) for learner in model.estimators_])
alphas = model.certificate_.alphas

figure, axes = plt.subplots(1, 4, figsize=(16, 4), layout="constrained")
unravelled, lowest, roots, halves = axes
w, vote, product = np.full(y.size, 1 / y.size), np.zeros(y.size), 1.0
errors, Zs, after = [], [], []
colours = {1: "#3b6ea5", 5: "#d9822b", 25: "#2f7d5b"}
for t, (alpha, h) in enumerate(zip(alphas, predictions, strict=True), start=1):
    wrong = h != y
    Z = np.sum(w * np.exp(-alpha * y * h))
    if t in colours:
        tried = np.linspace(0, 1.2, 100)
        curve = [np.sum(w * np.exp(-a * y * h)) for a in tried]
        lowest.plot(tried, curve, color=colours[t], label=f"round {t}")
        lowest.plot(alpha, Z, "o", color=colours[t])
    errors.append(w[wrong].sum())
    w = w * np.exp(-alpha * y * h) / Z
    vote, product = vote + alpha * h, product * Z
    Zs.append(Z)
    after.append(w[wrong].sum())
    if t in colours:
        direct = np.exp(-y * vote) / (y.size * product)
        unravelled.loglog(direct, w, ".", ms=4, color=colours[t], label=f"after round {t}")
errors, Zs = np.array(errors), np.array(Zs)
print(f"largest |Z - 2√(ε(1-ε))|: {np.abs(Zs - 2 * np.sqrt(errors * (1 - errors))).max():.1e}")
print(
    f"largest |weight of the misclassified rows - 1/2|: {np.abs(np.array(after) - 0.5).max():.1e}"
)

unravelled.set(xlabel="exp(-y f) / (m Π Z)", ylabel="weight of the row")
lowest.set(xlabel="α", ylabel="Z; dots: the chosen α")
grid = np.linspace(0.1, 0.5, 100)
roots.plot(grid, 2 * np.sqrt(grid * (1 - grid)), color="#8a8a8a", label="2√(ε(1-ε))")
roots.plot(errors, Zs, ".", color="#3b6ea5", label=f"{ROUNDS} rounds")
roots.set(xlabel="ε", ylabel="Z")
rounds = np.arange(1, ROUNDS + 1)
halves.plot(rounds, errors, ".-", color="#d9822b", lw=0.8, label="before: ε")
halves.plot(rounds, after, ".-", color="#3b6ea5", lw=0.8, label="after the update")
halves.set(xlabel="round", ylabel="weight of the misclassified rows", ylim=(0, 0.6))
for ax in axes:
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("four-identities.png", dpi=100)
print("wrote four-identities.png")
