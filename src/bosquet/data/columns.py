"""Encoded columns: a matrix, a list of columns of equal length, or columns that are read in batches."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TypeAlias, overload

import numpy as np

# Quantitative columns contain floats (NaN is missing), integers or booleans. Categorical columns contain
# int32 codes (-1 is missing).
Columns: TypeAlias = np.ndarray | list[np.ndarray]

# Other floating types, and arrays in a non-native byte order, are converted.
_CORE_TYPES = frozenset(np.dtype(code) for code in "?bBhHiIlLqQfd")


def count_rows(columns: Columns | BatchedColumns) -> int:
    """Return the number of rows of an encoded table.

    >>> count_rows([np.zeros(3), np.ones(3)])
    3
    """
    if isinstance(columns, BatchedColumns):
        return columns.n_rows
    return len(columns[0]) if isinstance(columns, list) else columns.shape[0]


@overload
def take_rows(columns: Columns, index: np.ndarray | slice) -> Columns: ...
@overload
def take_rows(columns: BatchedColumns, index: np.ndarray) -> BatchedColumns: ...
def take_rows(
    columns: Columns | BatchedColumns, index: np.ndarray | slice
) -> Columns | BatchedColumns:
    """Select rows of an encoded table by position, by a boolean mask, or by a slice (which makes no copy).

    >>> take_rows(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 0]))
    array([[5, 6],
           [1, 2]])
    """
    if isinstance(columns, BatchedColumns):
        assert not isinstance(index, slice)
        return columns.take(index)
    if isinstance(columns, list):
        return [column[index] for column in columns]
    if isinstance(index, slice) or columns.flags.c_contiguous or not columns.flags.f_contiguous:
        return columns[index]
    # Indexing the transpose reads one column after the other and keeps the memory layout.
    positions = np.flatnonzero(index) if index.dtype == bool else index
    return np.take(columns.T, positions, axis=1).T


@dataclass(frozen=True)
class BinMemory:
    """Where the bins of a table are kept, or its columns if a fit needs their values.

    Attributes
    ----------
    limit : int
        Bytes of memory for them. Beyond it they are in a temporary file.
    folder : str
        Folder of the temporary file.
    """

    limit: int
    folder: str


class BatchedColumns:
    """Encoded columns that are read batch by batch, as often as needed.

    Parameters
    ----------
    read : function that returns an iterator of encoded batches, the same ones at every call.
    n_read : int
        Number of rows of all batches.
    memory : where bins of these columns are kept.
    selected : bool array of shape (n_read,), optional
        Rows that belong to the columns. Default: all.
    """

    def __init__(
        self,
        read: Callable[[], Iterator[Columns]],
        n_read: int,
        memory: BinMemory,
        selected: np.ndarray | None = None,
    ):
        self._read = read
        self._n_read = n_read
        self._selected = selected
        self.memory = memory
        self.n_rows = n_read if selected is None else int(np.count_nonzero(selected))

    def __iter__(self) -> Iterator[Columns]:
        first = 0
        for batch in self._read():
            last = first + count_rows(batch)
            if self._selected is None:
                yield batch
            else:
                selected = self._selected[first:last]
                if selected.any():
                    yield batch if selected.all() else take_rows(batch, selected)
            first = last

    def take(self, index: np.ndarray) -> BatchedColumns:
        """Select rows by their positions, which must be in ascending order, or by a boolean mask."""
        selected = np.zeros(self._n_read, dtype=bool)
        if self._selected is None:
            selected[index] = True
        else:
            selected[np.flatnonzero(self._selected)[index]] = True
        return BatchedColumns(self._read, self._n_read, self.memory, selected)

    def map(self, convert: Callable[[Columns], Columns]) -> BatchedColumns:
        """The columns that a function makes of each batch, row by row."""
        return BatchedColumns(lambda: map(convert, self), self.n_rows, self.memory)

    def hold(self, categories: Sequence[int]) -> list[np.ndarray]:
        """Read all rows: into memory, or into a mapped temporary file if they exceed the limit of `memory`.

        `categories` holds the number of levels of each column, 0 for a quantity. Quantities become float32
        where it holds every value, otherwise float64.
        """
        batches = iter(self)
        first = next(batches)
        types = [
            column.dtype if levels else _type_of_quantities(column)
            for column, levels in zip(_as_list(first), categories, strict=True)
        ]
        held = _allocate(types, self.n_rows, self.memory)
        start = 0
        for batch in chain([first], batches):
            stop = start + count_rows(batch)
            for column, values in zip(held, _as_list(batch), strict=True):
                column[start:stop] = values
            start = stop
        return held

    def gather(self, index: np.ndarray) -> list[np.ndarray]:
        """Read the rows with these positions, in ascending order, into memory."""
        pieces: list[list[np.ndarray]] = []
        first = 0
        for batch in self:
            last = first + count_rows(batch)
            low, high = np.searchsorted(index, [first, last])
            if high > low:
                rows = take_rows(batch, index[low:high] - first)
                pieces.append(_as_list(rows))
            first = last
        return [np.concatenate(column) for column in zip(*pieces, strict=True)]


def _as_list(columns: Columns) -> list[np.ndarray]:
    return columns if isinstance(columns, list) else list(columns.T)


def _type_of_quantities(column: np.ndarray) -> np.dtype:
    """Return the type for all batches of a column: integers are floats in those with missing values."""
    kind, size = column.dtype.kind, column.dtype.itemsize
    narrow = kind == "b" or (kind in "iu" and size <= 2) or (kind == "f" and size <= 4)
    return np.dtype(np.float32 if narrow else np.float64)


def _allocate(types: list[np.dtype], n_rows: int, memory: BinMemory) -> list[np.ndarray]:
    """Return empty columns, in one temporary file if they exceed the limit."""
    # Each column begins at a multiple of 64 bytes.
    sizes = [-(-kind.itemsize * n_rows // 64) * 64 for kind in types]
    if sum(sizes) <= memory.limit:
        return [np.empty(n_rows, kind) for kind in types]
    buffer = _mapped_file(sum(sizes), memory.folder)
    starts = accumulate(sizes, initial=0)
    return [
        np.frombuffer(buffer, kind, n_rows, start)
        for kind, start in zip(types, starts, strict=False)
    ]


def _mapped_file(n_bytes: int, folder: str) -> mmap.mmap:
    """Map a new temporary file without a name; its space is reserved now, where the system can do it."""
    try:
        with tempfile.TemporaryFile(prefix="bosquet-", dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            return mmap.mmap(file.fileno(), n_bytes)
    except OSError as error:
        raise OSError(
            error.errno,
            f"the folder of temporary files, {folder}, has no space for {n_bytes:,} bytes of columns"
            f" ({error.strerror}); free space, set the environment variable TMPDIR to another folder before"
            " Python starts, or pass a larger memory_limit",
        ) from error


def ready_for_core(array: np.ndarray) -> np.ndarray:
    """Return the array if the core can read it, otherwise a converted copy."""
    if array.dtype not in _CORE_TYPES:
        native = array.dtype.newbyteorder("=")
        core_type = native if native in _CORE_TYPES else np.dtype(np.float64)
        # A long double that is too large for a double becomes infinite.
        with np.errstate(over="ignore"):
            return array.astype(core_type)
    # A field of a packed structured array may be misaligned.
    return array if array.flags.aligned else array.copy()
