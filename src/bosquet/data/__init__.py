"""Tables in, columns for the core out."""

from .columns import Columns, n_rows, take_rows
from .encoder import TableEncoder

__all__ = ["Columns", "TableEncoder", "n_rows", "take_rows"]
