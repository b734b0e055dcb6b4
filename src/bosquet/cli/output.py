"""What a command says and writes: whole files or none, text in columns, JSON."""

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
from typing import Any

from bosquet._files import written_whole
from bosquet.cli.arguments import STDIN, UserError


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


def check_outputs(
    outputs: Sequence[tuple[str, str | None]], inputs: Sequence[str | None] = ()
) -> None:
    """Refuse options and their files before the work: not writable, an input too, or two options' file.

    Links count as the file that they lead to; several options may name one device.
    """
    read = {_identity(path, STDIN): path for path in inputs if path is not None}
    owners: dict[Any, str] = {}
    for option, path in outputs:
        if path is None:
            continue
        _check_writable(path)
        file = _identity(path)
        if file is None:
            continue
        if file in read:
            source = "the standard input" if read[file] == STDIN else f"the input {read[file]}"
            raise UserError(
                f"{option} {path} is the same file as {source}, which it would replace; choose another file"
            )
        if file in owners:
            raise UserError(
                f"{option} {path} is also the file of {owners[file]}; choose different files"
            )
        owners[file] = option


def _identity(path: str, stdin: str | None = None) -> Any:
    """Equal for two names of one file, also of one that is yet to be written; None for devices and pipes."""
    try:
        status = os.fstat(0) if path == stdin else os.stat(path)
    except (OSError, ValueError):
        return None if path == stdin else os.path.realpath(path)
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _check_writable(path: str) -> None:
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
