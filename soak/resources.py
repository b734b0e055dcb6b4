"""Resources of this process: memory, threads, open files, children, files in a folder."""

from __future__ import annotations

import ctypes
import gc
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Return the memory in use, after free memory was returned to the system."""
    gc.collect()
    with suppress(AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


@dataclass(frozen=True)
class Held:
    """Resources whose number must be the same before and after a piece of work."""

    threads: int
    open_files: frozenset[str]
    children: frozenset[str]
    files: frozenset[str]

    def more_than(self, before: Held) -> list[str]:
        """Describe the resources that were not there before."""
        found = []
        if self.threads > before.threads:
            found.append(f"threads: {before.threads} before, {self.threads} after")
        for name, now, then in (
            ("open files", self.open_files, before.open_files),
            ("child processes", self.children, before.children),
            ("files", self.files, before.files),
        ):
            if len(now) > len(then):  # a worker may end and another take its place
                new = sorted(now - then)
                found.append(f"{name}: {', '.join(new[:5])}{' ...' * (len(new) > 5)}")
        return found


def held(folder: Path) -> Held:
    """Return the current resources; `folder` contains the files and temporary files."""
    tasks = Path("/proc/self/task")
    threads = [task.name for task in tasks.iterdir()]
    children = " ".join(_read(tasks / thread / "children") for thread in threads).split()
    opened = {_target(fd) for fd in Path("/proc/self/fd").iterdir()} - {""}
    inside = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    return Held(len(threads), frozenset(opened), frozenset(children), frozenset(inside))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # a thread that has just ended


def _target(link: Path) -> str:
    """Return a descriptor with its target; empty if it was closed meanwhile, as that of this listing."""
    try:
        return f"{link.name} -> {os.readlink(link)}"
    except OSError:
        return ""
