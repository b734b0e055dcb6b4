"""The levels of a categorical column: learned once, then looked up by value."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from heapq import nsmallest
from itertools import compress, pairwise
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from .python_objects import is_missing_type
from .table import Coded, Column, Numbers

# Numbers are whole (int) wherever they can be, so that 1, 1.0 and True are one level.
Level: TypeAlias = int | float | str

MOST_LEVELS = 65_535  # the core's bins have two bytes at most, and one bin is for missing values


class Levels:
    """Levels in code order: numbers ascending, then text by code point.

    The order depends on the values alone, never on who held them or on which came first. Unless it
    means something: *ordinal* levels keep the order that they were given in.
    """

    def __init__(self, ordered: list[Level], ordinal: bool = False) -> None:
        self.ordered = ordered
        self.ordinal = ordinal
        self._code_of = {level: code for code, level in enumerate(ordered)}

    @classmethod
    def learn(cls, coded: Coded, max_categories: int) -> Levels:
        """Levels that occur; of more than `max_categories`, the most frequent ones."""
        shifted = coded.codes.astype(np.intp) + 1  # -1 is missing
        counts = np.bincount(shifted, minlength=len(coded.levels) + 1)[1:]
        occurring = np.flatnonzero(counts)
        levels = [coded.levels[index] for index in occurring.tolist()]
        levels, counts = _merged(levels, counts[occurring])
        kept = _most_frequent(levels, counts, max_categories)
        canonical = [level for level in map(canonical_level, kept) if level is not None]
        return cls(_in_order(canonical))

    @classmethod
    def in_their_order(cls, coded: Coded) -> Levels:
        """Ordinal levels: all that the column's type names, for those that do not occur have a place too."""
        canonical = [level for level in map(canonical_level, coded.levels) if level is not None]
        return cls(list(dict.fromkeys(canonical)), ordinal=True)

    def encode(self, coded: Coded, where: str) -> np.ndarray:
        """The code of each row's level as int32; -1 where it is missing, rare or unseen.

        Codes of ordinal levels are quantities: doubles, NaN for -1. Where no level was ever seen,
        everything is missing and the column is all NaN, as an empty column of numbers would be.
        """
        codes, levels = coded.codes, coded.levels
        if not self.ordered:
            return np.full(len(codes), np.nan)
        if len(levels) > len(codes):  # a few rows of a column with a long list of categories
            coded = _used_only(coded)
            codes, levels = coded.codes, coded.levels
        if _equal_as_they_are(levels):
            looked_up = [self._code_of.get(level, -1) for level in levels]
        else:
            looked_up = [self._look_up(level) for level in levels]
        if max(looked_up, default=-1) < 0:
            self._refuse_other_kind(coded, where)
        looked_up.append(-1)  # found by the code -1
        if self.ordinal:
            places = np.array(looked_up, dtype=float)
            places[places < 0] = np.nan
            return places[codes]
        return np.array(looked_up, dtype=np.int32)[codes]

    def _look_up(self, level: Any) -> int:
        canonical = canonical_level(level)
        return -1 if canonical is None else self._code_of.get(canonical, -1)

    def _refuse_other_kind(self, coded: Coded, where: str) -> None:
        """Numbers where only text was seen are a mistake rather than new levels; so is the reverse.

        Treating them as unseen would answer every row as if the column were missing.
        """
        found = [canonical_level(level) for level in _used_only(coded).levels]
        now = {isinstance(level, str) for level in found if level is not None}
        then = {isinstance(level, str) for level in self.ordered}
        if now and now.isdisjoint(then):
            example = next(level for level in found if level is not None)
            kinds = ("numbers", "text")
            raise ValueError(
                f"{where} held {kinds[then.pop()]} such as {self.ordered[0]!r} in training and "
                f"holds {kinds[now.pop()]} such as {example!r} now: pass the values as they were."
            )

    def to_state(self) -> dict[str, list[Any]]:
        """Numbers and text apart, so that reading needs no guess; infinities as text.

        Both ascend. Ordinal levels have an `order` besides: the place of each in numbers, then texts.
        """
        ascending = _in_order(self.ordered) if self.ordinal else self.ordered
        numbers = [level for level in ascending if not isinstance(level, str)]
        texts = [level for level in ascending if isinstance(level, str)]
        finite = [repr(level) if isinstance(level, float) and math.isinf(level) else level
                  for level in numbers]  # fmt: skip
        state: dict[str, list[Any]] = {"numbers": finite, "texts": texts}
        if self.ordinal:
            place_of = {level: place for place, level in enumerate(ascending)}
            state["order"] = [place_of[level] for level in self.ordered]
        return state

    @classmethod
    def from_state(cls, state: Any, where: str) -> Levels:
        """Checks everything: the state may come from a file of any origin."""
        if not isinstance(state, dict) or not set(state) >= {"numbers", "texts"}:
            raise ValueError(f"levels of {where} must hold 'numbers' and 'texts'.")
        known = [state[key] for key in ("numbers", "texts", "order") if key in state]
        if not all(isinstance(part, list) for part in known):
            raise ValueError(f"levels of {where} must be lists.")
        numbers = [_number_of_state(item, where) for item in state["numbers"]]
        texts = state["texts"]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"text levels of {where} must be strings.")
        for part in (numbers, texts):
            if any(not low < high for low, high in pairwise(part)):
                raise ValueError(f"levels of {where} must ascend, without repeats.")
        ascending: list[Level] = [*numbers, *texts]
        if "order" in state:
            order = state["order"]
            if any(type(place) is not int for place in order) or sorted(order) != list(
                range(len(ascending))
            ):
                raise ValueError(f"the order of the levels of {where} must name each place once.")
            return cls([ascending[place] for place in order], ordinal=True)
        if len(ascending) > MOST_LEVELS:
            raise ValueError(f"{where} has more than {MOST_LEVELS} levels.")
        return cls(ascending)


def canonical_level(level: Any) -> Level | None:
    """One form for equal values; None for a missing one.

    A level that is neither number nor text (a date, an interval) is known by its text.
    """
    if isinstance(level, str):
        return str(level)
    if level is None or is_missing_type(type(level)):
        return None
    if isinstance(level, (int, np.integer, np.bool_)):
        whole = int(level)
        if _fits(whole):
            return whole
    if isinstance(level, (Real, Decimal)):
        try:
            return _canonical_double(float(level))
        except OverflowError:
            raise ValueError(
                "a category is a number too large for a double: turn it into text."
            ) from None
    return str(level)


def quantities(column: Column, where: str, *, in_training: bool) -> np.ndarray:
    """A column as numbers, or an error that names it when it holds text."""
    if isinstance(column, Numbers):
        return column.as_quantities()
    coded = _used_only(column)
    values = np.full(len(coded.levels) + 1, np.nan)  # the last is found by the code -1
    for code, level in enumerate(map(canonical_level, coded.levels)):
        if isinstance(level, str):
            before = "" if in_training else "held numbers in training and "
            advice = "name it in categorical_features, or " if in_training else ""
            raise ValueError(
                f"{where} {before}holds text such as {level!r}: {advice}turn it into numbers."
            )
        if level is not None:
            values[code] = level
    return values[coded.codes]


def _fits(whole: int) -> bool:
    return -(2**63) <= whole < 2**64


def _canonical_double(value: float) -> int | float | None:
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() and _fits(int(value)) else value


def _number_of_state(item: Any, where: str) -> int | float:
    if item in ("inf", "-inf"):
        return float(item)
    if type(item) not in (int, float):
        raise ValueError(f"a numeric level of {where} is {item!r}, which is no number.")
    if type(item) is int and not _fits(item):
        raise ValueError(f"a numeric level of {where} is a whole number beyond 64 bits.")
    number = canonical_level(item)
    if number is None or isinstance(number, str) or math.isinf(number):
        raise ValueError(f"a numeric level of {where} is {item!r}, which is not finite.")
    return number


def _used_only(coded: Coded) -> Coded:
    used = np.unique(coded.codes)
    used = used[used >= 0]
    levels = [coded.levels[code] for code in used.tolist()]
    # Codes of -1 fall before the first used one, and are -1 again.
    codes = np.searchsorted(used, coded.codes, side="right") - 1
    return Coded(codes, levels)


def _equal_as_they_are(levels: list[Any]) -> bool:
    """Whether Python's own equality serves: it does for the levels of one typed column."""
    kinds = set(map(type, levels))
    if kinds == {int}:
        return _fits(min(levels)) and _fits(max(levels))
    return kinds <= {str, float, bool, type(None)}


def _merged(levels: list[Any], counts: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Canonical levels without the missing ones; counts of those that turn out equal add up."""
    if _equal_as_they_are(levels) and len(set(levels)) == len(levels):
        present = [level is not None and level == level for level in levels]  # NaN is not itself
        return list(compress(levels, present)), counts[present]
    totals: dict[Level, int] = {}
    for level, count in zip(map(canonical_level, levels), counts.tolist(), strict=True):
        if level is not None:
            totals[level] = totals.get(level, 0) + count
    return list(totals), np.array(list(totals.values()), dtype=np.intp)


def _most_frequent(levels: list[Level], counts: np.ndarray, most: int) -> list[Level]:
    """Of equally frequent levels at the limit, those that come first in level order."""
    if len(levels) <= most:
        return levels
    limit = np.partition(counts, len(counts) - most)[len(counts) - most]
    kept = [levels[index] for index in np.flatnonzero(counts > limit).tolist()]
    tied = [levels[index] for index in np.flatnonzero(counts == limit).tolist()]
    return kept + nsmallest(most - len(kept), tied, key=_order_key(tied))


def _in_order(levels: list[Level]) -> list[Level]:
    return sorted(levels, key=_order_key(levels))


def _order_key(levels: list[Level]) -> Callable[[Any], tuple[bool, Any]] | None:
    """Numbers before text; None where the levels are all of one kind."""
    if len({isinstance(level, str) for level in levels}) < 2:
        return None
    return lambda level: (isinstance(level, str), level)
