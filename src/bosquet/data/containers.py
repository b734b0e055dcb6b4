"""Detection of the container of a table; any other object is an error.

pandas, polars and pyarrow are looked up in `sys.modules` instead of being imported. X can only be one of
their objects if they are loaded, and importing them would take longer than a small fit.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from bosquet._suggestions import with_article

from .numpy_arrays import as_array, table_from_array, table_from_sparse
from .table import Table

if TYPE_CHECKING:
    from bosquet._types import TableLike


def open_table(X: TableLike, owner: str) -> Table:
    """Read the shape and the column names of X; the columns are read later, one by one."""
    table = _detect_container(X, owner)
    for count, what in zip(table.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={table.shape}) while a minimum of 1 is required; pass"
                f" at least one {what}"
            )
    return table


def _detect_container(X: Any, owner: str) -> Table:
    if _is_instance_of(X, "pandas", "DataFrame"):
        from .pandas_frames import table_from_pandas

        return table_from_pandas(X)
    if _is_instance_of(X, "polars", "DataFrame"):
        from .polars_frames import table_from_polars

        return table_from_polars(X)
    if _is_instance_of(X, "polars", "LazyFrame"):
        raise TypeError("X is a polars LazyFrame; pass X.collect()")
    for module, name in (("pandas", "Series"), ("polars", "Series"), ("pyarrow", "ChunkedArray")):
        if _is_instance_of(X, module, name):
            raise _one_dimensional_error(
                f"{module}.{name}", "X.to_frame()" if name == "Series" else ""
            )
    if _is_instance_of(X, "scipy.sparse", "spmatrix") or _is_instance_of(
        X, "scipy.sparse", "sparray"
    ):
        if X.ndim != 2:
            raise _dimension_error(X.ndim, owner)
        return table_from_sparse(X)
    if hasattr(X, "__arrow_c_stream__") or _is_instance_of(X, "pyarrow", "RecordBatch"):
        from .arrow_tables import table_from_arrow

        return table_from_arrow(X)
    if hasattr(X, "columns") and not hasattr(X, "__array_interface__"):
        return _table_from_other_frame(X, owner)
    if isinstance(X, (str, os.PathLike)):
        raise ValueError(
            f"Expected 2D array, got the path {os.fspath(X)!r}; only fit(path, target=...) of gradient"
            " boosting and random forests reads files: pass an array or a table in memory, or loop over the"
            " batches of bosquet.batches.open_batches(path)"
        )
    array = as_array(X)
    if array.ndim == 0:
        raise ValueError(
            f"Expected 2D array, got {type(X).__name__} instead; pass an array, nested lists, a data frame,"
            " an Arrow table or a sparse matrix"
        )
    if array.ndim != 2:
        raise _dimension_error(array.ndim, owner)
    return table_from_array(array)


def _is_instance_of(X: object, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(X, kind)


def _table_from_other_frame(X: object, owner: str) -> Table:
    """Read a data frame of another library, such as Modin, through narwhals."""
    import narwhals

    frame = narwhals.from_native(X, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        raise TypeError(
            f"X is a lazy {type(X).__name__} that is not in memory; call .collect() or .compute() on it and "
            "pass the result"
        )
    if not isinstance(frame, narwhals.DataFrame):
        kind = with_article(f"{type(X).__module__}.{type(X).__name__}")
        raise TypeError(
            f"X is {kind}, which {owner} cannot read; pass an array, a pandas or polars data frame, or an "
            "Arrow table"
        )
    native = narwhals.to_native(frame)
    return _detect_container(native if native is not X else frame.to_pandas(), owner)


def _dimension_error(dimensions: int, owner: str) -> ValueError:
    if dimensions == 1:
        return _one_dimensional_error("1D array", "")
    return ValueError(
        f"Found array with dim {dimensions}, while dim <= 2 is required by {owner}; pass an array of shape"
        " (n_samples, n_features)"
    )


def _one_dimensional_error(what: str, instead: str) -> ValueError:
    return ValueError(
        f"Expected 2D array, got {what} instead. Reshape your data: X.reshape(-1, 1) if it has a single"
        " feature, X.reshape(1, -1) if it is a single"
        f" sample{f', {instead} for a frame of one column' if instead else ''}"
    )
