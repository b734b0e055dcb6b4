"""Rows of pandas frames and their labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._optional import import_pandas


def row_label_note(index: Any) -> str:
    """Return a sentence that explains how the rows of a table are numbered or named."""
    pandas = import_pandas("Study")
    if not isinstance(index, pandas.RangeIndex):
        return "Rows are named by the index of the table."
    if index.start == 1:
        return "Rows are counted from 1, starting below the header, as in bosquet explain."
    return "Rows are counted from 0, as in Python." if index.start == 0 else ""


def take(frame: Any, rows: np.ndarray) -> Any:
    """Return the rows of a frame with these numbers."""
    return frame.iloc[rows]
