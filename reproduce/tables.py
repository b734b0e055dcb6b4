"""The data sets of the figures, as X and y."""

from pathlib import Path

import numpy as np
import pandas as pd


def load(folder, name):
    """Read one table of the data folder."""
    path = Path(folder) / name / "data.parquet"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: DATA must be the folder of the data sets")
    return pd.read_parquet(path)


def labelled(folder, name, target):
    """Return X as floats (categories as codes), y as class numbers."""
    frame = load(folder, name)
    y = frame.pop(target)
    columns = {}
    for column in frame:
        values = frame[column]
        try:
            columns[column] = pd.to_numeric(values).astype(float)
        except (ValueError, TypeError):
            columns[column] = values.astype("category")
    return pd.DataFrame(columns), pd.factorize(y, sort=True)[0]


def splits(n, repeats, held_share, seed=0):
    """Yield `repeats` random splits into training rows and a share of test rows."""
    rng = np.random.default_rng(seed)
    for _ in range(repeats):
        order = rng.permutation(n)
        held = round(held_share * n)
        yield np.sort(order[held:]), np.sort(order[:held])
