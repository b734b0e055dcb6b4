"""Files that are whole or not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to; it takes the name `path` when it is whole, and vanishes on an error.

    A reader never meets half a file, and a full disk leaves the file that was there; so does a power cut, for
    the content is on the disk before the name is, and the name before this returns. A file that is replaced
    keeps its permissions. Devices and pipes are written to as they are, a link stays one, and errors name
    `path` itself.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file() and not place.is_dir():
        yield place
        return
    # The name is known before the file is there, so that no interrupt comes between the file and the name.
    draft = place.parent / f".{place.name[:40]}.{secrets.token_hex(8)}"
    try:
        _create(draft, private=place.exists())
        yield draft
        _sync(draft)
        _keep_permissions(draft, place)
        os.replace(draft, place)
        _sync_folder(place.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        with suppress(OSError):  # it is not there, or was never made
            draft.unlink()


def _create(draft: Path, private: bool) -> None:
    """An empty file: private where it will replace another one, else by the umask."""
    mode = 0o600 if private else 0o666
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def _keep_permissions(draft: Path, place: Path) -> None:
    """Give the draft the permissions, the owner and the group of the file that it replaces, if there is one.

    Where the group cannot be kept, the new one gets no more than everybody has: it may be a larger group.
    """
    try:
        old = os.stat(place)
    except FileNotFoundError:
        return
    mode = old.st_mode & 0o777
    if hasattr(os, "chown"):
        for owner in (old.st_uid, -1):
            with suppress(OSError):  # not permitted, or an owner that is unknown here
                os.chown(draft, owner, old.st_gid)
                break
        if os.stat(draft).st_gid != old.st_gid:
            mode &= ~0o070 | (mode & 0o007) << 3
    os.chmod(draft, mode)


def _sync(path: str | os.PathLike[str]) -> None:
    """Wait until the content of a file (or the names in a folder) is on the disk."""
    # A flush of written data needs write access on Windows; a folder opens for reading only.
    handle = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """The same for a folder, where the system can: Windows and some network file systems cannot."""
    with suppress(OSError):
        _sync(folder)
