"""A progress bar on the terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class ProgressBar:
    """Progress bar with a note and the time left, redrawn at most 10 times per second.

    Parameters
    ----------
    total : int
        Number of steps.
    stream : text stream, optional
        Where to write (default: standard error).
    """

    width = 28

    def __init__(self, total: int, stream: TextIO | None = None):
        self.total = total
        self.stream = stream or sys.stderr
        self.started = time.monotonic()
        self.drawn = 0.0
        self.line = ""

    def show(self, done: int, note: str = "") -> None:
        """Draw the bar after `done` steps."""
        now = time.monotonic()
        self.line = self._line(done, note, now - self.started)
        if now - self.drawn >= 0.1 or done == self.total:
            self.stream.write("\r" + self.line)
            self.stream.flush()
            self.drawn = now

    def close(self, note: str = "") -> None:
        """Draw the bar for the last time and end the line."""
        self.stream.write("\r" + self.line + (f"  {note}" if note else "") + "\n")
        self.stream.flush()

    def _line(self, done: int, note: str, seconds: float) -> str:
        full = round(self.width * done / self.total)
        bar = "█" * full + "░" * (self.width - full)
        seconds_left = seconds / max(done, 1) * (self.total - done)
        note = f"{note}  " if note else ""
        return (
            f"{bar} {done:>{len(str(self.total))}}/{self.total}  {note}{seconds_left:5.1f} s left "
        )
