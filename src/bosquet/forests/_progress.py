"""A line on the screen that tells how far a forest has grown."""

from __future__ import annotations

import sys
import time


class TreeBar:
    """Trees grown, and the time left."""

    def __init__(self, trees: int):
        self.trees = trees
        self.started = time.perf_counter()
        self.shown = False

    def update(self, done: int) -> None:
        elapsed = time.perf_counter() - self.started
        left = elapsed / done * (self.trees - done)
        sys.stderr.write(f"\r{done}/{self.trees} trees, {elapsed:.1f} s, {left:.0f} s left  ")
        sys.stderr.flush()
        self.shown = True

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\n")
