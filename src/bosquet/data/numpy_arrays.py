"""NumPy arrays, nested lists, scipy's sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sparse import checked_sparse

from .columns import ready_for_core
from .python_objects import holds_numbers_only, read_objects
from .table import BYTES_ADVICE, DATE_ADVICE, Column, Numbers, Table, place


def as_array(X: Any) -> np.ndarray:
    """An array of whatever NumPy can read; masked values become missing ones."""
    if isinstance(X, np.ma.MaskedArray):
        return _without_mask(X)
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(
            f"X is a {type(X).__name__} that is no table, in which every row has the same number "
            f"of values ({error})"
        ) from error
    # [[1.5, "a"]] would become text throughout; as objects each column keeps its own kind.
    if array.dtype.kind == "U" and isinstance(X, (list, tuple)):
        array = np.array(X, dtype=object)
    return array


def table_of_array(array: np.ndarray) -> Table:
    """A matrix of numbers, of text, or of objects that are looked at column by column."""
    kind = array.dtype.kind
    if kind in "biuf":
        return Table(
            array.shape,
            None,
            column=lambda index: Numbers(array[:, index]),
            matrix=lambda: ready_for_core(array),
            holds_integers=lambda: kind in "iu" and array.dtype.itemsize == 8,
        )
    _refuse_other_types(array.dtype)

    def column(index: int) -> Column:
        return read_objects(array[:, index].tolist(), place(index, None))

    return Table(array.shape, None, column, matrix=lambda: _objects_as_doubles(array))


def table_of_sparse(X: Any) -> Table:
    """A sparse matrix: what is not stored is the value 0, what is stored as NaN is missing.

    The core wants dense columns, so they are written in the narrowest type that holds the
    stored numbers exactly: a matrix of counts takes a byte a value.
    """
    if X.dtype.kind not in "biuf":
        _refuse_other_types(X.dtype)
    by_column = checked_sparse(X, "csc")
    narrow = _narrowest(by_column.data)
    if narrow is not by_column.data and not _has_repeats(by_column):
        parts = (narrow, by_column.indices, by_column.indptr)
        by_column = type(by_column)(parts, shape=by_column.shape)
    return table_of_array(by_column.toarray(order="F"))


def _has_repeats(by_column: Any) -> bool:
    # Entries at the same place are added up, and the sum of narrow numbers may not be narrow.
    return not by_column.has_canonical_format


def _narrowest(stored: np.ndarray) -> np.ndarray:
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


def _without_mask(X: np.ma.MaskedArray) -> np.ndarray:
    if not np.ma.getmaskarray(X).any():
        return np.asarray(X.data)
    if X.dtype.kind in "biuf":
        wanted = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        values = X.data.astype(wanted)
        values[np.ma.getmaskarray(X)] = np.nan
        return values
    objects = np.asarray(X.data).astype(object)
    objects[np.ma.getmaskarray(X)] = None
    return objects


def _objects_as_doubles(array: np.ndarray) -> np.ndarray | None:
    if array.dtype.kind != "O" or not holds_numbers_only(set(map(type, array.ravel().tolist()))):
        return None
    try:
        doubles = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return None  # read column by column, for a message that names the one at fault
    # A column of nothing but None is not known to be numeric.
    return None if np.isnan(doubles).all(axis=0).any() else doubles


def _refuse_other_types(dtype: np.dtype) -> None:
    if dtype.kind in "OUT":
        return
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has type {dtype}.")
    if dtype.kind in "mM":
        raise TypeError(f"X has type {dtype}: {DATE_ADVICE}")
    if dtype.kind == "S":
        raise TypeError(f"X has type {dtype}: {BYTES_ADVICE} X.astype(str) does.")
    if dtype.names is not None:
        raise TypeError(
            f"X is a structured array with fields {list(dtype.names)}: pass a matrix, or a data "
            "frame such as pandas.DataFrame(X)."
        )
    raise TypeError(f"X has type {dtype}, which is neither numeric nor text.")
