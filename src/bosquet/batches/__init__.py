"""Tables that need not fit into memory: read in batches, several times, in the same order."""

from .opening import open_batches
from .reading import check_column_names, read_column, read_columns
from .source import BatchSource, Progress

__all__ = [
    "BatchSource",
    "Progress",
    "check_column_names",
    "open_batches",
    "read_column",
    "read_columns",
]
