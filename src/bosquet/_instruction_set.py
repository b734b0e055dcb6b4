"""The instruction set of the core's kernels."""

from __future__ import annotations

import os


def instruction_set() -> str:
    """Return the environment variable BOSQUET_ISA (for tests and debugging), by default "auto": the best."""
    return os.environ.get("BOSQUET_ISA", "auto")
