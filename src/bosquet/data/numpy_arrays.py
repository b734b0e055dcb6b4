"""NumPy arrays, nested lists, and SciPy's sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._masks import without_mask
from bosquet._sparse import check_sparse
from bosquet._suggestions import with_article

from .columns import ready_for_core
from .python_objects import holds_numbers_only, read_objects
from .table import BYTES_ADVICE, DATE_ADVICE, Column, NumericColumn, Table, column_label

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

    from bosquet._types import TableLike


def as_array(X: TableLike) -> np.ndarray:
    """Convert X to an array; masked values become missing values."""
    if isinstance(X, np.ndarray):
        return np.asarray(without_mask(X))
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(
            f"X is {with_article(type(X).__name__)} that cannot be converted to an array; all rows must have "
            f"the same number of values ({error})"
        ) from error
    # NumPy would convert all of [[1.5, "a"]] to text; as objects, each column keeps its type.
    if array.dtype.kind == "U" and isinstance(X, (list, tuple)):
        array = np.array(X, dtype=object)
    return array


def table_from_array(array: np.ndarray) -> Table:
    """Read a matrix of numbers, or of text or objects, whose types may differ by column."""
    kind = array.dtype.kind
    if kind in "biuf":
        return Table(
            array.shape,
            None,
            column=lambda index: NumericColumn(array[:, index]),
            matrix=lambda: ready_for_core(array),
            holds_integers=lambda: kind in "iu" and array.dtype.itemsize == 8,
        )
    _check_dtype(array.dtype)

    def column(index: int) -> Column:
        return read_objects(array[:, index].tolist(), column_label(index, None))

    return Table(array.shape, None, column, matrix=lambda: _objects_as_doubles(array))


def table_from_sparse(X: sparray | spmatrix) -> Table:
    """Read a sparse matrix: entries that are not stored are 0, a stored NaN is missing.

    The core reads dense columns. They are made in the narrowest type that represents the stored numbers
    exactly, so a matrix of small counts takes one byte per value.
    """
    if X.dtype.kind not in "biuf":
        _check_dtype(X.dtype)
    by_column = check_sparse(X, "csc")
    narrow = _to_narrowest_type(by_column.data)
    if narrow is not by_column.data and not _has_duplicate_entries(by_column):
        arrays = (narrow, by_column.indices, by_column.indptr)
        by_column = type(by_column)(arrays, shape=by_column.shape)
    return table_from_array(by_column.toarray(order="F"))


def _has_duplicate_entries(by_column: sparray | spmatrix) -> bool:
    # Duplicate entries are summed, and the sum may not fit in the narrow type.
    return not by_column.has_canonical_format


def _to_narrowest_type(stored: np.ndarray) -> np.ndarray:
    if stored.dtype.kind == "b":
        return stored
    last: type[np.number] = np.float32 if stored.dtype.kind == "f" else np.int32
    for candidate in (np.uint8, np.int16, last):
        if np.dtype(candidate).itemsize >= stored.dtype.itemsize:
            break
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = stored.astype(candidate)
        if np.array_equal(narrow, stored, equal_nan=stored.dtype.kind == "f"):
            return narrow
    return stored


def _objects_as_doubles(array: np.ndarray) -> np.ndarray | None:
    if array.dtype.kind != "O" or not holds_numbers_only(set(map(type, array.ravel().tolist()))):
        return None
    try:
        doubles = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return None  # reading column by column raises an error that names the column
    # A column of only None is not known to be numeric.
    return None if np.isnan(doubles).all(axis=0).any() else doubles


def _check_dtype(dtype: np.dtype) -> None:
    """Raise an error that names the type of an array that contains neither objects nor text."""
    if dtype.kind in "OUT":
        return
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has type {dtype}; pass real numbers")
    if dtype.kind in "mM":
        raise TypeError(f"X has type {dtype}; {DATE_ADVICE}")
    if dtype.kind == "S":
        raise TypeError(f"X has type {dtype}; {BYTES_ADVICE}; for ASCII, X.astype(str) does this")
    if dtype.names is not None:
        raise TypeError(
            f"X is a structured array with fields {list(dtype.names)}; pass a 2D array, or a data frame such "
            "as pandas.DataFrame(X)"
        )
    raise TypeError(f"X has type {dtype}, which is neither numeric nor text; pass numbers or text")
