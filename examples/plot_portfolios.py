"""
Portfolios: wealth of strategies that know only the past
========================================================

    python examples/plot_portfolios.py

writes portfolios.png. Two stocks. Left: the first goes nowhere, the second rises by a quarter or falls by a
fifth as a coin says. Who restores the same shares every day gains all the same, and the universal
portfolio, the mean of all constant ones, comes after the best of them; to look for a pattern where there is
none costs something. Right: a market that repeats itself: the semi-log-optimal strategy looks at what was
best after days like the last, and finds it out.
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
    "by luck": np.column_stack([np.ones(DAYS), luck]),
    "in turn, with noise": np.column_stack([rng.normal(1, 0.01, DAYS), turns]),
}

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
for ax, (name, X) in zip(axes, markets.items(), strict=True):
    best = best_constant_rebalanced(X)
    curves = {
        "first stock": (wealth(X, [1.0, 0.0]), "#c9c9c9", "-"),
        "second stock": (wealth(X, [0.0, 1.0]), "#8a8a8a", "-"),
        "best constant, in hindsight": (wealth(X, best), "#333333", "--"),
        "universal": (UniversalPortfolio().fit(X).wealth_, "#3b6ea5", "-"),
        "semi-log-optimal": (SemiLogOptimal().fit(X).wealth_, "#d9822b", "-"),
    }
    for label, (curve, colour, style) in curves.items():
        ax.semilogy(np.arange(1, len(curve) + 1), curve, style, color=colour, label=label)
        print(f"{name}: {label} ends with {curve[-1]:.3g}")
    behind = np.log(curves["best constant, in hindsight"][0][-1] / curves["universal"][0][-1])
    print(f"{name}: universal is {behind:.2f} behind in logarithms, at most {np.log(DAYS + 1):.2f}")
    ax.set(xlabel="days", title=name)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("wealth factor $S_n$")
axes[0].legend(frameon=False, fontsize="small")
figure.savefig("portfolios.png", dpi=100)
print("wrote portfolios.png")
