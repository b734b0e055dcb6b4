"""Tables of any kind as pandas frames with names that are text and unique."""

from __future__ import annotations

import os
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


def as_frame(X: Any) -> Any:
    """A pandas frame of a frame of any library, an Arrow table, an array or a file; not copied if it is one.

    Columns without names are called x0, x1, ...; the rows of a file are counted from 1.
    """
    pandas = pandas_or_error()
    if isinstance(X, str | os.PathLike):
        from bosquet.tables import read_table

        return counted_from_one(read_table(X))
    if isinstance(X, pandas.DataFrame):
        return X
    if isinstance(X, pandas.Series):
        raise ValueError("X is one column; give a table: frame[[name]] or frame.to_frame()")
    if isinstance(X, dict):
        return pandas.DataFrame(X)
    foreign = _through_narwhals(X)
    if foreign is not None:
        return foreign
    array = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"X has {array.ndim} dimension(s); a table has two: rows and columns (got {type(X).__name__})"
        )
    return pandas.DataFrame(array, columns=[f"x{k}" for k in range(array.shape[1])])


def counted_from_one(frame: Any) -> Any:
    """A frame read from a file, its rows numbered as `bosquet explain --row` numbers them."""
    frame.index = range(1, len(frame) + 1)
    return frame


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


def _through_narwhals(X: Any) -> Any:
    import narwhals

    try:
        frame = narwhals.from_native(X)
    except TypeError:
        return None
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    return frame.to_pandas()


def take(frame: Any, rows: np.ndarray) -> Any:
    """Some rows of a frame by their numbers."""
    return frame.iloc[rows]
