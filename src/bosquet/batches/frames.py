"""Tables in memory of pandas, polars and pyarrow, as tables of Arrow."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bosquet._suggestions import with_article

from .parts import Part

if TYPE_CHECKING:
    import pandas
    import pyarrow

_TABLES = (
    ("pandas", "DataFrame"),
    ("polars", "DataFrame"),
    ("pyarrow", "Table"),
    ("pyarrow", "RecordBatch"),
)


def is_instance_of(X: object, module: str, name: str) -> bool:
    """Return whether X is an instance of a class of a module, without importing the module."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(X, kind)


def is_table(X: object) -> bool:
    """Return whether X is a table in memory that `arrow_table` converts."""
    return any(is_instance_of(X, module, name) for module, name in _TABLES)


def arrow_table(X: object, name: str) -> pyarrow.Table:
    """Convert a batch to a table of Arrow; `name` is its name in messages."""
    import pyarrow

    if isinstance(X, pyarrow.Table):
        return X
    if isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    if is_instance_of(X, "pandas", "DataFrame"):
        return _from_pandas(X, name)
    if is_instance_of(X, "polars", "DataFrame"):
        polars = sys.modules["polars"]
        return X.to_arrow(compat_level=polars.CompatLevel.oldest())  # type: ignore[attr-defined]
    kind = with_article(type(X).__name__)
    advice = "put the target and the weights into columns of it, and pass their names"
    if isinstance(X, str) or hasattr(X, "__fspath__"):
        advice = "pass paths as a list, such as sorted(paths)"
    raise TypeError(
        f"{name} is {kind}; a batch must be a pandas or polars data frame, or a pyarrow Table or RecordBatch:"
        f" {advice}"
    )


def memory_part(name: str, table: pyarrow.Table) -> Part:
    """Return a table in memory as a part."""
    return Part(
        name,
        table.schema,
        lambda wanted: ((batch, 0) for batch in table.to_batches()),
        n_rows=table.num_rows,
    )


def _from_pandas(frame: pandas.DataFrame, name: str) -> pyarrow.Table:
    import pyarrow

    for column in frame.columns:
        if not isinstance(column, str):
            raise ValueError(
                f"{name} has a column named {column!r}, which is not text; column names must be text: run"
                " frame.columns = frame.columns.map(str)"
            )
    try:
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        cause = " ".join(map(str, error.args)).rstrip(". ")
        raise ValueError(
            f"{name} cannot be converted to Arrow: {cause}; column names must be distinct, and the values of"
            " a column all numbers or all text: convert it with astype"
        ) from error
