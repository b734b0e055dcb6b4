"""polars data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .table import (
    BYTES_ADVICE,
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
    import polars


def table_from_polars(frame: polars.DataFrame) -> Table:
    """Read a data frame with polars' own methods, so that pyarrow is not needed."""
    names = frame.columns
    return Table(
        frame.shape,
        names,
        column=lambda index: _read(frame.to_series(index), column_label(index, names)),
    )


def _read(series: polars.Series, where: str) -> Column:
    import polars

    dtype = series.dtype
    if dtype.is_float():
        return _read_numbers(series)
    if dtype.is_integer():
        beyond_numpy = str(dtype) in ("Int128", "UInt128")
        return _read_numbers(series.cast(polars.Float64) if beyond_numpy else series)
    if dtype == polars.Boolean:
        return _read_numbers(series.cast(polars.UInt8))
    if dtype.is_decimal():
        # polars rounds text, but not decimals, to the nearest double.
        return _read_numbers(series.cast(polars.String).cast(polars.Float64))
    if dtype == polars.String:
        return _read_text(series)
    if isinstance(dtype, polars.Enum):
        codes = series.to_physical().cast(polars.Int64).fill_null(-1)
        return CodedColumn(codes.to_numpy(), dtype.categories.to_list(), ordered=True)
    if dtype == polars.Categorical:
        return _read_category(series)
    if dtype == polars.Null:
        return CodedColumn(np.full(len(series), -1), [])
    if dtype.is_temporal():
        raise unsupported_type_error(where, dtype, DATE_ADVICE)
    raise unsupported_type_error(
        where, dtype, BYTES_ADVICE if dtype == polars.Binary else NESTED_ADVICE
    )


def _read_numbers(series: polars.Series) -> NumericColumn:
    if series.null_count() == 0:
        return NumericColumn(series.to_numpy())
    return NumericColumn(series.fill_null(0).to_numpy(), series.is_null().to_numpy())


def _read_text(series: polars.Series) -> CodedColumn:
    # Cast to an Enum of the levels of this column: a cast to Categorical would add them to a global
    # dictionary that polars keeps until the process ends.
    import polars

    levels = series.drop_nulls().unique()
    physical = series.cast(polars.Enum(levels)).to_physical()
    codes = physical.cast(polars.Int64).fill_null(-1)
    return CodedColumn(codes.to_numpy(), levels.to_list())


def _read_category(series: polars.Series) -> CodedColumn:
    # The physical codes refer to a dictionary that is shared with other columns.
    import polars

    coded = _read_numbers(series.to_physical()).as_coded()
    distinct = series.drop_nulls().unique()
    texts = distinct.cast(polars.String).to_list()
    text_of = dict(zip(distinct.to_physical().to_list(), texts, strict=True))
    return CodedColumn(coded.codes, [text_of[physical] for physical in coded.levels])
