"""The command `bosquet`."""

from bosquet.cli.command import main

__all__ = ["main"]
