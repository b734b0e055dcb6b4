"""
One tree as a drawing, text, rules and SQL, and its alternative splits
======================================================================

    python examples/plot_tree.py [tree.png]

The data are simulated loans. Whether a loan is repaid depends on the income, on the rating (ordered
categories) and on the purpose (unordered categories). Some ratings and incomes are missing.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd

from bosquet import DecisionTreeClassifier, plot

RATINGS = ["D", "C", "B", "A"]


def loans(rows=1500, seed=0):
    random = np.random.default_rng(seed)
    income = random.lognormal(10.4, 0.5, rows).round(-2)
    rating = random.integers(0, 4, rows)
    purpose = random.choice(["car", "house", "holiday", "business", "studies"], rows)
    score = 1.2 * (rating - 1.5) + 1.6 * (np.log(income) - 10.4)
    score += np.select([purpose == "holiday", purpose == "business"], [-1.5, -1.0], 0.6)
    paid = score + random.logistic(size=rows) > -0.7
    income[random.random(rows) < 0.05] = np.nan
    frame = pd.DataFrame(
        {
            "income": income,
            "rating": pd.Categorical.from_codes(rating, RATINGS, ordered=True),
            "purpose": pd.Categorical(purpose),
        }
    )
    return frame, np.where(paid, "paid", "lost")


def draw(path):
    X, y = loans()
    tree = DecisionTreeClassifier(
        pruning="cv", pruning_rule="1se", min_samples_leaf=20, random_state=0
    )
    tree.fit(X, y)
    print(tree.export_text(), "\n")
    print(*tree.rules(), sep="\n", end="\n\n")
    print(tree.export_sql(), "\n")
    print(pd.DataFrame(tree.split_table(nodes=[0])).to_string(index=False))
    axes = plot.tree(tree)
    axes.figure.savefig(path, dpi=110)
    print(f"Wrote {path}")


if __name__ == "__main__":
    draw(sys.argv[1] if sys.argv[1:] else "tree.png")
