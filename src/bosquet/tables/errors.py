"""Errors of tables, and the import of the packages that tables need."""

from __future__ import annotations

from typing import Any

_EXTRA = "tables need pandas and pyarrow; run: pip install bosquet[study]"


_LONGEST = 1000  # characters of a message, which may quote long values of a table


class TableError(ValueError):
    """A file or a frame that cannot be used; the message is one line: what is wrong, where and what to do."""

    def __init__(self, message: str):
        line = " ".join(message.split())
        super().__init__(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ...")


def load_pandas() -> Any:
    """Return the pandas module; raise ImportError with installation advice if it is not installed."""
    try:
        import pandas
        import pyarrow  # noqa: F401  needed for text columns of pandas and for reading files
    except ImportError:
        raise ImportError(_EXTRA) from None
    return pandas
