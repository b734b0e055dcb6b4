"""Columns that are read from a source in one pass: the target, weights, categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bosquet._suggestions import hint, with_article
from bosquet.data.arrow_tables import read_arrow
from bosquet.data.table import CodedColumn, Column, NumericColumn, column_label

from .source import BatchSource, Progress


def check_column_names(source: BatchSource, named: Mapping[str, object]) -> list[str]:
    """Check the names of columns that arguments give; return the other columns: the features.

    Parameters
    ----------
    source : BatchSource
    named : mapping of str to str or None
        The name of a column for each argument, such as ``{"target": "y", "sample_weight": None}``.
    """
    argument_of: dict[str, str] = {}
    for argument, name in named.items():
        if name is None:
            continue
        if not isinstance(name, str):
            raise TypeError(
                f"{argument} is {with_article(type(name).__name__)}, but X is {source.description};"
                f" {argument} must be the name of a column: put its values into a column of X"
            )
        if name not in source.column_names:
            raise ValueError(
                f"{argument}={name!r} is not a column of {source.description};"
                f" {hint(name, source.column_names)}"
            )
        if name in argument_of:
            raise ValueError(
                f"{argument_of[name]} and {argument} both name the column {name!r}; each must have a column"
                " of its own: pass another name"
            )
        argument_of[name] = argument
    features = [name for name in source.column_names if name not in argument_of]
    if not features:
        raise ValueError(
            f"{source.description} has no feature column besides {list(argument_of)}; add at least one"
        )
    return features


def read_column(
    source: BatchSource, name: str, progress: Progress | None = None
) -> np.ndarray | CodedColumn:
    """Read one column of all batches.

    A column of numbers or booleans becomes an array of its type, or of floats with NaN if values are missing.
    A column of text or categories becomes int32 codes (-1: missing) and levels.
    """
    column = read_columns(source, [name], progress)[name]
    return column if isinstance(column, CodedColumn) else column.as_quantities()


def read_columns(
    source: BatchSource, names: Sequence[str], progress: Progress | None = None
) -> dict[str, Column]:
    """Read columns of all batches in one pass, as the encoder of tables reads those of a table in memory.

    Levels are in the order of their first appearance, ordered levels in that of their type.
    """
    collected: dict[str, _Numbers | _Codes] = {}
    for batch in source.batches(names, progress):
        for index, name in enumerate(names):
            column = read_arrow(batch.column(index), column_label(index, names))
            if name not in collected:
                collector = _Numbers if isinstance(column, NumericColumn) else _Codes
                collected[name] = collector(source.n_rows or 0)
            collected[name].add(column)  # type: ignore[arg-type]
    return {name: collected[name].column() for name in names}


class _Numbers:
    """A column of numbers that grows by batches."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._values: _GrowingArray | None = None
        self._missing: _GrowingArray | None = None
        self._n_read = 0

    def add(self, column: NumericColumn) -> None:
        values, missing = column.values, column.missing
        if values.dtype.kind == "f" and missing is not None:
            values, missing = column.as_quantities(), None
        if self._values is None:
            self._values = _GrowingArray(values.dtype, self._n_rows)
        self._values.append(values)
        if missing is not None and self._missing is None:
            self._missing = _GrowingArray(np.dtype(bool), self._n_rows)
            self._missing.append(np.zeros(self._n_read, dtype=bool))
        if self._missing is not None:
            self._missing.append(np.zeros(len(values), dtype=bool) if missing is None else missing)
        self._n_read += len(values)

    def column(self) -> NumericColumn:
        assert self._values is not None
        missing = None if self._missing is None else self._missing.array()
        return NumericColumn(self._values.array(), missing)


class _Codes:
    """A column of levels that grows by batches; a level has the same code in all of them."""

    def __init__(self, n_rows: int) -> None:
        self._codes = _GrowingArray(np.dtype(np.int32), n_rows)
        self._code_of: dict[object, int] = {}
        self._ordered = False

    def add(self, column: CodedColumn) -> None:
        code_of = self._code_of
        codes = [
            -1 if level is None or level != level else code_of.setdefault(level, len(code_of))
            for level in column.levels
        ]
        codes.append(-1)  # the last entry, which the code -1 selects
        self._codes.append(np.array(codes, dtype=np.int32)[column.codes])
        self._ordered = column.ordered

    def column(self) -> CodedColumn:
        return CodedColumn(self._codes.array(), list(self._code_of), self._ordered)


class _GrowingArray:
    """A one-dimensional array that grows in place, so that there is never a second copy of its values."""

    def __init__(self, dtype: np.dtype, capacity: int) -> None:
        self._values = np.empty(capacity, dtype)
        self._size = 0

    def append(self, values: np.ndarray) -> None:
        end = self._size + len(values)
        if end > len(self._values):
            self._values.resize(max(end, 2 * len(self._values)), refcheck=False)
        self._values[self._size : end] = values
        self._size = end

    def array(self) -> np.ndarray:
        self._values.resize(self._size, refcheck=False)
        return self._values
