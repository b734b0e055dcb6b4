"""
Logistic regression of heart disease: odds ratios, confidence band, selection
=============================================================================

    python examples/plot_odds.py [odds.png] [data folder]

The data are the South African heart disease table of The Elements of Statistical Learning if a data
folder has it (sa_heart/data.parquet), otherwise a simulated table with the same columns and a known
model. Left: the odds ratios of the model with all columns. Right: the probability of disease by age
for both family histories, with its confidence band, from the model that backward selection keeps.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bosquet import BinomialRegression, plot

FORMULA = "chd ~ sbp + tobacco + ldl + famhist + obesity + alcohol + age"
UNITS = {"sbp": 10, "age": 10, "alcohol": 10}


def heart_table(folder):
    path = Path(folder) / "sa_heart" / "data.parquet"
    if folder and path.exists():
        return pd.read_parquet(path)
    rng = np.random.default_rng(4)
    n = 462
    table = pd.DataFrame(
        {
            "sbp": rng.normal(138, 20, n).round(),
            "tobacco": rng.gamma(0.6, 6, n).round(2),
            "ldl": rng.gamma(5, 0.95, n).round(2),
            "famhist": rng.choice(["Absent", "Present"], n, p=[0.58, 0.42]),
            "obesity": rng.normal(26, 4.2, n).round(2),
            "alcohol": rng.exponential(17, n).round(2),
            "age": rng.integers(15, 65, n),
        }
    )
    line = (
        -4.2
        + 0.08 * table.tobacco
        + 0.17 * table.ldl
        + 0.92 * (table.famhist == "Present")
        + 0.044 * table.age
    )
    return table.assign(chd=(rng.random(n) < 1 / (1 + np.exp(-line))).astype(int))


def draw(path, folder):
    table = heart_table(folder)
    model = BinomialRegression(FORMULA).fit(table)
    print(model.summary())
    chosen = model.backward("aic")
    print("\nBackward selection by AIC:")
    print(chosen.selection_[["removed", "p_value", "deviance", "aic"]].round(3).to_string())
    print(f"\n{chosen.formula}\n{chosen.test(chosen.terms_[-1])}")
    figure, axes = plt.subplots(
        1, 2, figsize=(11.6, 3.9), width_ratios=[1.1, 1], layout="constrained"
    )
    plot.odds_ratios(model, units=UNITS, ax=axes[0])
    plot.probability_curve(chosen, table, "age", by="famhist", y=table.chd, ax=axes[1])
    figure.savefig(path, dpi=100)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "odds.png", sys.argv[2] if sys.argv[2:] else "")
