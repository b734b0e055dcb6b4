"""Tables of any kind as pandas frames with names that are text and unique."""

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


def as_frame(X: Any) -> Any:
    """A pandas frame of a frame of any library, an Arrow table or an array; not copied if it is one.

    Columns without names are called x0, x1, ...
    """
    pandas = pandas_or_error()
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
