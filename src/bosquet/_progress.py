"""A line on the terminal that tells how far a fit has come."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Bar:
    """Done, total, a note and the time left; redrawn at most ten times a second.

    Parameters
    ----------
    total : how many there are to do.
    stream : where to write, by default the standard error.
    """

    width = 28

    def __init__(self, total: int, stream: TextIO | None = None):
        self.total = total
        self.stream = stream or sys.stderr
        self.started = time.monotonic()
        self.drawn = 0.0
        self.line = ""

    def show(self, done: int, note: str = "") -> None:
        now = time.monotonic()
        self.line = self._line(done, note, now - self.started)
        if now - self.drawn >= 0.1 or done == self.total:
            self.stream.write("\r" + self.line)
            self.stream.flush()
            self.drawn = now

    def close(self, note: str = "") -> None:
        self.stream.write("\r" + self.line + (f"  {note}" if note else "") + "\n")
        self.stream.flush()

    def _line(self, done: int, note: str, seconds: float) -> str:
        full = round(self.width * done / self.total)
        bar = "█" * full + "░" * (self.width - full)
        left = seconds / max(done, 1) * (self.total - done)
        note = f"{note}  " if note else ""
        return f"{bar} {done:>{len(str(self.total))}}/{self.total}  {note}{left:5.1f} s left "
