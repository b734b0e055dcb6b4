"""Columns of a table for exploration: numbers or category codes, and their bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bosquet.tables.column_plan import ColumnPlan
from bosquet.tables.conversion import as_numbers, dates_of, floats_of
from bosquet.tables.dates import ELAPSED, date_part
from bosquet.tables.levels import factorize, texts_of

BINS = 20  # to measure the association of a number with the target
FINE_BINS = 200  # to detect a target leak
# Kinds in the record of columns that are left out; without a reason it is a number left out by the design.
_LEFT_OUT_KINDS = {"": "number", "empty": "constant", "nested": "text"}


@dataclass
class Feature:
    """A column: `numbers` (NaN if missing), or `codes` of `levels` (-1 if missing)."""

    plan: ColumnPlan
    kind: str  # as in the record: number, category, date, text, identifier, constant
    numbers: np.ndarray | None = None
    codes: np.ndarray | None = None
    levels: list[str] | None = None

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def used(self) -> bool:
        """Whether the methods use the column."""
        return self.plan.used

    @cached_property
    def missing(self) -> np.ndarray:
        """Boolean mask of missing values."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        assert self.codes is not None
        return self.codes < 0

    @cached_property
    def ordered(self) -> np.ndarray:
        """The numbers that are not missing, in ascending order."""
        assert self.numbers is not None
        return np.sort(self.numbers[~self.missing])

    @cached_property
    def distinct(self) -> int:
        """The number of distinct values."""
        if self.levels is not None:
            return len(self.levels)
        values = self.ordered
        return int(np.count_nonzero(values[1:] != values[:-1])) + 1 if values.size else 0

    def bins(self, max_bins: int = BINS) -> tuple[np.ndarray, int]:
        """Return a bin code per row and the number of bins; the last bin holds missing values.

        Numbers are divided at quantiles. The most frequent levels of a category have a bin each.
        """
        if self.numbers is not None:
            cuts = (
                np.unique(np.quantile(self.ordered, np.linspace(0, 1, max_bins + 1)[1:-1]))
                if self.ordered.size
                else np.zeros(0)
            )
            codes = np.searchsorted(cuts, self.numbers, side="left")
            count = len(cuts) + 1
        else:
            assert self.codes is not None
            counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels or []))
            order = np.argsort(-counts, kind="stable")
            bin_of_level = np.minimum(np.argsort(order), max_bins)
            codes = (
                bin_of_level[self.codes]
                if counts.size
                else np.zeros(len(self.codes), dtype=np.intp)
            )
            count = min(len(counts), max_bins + 1)
        codes = np.where(self.missing, count, codes)
        return codes.astype(np.intp), count + 1

    def take(self, rows: np.ndarray) -> Feature:
        """Return the column of some rows."""
        return Feature(
            self.plan,
            self.kind,
            None if self.numbers is None else self.numbers[rows],
            None if self.codes is None else self.codes[rows],
            self.levels,
        )


def feature_of(plan: ColumnPlan, series: Any) -> Feature:
    """Return a column as the tidier reads it."""
    if plan.kind in ("number", "boolean"):
        return Feature(plan, "number", numbers=floats_of(plan, series))
    if plan.kind == "date":
        # Fractional years are readable on an axis.
        return Feature(plan, "date", numbers=date_part(dates_of(plan, series), ELAPSED))
    kind = "category" if plan.used else _LEFT_OUT_KINDS.get(plan.reason, plan.reason)
    if not plan.used and series.dtype.kind in "iufb":
        return Feature(plan, kind, numbers=np.asarray(as_numbers(series), dtype=float))
    encoded = factorize(series)
    if encoded is None:  # lists and other unhashable values
        return Feature(plan, kind, codes=np.full(len(series), -1), levels=[])
    return Feature(plan, kind, codes=encoded.codes, levels=texts_of(encoded.levels))
