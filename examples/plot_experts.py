"""
Aggregation of experts: weights, losses, regret and its bound, contributions
============================================================================

    python examples/plot_experts.py

The script writes experts.png. Four experts forecast a seasonal series: the first is accurate in the
first half only, the second in the second half only, the third always lags, the fourth is noise.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bosquet import Mixture, plot
from bosquet.experts import FixedShare, oracle_table

rng = np.random.default_rng(0)
steps = np.arange(400)
y = 10 + 3 * np.sin(steps / 25) + 0.3 * rng.normal(size=400)
early, late = np.where(steps < 200, 0.4, 2.0), np.where(steps < 200, 2.0, 0.4)
F = pd.DataFrame(
    {
        "early": y + early * rng.normal(size=400),
        "late": y + late * rng.normal(size=400),
        "lagging": np.roll(y, 8),
        "noise": 10 + 3 * rng.normal(size=400),
    }
)
print(oracle_table(F, y, ["ewa", "ml-poly", "boa", FixedShare(0.01)], shifts=[1, 3]))
mixture = Mixture("boa").fit(F, y)
print()
print(mixture)

figure, axes = plt.subplots(4, 1, figsize=(9, 11), layout="constrained", sharex=True)
plot.expert_weights(mixture, ax=axes[0])
plot.expert_losses(mixture, ax=axes[1], max_display=3)
plot.expert_regret(mixture, ax=axes[2])
plot.expert_contributions(mixture, F, ax=axes[3])
for ax in axes[:-1]:
    ax.set_xlabel("")
figure.savefig("experts.png", dpi=100)
print("wrote experts.png")
