"""Errors of tables, and the import of the packages that tables need."""

from __future__ import annotations

from typing import Any

from bosquet import _optional
from bosquet._optional import import_optional

_LONGEST = 1000  # characters of a message, which may quote long values of a table


class TableError(ValueError):
    """A file or a frame that cannot be used; the message is one line: what is wrong, where and what to do."""

    def __init__(self, message: str):
        line = " ".join(message.split())
        super().__init__(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ...")


class MisfitError(TableError):
    """None of the values of a column has the kind that the column had in training."""

    def __init__(self, message: str, column: str):
        super().__init__(message)
        self.column = column


def import_pandas() -> Any:
    """Import pandas; raise an ImportError with the install command if it or pyarrow is missing."""
    # pandas uses it for text and files.
    import_optional("pyarrow", "reading tables", "bosquet[study]")
    return _optional.import_pandas("reading tables")
