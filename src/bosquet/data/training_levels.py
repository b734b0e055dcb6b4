"""TrainingLevels: what an encoder learns from a training table that is read in batches or in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from bosquet._digits import warn_of_lost_digits

from .categorical_features import categorical_mask
from .containers import open_table
from .levels import LevelCounts, Levels, numeric_values
from .names import feature_names_from
from .table import CodedColumn, Column, NumericColumn, column_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bosquet._types import CategoricalFeatures, TableLike


class TrainingLevels:
    """The kinds of the columns, and the levels that occur in the batches that were added.

    Parameters
    ----------
    first_batch : table
        Decides which columns are categorical, ordinal or quantitative.
    categorical_features : as in `TableEncoder.fit_encode`
    owner : str
        Name of the estimator in error messages.
    """

    def __init__(
        self, first_batch: TableLike, categorical_features: CategoricalFeatures, owner: str
    ) -> None:
        table = open_table(first_batch, owner)
        self.names = feature_names_from(table.names)
        self.n_columns = table.n_columns
        self._owner = owner
        self._ordinal: dict[int, Levels] = {}
        self._counts: dict[int, LevelCounts] = {}
        self._integers: set[int] = set()
        self._lost_digits: dict[int, int] = {}
        chosen = categorical_mask(categorical_features, table.n_columns, self.names)
        for index in range(table.n_columns):
            column, is_chosen = table.column(index), None if chosen is None else chosen[index]
            if is_ordinal(column, is_chosen):
                self._ordinal[index] = Levels.from_ordered_type(column)
            elif is_categorical(column, is_chosen):
                self._counts[index] = LevelCounts()
            elif isinstance(column, NumericColumn) and column.values.dtype.kind in "iu":
                self._integers.add(index)
            else:
                numeric_values(
                    column, column_label(index, self.names), in_training=True
                )  # not text

    @property
    def columns_to_read(self) -> list[int]:
        """Numbers of the columns that `add` needs."""
        return sorted({*self._counts, *self._integers})

    def add(self, batch: TableLike) -> None:
        """Count the levels of a batch that consists of the columns `columns_to_read`."""
        table = open_table(batch, self._owner)
        for position, index in enumerate(self.columns_to_read):
            column = table.column(position)
            if index in self._counts:
                self._counts[index].add(to_coded_column(column))
            else:
                note_lost_digits(self._lost_digits, index, column)

    def merge(self, other: TrainingLevels) -> None:
        """Add the levels of another part of the table.

        The types of a column may differ between parts if all its values are missing in one of them.
        """
        for index, counts in other._counts.items():
            self._counts.setdefault(index, LevelCounts()).merge(counts)
        for index, levels in other._ordinal.items():
            self._ordinal.setdefault(index, levels)
        for index, example in other._lost_digits.items():
            self._lost_digits.setdefault(index, example)

    def levels(self, max_categories: int | None) -> list[Levels | None]:
        """Return the levels of each column, None if it is quantitative; warn of integers that lose digits."""
        warn_of_columns_that_lose_digits(self._lost_digits, self.names)
        found: list[Levels | None] = [None] * self.n_columns
        for index, levels in self._ordinal.items():
            found[index] = levels
        for index, counts in self._counts.items():
            found[index] = counts.most_frequent(max_categories)
        return found


def is_ordinal(column: Column, chosen: bool | None) -> TypeGuard[CodedColumn]:
    """Return whether a column is ordinal.

    `chosen` is whether `categorical_features` lists it; None if there is no list.
    """
    return not chosen and isinstance(column, CodedColumn) and column.ordered


def is_categorical(column: Column, chosen: bool | None) -> bool:
    """Return whether a column that is not ordinal is categorical."""
    return isinstance(column, CodedColumn) if chosen is None else chosen


def to_coded_column(column: Column) -> CodedColumn:
    """Return a column as codes."""
    return column.as_coded() if isinstance(column, NumericColumn) else column


def note_lost_digits(lost_digits: dict[int, int], index: int, column: Column) -> None:
    """Record the first integer of the column that loses digits as float64, unless there is one already."""
    if index not in lost_digits and isinstance(column, NumericColumn):
        example = column.first_inexact_integer()
        if example is not None:
            lost_digits[index] = example


def warn_of_columns_that_lose_digits(
    lost_digits: dict[int, int], names: Sequence[str] | None
) -> None:
    """Warn of columns with integers that lose digits as float64; `lost_digits` has an example of each."""
    if lost_digits:
        warn_of_lost_digits(
            [column_label(index, names) for index in lost_digits],
            next(iter(lost_digits.values())),
            "drop identifiers, list categories in categorical_features, subtract a constant from other"
            " columns",
        )
