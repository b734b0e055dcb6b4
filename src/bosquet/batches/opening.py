"""open_batches: which tables are read in batches, and how each is opened."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from typing import TypeGuard

from bosquet._optional import import_optional

from .frames import arrow_table, is_instance_of, is_table, memory_part
from .source import BatchSource, Progress


def open_batches(X: object, progress: Progress | None = None) -> BatchSource | None:
    """Open a table that need not fit into memory; return None for an ordinary table in memory.

    Close the source at the end, or use it as a context manager: it may have a temporary file.

    Parameters
    ----------
    X : object
        - The path of a Parquet, Arrow (Feather) or delimited text file, of a folder of such files, or a
          pattern with ``*`` or ``**``; or a list of them. The files of a folder are sorted by their paths.
          Its folders "name=value" become columns.
        - A ``pyarrow.dataset.Dataset``.
        - A polars ``LazyFrame``.
        - An Arrow stream, such as a ``pyarrow.RecordBatchReader``.
        - An iterable of batches: pandas or polars data frames, or pyarrow Tables or RecordBatches.

        Lazy frames, streams and iterables (except lists and tuples) are read once, here, and written to a
        temporary file in the folder that the environment variable TMPDIR names, or /tmp.
    progress : function (rows, bytes), optional
        Called while the temporary file is written.

    Raises
    ------
    ValueError
        If the columns or their types are not the same in all files or batches, if a file is damaged, or if
        there are no rows. The message names the file and the column.
    FileNotFoundError
        If there is no such file.
    OSError
        If the disk is full.

    Examples
    --------
    >>> import pandas as pd
    >>> from bosquet.batches import open_batches
    >>> frames = (pd.DataFrame({"x": [i, i + 0.5], "y": ["a", "b"]}) for i in range(3))
    >>> with open_batches(frames) as source:
    ...     [batch.num_rows for batch in source.batches(["x"])], source.column_names, source.n_rows
    ([6], ['x', 'y'], 6)
    """
    if isinstance(X, BatchSource):
        return X
    if not _is_in_batches(X):
        return None
    import_optional("pyarrow", "reading a table in batches", "bosquet[arrow]")
    if _is_path(X):
        return _open_paths([X])
    if isinstance(X, (list, tuple)):
        return _open_list(X)
    from . import arrow_datasets, streams

    if is_instance_of(X, "pyarrow.dataset", "Dataset"):
        return arrow_datasets.open_dataset(X)
    if is_instance_of(X, "polars", "LazyFrame"):
        return streams.open_lazy_frame(X, progress)  # type: ignore[arg-type]
    if hasattr(X, "__arrow_c_stream__"):
        return streams.open_stream(X, progress)
    assert isinstance(X, Iterable)
    return streams.open_iterable(X, progress)


def _is_in_batches(X: object) -> bool:
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and (_is_path(X[0]) or is_table(X[0]))
    if is_table(X) or isinstance(X, (bytes, bytearray)):
        return False
    if _is_path(X) or is_instance_of(X, "pyarrow.dataset", "Dataset"):
        return True
    if is_instance_of(X, "polars", "LazyFrame"):
        return True
    if isinstance(X, io.IOBase):
        raise TypeError(
            f"X is an open file ({type(X).__name__}); a file must be given by its path, because it is read"
            " several times: pass its path"
        )
    # What has a size or can be indexed is in memory: arrays, series, sparse matrices, other data frames.
    sized = ("__len__", "__getitem__", "__array__", "shape", "num_rows", "columns")
    if any(hasattr(X, name) for name in sized):
        return False
    return hasattr(X, "__arrow_c_stream__") or isinstance(X, Iterable)


def _is_path(X: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(X, (str, os.PathLike))


def _open_paths(paths: list[str | os.PathLike[str]]) -> BatchSource:
    from .files import open_files

    return open_files(paths)


def _open_list(items: list[object] | tuple[object, ...]) -> BatchSource:
    """Open a list of paths or of tables in memory."""
    paths = [item for item in items if _is_path(item)]
    if len(paths) == len(items):
        return _open_paths(paths)
    if paths:
        raise TypeError(
            f"X is a list that contains the path {os.fspath(paths[0])!r} and other objects; a list must"
            " contain paths only, or tables only: remove the others"
        )
    parts = [
        memory_part(f"table {index} of the list", arrow_table(item, f"table {index} of the list"))
        for index, item in enumerate(items)
    ]
    return BatchSource(parts, f"a list of {len(items)} tables")
