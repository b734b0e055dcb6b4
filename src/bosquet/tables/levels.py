"""Columns as codes and distinct values (levels), so that each level is processed only once."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

from bosquet.tables.numerals import MISSING

_MISSING = frozenset(MISSING)


@dataclass(frozen=True)
class Factorized:
    """A column as `codes` of its distinct values `levels`; -1 is a missing value."""

    codes: np.ndarray
    levels: list[Any]

    @property
    def counts(self) -> np.ndarray:
        """Number of rows per level."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))

    def to_rows(self, by_level: np.ndarray, missing: Any = np.nan) -> np.ndarray:
        """Return the value of each row, given one value per level."""
        if not len(by_level):
            return np.full(len(self.codes), missing)
        values = by_level[np.maximum(self.codes, 0)]
        is_missing = self.codes < 0
        if is_missing.any():
            if values.dtype.kind in "iub":
                values = values.astype(float)
            values[is_missing] = missing
        return values


def factorize(series: Any) -> Factorized | None:
    """Return the codes and levels of a column, stripped of blanks and without words for missing values.

    The result is None for unhashable values such as lists.
    """
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        codes, levels = series.cat.codes.to_numpy().astype(np.intp), series.cat.categories.tolist()
        occurs = np.bincount(codes[codes >= 0], minlength=len(levels)) > 0
    else:
        try:
            codes, unique = pd.factorize(series, use_na_sentinel=True)
        except TypeError:
            return None
        levels = unique.tolist()
        occurs = np.ones(len(levels), dtype=bool)
    kinds = set(map(type, levels))
    if any(issubclass(kind, bytes | list | dict | tuple | set | np.ndarray) for kind in kinds):
        return None
    if kinds == {str} and occurs.all():
        levels = [level.strip() for level in levels]
        different = set(levels)
        if len(different) == len(levels) and not different & _MISSING:
            return Factorized(codes.astype(np.intp), levels)  # unchanged, the common and fast case
    code_of: dict[Any, int] = {}
    new = np.full(len(levels) + 1, -1, dtype=np.intp)
    for code, level in enumerate(levels):
        if isinstance(level, str):
            level = level.strip()
        if (
            occurs[code]
            and not (isinstance(level, str) and level in _MISSING)
            and level is not None
        ):
            new[code] = code_of.setdefault(level, len(code_of))
    return Factorized(new[codes], list(code_of))


def texts_of(levels: list[Any]) -> list[str]:
    """Return levels as text."""
    return levels if set(map(type, levels)) == {str} else [text_of(level) for level in levels]


def text_of(level: Any) -> str:
    """Return a level as text; integers of any type have no decimal point."""
    if isinstance(level, str):
        return level
    if isinstance(level, float | np.floating) and float(level).is_integer():
        return str(int(level))
    return str(level)


def all_instances(levels: list[Any], *kinds: Any) -> bool:
    """Return whether there are levels and all are instances of these types."""
    return bool(levels) and all(issubclass(kind, kinds) for kind in set(map(type, levels)))


NUMBERS = (Number, Decimal, np.number, np.bool_)
DATES = (datetime.date, datetime.datetime, np.datetime64)
