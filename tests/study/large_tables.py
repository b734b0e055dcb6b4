"""Tables that are large after one-hot encoding."""

import numpy as np
import pandas as pd


def many_levels(rows=6000, levels=1000, seed=0):
    """Return two numeric columns, one with `levels` categories, and a binary target that depends on them."""
    random = np.random.default_rng(seed)
    place = np.concatenate([np.arange(levels).repeat(2), random.integers(0, levels, rows)])[:rows]
    strength = random.normal(size=levels)
    x, z = random.normal(size=rows), random.exponential(size=rows)
    frame = pd.DataFrame(
        {"x": x, "level": pd.Categorical([f"level {k}" for k in place]), "z": z},
    )
    signal = x + strength[place] + random.normal(size=rows)
    return frame, np.where(signal > 0, "yes", "no")


def numbers_and_categories(rows, numbers=30, categories=10, seed=0):
    """Return a frame with missing values, categories of 2 to 200 levels and the binary target `y`."""
    random = np.random.default_rng(seed)
    columns = {f"n{i}": random.normal(size=rows) for i in range(numbers)}
    signal = columns["n0"] + columns["n1"] * columns["n2"]
    columns["n3"][random.random(rows) < 0.1] = np.nan
    for i, levels in enumerate(np.geomspace(2, 200, categories).astype(int)):
        place = random.integers(0, levels, rows)
        signal = signal + random.normal(size=levels)[place]
        columns[f"c{i}"] = np.array([f"level {k}" for k in range(levels)], dtype=object)[place]
    columns["y"] = np.where(signal + random.normal(size=rows) > 0, "yes", "no")
    return pd.DataFrame(columns)
