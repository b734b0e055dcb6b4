"""A table with ten numeric columns and a numeric target."""

import pandas as pd

from bosquet.datasets import Friedman1


def heights(n=150, seed=0):
    X, y = Friedman1().sample(n, random_state=seed)
    return pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])]).assign(y=y)
