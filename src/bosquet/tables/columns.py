"""What becomes of a column: decided once, done again on every later table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bosquet.tables.copies import Originals
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
from bosquet.tables.levels import DATES, NUMBERS, Leveled, holds, leveled, text_of, texts_of
from bosquet.tables.numerals import decimal_mark, looks_numeric, numbers_of

KINDS = ("number", "boolean", "category", "ordinal", "date", "left out")
REASONS = ("", "constant", "empty", "identifier", "text", "nested")

FEWEST_ROWS = 20  # fewer do not tell a number of a row from a quantity
FEW_LEVELS = 20  # as many texts are categories, however few rows there are
FEWEST_ROWS_A_LEVEL = 3  # on average; of fewer nothing can be learned
MANY_LEVELS = 100  # a category with more is worth a note
MIXED = 0.1  # share of numbers among text that is worth a note
AS_PARTS = "a date, turned into its parts"  # a note
_LOOKED_AT = 500  # levels that tell whether there are numbers among them
_ONE_BY_ONE = 2000  # levels read each by itself, where they are not numbers of one kind
MOSTLY = (
    0.9  # share of numbers from which on other words stand for nothing, of different names in a row
)
MORE_THAN_GAPS = 0.5  # share of numbers from which on a single other word stands for nothing

_IDENTIFIER = re.compile(
    r"(?:^|[_ .\-])(?:id|uid|uuid|guid|key|index|rowid|row|nr|no)$|[a-z]I[Dd]$"
)


@dataclass(frozen=True)
class ColumnPlan:
    """What a column of the training table was found to be.

    `outputs` are the columns it becomes: itself, the parts of a date, or none.
    """

    name: str
    kind: str
    reason: str = ""  # why it is left out
    decimal: str = "."  # of numbers that come as text
    format: str | None = None  # of dates that come as text
    parts: tuple[str, ...] = ()  # of dates
    levels: tuple[str, ...] = ()  # of ordered categories
    outputs: tuple[str, ...] = field(default=())

    def to_state(self) -> dict[str, Any]:
        """What JSON can hold; defaults are left out."""
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
        """The plan of a state; a ValueError for anything else."""
        if not isinstance(state, dict) or not set(state) <= set(cls.__dataclass_fields__):
            raise ValueError("the plan of a column is not valid")
        name, kind = state.get("name"), state.get("kind")
        if not isinstance(name, str) or kind not in KINDS:
            raise ValueError("the plan of a column has no valid name or kind")
        lists = {}
        for key in ("parts", "levels", "outputs"):
            given = state.get(key, [] if key != "outputs" or kind == "left out" else [name])
            if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
                raise ValueError(f"{key} of the column {name!r} must be a list of text")
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
            raise ValueError(f"the plan of the column {name!r} is not valid")
        return plan

    def over_time(self, series: Any) -> ColumnPlan:
        """The same plan for rows that are followed by later ones: parts that recur, and elapsed time."""
        if self.kind != "date":
            return self
        parts = (*recurring_parts(dates_of(self, series)), ELAPSED)
        return replace(self, parts=parts, outputs=tuple(f"{self.name}.{part}" for part in parts))

    def without_elapsed(self) -> ColumnPlan:
        """The same plan without the elapsed time, if that leaves something."""
        kept = [pair for pair in zip(self.parts, self.outputs, strict=False) if pair[0] != ELAPSED]
        if self.kind != "date" or not kept:
            return self
        parts, outputs = zip(*kept, strict=True)
        return replace(self, parts=parts, outputs=outputs)

    def apply(self, series: Any) -> tuple[list[Any], str]:
        """The columns that this one becomes, and a note where values had to be given up."""
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
    name: str, series: Any, originals: Originals | None = None
) -> tuple[ColumnPlan, str]:
    """What becomes of a column, and a note where a reader should know.

    `originals` are the table's rows without copies: an identifier comes once in each of these.
    """
    import pandas as pd

    dtype = series.dtype
    if (
        isinstance(dtype, np.dtype) and dtype.kind in "iuf"
    ):  # the common case first: it is asked often
        return _plan_numbers(name, series.to_numpy(), dtype.kind != "f", originals=originals)
    if pd.api.types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        values = series.to_numpy(dtype=float, na_value=np.nan)
        return _varied(ColumnPlan(name, "boolean", outputs=(name,)), values)
    if pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c":
        return _plan_numbers(name, as_numbers(series), dtype.kind in "iu", originals=originals)
    if pd.api.types.is_timedelta64_dtype(dtype):
        return _plan_numbers(name, as_numbers(series), whole=False)
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return _plan_dates(name, as_dates(series), None, "")
    known = leveled(series)
    if known is None or dtype.kind == "c":
        return _left_out(name, "nested"), "holds lists or other things that are no values; left out"
    if not known.levels:
        return _left_out(name, "empty"), "empty; left out"
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        levels = tuple(dict.fromkeys(text_of(level) for level in dtype.categories))
        return ColumnPlan(name, "ordinal", levels=levels, outputs=(name,)), ""
    return _plan_levels(name, known, isinstance(dtype, pd.CategoricalDtype))


def names_rows(name: str) -> bool:
    """Whether a column is called as identifiers are."""
    return _IDENTIFIER.search(name.strip()) is not None


def _left_out(name: str, reason: str) -> ColumnPlan:
    return ColumnPlan(name, "left out", reason)


def _varied(plan: ColumnPlan, values: np.ndarray) -> tuple[ColumnPlan, str]:
    """The plan, unless there is nothing in the column or the same in every row."""
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
    originals: Originals | None = None,
) -> tuple[ColumnPlan, str]:
    plan, note = _varied(ColumnPlan(name, "number", decimal=decimal, outputs=(name,)), values)
    if note:
        return plan, note
    if whole and values.dtype.kind in "iu" and values.size >= FEWEST_ROWS:
        found = _identifies(name, values, originals)
        if found:
            return _left_out(name, "identifier"), f"{found}; left out"
    if values.dtype.kind == "f" and np.isinf(values).any():
        return plan, "holds infinite values, which count as missing"
    return plan, ""


def _identifies(name: str, values: np.ndarray, originals: Originals | None) -> str:
    """In which way whole numbers tell the rows apart, "" if in none; copies of rows are one row."""
    counted = abs(int(values[1]) - int(values[0])) <= 1  # as numbers of rows do, copied or not
    if not counted and not names_rows(name):
        return ""
    distinct = np.unique(values).size
    if distinct < values.size:
        if originals is None or distinct < max(FEWEST_ROWS, values.size / 2):
            return ""
        values = originals.of(values)
        if distinct < values.size:
            return ""
    steps = np.diff(values)
    if abs(int(steps[0])) == 1 and (steps == steps[0]).all():
        return "numbers the rows"
    return "an identifier, different in every row" if names_rows(name) else ""


def _plan_dates(
    name: str, dates: np.ndarray, form: str | None, note: str
) -> tuple[ColumnPlan, str]:
    if np.isnat(dates).all():
        return _left_out(name, "empty"), "empty; left out"
    parts = tuple(varied_parts(dates))
    if not parts:
        return _left_out(name, "constant"), "constant; left out"
    outputs = tuple(f"{name}.{part}" for part in parts)
    said = AS_PARTS + (f"; {note}" if note else "")
    return ColumnPlan(name, "date", format=form, parts=parts, outputs=outputs), said


def _plan_levels(name: str, known: Leveled, given: bool) -> tuple[ColumnPlan, str]:
    """A column of text, of Python's objects, or of categories (`given`, which stay so unless dates)."""
    if holds(known.levels, *DATES):
        return _plan_dates(name, _object_dates(known), None, "")
    texts = texts_of(known.levels)
    kinds = {issubclass(kind, str) for kind in set(map(type, known.levels))}
    if kinds == {False} and holds(known.levels, *NUMBERS) and not given:
        numbers = known.spread(np.array([float(level) for level in known.levels]))
        return _plan_numbers(name, numbers, whole=False)
    if len(texts) <= 8 and {text.lower() for text in texts} <= {"true", "false"} and not given:
        return _varied(ColumnPlan(name, "boolean", outputs=(name,)), _truth(known, texts))
    form = date_format(texts) if kinds == {True} else None
    if form is not None:
        note = f"read as {form[0]}, though another order of day and month fits as well"
        dates = known.spread(parsed_dates(texts, form[0]), np.datetime64("NaT"))
        return _plan_dates(name, dates, form[0], note if form[1] else "")
    if given:
        return _plan_categories(name, known, texts, "")
    return _plan_texts(name, known, texts)


def _plan_texts(name: str, known: Leveled, texts: Sequence[str]) -> tuple[ColumnPlan, str]:
    """Text that may be numbers, all of it or nearly all."""
    decimal = decimal_mark(texts[:1000])
    found = _numbers_among(texts, decimal)
    right = ~np.isnan(found)
    if right.all():
        return _plan_numbers(name, known.spread(found), whole=False, decimal=decimal)
    share = known.counts[right].sum() / max(known.counts.sum(), 1)
    # One word that comes back among numbers stands for a gap, however often: nothing is lost by taking it so.
    one_word = share >= MORE_THAN_GAPS and len(texts) - right.sum() == 1
    if (share >= MOSTLY or one_word) and right.sum() > FEW_LEVELS:
        plan, note = _plan_numbers(name, known.spread(found), False, decimal)
        wrong = [texts[place] for place in np.flatnonzero(~right).tolist()]
        return plan, note or f"numbers, but for {_some(wrong)}, taken as missing"
    mixed = "numbers and text mixed, kept as categories" if share > MIXED else ""
    return _plan_categories(name, known, texts, mixed)


def _plan_categories(
    name: str, known: Leveled, texts: Sequence[str], note: str
) -> tuple[ColumnPlan, str]:
    counts = known.counts
    rows, distinct = int(counts.sum()), len(texts)
    if distinct == 1 and rows == len(known.codes) and rows > 1:
        return _left_out(name, "constant"), "constant; left out"
    if distinct > max(FEW_LEVELS, rows / FEWEST_ROWS_A_LEVEL):
        names = distinct >= MOSTLY * rows and not any(" " in text for text in texts[:1000])
        reason = "identifier" if names else "text"
        what = "an identifier" if names else "text"
        often = "every row" if distinct == rows else "most rows"
        return _left_out(name, reason), f"{what}, different in {often}; left out"
    if distinct > MANY_LEVELS and not note:
        note = "a category of many levels"
    return ColumnPlan(name, "category", outputs=(name,)), note


def _some(texts: Sequence[str]) -> str:
    shown = ", ".join(repr(text[:20]) for text in texts[:3])
    return shown + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")


# ---------------------------------------------------------------------------------------- applying
def as_numbers(series: Any) -> np.ndarray:
    """A column of a numeric type as an array; durations in seconds, infinite values missing."""
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
    """The number that each text is, NaN for those that are none."""
    import pyarrow as pa

    together = numbers_of(pa.array(texts, pa.string()), decimal) if texts else None
    if together is not None:
        return together.to_numpy(zero_copy_only=False).astype(float)
    answers = np.full(len(texts), np.nan)
    if not any(map(looks_numeric, texts[:: max(1, len(texts) // _LOOKED_AT)])):
        return answers
    places = [place for place, text in enumerate(texts) if looks_numeric(text)]
    some = [texts[place] for place in places]
    together = numbers_of(pa.array(some, pa.string()), decimal) if some else None
    if together is not None:
        answers[places] = together.to_numpy(zero_copy_only=False)
    elif len(some) <= _ONE_BY_ONE:
        for place in places:
            found = numbers_of(pa.array([texts[place]], pa.string()), decimal)
            if found is not None and found[0].is_valid:
                answers[place] = found[0].as_py()
    return answers


def _truth(known: Leveled, texts: Sequence[str]) -> np.ndarray:
    return known.spread(np.array([float(text.lower() == "true") for text in texts]))


def _numbers(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return [_finite(series.to_numpy())], ""
    is_number = pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    if is_number and not isinstance(dtype, pd.CategoricalDtype):
        return [_finite(as_numbers(series))], ""
    known = leveled(series)
    if known is None:
        raise TableError(f"the column {plan.name!r} holds no numbers, as it did in training")
    if holds(known.levels, *NUMBERS):
        return [_finite(known.spread(np.array([float(level) for level in known.levels])))], ""
    texts = texts_of(known.levels)
    if {text.lower() for text in texts} <= {"true", "false"}:
        return [_truth(known, texts)], ""
    found = _numbers_among(texts, plan.decimal)
    wrong = [texts[place] for place in np.flatnonzero(np.isnan(found)).tolist()]
    if texts and len(wrong) == len(texts):
        raise TableError(
            f"the column {plan.name!r} held numbers in training and now holds text such as {wrong[0][:30]!r}"
        )
    note = f"{_some(wrong)} is no number and counts as missing" if wrong else ""
    return [_finite(known.spread(found))], note


def _object_dates(known: Leveled) -> np.ndarray:
    import pandas as pd

    return known.spread(as_dates(pd.Series(known.levels, dtype=object)), np.datetime64("NaT"))


def dates_of(plan: ColumnPlan, series: Any) -> np.ndarray:
    """A column that was planned as dates as datetime64."""
    return _dates(plan, series)[0]


def _dates(plan: ColumnPlan, series: Any) -> tuple[np.ndarray, str]:
    import pandas as pd

    dtype = series.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return as_dates(series), ""
    known = leveled(series)
    if known is not None and holds(known.levels, *DATES):
        return _object_dates(known), ""
    texts = [] if known is None else texts_of(known.levels)
    dates = parsed_dates(texts, plan.format or "ISO8601")
    if known is None or (texts and np.isnat(dates).all()):
        shown = f" such as {texts[0][:30]!r}" if texts else ""
        raise TableError(
            f"the column {plan.name!r} held dates in training and now holds others{shown}"
        )
    wrong = [texts[place] for place in np.flatnonzero(np.isnat(dates)).tolist()]
    note = f"{_some(wrong)} is no date as in training and counts as missing" if wrong else ""
    return known.spread(dates, np.datetime64("NaT")), note


def _categories(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    import pandas as pd

    known = leveled(series)
    if known is None:
        raise TableError(
            f"the column {plan.name!r} held categories in training and now holds lists"
        )
    texts = texts_of(known.levels)
    levels = list(plan.levels) if plan.kind == "ordinal" else sorted(set(texts))
    place = {level: code for code, level in enumerate(levels)}
    new = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.intp)
    coded = pd.Categorical.from_codes(
        new[known.codes], categories=pd.Index(levels, dtype=object), ordered=plan.kind == "ordinal"
    )
    return [coded], ""
