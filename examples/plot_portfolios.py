"""
Portfolio selection: the wealth of online strategies
====================================================

    python examples/plot_portfolios.py

The script writes portfolios.png, for two stocks. Left: the first stock is constant, the second
rises by a quarter or falls by a fifth at random. A constant rebalanced portfolio gains although
neither stock does, and the universal portfolio, the mean of all constant rebalanced portfolios,
follows the best of them. Searching for a pattern costs wealth if there is none. Right: a market
with a repeating pattern. The semi-log-optimal strategy uses the days that followed similar days in
the past, and finds the pattern.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from bosquet.experts import SemiLogOptimal, UniversalPortfolio, best_constant_rebalanced, wealth

DAYS = 160
rng = np.random.default_rng(1)
luck = np.where(rng.random(DAYS) < 0.5, 1.25, 0.8)
turns = np.where(np.arange(DAYS) % 2 == 0, 1.08, 1 / 1.08) * rng.normal(1, 0.02, DAYS)
markets = {
    "random": np.column_stack([np.ones(DAYS), luck]),
    "alternating, with noise": np.column_stack([rng.normal(1, 0.01, DAYS), turns]),
}

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
for ax, (name, X) in zip(axes, markets.items(), strict=True):
    best = best_constant_rebalanced(X)
    curves = {
        "first stock": (wealth(X, [1.0, 0.0]), "#c9c9c9", "-"),
        "second stock": (wealth(X, [0.0, 1.0]), "#8a8a8a", "-"),
        "best constant in hindsight": (wealth(X, best), "#333333", "--"),
        "universal": (UniversalPortfolio().fit(X).wealth_, "#3b6ea5", "-"),
        "semi-log-optimal": (SemiLogOptimal().fit(X).wealth_, "#d9822b", "-"),
    }
    for label, (curve, colour, style) in curves.items():
        ax.semilogy(np.arange(1, len(curve) + 1), curve, style, color=colour, label=label)
        print(f"{name}: {label} ends with {curve[-1]:.3g}")
    behind = np.log(curves["best constant in hindsight"][0][-1] / curves["universal"][0][-1])
    print(
        f"{name}: the log wealth of universal is {behind:.2f} lower than the best, bound"
        f" {np.log(DAYS + 1):.2f}"
    )
    ax.set(xlabel="days", title=name)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("wealth factor $S_n$")
axes[0].legend(frameon=False, fontsize="small")
figure.savefig("portfolios.png", dpi=100)
print("wrote portfolios.png")
