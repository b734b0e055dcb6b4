"""pandas data frames: each of pandas' many column types as numbers or levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrow_tables import read_arrow
from .columns import ready_for_core
from .python_objects import read_objects
from .table import DATE_ADVICE, NESTED_ADVICE, Coded, Column, Numbers, Table, place, unsupported

# Taking a column out of a frame costs pandas some 20 microseconds; below this many values a
# frame of nothing but numbers is copied whole instead, and a larger one whose columns are short.
_SMALL_FRAME, _SHORT_COLUMNS, _MOST_VALUES = 100_000, 4000, 8_000_000


def table_of_pandas(frame: Any) -> Table:
    """Reads columns by position: labels may be of any type."""
    names = frame.columns.tolist()
    series: list[Any] = []

    def column(index: int) -> Column:
        if not series:
            series.extend(one for _, one in frame.items())
        return _read(series[index], place(index, names))

    return Table(
        frame.shape,
        names,
        column,
        matrix=lambda: _small_matrix(frame),
        holds_integers=lambda: any(dtype in ("int64", "uint64") for dtype in frame.dtypes.tolist()),
    )


def _small_matrix(frame: Any) -> np.ndarray | None:
    short = len(frame) <= _SHORT_COLUMNS and frame.size <= _MOST_VALUES
    if frame.size > _SMALL_FRAME and not short:
        return None
    kinds = {
        dtype.kind if isinstance(dtype, np.dtype) else "other" for dtype in frame.dtypes.tolist()
    }
    # Mixed with numbers, pandas makes objects of booleans.
    if kinds <= {"i", "u", "f"} or kinds == {"b"}:
        return ready_for_core(frame.to_numpy())
    return None


def _read(series: Any, where: str) -> Column:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _read_numpy(series, dtype, where)
    family = type(dtype).__name__
    if family == "CategoricalDtype":
        categories = series.array.categories.tolist()
        return Coded(series.array.codes, categories, ordered=bool(series.array.ordered))
    if family == "StringDtype":
        codes, levels = series.array.factorize()
        return Coded(codes, levels.tolist())
    if family == "ArrowDtype":
        import pyarrow

        return read_arrow(pyarrow.array(series.array), where)
    if family == "SparseDtype":
        return _read(series.sparse.to_dense(), where)
    if family in ("DatetimeTZDtype", "PeriodDtype"):
        raise unsupported(where, dtype, DATE_ADVICE)
    numpy_type = getattr(dtype, "numpy_dtype", None)
    if numpy_type is None or numpy_type.kind not in "biuf":
        raise unsupported(where, dtype, NESTED_ADVICE)
    return _read_nullable(series, numpy_type)


def _read_numpy(series: Any, dtype: np.dtype, where: str) -> Column:
    if dtype.kind in "biuf":
        return Numbers(series.to_numpy())
    if dtype.kind == "O":
        return read_objects(series.tolist(), where)
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {where} has type {dtype}.")
    raise unsupported(where, dtype, DATE_ADVICE if dtype.kind in "mM" else NESTED_ADVICE)


def _read_nullable(series: Any, numpy_type: np.dtype) -> Numbers:
    missing = series.isna().to_numpy()
    if not missing.any():
        return Numbers(series.to_numpy(dtype=numpy_type))
    return Numbers(series.to_numpy(dtype=numpy_type, na_value=numpy_type.type(0)), missing)
