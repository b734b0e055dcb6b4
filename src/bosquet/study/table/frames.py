"""Rows of pandas frames, and what they are called by."""

from __future__ import annotations

from typing import Any

import numpy as np

WITHOUT_PANDAS = "a study needs pandas: pip install bosquet[study]"


def pandas_or_error() -> Any:
    """The pandas module."""
    try:
        import pandas
    except ImportError as error:  # pragma: no cover - the tests have it
        raise ImportError(WITHOUT_PANDAS) from error
    return pandas


def rows_called(index: Any) -> str:
    """A sentence that says what rows are called by."""
    pandas = pandas_or_error()
    if not isinstance(index, pandas.RangeIndex):
        return "Rows have their names of the table's index."
    if index.start == 1:
        return (
            "Rows are counted from 1, the first below the header, as bosquet explain counts them."
        )
    return "Rows are counted from 0, as Python does." if index.start == 0 else ""


def take(frame: Any, rows: np.ndarray) -> Any:
    """Some rows of a frame by their numbers."""
    return frame.iloc[rows]
