"""Progress on the terminal: a bar of steps, and the rows and bytes of a pass over a table."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


class PassProgress:
    """Rows and megabytes that a pass over a table in batches has read, redrawn at most 10 times per second.

    A pass that takes less than a tenth of a second is only shown at its end.

    Parameters
    ----------
    title : str
        What the pass is for.
    n_rows, n_bytes : int or None
        Number of rows and bytes of the table, where they are known. The bytes, or else the rows, tell the
        time left.
    stream : text stream, optional
        Where to write (default: standard error).
    """

    def __init__(
        self, title: str, n_rows: int | None, n_bytes: int | None, stream: TextIO | None = None
    ):
        self.title = title
        self.n_rows, self.n_bytes = n_rows, n_bytes
        self.stream = stream or sys.stderr
        self.started = self.drawn = time.monotonic()
        self.line = ""

    def __call__(self, rows: int, n_bytes: int) -> None:
        """Draw the progress after this number of rows and bytes."""
        now = time.monotonic()
        before, self.line = self.line, self._line(rows, n_bytes, now - self.started)
        if now - self.drawn >= 0.1:
            self.stream.write("\r" + self.line.ljust(len(before)))
            self.stream.flush()
            self.drawn = now

    def close(self) -> None:
        """Draw the progress for the last time and end the line."""
        if self.line:
            self.stream.write("\r" + self.line + "\n")
            self.stream.flush()

    def _line(self, rows: int, n_bytes: int, seconds: float) -> str:
        line = f"{self.title}: {rows:,} rows"
        done, total = rows, self.n_rows
        if self.n_bytes:
            line += f", {n_bytes / 1e6:,.1f} of {self.n_bytes / 1e6:,.1f} MB"
            done, total = n_bytes, self.n_bytes
        elif self.n_rows:
            line += f" of {self.n_rows:,}"
        if done and total:
            line += f"  {seconds / done * (total - done):5.1f} s left"
        return line + " "


@contextmanager
def shown_pass(
    title: str, n_rows: int | None, n_bytes: int | None, *, shown: bool
) -> Iterator[PassProgress | None]:
    """Show the progress of a pass if `shown`; a pass that is given up before its end is not shown."""
    progress = PassProgress(title, n_rows, n_bytes) if shown else None
    try:
        yield progress
    except Exception:
        if progress is not None:
            progress.close()
        raise
    if progress is not None:
        progress.close()
