"""Plans of columns: how a column is converted, decided on the training table and applied to new tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bosquet.tables.dates import (
    CYCLES,
    ELAPSED,
    FORMATS,
    PARTS,
    as_dates,
    date_format,
    date_part,
    parsed_dates,
    recurring_parts,
    varied_parts,
)
from bosquet.tables.errors import TableError
from bosquet.tables.levels import (
    DATES,
    NUMBERS,
    Factorized,
    all_instances,
    factorized,
    text_of,
    texts_of,
)
from bosquet.tables.numerals import decimal_mark, looks_numeric, numbers_of
from bosquet.tables.unique_rows import UniqueRows

KINDS = ("number", "boolean", "category", "ordinal", "date", "left out")
REASONS = ("", "constant", "empty", "identifier", "text", "nested")

MIN_ROWS = 20  # with fewer rows, row numbers cannot be distinguished from quantities
FEW_LEVELS = 20  # up to this many distinct texts are a category, for any number of rows
MIN_ROWS_PER_LEVEL = 3  # on average; with fewer rows a level is not informative
MANY_LEVELS = 100  # a category with more levels gets a note
MIXED = 0.1  # share of numbers among text that gets a note
AS_PARTS = "a date, turned into its parts"  # a note
_SAMPLED = 500  # levels checked for numbers among them
_ONE_BY_ONE = 2000  # maximum number of levels converted one by one if they have different formats
# A text column is numeric, and its other words are missing values, if at least this share is numbers. A
# column is an identifier if at least this share of its values is distinct.
MOSTLY = 0.9
MOSTLY_ONE_WORD = 0.5  # the same if there is only one other word

_IDENTIFIER = re.compile(
    r"(?:^|[_ .\-])(?:id|uid|uuid|guid|key|index|rowid|row|nr|no)$|[a-z]I[Dd]$"
)


@dataclass(frozen=True)
class ColumnPlan:
    """How a column of the training table is converted.

    `outputs` are the resulting columns: the column itself, the parts of a date, or none.
    """

    name: str
    kind: str
    reason: str = ""  # why it is left out
    decimal: str = "."  # decimal separator of numbers stored as text
    format: str | None = None  # of dates stored as text
    parts: tuple[str, ...] = ()  # of dates
    levels: tuple[str, ...] = ()  # of ordered categories
    outputs: tuple[str, ...] = field(default=())

    def to_state(self) -> dict[str, Any]:
        """Return the plan as a JSON-serialisable dict, without default values."""
        state: dict[str, Any] = {"name": self.name, "kind": self.kind}
        for key in ("reason", "format", "parts", "levels"):
            value = getattr(self, key)
            if value:
                state[key] = list(value) if isinstance(value, tuple) else value
        if self.decimal != ".":
            state["decimal"] = self.decimal
        if self.kind != "left out" and self.outputs != (self.name,):
            state["outputs"] = list(self.outputs)
        return state

    @classmethod
    def from_state(cls, state: Any) -> ColumnPlan:
        """Return the plan of a state; raise ValueError if the state is invalid."""
        if not isinstance(state, dict) or not set(state) <= set(cls.__dataclass_fields__):
            raise ValueError("invalid column plan: it must be a dict with the keys of ColumnPlan")
        name, kind = state.get("name"), state.get("kind")
        if not isinstance(name, str) or kind not in KINDS:
            raise ValueError("invalid column plan: name or kind is missing or invalid")
        lists = {}
        for key in ("parts", "levels", "outputs"):
            given = state.get(key, [] if key != "outputs" or kind == "left out" else [name])
            if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
                raise ValueError(
                    f"invalid plan of column {name!r}: {key} must be a list of strings"
                )
            lists[key] = tuple(given)
        plan = cls(
            name,
            kind,
            state.get("reason", ""),
            state.get("decimal", "."),
            state.get("format"),
            **lists,
        )
        parts = len(plan.parts) if kind == "date" else int(kind != "left out")
        if (
            plan.reason not in REASONS
            or plan.decimal not in (".", ",")
            or plan.format not in (None, *FORMATS)
            or not set(plan.parts) <= {*PARTS, *CYCLES, ELAPSED}
            or len(plan.outputs) != parts
            or len(set(plan.levels)) != len(plan.levels)
            or (plan.reason != "" and kind != "left out")
            or ((plan.format or plan.parts) and kind != "date")
            or (plan.levels and kind != "ordinal")
        ):
            raise ValueError(f"invalid plan of column {name!r}: its values contradict each other")
        return plan

    def over_time(self, series: Any) -> ColumnPlan:
        """Return the plan for predicting later rows: dates become recurring parts and elapsed time."""
        if self.kind != "date":
            return self
        parts = (*recurring_parts(dates_of(self, series)), ELAPSED)
        return replace(self, parts=parts, outputs=tuple(f"{self.name}.{part}" for part in parts))

    def without_elapsed(self) -> ColumnPlan:
        """Return the plan without elapsed time, unless that is the only part."""
        kept = [pair for pair in zip(self.parts, self.outputs, strict=False) if pair[0] != ELAPSED]
        if self.kind != "date" or not kept:
            return self
        parts, outputs = zip(*kept, strict=True)
        return replace(self, parts=parts, outputs=outputs)

    def apply(self, series: Any) -> tuple[list[Any], str]:
        """Return the converted columns, and a note if values could not be converted."""
        if self.kind == "left out":
            return [], ""
        if self.kind in ("number", "boolean"):
            return _numbers(self, series)
        if self.kind == "date":
            dates, note = _dates(self, series)
            return [date_part(dates, part) for part in self.parts], note
        return _categories(self, series)


# ---------------------------------------------------------------------------------------- planning
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
        return _varied(ColumnPlan(name, "boolean", outputs=(name,)), values)
    if pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c":
        return _plan_numbers(name, as_numbers(series), dtype.kind in "iu", unique_rows=unique_rows)
    if pd.api.types.is_timedelta64_dtype(dtype):
        return _plan_numbers(name, as_numbers(series), whole=False)
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return _plan_dates(name, as_dates(series), None, "")
    known = factorized(series)
    if known is None or dtype.kind == "c":
        return _left_out(name, "nested"), "lists or other nested values; left out"
    if not known.levels:
        return _left_out(name, "empty"), "empty; left out"
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        levels = tuple(dict.fromkeys(text_of(level) for level in dtype.categories))
        return ColumnPlan(name, "ordinal", levels=levels, outputs=(name,)), ""
    return _plan_levels(name, known, isinstance(dtype, pd.CategoricalDtype))


def has_identifier_name(name: str) -> bool:
    """Return whether a column has a typical name of an identifier."""
    return _IDENTIFIER.search(name.strip()) is not None


def _left_out(name: str, reason: str) -> ColumnPlan:
    return ColumnPlan(name, "left out", reason)


def _varied(plan: ColumnPlan, values: np.ndarray) -> tuple[ColumnPlan, str]:
    """Return the plan, unless the column is empty or constant."""
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if not known.size:
        return _left_out(plan.name, "empty"), "empty; left out"
    if known.size == values.size and known.min() == known.max() and values.size > 1:
        return _left_out(plan.name, "constant"), "constant; left out"
    return plan, ""


def _plan_numbers(
    name: str,
    values: np.ndarray,
    whole: bool,
    decimal: str = ".",
    unique_rows: UniqueRows | None = None,
) -> tuple[ColumnPlan, str]:
    plan, note = _varied(ColumnPlan(name, "number", decimal=decimal, outputs=(name,)), values)
    if note:
        return plan, note
    if whole and values.dtype.kind in "iu" and values.size >= MIN_ROWS:
        found = _identifies(name, values, unique_rows)
        if found:
            return _left_out(name, "identifier"), f"{found}; left out"
    if values.dtype.kind == "f" and np.isinf(values).any():
        return plan, "infinite values are treated as missing"
    return plan, ""


def _identifies(name: str, values: np.ndarray, unique_rows: UniqueRows | None) -> str:
    """Return why integers are an identifier, or ""; duplicate rows count as one row."""
    like_row_numbers = abs(int(values[1]) - int(values[0])) <= 1  # 0 for duplicate rows
    if not like_row_numbers and not has_identifier_name(name):
        return ""
    distinct = np.unique(values).size
    if distinct < values.size:
        if unique_rows is None or distinct < max(MIN_ROWS, values.size / 2):
            return ""
        values = unique_rows.of(values)
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
        return _left_out(name, "empty"), "empty; left out"
    parts = tuple(varied_parts(dates))
    if not parts:
        return _left_out(name, "constant"), "constant; left out"
    outputs = tuple(f"{name}.{part}" for part in parts)
    full_note = AS_PARTS + (f"; {note}" if note else "")
    return ColumnPlan(name, "date", format=form, parts=parts, outputs=outputs), full_note


def _plan_levels(name: str, known: Factorized, given: bool) -> tuple[ColumnPlan, str]:
    """Plan a column of text or objects; a categorical one (`given`) stays so unless it has dates."""
    if all_instances(known.levels, *DATES):
        return _plan_dates(name, _object_dates(known), None, "")
    texts = texts_of(known.levels)
    kinds = {issubclass(kind, str) for kind in set(map(type, known.levels))}
    if kinds == {False} and all_instances(known.levels, *NUMBERS) and not given:
        numbers = known.to_rows(np.array([float(level) for level in known.levels]))
        return _plan_numbers(name, numbers, whole=False)
    if len(texts) <= 8 and {text.lower() for text in texts} <= {"true", "false"} and not given:
        return _varied(ColumnPlan(name, "boolean", outputs=(name,)), _truth(known, texts))
    form = date_format(texts) if kinds == {True} else None
    if form is not None:
        note = f"read as {form[0]}; another order of day and month is possible too"
        dates = known.to_rows(parsed_dates(texts, form[0]), np.datetime64("NaT"))
        return _plan_dates(name, dates, form[0], note if form[1] else "")
    if given:
        return _plan_categories(name, known, texts, "")
    return _plan_texts(name, known, texts)


def _plan_texts(name: str, known: Factorized, texts: Sequence[str]) -> tuple[ColumnPlan, str]:
    """Plan a column of text, all or nearly all of which may be numbers."""
    decimal = decimal_mark(texts[:1000])
    found = _numbers_among(texts, decimal)
    right = ~np.isnan(found)
    if right.all():
        return _plan_numbers(name, known.to_rows(found), whole=False, decimal=decimal)
    share = known.counts[right].sum() / max(known.counts.sum(), 1)
    # A single word that repeats among numbers marks missing values; nothing is lost by reading it as missing.
    one_word = share >= MOSTLY_ONE_WORD and len(texts) - right.sum() == 1
    if (share >= MOSTLY or one_word) and right.sum() > FEW_LEVELS:
        plan, note = _plan_numbers(name, known.to_rows(found), False, decimal)
        wrong = [texts[place] for place in np.flatnonzero(~right).tolist()]
        return plan, note or f"numbers, except {_some(wrong)}, read as missing"
    mixed = "mixed numbers and text, read as a category" if share > MIXED else ""
    return _plan_categories(name, known, texts, mixed)


def _plan_categories(
    name: str, known: Factorized, texts: Sequence[str], note: str
) -> tuple[ColumnPlan, str]:
    counts = known.counts
    rows, distinct = int(counts.sum()), len(texts)
    if distinct == 1 and rows == len(known.codes) and rows > 1:
        return _left_out(name, "constant"), "constant; left out"
    if distinct > max(FEW_LEVELS, rows / MIN_ROWS_PER_LEVEL):
        identifies = distinct >= MOSTLY * rows and not any(" " in text for text in texts[:1000])
        reason = "identifier" if identifies else "text"
        what = "an identifier" if identifies else "text"
        often = "every row" if distinct == rows else "most rows"
        return _left_out(name, reason), f"{what}, different in {often}; left out"
    if distinct > MANY_LEVELS and not note:
        note = "a category with many levels"
    return ColumnPlan(name, "category", outputs=(name,)), note


def _some(texts: Sequence[str]) -> str:
    shown = ", ".join(repr(text[:20]) for text in texts[:3])
    return shown + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")


# ---------------------------------------------------------------------------------------- applying
def as_numbers(series: Any) -> np.ndarray:
    """Return a column of a numeric type as an array; durations are in seconds."""
    import pandas as pd

    if isinstance(series.dtype, np.dtype) and series.dtype.kind == "f":
        return np.asarray(series.to_numpy(), dtype=float)
    if pd.api.types.is_timedelta64_dtype(series.dtype):
        return series.dt.total_seconds().to_numpy(dtype=float)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iub":
        values: np.ndarray = series.to_numpy()
        return values.astype(np.int8) if values.dtype.kind == "b" else values
    if not isinstance(series.dtype, np.dtype) and not series.isna().any():
        kind = getattr(series.dtype, "kind", "f")
        if kind in "iu":
            return series.to_numpy(dtype=np.int64)
    return series.to_numpy(dtype=float, na_value=np.nan)


def _finite(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f" and np.isinf(values).any():
        values = np.where(np.isinf(values), np.nan, values)
    return values


def _numbers_among(texts: Sequence[str], decimal: str) -> np.ndarray:
    """Return the number in each text, NaN if it is not a number."""
    import pyarrow as pa

    together = numbers_of(pa.array(texts, pa.string()), decimal) if texts else None
    if together is not None:
        return together.to_numpy(zero_copy_only=False).astype(float)
    numbers = np.full(len(texts), np.nan)
    if not any(map(looks_numeric, texts[:: max(1, len(texts) // _SAMPLED)])):
        return numbers
    places = [place for place, text in enumerate(texts) if looks_numeric(text)]
    some = [texts[place] for place in places]
    together = numbers_of(pa.array(some, pa.string()), decimal) if some else None
    if together is not None:
        numbers[places] = together.to_numpy(zero_copy_only=False)
    elif len(some) <= _ONE_BY_ONE:
        for place in places:
            found = numbers_of(pa.array([texts[place]], pa.string()), decimal)
            if found is not None and found[0].is_valid:
                numbers[place] = found[0].as_py()
    return numbers


def _truth(known: Factorized, texts: Sequence[str]) -> np.ndarray:
    return known.to_rows(np.array([float(text.lower() == "true") for text in texts]))


def _numbers(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return [_finite(series.to_numpy())], ""
    is_number = pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    if is_number and not isinstance(dtype, pd.CategoricalDtype):
        return [_finite(as_numbers(series))], ""
    known = factorized(series)
    if known is None:
        raise TableError(
            f"column {plan.name!r} has nested values, but was numeric in training; pass numbers"
        )
    if all_instances(known.levels, *NUMBERS):
        return [_finite(known.to_rows(np.array([float(level) for level in known.levels])))], ""
    texts = texts_of(known.levels)
    if {text.lower() for text in texts} <= {"true", "false"}:
        return [_truth(known, texts)], ""
    found = _numbers_among(texts, plan.decimal)
    wrong = [texts[place] for place in np.flatnonzero(np.isnan(found)).tolist()]
    if texts and len(wrong) == len(texts):
        raise TableError(
            f"column {plan.name!r} was numeric in training, but now has text such as {wrong[0][:30]!r}; pass"
            " numbers"
        )
    note = f"not numeric, treated as missing: {_some(wrong)}" if wrong else ""
    return [_finite(known.to_rows(found))], note


def _object_dates(known: Factorized) -> np.ndarray:
    import pandas as pd

    return known.to_rows(as_dates(pd.Series(known.levels, dtype=object)), np.datetime64("NaT"))


def dates_of(plan: ColumnPlan, series: Any) -> np.ndarray:
    """Return a column that was planned as dates, as datetime64."""
    return _dates(plan, series)[0]


def _dates(plan: ColumnPlan, series: Any) -> tuple[np.ndarray, str]:
    import pandas as pd

    dtype = series.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return as_dates(series), ""
    known = factorized(series)
    if known is not None and all_instances(known.levels, *DATES):
        return _object_dates(known), ""
    texts = [] if known is None else texts_of(known.levels)
    dates = parsed_dates(texts, plan.format or "ISO8601")
    if known is None or (texts and np.isnat(dates).all()):
        shown = f" such as {texts[0][:30]!r}" if texts else ""
        raise TableError(
            f"column {plan.name!r} had dates in training, but now has other values{shown}; pass dates in the"
            " same format"
        )
    wrong = [texts[place] for place in np.flatnonzero(np.isnat(dates)).tolist()]
    note = (
        f"not in the date format of training, treated as missing: {_some(wrong)}" if wrong else ""
    )
    return known.to_rows(dates, np.datetime64("NaT")), note


def _categories(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    import pandas as pd

    known = factorized(series)
    if known is None:
        raise TableError(
            f"column {plan.name!r} was a category in training, but now has lists or other nested values"
        )
    texts = texts_of(known.levels)
    levels = list(plan.levels) if plan.kind == "ordinal" else sorted(set(texts))
    place = {level: code for code, level in enumerate(levels)}
    new = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.intp)
    coded = pd.Categorical.from_codes(
        new[known.codes], categories=pd.Index(levels, dtype=object), ordered=plan.kind == "ordinal"
    )
    return [coded], ""
