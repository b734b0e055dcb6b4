"""Tables in several files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def write_parts(
    frame: pd.DataFrame, folder: Path, suffix: str = "parquet", n_parts: int = 3
) -> Path:
    """Write the rows of a table to files of a new folder, and return the folder."""
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_parts)):
        part, path = frame.iloc[rows], folder / f"part-{number}.{suffix}"
        part.to_parquet(path) if suffix == "parquet" else part.to_csv(path, index=False)
    return folder
