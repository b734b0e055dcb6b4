"""The page of a study: one HTML file that needs no network, drawn from the record alone."""

from __future__ import annotations

import os
from pathlib import Path

from bosquet._files import written_whole
from bosquet.study.record import Record
from bosquet.study.report.document import page_html

__all__ = ["page_html", "write_page"]


def write_page(record: Record, path: str | os.PathLike[str]) -> Path:
    """Write the page of `record` to `path`, whole or not at all, and give the path back.

    The page is written beside its place and then renamed, so that a reader never meets half of it and a
    full disk leaves the page that was there.

    Raises
    ------
    OSError
        With one line that names the file and the reason.
    """
    place = Path(path)
    content = page_html(record).encode("utf-8")
    try:
        with written_whole(place) as draft:
            draft.write_bytes(content)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise type(error)(
            error.errno,
            f"the page could not be written to {place}: {reason}; give a path in a folder you can write to",
        ) from error
    return place
