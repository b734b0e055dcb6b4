"""The files that a path, a folder, a pattern or a list of them means."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

_NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class DataFile:
    """A file, and the values of the folders "name=value" that it is in."""

    path: str
    partition: dict[str, str | None] = field(default_factory=dict)


def find_files(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[DataFile], str]:
    """Return the files in the order of their rows, and where they are, for messages.

    The files of a folder or a pattern are sorted by their paths as text, so that part-10 is before part-2.
    Those of a list keep its order. Files and folders whose names begin with a dot or an underscore are
    ignored in folders and patterns.
    """
    files = [file for path in paths for file in _files_of(os.fspath(path))]
    path_of: dict[str, str] = {}
    for file in files:
        target = os.path.realpath(file.path)
        if target in path_of:
            raise ValueError(
                f"{file.path} is the same file as {path_of[target]}; each file must be given once: remove one"
                " of the two"
            )
        path_of[target] = file.path
    if len(paths) > 1:
        return files, ""
    path = os.fspath(paths[0])
    return files, f" in {path.rstrip('/')}/" if os.path.isdir(path) else f" that match {path}"


def _files_of(path: str) -> list[DataFile]:
    if "://" in path:
        raise ValueError(
            f"{path} is a URL, and paths must be on this machine; pass pyarrow.dataset.dataset(url)"
        )
    if os.path.isdir(path):
        found = _sorted_files(path, _walk(path))
        if not found:
            raise FileNotFoundError(
                f"folder {path} contains no data files (names that begin with a dot or an underscore are"
                " ignored); pass a folder with Parquet, Arrow or text files"
            )
        return found
    if os.path.exists(path):
        return [DataFile(path)]
    if not glob.has_magic(path):
        raise FileNotFoundError(
            f"{path} does not exist; check the path (of a file, a folder or a pattern)"
        )
    return _matching(path)


def _matching(pattern: str) -> list[DataFile]:
    """Return the files that match a pattern; a folder that matches stands for its files."""
    fixed = []
    for name in Path(pattern).parts:
        if glob.has_magic(name):
            break
        fixed.append(name)
    root = os.path.join(*fixed) if fixed else ""
    matches = glob.glob(pattern, recursive=True)
    found = _sorted_files(
        root,
        (file for match in matches for file in (_walk(match) if os.path.isdir(match) else [match])),
    )
    if not found:
        raise FileNotFoundError(
            f"no file matches the pattern {pattern}; * stands for any characters of a name, ** for any"
            " folders: check the path"
        )
    return found


def _walk(folder: str) -> Iterable[str]:
    for parent, _, names in os.walk(folder, followlinks=True):
        for name in names:
            yield os.path.join(parent, name)


def _sorted_files(root: str, paths: Iterable[str]) -> list[DataFile]:
    """Return the distinct files that are not to be ignored below `root`, with their partitions."""
    found = []
    for path in sorted({os.path.normpath(path) for path in paths}):
        names = Path(os.path.relpath(path, root or ".")).parts
        if not any(name.startswith((".", "_")) and name != ".." for name in names):
            found.append(DataFile(path, _partition(names[:-1])))
    return found


def _partition(folders: Sequence[str]) -> dict[str, str | None]:
    pairs = [folder.split("=", 1) for folder in folders if "=" in folder]
    return {
        unquote(name): None if value == _NULL_PARTITION else unquote(value)
        for name, value in pairs
        if name
    }
