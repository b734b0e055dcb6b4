"""Bins of columns, in memory or read in batches. Both give the same bins."""

from __future__ import annotations

import numpy as np

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet.data import BatchedColumns, BinMemory, Columns

# Number of rows that bin edges are computed from; with more rows the quantiles hardly change.
EDGE_ROWS = 200_000


def learn_bins(
    columns: Columns | BatchedColumns,
    categories: list[int],
    weight: np.ndarray,
    *,
    max_bins: int,
    seed: int,
    threads: int,
) -> _core.Bins:
    """Return the bins of each column; `categories` holds the number of levels, 0 for a quantity.

    With more than `EDGE_ROWS` rows, the edges are computed from rows that a hash of their number selects.
    """
    limit = EDGE_ROWS
    if isinstance(columns, BatchedColumns):
        rows = _core.sample_run(0, columns.n_rows, columns.n_rows, EDGE_ROWS, seed)
        weight = weight[rows] if weight.size else weight
        columns, limit = columns.gather(rows), len(rows)
    return _core.learn_bins(columns, categories, weight, max_bins, limit, seed, threads)


def bin_table(
    columns: Columns | BatchedColumns, bins: _core.Bins, threads: int
) -> _core.BinnedMatrix:
    """Return the columns as numbers of bins."""
    isa = instruction_set()
    if not isinstance(columns, BatchedColumns):
        return _core.bin_table(columns, bins, isa, threads)
    matrix = empty_matrix(bins, columns.n_rows, columns.memory)
    for batch in columns:
        matrix.append(batch, isa, threads)
    return matrix.finish()


def empty_matrix(bins: _core.Bins, n_rows: int, memory: BinMemory) -> _core.BinnedMatrixBuilder:
    """Return a matrix to which the rows are appended, in memory or in a temporary file.

    If its copy as columns does not fit into the memory, a fit copies the columns that it reads most.
    """
    tiles, copies = _core.binned_bytes(bins, n_rows)
    folder = "" if tiles <= memory.limit else memory.folder
    unused = memory.limit - (0 if folder else tiles)
    n_copies = 0 if unused >= copies and not folder else int(unused // max(n_rows, 1))
    return _core.BinnedMatrixBuilder(
        bins, n_rows, not folder and unused >= copies, folder, n_copies
    )


def code_bins(
    columns: Columns | BatchedColumns, bins: _core.Bins, threads: int
) -> _core.CodedTable:
    """Return the columns as codes with one code per bin."""
    isa = instruction_set()
    if not isinstance(columns, BatchedColumns):
        return _core.code_bins(columns, bins, isa, threads)
    table = empty_codes(bins, columns.n_rows, columns.memory)
    for batch in columns:
        table.append(batch, isa, threads)
    return table.finish()


def empty_codes(bins: _core.Bins, n_rows: int, memory: BinMemory) -> _core.CodedTableBuilder:
    """Return a table of codes to which the rows are appended, in memory or in temporary files."""
    folder = "" if _core.coded_bytes(bins, n_rows) <= memory.limit else memory.folder
    return _core.CodedTableBuilder(bins, n_rows, folder)
