"""Access to columns and rows of arrays and data frames, and copies with changed columns of the same type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from bosquet._sparse import check_sparse
from bosquet.explain.tree_models import feature_names


def as_table(X: Any) -> Any:
    """Return a data frame unchanged, anything else as a dense array."""
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return X
    return check_sparse(X).toarray() if sparse.issparse(X) else np.asarray(X)


def column_count(X: Any) -> int:
    """Return the number of columns."""
    return int(as_table(X).shape[1])


def row_count(X: Any) -> int:
    """Return the number of rows."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def column_names(X: Any) -> list[str]:
    """Return names of the columns (default: x0, x1, ...)."""
    X = as_table(X)
    return feature_names(X.shape[1], getattr(X, "columns", None))


def column_number(X: Any, feature: Any) -> int:
    """Return the index of a column that is given by index or name.

    Raises ValueError if X has no such column.
    """
    names = column_names(X)
    if isinstance(feature, str):
        if feature not in names:
            shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            raise ValueError(f"X has no feature {feature!r}; its features are {shown}")
        return names.index(feature)
    if isinstance(feature, bool) or not isinstance(feature, int | np.integer):
        raise ValueError(
            f"features={feature!r} is not valid: a feature must be an index or a name of a column of X"
        )
    number = int(feature)
    if not 0 <= number < len(names):
        raise ValueError(f"X has no feature {number}; it has {len(names)} columns, numbered from 0")
    return number


def column_values(X: Any, column: int) -> np.ndarray:
    """Return the values of a column: numbers as floats, anything else as objects."""
    X = as_table(X)
    if isinstance(X, np.ndarray):
        values = X[:, column]
    elif hasattr(X, "iloc"):
        values = X.iloc[:, column].to_numpy()
    else:
        values = X[X.columns[column]].to_numpy()
    if any(isinstance(value, str) for value in np.ravel(values)[:1000].tolist()):
        return np.asarray(values, dtype=object)  # the levels "1", "2" are not numbers
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return np.asarray(values, dtype=object)


def ordered_levels(X: Any, column: int) -> list[Any] | None:
    """Return the levels of an ordered category type (pandas, or polars' Enum) in their order, else None."""
    if hasattr(X, "iloc"):
        dtype = X.dtypes.iloc[column]
        return list(dtype.categories) if getattr(dtype, "ordered", False) else None
    dtype = X.schema[X.columns[column]] if hasattr(X, "schema") else X
    return dtype.categories.to_list() if type(dtype).__name__ == "Enum" else None


def with_numbers(X: Any, column: int, values: Any) -> Any:
    """Return a copy of X with a column set to these numbers, or to one number."""
    X = as_table(X)
    if isinstance(X, np.ndarray):
        X = X.astype(float if X.dtype.kind in "iub" else X.dtype)
        X[:, column] = values
        return X
    values = np.broadcast_to(np.asarray(values, dtype=float), (X.shape[0],))
    if hasattr(X, "iloc"):
        return X.assign(**{X.columns[column]: values})
    name = X.columns[column]
    return X.with_columns(type(X[name])(name, values.copy()))


def with_rows(X: Any, columns: Sequence[int], rows: np.ndarray) -> Any:
    """Return a copy of X in which row i has, in these columns, the values of row rows[i]."""
    X = as_table(X)
    if isinstance(X, np.ndarray):
        X = X.copy()
        X[:, list(columns)] = X[rows][:, list(columns)]
        return X
    names = [X.columns[column] for column in columns]
    if hasattr(X, "iloc"):
        replaced = {name: X[name].iloc[rows].set_axis(X.index) for name in names}
        return X.assign(**replaced)
    return X.with_columns([X[name][rows] for name in names])


def select_rows(X: Any, rows: Any) -> Any:
    """Return the given rows of X."""
    X = as_table(X)
    return X.iloc[rows] if hasattr(X, "iloc") else X[np.asarray(rows)]


def without_columns(count: int, dropped: Sequence[int]) -> list[int]:
    """Return indices of the columns that are not dropped."""
    return [f for f in range(count) if f not in set(dropped)]
