"""Conversion of tables in any container to a pandas frame."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from bosquet._suggestions import with_article
from bosquet.tables.errors import import_pandas
from bosquet.tables.reading import read_table


def as_frame(X: Any) -> Any:
    """Convert a table in any container to a pandas frame; a pandas frame is returned without a copy.

    Accepted are frames of any library, Arrow tables, a dict of columns or of one row, a list of such dicts,
    arrays, and the path of a file. Columns without names become x0, x1, ...; rows of a file are numbered
    from 1.
    """
    pandas = import_pandas()
    if isinstance(X, str | os.PathLike):
        return number_from_one(read_table(X))
    if isinstance(X, pandas.DataFrame):
        return X
    if isinstance(X, pandas.Series):
        raise ValueError("X is a single column; pass a table: frame[[name]] or frame.to_frame()")
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
            f"{with_article(type(X).__name__)} with {array.ndim} dimension(s) is not a table; pass a"
            " data frame, an Arrow table, a dict of columns, a list of dicts, an array with two dimensions,"
            " or the path of a file"
        )
    return pandas.DataFrame(array, columns=[f"x{k}" for k in range(array.shape[1])])


def number_from_one(frame: Any) -> Any:
    """Number the rows of a frame from 1, as `bosquet explain --row` does."""
    frame.index = range(1, len(frame) + 1)
    return frame


def _frame_of_columns(columns: dict[Any, Any]) -> Any:
    """Return the frame of a dict of columns, or of a dict of the cells of one row."""
    pandas = import_pandas()
    if columns and all(isinstance(cell, str) or np.ndim(cell) == 0 for cell in columns.values()):
        return pandas.DataFrame([columns])
    try:
        return pandas.DataFrame(columns)
    except ValueError as error:
        raise ValueError(
            f"the columns of a dict must be lists of the same length: {error}"
        ) from None


def _through_narwhals(X: Any) -> Any:
    import narwhals

    try:
        frame = narwhals.from_native(X)
    except TypeError:
        return None
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    pandas_frame = frame.to_pandas()
    # Older versions of polars convert an Enum to a categorical column that is not ordered.
    for name, dtype in frame.schema.items():
        if dtype == narwhals.Enum and not pandas_frame[name].cat.ordered:
            pandas_frame[name] = pandas_frame[name].cat.as_ordered()
    return pandas_frame
