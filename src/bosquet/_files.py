"""The first bytes of a model file, and atomic writing: a file is complete or absent."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# The first bytes of every model file. MODEL_FILE recognises one even if its line ends were converted.
MODEL_FILE_START = b"\x89BSQ\r\n\x1a\n"
MODEL_FILE = MODEL_FILE_START[:4]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to, which is renamed to `path` at the end or deleted after an error.

    A reader never sees an incomplete file. If the disk is full, or after a power cut, the old file is still
    there: the content is flushed to the disk before the renaming, and the renaming before this function
    returns. A file that is replaced keeps its permissions. Devices and pipes are written to directly. If
    `path` is a symbolic link, the file that it points to is replaced. Errors name `path`, not the temporary
    file.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    # The name is chosen before the file is created, so that an interrupt in between cannot leave a file
    # behind.
    temporary = target.parent / f".{target.name[:40]}.{secrets.token_hex(8)}"
    try:
        _create(temporary, private=target.exists())
        yield temporary
        _sync(temporary)
        _keep_permissions(temporary, target)
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        with suppress(OSError):  # already renamed, or never created
            temporary.unlink()


def _create(temporary: Path, private: bool) -> None:
    """Create an empty file, readable by its owner only if `private`, otherwise as the umask allows."""
    mode = 0o600 if private else 0o666
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def _keep_permissions(temporary: Path, target: Path) -> None:
    """Copy permissions, owner and group of the file that is replaced, if it exists.

    If the group cannot be kept, the new group gets only the permissions that all users have, because it may
    have more members than the old one.
    """
    try:
        old = os.stat(target)
    except FileNotFoundError:
        return
    mode = old.st_mode & 0o777
    if hasattr(os, "chown"):
        for owner in (old.st_uid, -1):
            with suppress(OSError):  # not permitted, or the owner is unknown on this system
                os.chown(temporary, owner, old.st_gid)
                break
        if os.stat(temporary).st_gid != old.st_gid:
            mode &= ~0o070 | (mode & 0o007) << 3
    os.chmod(temporary, mode)


def _sync(path: str | os.PathLike[str]) -> None:
    """Flush the content of a file, or the names in a folder, to the disk."""
    # Flushing a file needs write access on Windows; a folder can only be opened for reading.
    handle = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Flush a folder to the disk, if the system supports it: Windows and some network file systems do not."""
    with suppress(OSError):
        _sync(folder)
