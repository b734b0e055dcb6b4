"""Levels of a categorical column, and their codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from heapq import nsmallest
from itertools import compress, pairwise
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from .python_objects import is_missing_type
from .table import CodedColumn, Column, NumericColumn

# Numbers are stored as int if they are integers, so that 1, 1.0 and True are the same level.
Level: TypeAlias = int | float | str

MAX_LEVELS = 65_535  # bins of the core have at most two bytes, and one bin is for missing values


class Levels:
    """Levels in the order of their codes: numbers ascending, then text by code point.

    The order depends on the values only, not on the container or on the order of the rows. *Ordinal* levels
    keep the order of their category type.
    """

    def __init__(self, ordered: list[Level], ordinal: bool = False) -> None:
        self.ordered = ordered
        self.ordinal = ordinal
        self._code_of = {level: code for code, level in enumerate(ordered)}

    @classmethod
    def learn(cls, coded: CodedColumn, max_categories: int | None) -> Levels:
        """Return the levels that occur, at most `max_categories` (None: all): the most frequent ones."""
        shifted = coded.codes.astype(np.intp) + 1  # -1 is missing
        counts = np.bincount(shifted, minlength=len(coded.levels) + 1)[1:]
        occurring = np.flatnonzero(counts)
        levels = [coded.levels[index] for index in occurring.tolist()]
        return cls._most_frequent(
            *_merge_equal_levels(levels, counts[occurring]), max_categories=max_categories
        )

    @classmethod
    def _most_frequent(
        cls, levels: list[Level], counts: np.ndarray, max_categories: int | None
    ) -> Levels:
        if max_categories is not None:
            levels = _most_frequent_levels(levels, counts, max_categories)
        canonical = [level for level in map(canonical_level, levels) if level is not None]
        return cls(_sort_levels(canonical))

    @classmethod
    def from_ordered_type(cls, coded: CodedColumn) -> Levels:
        """Return ordinal levels: all levels of the type, since those that do not occur have a rank too."""
        canonical = [level for level in map(canonical_level, coded.levels) if level is not None]
        return cls(list(dict.fromkeys(canonical)), ordinal=True)

    def encode(self, coded: CodedColumn, where: str, unseen: int = -1) -> np.ndarray:
        """Return the code of the level of each row as int32; -1 if it is missing, `unseen` if unknown.

        Codes of ordinal levels are quantities: float64, with NaN instead of -1. If there are no levels, the
        result is all NaN, like a numeric column without values.
        """
        codes, levels = coded.codes, coded.levels
        if not self.ordered:
            return np.full(len(codes), np.nan)
        if len(levels) > len(codes):  # few rows, but a type with many categories
            coded = _drop_unused_levels(coded)
            codes, levels = coded.codes, coded.levels
        if _have_python_equality(levels):
            codes_of_levels = [self._code_of.get(level, unseen) for level in levels]
            if unseen != -1:  # NaN != NaN
                codes_of_levels = [
                    -1 if level is None or level != level else code
                    for level, code in zip(levels, codes_of_levels, strict=True)
                ]
        else:
            codes_of_levels = [self._look_up(level, unseen) for level in levels]
        if max(codes_of_levels, default=-1) < 0:
            self._check_kind(coded, where)
        codes_of_levels.append(-1)  # the last entry, which the code -1 selects
        if self.ordinal:
            ranks = np.array(codes_of_levels, dtype=float)
            ranks[ranks < 0] = np.nan
            return ranks[codes]
        return np.array(codes_of_levels, dtype=np.int32)[codes]

    def _look_up(self, level: object, unseen: int) -> int:
        canonical = canonical_level(level)
        return -1 if canonical is None else self._code_of.get(canonical, unseen)

    def _check_kind(self, coded: CodedColumn, where: str) -> None:
        """Raise a ValueError if the column has numbers but had only text in training, or the reverse.

        This is a mistake of the caller. Without the error, the column would be treated as missing in all
        rows.
        """
        levels = [canonical_level(level) for level in _drop_unused_levels(coded).levels]
        new_kinds = {isinstance(level, str) for level in levels if level is not None}
        training_kinds = {isinstance(level, str) for level in self.ordered}
        if new_kinds and new_kinds.isdisjoint(training_kinds):
            example = next(level for level in levels if level is not None)
            kinds = ("numbers", "text")
            raise ValueError(
                f"{where} had {kinds[training_kinds.pop()]} such as {self.ordered[0]!r} in training,"
                f" but now has {kinds[new_kinds.pop()]} such as {example!r}; pass values of the same type as"
                " in training"
            )

    def to_state(self) -> dict[str, Sequence[Level]]:
        """Return the levels as JSON values: numbers and text in two ascending lists, infinities as text.

        Ordinal levels also have an `order`: the position of each level in the numbers followed by the texts.
        """
        ascending = _sort_levels(self.ordered) if self.ordinal else self.ordered
        numbers = [level for level in ascending if not isinstance(level, str)]
        texts = [level for level in ascending if isinstance(level, str)]
        finite = [repr(level) if isinstance(level, float) and math.isinf(level) else level
                  for level in numbers]  # fmt: skip
        state: dict[str, Sequence[Level]] = {"numbers": finite, "texts": texts}
        if self.ordinal:
            position = {level: index for index, level in enumerate(ascending)}
            state["order"] = [position[level] for level in self.ordered]
        return state

    @classmethod
    def from_state(cls, state: object, where: str, max_levels: int | None = MAX_LEVELS) -> Levels:
        """Build levels from the result of `to_state`, with full checks: the file may come from any source.

        At most `max_levels` levels are accepted (None: any number).
        """
        if not isinstance(state, dict) or not set(state) >= {"numbers", "texts"}:
            raise ValueError(
                f"the levels of {where} must be an object with the keys 'numbers' and 'texts'"
            )
        lists = [state[key] for key in ("numbers", "texts", "order") if key in state]
        if not all(isinstance(items, list) for items in lists):
            raise ValueError(
                f"'numbers', 'texts' and 'order' of the levels of {where} must be lists"
            )
        numbers = [_number_of_state(item, where) for item in state["numbers"]]
        texts = state["texts"]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"'texts' of the levels of {where} must be a list of strings")
        for items in (numbers, texts):
            if any(not low < high for low, high in pairwise(items)):
                raise ValueError(
                    f"the levels of {where} must be in ascending order, without duplicates"
                )
        ascending: list[Level] = [*numbers, *texts]
        if "order" in state:
            order = state["order"]
            if any(type(index) is not int for index in order) or sorted(order) != list(
                range(len(ascending))
            ):
                raise ValueError(
                    f"'order' of the levels of {where} must be a permutation of 0 to {len(ascending) - 1}"
                )
            return cls([ascending[index] for index in order], ordinal=True)
        if max_levels is not None and len(ascending) > max_levels:
            raise ValueError(
                f"{where} has {len(ascending)} levels; at most {max_levels} are supported"
            )
        return cls(ascending)


class LevelCounts:
    """How often the levels of a categorical column occur, counted batch by batch."""

    def __init__(self) -> None:
        self._counts: dict[Level, int] = {}

    def add(self, coded: CodedColumn) -> None:
        """Count the levels of a batch."""
        counts = np.bincount(coded.codes.astype(np.intp) + 1, minlength=len(coded.levels) + 1)[1:]
        for index in np.flatnonzero(counts).tolist():
            level = canonical_level(coded.levels[index])
            if level is not None:
                self._counts[level] = self._counts.get(level, 0) + int(counts[index])

    def merge(self, other: LevelCounts) -> None:
        """Add the counts of another part of the column."""
        for level, count in other._counts.items():
            self._counts[level] = self._counts.get(level, 0) + count

    def most_frequent(self, max_categories: int | None) -> Levels:
        """Return the levels of all batches, as `Levels.learn` would for the whole column."""
        counts = np.array(list(self._counts.values()), dtype=np.intp)
        return Levels._most_frequent(list(self._counts), counts, max_categories)


def canonical_level(level: object) -> Level | None:
    """Return the same object for equal levels, None for a missing value.

    A level that is neither a number nor text (a date, an interval) is represented by its `str`.
    """
    if isinstance(level, str):
        return str(level)
    if level is None or is_missing_type(type(level)):
        return None
    if isinstance(level, (int, np.integer, np.bool_)):
        integer = int(level)
        if _fits_64_bits(integer):
            return integer
    if isinstance(level, (Real, Decimal)):
        try:
            return _canonical_double(float(level))
        except OverflowError:
            raise ValueError(
                "a category is a number that is too large for float64; convert the categories to text"
            ) from None
    return str(level)


def numeric_values(column: Column, where: str, *, in_training: bool) -> np.ndarray:
    """Return a column as numbers; raise a ValueError that names the column if it contains text."""
    if isinstance(column, NumericColumn):
        return column.as_quantities()
    coded = _drop_unused_levels(column)
    values = np.full(len(coded.levels) + 1, np.nan)  # the code -1 selects the last entry
    for code, level in enumerate(map(canonical_level, coded.levels)):
        if isinstance(level, str):
            before = "" if in_training else "was numeric in training, but "
            advice = "list it in categorical_features, or " if in_training else ""
            raise ValueError(
                f"{where} {before}contains text such as {level!r}; {advice}convert it to numbers"
            )
        if level is not None:
            values[code] = level
    return values[coded.codes]


def _fits_64_bits(integer: int) -> bool:
    return -(2**63) <= integer < 2**64


def _canonical_double(value: float) -> int | float | None:
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() and _fits_64_bits(int(value)) else value


def _number_of_state(item: object, where: str) -> int | float:
    if item in ("inf", "-inf"):
        return float(item)
    if type(item) not in (int, float):
        raise ValueError(f"a numeric level of {where} is {item!r}, which is not a number")
    if type(item) is int and not _fits_64_bits(item):
        raise ValueError(f"a numeric level of {where} is an integer of more than 64 bits")
    number = canonical_level(item)
    if number is None or isinstance(number, str) or math.isinf(number):
        raise ValueError(f"a numeric level of {where} is {item!r}, which is not finite")
    return number


def _drop_unused_levels(coded: CodedColumn) -> CodedColumn:
    """Return the column without the levels that do not occur."""
    used_codes = np.unique(coded.codes)
    used_codes = used_codes[used_codes >= 0]
    levels = [coded.levels[code] for code in used_codes.tolist()]
    # -1 is less than all used codes, so searchsorted maps it to -1 again.
    codes = np.searchsorted(used_codes, coded.codes, side="right") - 1
    return CodedColumn(codes, levels)


def _have_python_equality(levels: list[Any]) -> bool:
    """Return whether Python's equality is that of `canonical_level`, as for the levels of a typed column."""
    kinds = set(map(type, levels))
    if kinds == {int}:
        return _fits_64_bits(min(levels)) and _fits_64_bits(max(levels))
    return kinds <= {str, float, bool, type(None)}


def _merge_equal_levels(levels: list[Any], counts: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Return canonical levels without missing ones; the counts of equal levels are added."""
    if _have_python_equality(levels) and len(set(levels)) == len(levels):
        present = [level is not None and level == level for level in levels]  # NaN != NaN
        return list(compress(levels, present)), counts[present]
    totals: dict[Level, int] = {}
    for level, count in zip(map(canonical_level, levels), counts.tolist(), strict=True):
        if level is not None:
            totals[level] = totals.get(level, 0) + count
    return list(totals), np.array(list(totals.values()), dtype=np.intp)


def _most_frequent_levels(levels: list[Level], counts: np.ndarray, count: int) -> list[Level]:
    """Return the `count` most frequent levels; ties are resolved by the order of the levels."""
    if len(levels) <= count:
        return levels
    limit = np.partition(counts, len(counts) - count)[len(counts) - count]
    frequent = [levels[index] for index in np.flatnonzero(counts > limit).tolist()]
    tied = [levels[index] for index in np.flatnonzero(counts == limit).tolist()]
    return frequent + nsmallest(count - len(frequent), tied, key=_order_key(tied))


def _sort_levels(levels: list[Level]) -> list[Level]:
    return sorted(levels, key=_order_key(levels))


def _order_key(levels: list[Level]) -> Callable[[Any], tuple[bool, Any]] | None:
    """Return a sort key that places numbers before text, None if the levels are all of one kind."""
    if len({isinstance(level, str) for level in levels}) < 2:
        return None
    return lambda level: (isinstance(level, str), level)
