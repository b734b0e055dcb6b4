"""The HTML report of a study: one file without network access, made from the record."""

from __future__ import annotations

import os
from pathlib import Path

from bosquet._files import atomic_write
from bosquet.study.record import Record
from bosquet.study.report.document import page_html

__all__ = ["page_html", "write_page"]


def write_page(record: Record, path: str | os.PathLike[str]) -> Path:
    """Write the report of a record to a file and return its path.

    The report is written to a temporary file, which then replaces `path`: an existing report is not lost if
    writing fails.

    Raises
    ------
    OSError
        If the file cannot be written; the message has the path and the reason.
    """
    path = Path(path)
    content = page_html(record).encode("utf-8")
    try:
        with atomic_write(path) as draft:
            draft.write_bytes(content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise type(error)(
            error.errno,
            f"the report could not be written to {path}: {reason}; pass a path in a writable folder",
        ) from error
    return path
