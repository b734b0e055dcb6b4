"""What is wrong with a table, in one line, and the packages that reading one needs."""

from __future__ import annotations

from typing import Any

_EXTRA = "tables need pandas and pyarrow: pip install bosquet[study]"


class TableError(ValueError):
    """A file or a frame that cannot be learned from: the message says what, where and what to do."""


def load_pandas() -> Any:
    """pandas, or an ImportError that names the extra."""
    try:
        import pandas
        import pyarrow  # noqa: F401  pandas' text columns and our reading of files stand on it
    except ImportError:
        raise ImportError(_EXTRA) from None
    return pandas
