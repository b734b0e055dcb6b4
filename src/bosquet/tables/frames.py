"""Rows in any container as a pandas frame."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from bosquet.tables.errors import load_pandas
from bosquet.tables.reading import read_table


def as_frame(X: Any) -> Any:
    """A pandas frame of rows in any container; not copied if it is one.

    A frame of any library, an Arrow table, a dict of columns, one of a single row, a list of such dicts, an
    array, or the path of a file. Columns without names are called x0, x1, ...; the rows of a file are counted
    from 1.
    """
    pandas = load_pandas()
    if isinstance(X, str | os.PathLike):
        return counted_from_one(read_table(X))
    if isinstance(X, pandas.DataFrame):
        return X
    if isinstance(X, pandas.Series):
        raise ValueError("X is one column; give a table: frame[[name]] or frame.to_frame()")
    if isinstance(X, dict):
        return _frame_of_columns(X)
    if isinstance(X, list | tuple) and X and all(isinstance(row, dict) for row in X):
        return pandas.DataFrame(list(X))
    foreign = _through_narwhals(X)
    if foreign is not None:
        return foreign
    array = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"a {type(X).__name__} of {array.ndim} dimension(s) is not a table: give a data frame, an Arrow"
            " table, a dict of columns, a list of dicts, an array of two dimensions, or the path of a file"
        )
    return pandas.DataFrame(array, columns=[f"x{k}" for k in range(array.shape[1])])


def counted_from_one(frame: Any) -> Any:
    """A frame read from a file, its rows numbered as `bosquet explain --row` numbers them."""
    frame.index = range(1, len(frame) + 1)
    return frame


def _frame_of_columns(columns: dict[Any, Any]) -> Any:
    """A dict of columns, or of the cells of one row."""
    pandas = load_pandas()
    if columns and all(isinstance(cell, str) or np.ndim(cell) == 0 for cell in columns.values()):
        return pandas.DataFrame([columns])
    try:
        return pandas.DataFrame(columns)
    except ValueError as error:
        raise ValueError(f"a dict of columns needs lists of one length: {error}") from None


def _through_narwhals(X: Any) -> Any:
    import narwhals

    try:
        frame = narwhals.from_native(X)
    except TypeError:
        return None
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    return frame.to_pandas()
