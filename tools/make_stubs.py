"""Writes src/bosquet/_core.pyi, the types of the native core, from the compiled module.

    python tools/make_stubs.py

Editors and type checkers read the stub; tests/test_stubs.py fails if it is out of date.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

MODULE = "bosquet._core"
STUB = Path(__file__).resolve().parent.parent / "src" / "bosquet" / "_core.pyi"


def generate_stub() -> str:
    """Return the stub of the compiled module."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "_core.pyi"
        # A separate process: the module on disk may be newer than the imported one.
        command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", MODULE, "-o", str(path)]
        subprocess.run(command, check=True)
        body = path.read_text(encoding="utf-8").rstrip()
    return (
        f"# Written by tools/make_stubs.py with nanobind {version('nanobind')}: do not edit.\n"
        f"# ruff: noqa\n# fmt: off\n{body}\n"
    )


if __name__ == "__main__":
    STUB.write_text(generate_stub(), encoding="utf-8")
    print(f"wrote {STUB.relative_to(STUB.parents[2])}")
