"""Conversion of tables of any container to columns that the compiled core can read."""

from .arrow_tables import decode_dictionaries
from .columns import BatchedColumns, BinMemory, Columns, count_rows, take_rows
from .encoder import UNSEEN, TableEncoder

__all__ = [
    "UNSEEN",
    "BatchedColumns",
    "BinMemory",
    "Columns",
    "TableEncoder",
    "count_rows",
    "decode_dictionaries",
    "take_rows",
]
