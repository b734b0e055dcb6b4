"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to; it takes the name `path` when it is whole, and vanishes on an error.

    A reader never meets half a file, and a full disk leaves the file that was there. Devices and pipes are
    written to as they are, a link stays one, and errors are told of `path` itself.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file() and not place.is_dir():
        yield place
        return
    draft: str | None = None
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{place.name[:40]}.", dir=place.parent)
        os.close(handle)
        yield Path(draft)
        # mkstemp's file is private; this one is as public as any file its writer makes.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(draft, 0o666 & ~mask)
        os.replace(draft, place)
        draft = None
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        if draft is not None:
            Path(draft).unlink(missing_ok=True)
