"""The kind of a column of text that is read in blocks: the same as if it were read as a whole."""

from __future__ import annotations

from typing import Any

from bosquet.tables.numerals import (
    Notation,
    first_notation,
    missing_to_null,
    number_cells,
    numbers_in,
)

TRUTH = frozenset(("true", "false"))


class ColumnKind:
    """The kind of the cells of a column: numbers in some notation, booleans or text.

    `add` every block of the column, then again while `is_settled` is False: a later block may change the
    notation of numbers, and the earlier blocks have to be numbers in the new one, too.
    """

    def __init__(self, decimal: str) -> None:
        self._decimal = decimal
        self._notation: Notation | None = None  # the numbers so far are written in it
        self._whole = True
        self._any_notation = True  # the numbers so far are the same in every notation
        self._may_be_numbers = self._may_be_truth = True
        self._has_values = False
        self.is_settled = True

    def begin_pass(self) -> None:
        """Prepare for another pass over all blocks."""
        self.is_settled = self._any_notation = self._whole = True

    def add(self, cells: Any) -> None:
        """Add a block: an Arrow array of text."""
        if self._has_values and not (self._may_be_numbers or self._may_be_truth):
            return  # text, whatever follows
        values = missing_to_null(cells)
        if values.null_count == len(values):
            return
        self._has_values = True
        self._may_be_truth = self._may_be_truth and _are_truth(values)
        if self._may_be_numbers:
            self._add_numbers(values)

    def _add_numbers(self, values: Any) -> None:
        import pyarrow as pa

        numbers_or_signs = number_cells(values)
        if numbers_or_signs is not None and numbers_or_signs.null_count == len(values):
            return  # signs such as "-", which are missing values among numbers
        found = first_notation(values, self._decimal, self._notation)
        if found is None:
            self._may_be_numbers, self.is_settled = False, True
            return
        notation, numbers = found
        if self._notation is not None and notation != self._notation and not self._any_notation:
            self.is_settled = False
        self._notation = notation
        is_whole = pa.types.is_integer(numbers.type)
        self._whole = self._whole and is_whole
        # Digits alone are the same number in every notation.
        self._any_notation = self._any_notation and is_whole and not notation.group

    @property
    def type(self) -> Any:
        """The type of Arrow; that of nulls if all cells are missing."""
        import pyarrow as pa

        if not self._has_values:
            return pa.null()
        if self._may_be_numbers and self._notation is not None:
            return pa.int64() if self._whole else pa.float64()
        return pa.bool_() if self._may_be_truth else pa.string()

    def convert(self, cells: Any) -> Any:
        """Return a block as an Arrow array of this kind."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind, values = self.type, missing_to_null(cells)
        if pa.types.is_null(kind):
            return pa.nulls(len(values))
        if pa.types.is_boolean(kind):
            return pc.equal(pc.utf8_lower(values), "true")
        if pa.types.is_string(kind):
            return values
        assert self._notation is not None
        return numbers_in(values, self._notation, kind)


def _are_truth(values: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    truth = pa.array(sorted(TRUTH), values.type)
    return bool(pc.all(pc.is_in(pc.utf8_lower(values.drop_null()), value_set=truth)).as_py())
