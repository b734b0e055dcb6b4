"""What a command says and writes: whole files or none, text in columns, JSON."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bosquet._files import written_whole
from bosquet.cli.arguments import UserError


def say(arguments: Any, *lines: str) -> None:
    """Notes and progress, on the standard error."""
    if not arguments.quiet:
        for line in lines:
            print(line, file=sys.stderr, flush=True)


def answer(arguments: Any, as_json: Any, text: str) -> None:
    """What was asked for, on the standard output."""
    print(json_text(as_json) if arguments.json else text)


def json_text(value: Any) -> str:
    """JSON, in which what is no number is null."""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, indent=1)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


@contextmanager
def written(path: str) -> Iterator[Path]:
    """A place to write a file to; it gets its name when it is whole, and otherwise vanishes.

    Devices and pipes are written to as they are.
    """
    try:
        with written_whole(path) as place:
            yield place
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: str, error: OSError) -> UserError:
    """In one line, why nothing was written."""
    return UserError(f"cannot write {path}: {error.strerror or error}; nothing was written")


def check_writable(path: str | None) -> None:
    """Refuse a place that cannot be written to before the work, not after it."""
    if path is None:
        return
    place = Path(path)
    if place.is_dir():
        raise UserError(f"cannot write {path}: it is a folder")
    if place.exists() and not place.is_file():
        return
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{place.name[:40]}.", dir=place.parent)
        os.close(handle)
        os.unlink(draft)
    except OSError as error:
        raise unwritable(path, error) from None


def columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows of text as columns; `right` are aligned to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
