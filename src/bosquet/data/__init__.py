"""Conversion of tables of any container to columns that the compiled core can read."""

from .arrow_tables import decode_dictionaries
from .columns import Columns, n_rows, take_rows
from .encoder import UNSEEN, TableEncoder

__all__ = ["UNSEEN", "Columns", "TableEncoder", "decode_dictionaries", "n_rows", "take_rows"]
