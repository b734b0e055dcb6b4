"""Baseball salaries: the two splits of a regression tree of log salary on years and hits."""

import numpy as np

from bosquet import DecisionTreeRegressor
from reproduce.tables import load


def two_cuts(folder):
    """Years below 4.5, then hits below 117.5; leaves 5.11, 6.00 and 6.74."""
    frame = load(folder, "hitters").dropna(subset=["Salary"])
    X = frame[["Years", "Hits"]].astype(float)
    model = DecisionTreeRegressor(max_leaf_nodes=3).fit(X, np.log(frame["Salary"].astype(float)))
    tree = model.tree_
    inner = np.flatnonzero(~tree.is_leaf)
    yield "Hitters: cut of years", 4.5, float(tree.threshold[inner[0]]), 0.01
    yield "Hitters: cut of hits", 117.5, float(tree.threshold[inner[1]]), 0.01
    leaves = sorted(tree.value[tree.is_leaf, 0])
    for theirs, ours in zip((5.11, 6.00, 6.74), leaves, strict=True):
        yield f"Hitters: leaf {theirs}", theirs, float(ours), 0.01
