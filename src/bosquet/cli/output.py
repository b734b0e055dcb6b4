"""Output of commands: notes, results as text or JSON, and files that are written atomically."""

from __future__ import annotations

import json
import math
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bosquet._files import atomic_write
from bosquet.cli.arguments import STDIN, UserError

if TYPE_CHECKING:
    from argparse import Namespace


def print_note(arguments: Namespace, *lines: str) -> None:
    """Print notes and progress to standard error, unless the command is quiet."""
    if not arguments.quiet:
        for line in lines:
            print(line, file=sys.stderr, flush=True)


def print_result(arguments: Namespace, as_json: object, text: str) -> None:
    """Print the result to standard output, as JSON or text."""
    print(json_text(as_json) if arguments.json else text)


def json_text(value: object) -> str:
    """Return a value as JSON; NaN and infinite numbers become null."""
    return json.dumps(_to_json_types(value), ensure_ascii=False, allow_nan=False, indent=1)


def _to_json_types(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): _to_json_types(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json_types(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy scalars and arrays
        return _to_json_types(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


@contextmanager
def write_atomically(path: str) -> Iterator[Path]:
    """Return a temporary path that is renamed to `path` on success and deleted on failure.

    Devices and pipes are written directly.
    """
    try:
        with atomic_write(path) as draft:
            yield draft
    except OSError as error:
        raise write_error(path, error) from None


def write_error(path: str, error: OSError) -> UserError:
    """Return the error of a file that cannot be written."""
    return UserError(
        f"cannot write {path}: {error.strerror or error}; nothing was written, pass a path in an existing,"
        " writable folder"
    )


def check_outputs(
    outputs: Sequence[tuple[str, str | None]], inputs: Sequence[str | None] = ()
) -> None:
    """Raise UserError, before any work, for a file that is not writable, is an input or is named twice.

    Links count as the file that they point to. Several options may name the same device.
    """
    read = {_file_identity(path, STDIN): path for path in inputs if path is not None}
    owners: dict[Any, str] = {}
    for option, path in outputs:
        if path is None:
            continue
        _check_writable(path)
        file = _file_identity(path)
        if file is None:
            continue
        if file in read:
            source = "the standard input" if read[file] == STDIN else f"the input {read[file]}"
            raise UserError(
                f"{option} {path} is the same file as {source} and would overwrite it; use another file"
            )
        if file in owners:
            raise UserError(
                f"{option} {path} is also the file of {owners[file]}; use different files"
            )
        owners[file] = option


def _file_identity(path: str, stdin: str | None = None) -> Any:
    """Return an identifier that is equal for two names of a file; None for devices and pipes."""
    try:
        status = os.fstat(0) if path == stdin else os.stat(path)
    except (OSError, ValueError):
        return None if path == stdin else os.path.realpath(path)
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _check_writable(path: str) -> None:
    target = Path(path)
    if target.is_dir():
        raise UserError(f"cannot write {path}: it is a directory; pass the path of a file")
    if target.exists() and not target.is_file():
        return
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
        os.close(handle)
        os.unlink(draft)
    except OSError as error:
        raise write_error(path, error) from None
