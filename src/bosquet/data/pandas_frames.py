"""pandas data frames: conversion of pandas' column types to numbers or levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .arrow_tables import read_arrow
from .columns import ready_for_core
from .python_objects import read_objects
from .table import (
    DATE_ADVICE,
    NESTED_ADVICE,
    CodedColumn,
    Column,
    NumericColumn,
    Table,
    column_label,
    unsupported_type_error,
)

if TYPE_CHECKING:
    from pandas import DataFrame, Series


# Selecting a column takes pandas about 20 microseconds. A numeric frame is therefore copied as one matrix if
# it has at most _SMALL_FRAME values, or if its columns are short and it has at most _MAX_VALUES values.
_SMALL_FRAME, _SHORT_COLUMNS, _MAX_VALUES = 100_000, 4000, 8_000_000


def table_from_pandas(frame: DataFrame) -> Table:
    """Read a data frame by column position, since column labels may be of any type."""
    names = frame.columns.tolist()
    series: list[Series] = []

    def column(index: int) -> Column:
        if not series:
            series.extend(frame_column for _, frame_column in frame.items())
        return _read(series[index], column_label(index, names))

    return Table(
        frame.shape,
        names,
        column,
        matrix=lambda: _small_matrix(frame),
        holds_integers=lambda: any(dtype in ("int64", "uint64") for dtype in frame.dtypes.tolist()),
    )


def _small_matrix(frame: DataFrame) -> np.ndarray | None:
    short = len(frame) <= _SHORT_COLUMNS and frame.size <= _MAX_VALUES
    if frame.size > _SMALL_FRAME and not short:
        return None
    kinds = {
        dtype.kind if isinstance(dtype, np.dtype) else "other" for dtype in frame.dtypes.tolist()
    }
    # pandas converts a mix of booleans and numbers to objects.
    if kinds <= {"i", "u", "f"} or kinds == {"b"}:
        return ready_for_core(frame.to_numpy())
    return None


def _read(series: Series, where: str) -> Column:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _read_numpy(series, dtype, where)
    family = type(dtype).__name__
    if family == "CategoricalDtype":
        categories = series.array.categories.tolist()
        return CodedColumn(series.array.codes, categories, ordered=bool(series.array.ordered))
    if family == "StringDtype":
        codes, levels = series.array.factorize()
        return CodedColumn(codes, levels.tolist())
    if family == "ArrowDtype":
        import pyarrow

        return read_arrow(pyarrow.array(series.array), where)
    if family == "SparseDtype":
        return _read(series.sparse.to_dense(), where)
    if family in ("DatetimeTZDtype", "PeriodDtype"):
        raise unsupported_type_error(where, dtype, DATE_ADVICE)
    numpy_type = getattr(dtype, "numpy_dtype", None)
    if numpy_type is None or numpy_type.kind not in "biuf":
        raise unsupported_type_error(where, dtype, NESTED_ADVICE)
    return _read_nullable(series, numpy_type)


def _read_numpy(series: Series, dtype: np.dtype, where: str) -> Column:
    if dtype.kind in "biuf":
        return NumericColumn(series.to_numpy())
    if dtype.kind == "O":
        return read_objects(series.tolist(), where)
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {where} has type {dtype}; pass real numbers")
    raise unsupported_type_error(where, dtype, DATE_ADVICE if dtype.kind in "mM" else NESTED_ADVICE)


def _read_nullable(series: Series, numpy_type: np.dtype) -> NumericColumn:
    missing = series.isna().to_numpy()
    if not missing.any():
        return NumericColumn(series.to_numpy(dtype=numpy_type))
    return NumericColumn(series.to_numpy(dtype=numpy_type, na_value=numpy_type.type(0)), missing)
