"""Conversion of tables of any container to columns that the compiled core can read."""

from .arrow_tables import decode_dictionaries
from .columns import BatchedColumns, BinMemory, Columns, count_rows, take_rows
from .encoder import MAX_CATEGORIES, UNSEEN, TableEncoder
from .training_levels import TrainingLevels

__all__ = [
    "MAX_CATEGORIES",
    "UNSEEN",
    "BatchedColumns",
    "BinMemory",
    "Columns",
    "TableEncoder",
    "TrainingLevels",
    "count_rows",
    "decode_dictionaries",
    "take_rows",
]
