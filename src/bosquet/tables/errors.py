"""What is wrong with a table, in one line, and the packages that reading one needs."""

from __future__ import annotations

from typing import Any

_EXTRA = "tables need pandas and pyarrow: pip install bosquet[study]"


_LONGEST = 1000  # characters of a message: values of a table may be as long as they like


class TableError(ValueError):
    """A file or a frame that cannot be learned from: one line that says what, where and what to do."""

    def __init__(self, message: str):
        line = " ".join(message.split())
        super().__init__(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ...")


def load_pandas() -> Any:
    """pandas, or an ImportError that names the extra."""
    try:
        import pandas
        import pyarrow  # noqa: F401  pandas' text columns and our reading of files stand on it
    except ImportError:
        raise ImportError(_EXTRA) from None
    return pandas
