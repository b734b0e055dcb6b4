"""The plan of a column: how it is read, decided on the training table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bosquet.tables.column_plan import ColumnPlan, Reason
from bosquet.tables.conversion import (
    as_numbers,
    dates_of,
    example_texts,
    numbers_in_texts,
    object_dates,
    truth_values,
)
from bosquet.tables.dates import (
    ELAPSED,
    as_dates,
    date_format,
    parse_dates,
    recurring_parts,
    varied_parts,
)
from bosquet.tables.levels import (
    DATES,
    NUMBERS,
    Factorized,
    all_instances,
    factorize,
    text_of,
    texts_of,
)
from bosquet.tables.numerals import decimal_mark
from bosquet.tables.unique_rows import UniqueRows

MIN_ROWS_OF_ROW_NUMBERS = 20  # with fewer rows, row numbers cannot be distinguished from quantities
FEW_LEVELS = 20  # up to this many distinct texts are a category, for any number of rows
MIN_ROWS_PER_LEVEL = 3  # on average; with fewer rows a level is not informative
MANY_LEVELS = 100  # a category with more levels gets a note
MIXED = 0.1  # share of numbers among text that gets a note
# A text column is numeric, and its other words are missing values, if at least this share is numbers. A
# column is an identifier if at least this share of its values is distinct.
MOSTLY = 0.9
MOSTLY_ONE_WORD = 0.5  # the same if there is only one other word

# Notes on dates.
AS_PARTS = "a date, turned into its parts"
AS_RECURRING = "a date, turned into recurring parts and elapsed time in years"
AS_ELAPSED = "a date, turned into elapsed time in years"

_IDENTIFIER = re.compile(
    r"(?:^|[_ .\-])(?:id|uid|uuid|guid|key|index|rowid|row|nr|no)$|[a-z]I[Dd]$"
)


def plan_column(
    name: str, series: Any, unique_rows: UniqueRows | None = None
) -> tuple[ColumnPlan, str]:
    """Return the plan of a column, and a note for the reader or "".

    `unique_rows` are the rows of the table without duplicates, in which an identifier does not repeat.
    """
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":  # the most frequent case first
        return _plan_numbers(name, series.to_numpy(), dtype.kind != "f", unique_rows=unique_rows)
    if pd.api.types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        values = series.to_numpy(dtype=float, na_value=np.nan)
        return _left_out_if_constant(ColumnPlan(name, "boolean", outputs=(name,)), values)
    if pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c":
        return _plan_numbers(name, as_numbers(series), dtype.kind in "iu", unique_rows=unique_rows)
    if pd.api.types.is_timedelta64_dtype(dtype):
        return _plan_numbers(name, as_numbers(series), whole=False)
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return _plan_dates(name, as_dates(series), None, "")
    factor = factorize(series)
    if factor is None or dtype.kind == "c":
        return _left_out_plan(name, "nested"), "lists or other nested values; left out"
    if not factor.levels:
        return _left_out_plan(name, "empty"), "empty; left out"
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        levels = tuple(dict.fromkeys(text_of(level) for level in dtype.categories))
        return ColumnPlan(name, "ordinal", levels=levels, outputs=(name,)), ""
    return _plan_levels(name, factor, isinstance(dtype, pd.CategoricalDtype))


def plan_over_time(plan: ColumnPlan, note: str, series: Any) -> tuple[ColumnPlan, str]:
    """Change a plan and its note for a model of later rows: dates become recurring parts and elapsed time."""
    if plan.kind != "date":
        return plan, note
    parts = (*recurring_parts(dates_of(plan, series)), ELAPSED)
    outputs = tuple(f"{plan.name}.{part}" for part in parts)
    note = note.replace(AS_PARTS, AS_ELAPSED if len(parts) == 1 else AS_RECURRING)
    return replace(plan, parts=parts, outputs=outputs), note


def has_identifier_name(name: str) -> bool:
    """Return whether a column has a typical name of an identifier."""
    return _IDENTIFIER.search(name.strip()) is not None


def _left_out_plan(name: str, reason: Reason) -> ColumnPlan:
    return ColumnPlan(name, "left out", reason)


def _left_out_if_constant(plan: ColumnPlan, values: np.ndarray) -> tuple[ColumnPlan, str]:
    """Return the plan, unless the column is empty or constant."""
    present = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if not present.size:
        return _left_out_plan(plan.name, "empty"), "empty; left out"
    if present.size == values.size and present.min() == present.max() and values.size > 1:
        return _left_out_plan(plan.name, "constant"), "constant; left out"
    return plan, ""


def _plan_numbers(
    name: str,
    values: np.ndarray,
    whole: bool,
    decimal: str = ".",
    unique_rows: UniqueRows | None = None,
) -> tuple[ColumnPlan, str]:
    plan, note = _left_out_if_constant(
        ColumnPlan(name, "number", decimal=decimal, outputs=(name,)), values
    )
    if note:
        return plan, note
    if whole and values.dtype.kind in "iu" and values.size >= MIN_ROWS_OF_ROW_NUMBERS:
        reason = _identifier_reason(name, values, unique_rows)
        if reason:
            return _left_out_plan(name, "identifier"), f"{reason}; left out"
    if values.dtype.kind == "f" and np.isinf(values).any():
        return plan, "infinite values are treated as missing"
    return plan, ""


def _identifier_reason(name: str, values: np.ndarray, unique_rows: UniqueRows | None) -> str:
    """Return why integers are an identifier, or ""; duplicate rows count as one row."""
    like_row_numbers = abs(int(values[1]) - int(values[0])) <= 1  # 0 for duplicate rows
    if not like_row_numbers and not has_identifier_name(name):
        return ""
    distinct = np.unique(values).size
    if distinct < values.size:
        if unique_rows is None or distinct < max(MIN_ROWS_OF_ROW_NUMBERS, values.size / 2):
            return ""
        values = unique_rows.values_of(values)
        if distinct < values.size:
            return ""
    steps = np.diff(values)
    if abs(int(steps[0])) == 1 and (steps == steps[0]).all():
        return "row numbers"
    return "an identifier, different in every row" if has_identifier_name(name) else ""


def _plan_dates(
    name: str, dates: np.ndarray, form: str | None, note: str
) -> tuple[ColumnPlan, str]:
    if np.isnat(dates).all():
        return _left_out_plan(name, "empty"), "empty; left out"
    parts = tuple(varied_parts(dates))
    if not parts:
        return _left_out_plan(name, "constant"), "constant; left out"
    outputs = tuple(f"{name}.{part}" for part in parts)
    full_note = AS_PARTS + (f"; {note}" if note else "")
    return ColumnPlan(name, "date", format=form, parts=parts, outputs=outputs), full_note


def _plan_levels(name: str, factor: Factorized, is_categorical: bool) -> tuple[ColumnPlan, str]:
    """Plan a column of text or objects; a categorical one (`is_categorical`) stays so unless it has dates."""
    if all_instances(factor.levels, *DATES):
        return _plan_dates(name, object_dates(factor), None, "")
    texts = texts_of(factor.levels)
    kinds = {issubclass(kind, str) for kind in set(map(type, factor.levels))}
    if kinds == {False} and all_instances(factor.levels, *NUMBERS) and not is_categorical:
        numbers = factor.to_rows(np.array([float(level) for level in factor.levels]))
        return _plan_numbers(name, numbers, whole=False)
    if (
        len(texts) <= 8
        and {text.lower() for text in texts} <= {"true", "false"}
        and not is_categorical
    ):
        return _left_out_if_constant(
            ColumnPlan(name, "boolean", outputs=(name,)), truth_values(factor, texts)
        )
    form = date_format(texts) if kinds == {True} else None
    if form is not None:
        note = f"read as {form[0]}; another order of day and month is possible too"
        dates = factor.to_rows(parse_dates(texts, form[0]), np.datetime64("NaT"))
        return _plan_dates(name, dates, form[0], note if form[1] else "")
    if is_categorical:
        return _plan_categories(name, factor, texts, "")
    return _plan_texts(name, factor, texts)


def _plan_texts(name: str, factor: Factorized, texts: Sequence[str]) -> tuple[ColumnPlan, str]:
    """Plan a column of text, all or nearly all of which may be numbers."""
    decimal = decimal_mark(texts[:1000])
    numbers = numbers_in_texts(texts, decimal)
    right = ~np.isnan(numbers)
    if right.all():
        return _plan_numbers(name, factor.to_rows(numbers), whole=False, decimal=decimal)
    share = factor.counts[right].sum() / max(factor.counts.sum(), 1)
    # A single word that repeats among numbers marks missing values; nothing is lost by reading it as missing.
    one_word = share >= MOSTLY_ONE_WORD and len(texts) - right.sum() == 1
    if (share >= MOSTLY or one_word) and right.sum() > FEW_LEVELS:
        plan, note = _plan_numbers(name, factor.to_rows(numbers), False, decimal)
        wrong = [texts[index] for index in np.flatnonzero(~right).tolist()]
        return plan, note or f"numbers, except {example_texts(wrong)}, read as missing"
    mixed = "mixed numbers and text, read as a category" if share > MIXED else ""
    return _plan_categories(name, factor, texts, mixed)


def _plan_categories(
    name: str, factor: Factorized, texts: Sequence[str], note: str
) -> tuple[ColumnPlan, str]:
    counts = factor.counts
    rows, distinct = int(counts.sum()), len(texts)
    if distinct == 1 and rows == len(factor.codes) and rows > 1:
        return _left_out_plan(name, "constant"), "constant; left out"
    if distinct > max(FEW_LEVELS, rows / MIN_ROWS_PER_LEVEL):
        identifies = distinct >= MOSTLY * rows and not any(" " in text for text in texts[:1000])
        reason: Reason = "identifier" if identifies else "text"
        what = "an identifier" if identifies else "text"
        often = "every row" if distinct == rows else "most rows"
        return _left_out_plan(name, reason), f"{what}, different in {often}; left out"
    if distinct > MANY_LEVELS and not note:
        note = "a category with many levels"
    return ColumnPlan(name, "category", outputs=(name,)), note
