"""The design of a table: when a row was recorded, whose it is, how much it counts, which part it is in.

>>> import pandas as pd
>>> from bosquet.study.table.design import read_design
>>> table = pd.DataFrame({"x": range(12), "day": pd.date_range("2024-01-01", periods=12)})
>>> design = read_design(table, {"time": "day"}, is_classes=False)
>>> design.time[:3].tolist(), design.columns
([0.0, 1.0, 2.0], {'time': 'day'})
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.study.table.offset import OffsetColumn
from bosquet.tables.columns import as_numbers, dates_of, plan_column
from bosquet.tables.dates import looks_like_date
from bosquet.tables.levels import leveled, texts_of

OPTIONS = ("time", "group", "weight", "offset", "split")
ASKED = (*OPTIONS, "exposure")  # of which the offset is the logarithm
FOLDS = 5  # of tuning: a table has as many groups at least
MOST_PARTS = 20  # numbers of folds in a column of a fixed split
TRAINING, TEST = -1, 0  # codes of a fixed split by words
_PARTS = {
    **dict.fromkeys(("train", "training", "validation", "valid", "val", "dev"), TRAINING),
    **dict.fromkeys(("test", "testing", "holdout", "hold-out"), TEST),
}


@dataclass(frozen=True)
class Design:
    """What is known of each row besides its features; None where it is not known.

    Attributes
    ----------
    time : days since the first row of dates, or the numbers given
    group : codes; rows of one group stay together in every split
    weight : how much a row counts, 1 on average
    offset : what is added to the logarithm of the mean of a number: that of the exposure
    parts : training and test rows of each split, as a splitter of scikit-learn gave them
    split : -1 for rows that are always for training, else the number of the split that tests on the row
    columns : the columns these come from, by option; "" for arrays
    """

    time: np.ndarray | None = None
    group: np.ndarray | None = None
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None
    split: np.ndarray | None = None
    parts: tuple[tuple[np.ndarray, np.ndarray], ...] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def offset_column(self) -> OffsetColumn | None:
        """The column of the offset, or of the exposure."""
        if "exposure" in self.columns:
            return OffsetColumn(self.columns["exposure"], "exposure")
        return OffsetColumn(self.columns["offset"], "offset") if "offset" in self.columns else None

    def __bool__(self) -> bool:
        given = any(getattr(self, option) is not None for option in OPTIONS)
        return given or self.parts is not None

    def take(self, rows: np.ndarray) -> Design:
        """Some of the rows; the parts of a splitter are those of all rows and are left out."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        taken = {
            name: values[name] if values[name] is None else values[name][rows] for name in OPTIONS
        }
        return Design(**taken, columns=self.columns)

    @property
    def parts_rows(self) -> bool:
        """Whether rows depend on each other, so that folds and bags must not be drawn at random."""
        return self.time is not None or self.group is not None

    @property
    def left_out(self) -> list[str]:
        """Columns of the table that are no features; whether a time is one, blocks of it decide."""
        return [name for option, name in self.columns.items() if name and option != "time"]


def fingerprint(design: Design) -> dict[str, Any]:
    """What a checkpoint knows a design by: its columns and a number that follows from its values."""
    values = [getattr(design, option) for option in OPTIONS]
    values += [test for _, test in design.parts or ()]
    checks = [None if one is None else zlib.crc32(one.tobytes()) for one in values]
    return {"columns": dict(design.columns), "values": checks}


def read_design(frame: Any, given: Mapping[str, Any], *, is_classes: bool) -> Design:
    """The design of the rows of a table, checked; a ValueError of one line for what cannot be used.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows that have a target.
    given : dict
        By option (time, group, weight, split, offset, exposure) the name of a column, or an array with a
        value for each row; None is left out. Offset and exposure are names: new tables need the column too.
    is_classes : bool
        Whether the target is classes, which have no offset.
    """
    given = {option: value for option, value in given.items() if value is not None}
    unknown = [option for option in given if option not in ASKED]
    if unknown:
        raise ValueError(f"there is no {unknown[0]!r} in a design; {hint(unknown[0], ASKED)}")
    if "time" in given and "split" in given:
        raise ValueError("time and split both define how rows are split: pass one of them")
    if "offset" in given and "exposure" in given:
        raise ValueError("an offset is the logarithm of an exposure: pass one of them")
    offset = next((option for option in ("offset", "exposure") if option in given), None)
    if offset is not None and is_classes:
        raise ValueError(f"an {offset} is for a number to predict, and the target is classes")
    names = [str(name) for name in frame.columns]
    values: dict[str, Any] = {}
    columns: dict[str, str] = {}
    for option, value in given.items():
        if option == offset:
            if not isinstance(value, str):
                raise ValueError(
                    f"{option} must be the name of a column: predictions for new tables need it too"
                )
            columns[option] = value
            column = OffsetColumn(value, option)
            read = column.read(frame)
            values["offset"] = np.log(read) if option == "exposure" else read
            continue
        columns[option] = value if isinstance(value, str) else ""
        where = f"the {option} column {value!r}" if columns[option] else f"the {option}"
        values[option] = _READERS[option](_series(frame, names, value, where), where)
    return Design(**values, columns=columns)


def with_splitter(design: Design, splitter: Any, X: Any, y: np.ndarray) -> Design:
    """The design with the splits of a splitter of scikit-learn, which is given the groups."""
    if design.time is not None or design.split is not None:
        raise ValueError(
            "a splitter takes the place of time and of a split column: pass one of them"
        )
    if not hasattr(splitter, "split"):
        raise ValueError(f"splitter={splitter!r} must have a method split(X, y, groups)")
    parts = [
        (_row_numbers(train, len(y)), _row_numbers(test, len(y)))
        for train, test in splitter.split(X, y, design.group)
    ]
    for train, test in parts:
        if not len(train) or not len(test) or np.intersect1d(train, test).size:
            raise ValueError("splitter has a split without rows, or with rows in training and test")
        if design.group is not None:
            both = np.intersect1d(design.group[train], design.group[test]).size
            if both:
                raise ValueError(
                    f"splitter has {both:,} groups with rows in training and test: use one that keeps groups"
                    " whole, such as GroupKFold"
                )
    if not parts:
        raise ValueError("splitter gives no split")
    return replace(design, parts=tuple(parts))


def _row_numbers(rows: Any, there: int) -> np.ndarray:
    """Numbers of rows, ascending."""
    numbers = np.sort(np.asarray(rows))
    if numbers.size and (
        numbers.dtype.kind not in "iu" or not 0 <= numbers[0] <= numbers[-1] < there
    ):
        raise ValueError(
            f"splitter must give numbers of rows from 0 to {there - 1:,} for training and test"
        )
    return numbers


def _series(frame: Any, names: list[str], value: Any, where: str) -> Any:
    import pandas as pd

    if isinstance(value, str):
        if value not in names:
            raise ValueError(f"{where} is not in the table; {hint(value, names)}")
        series = frame.iloc[:, names.index(value)]
    else:
        series = value if isinstance(value, pd.Series) else pd.Series(np.asarray(value))
        if len(series) != len(frame):
            raise ValueError(f"{where} has {len(series):,} values for {len(frame):,} rows")
    _refuse_missing(series, where)
    return series


def _refuse_missing(series: Any, where: str) -> None:
    missing = int(series.isna().sum())
    if missing:
        rows = "a row" if missing == 1 else f"{missing:,} rows"
        raise ValueError(f"{where} is missing in {rows}: fill it in or drop such rows")


def _read_time(series: Any, where: str) -> np.ndarray:
    plan, _ = plan_column("time", series)
    if plan.reason == "constant" or series.nunique() == 1:
        raise ValueError(f"{where} is the same in all rows: there are no later rows to test on")
    if plan.kind == "date":
        dates = dates_of(plan, series)
        return np.asarray((dates - dates.min()) / np.timedelta64(1, "D"), dtype=float)
    if plan.kind == "number" and series.dtype.kind not in "iuf":
        numbers = np.asarray(plan.apply(series)[0][0], dtype=float)
    elif series.dtype.kind in "iuf":
        numbers = np.asarray(as_numbers(series), dtype=float)
    else:
        raise ValueError(f"{where} {_not_times(series)}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{where} {_not_times(series)}")
    return numbers


def _not_times(series: Any) -> str:
    known = leveled(series)
    texts = [] if known is None else texts_of(known.levels)
    wrong = [place for place, text in enumerate(texts) if not _is_time(text)]
    if known is None or not wrong:
        return "has dates or numbers in more than one format: use one format"
    count = int(known.counts[wrong].sum())
    return (
        f"has {count:,} values of {len(series):,} that are neither dates nor finite numbers, such as"
        f" {texts[wrong[0]][:30]!r}: use a column that can be read in all rows"
    )


def _is_time(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return looks_like_date(text)


def _read_group(series: Any, where: str) -> np.ndarray:
    import pandas as pd

    codes: np.ndarray = pd.factorize(series)[0]
    count = int(codes.max()) + 1
    if count < FOLDS:
        raise ValueError(
            f"{where} has {count} groups, fewer than the {FOLDS} folds of tuning: use a column of more groups"
        )
    if count == len(codes):
        raise ValueError(f"{where} is different in every row: each group is one row")
    return codes


def _read_numbers(series: Any, where: str) -> np.ndarray:
    plan, _ = plan_column("numbers", series)
    if series.dtype.kind in "iuf":
        numbers = np.asarray(as_numbers(series), dtype=float)
    elif plan.kind == "number":
        numbers = np.asarray(plan.apply(series)[0][0], dtype=float)
    else:
        raise ValueError(f"{where} does not hold numbers")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise ValueError(f"{where} is not a finite number in row {series.index[wrong[0]]}")
    return numbers


def read_weight(series: Any, name: str) -> np.ndarray:
    """The weights of rows from a column of that name, 1 on average; a ValueError for what cannot be used."""
    where = f"the weight column {name!r}"
    _refuse_missing(series, where)
    return _read_weight(series, where)


def _read_weight(series: Any, where: str) -> np.ndarray:
    weight = _read_numbers(series, where)
    negative = np.flatnonzero(weight < 0)
    if negative.size:
        first = int(negative[0])
        raise ValueError(
            f"{where} is {weight[first]:g} in row {series.index[first]}: weights must not be negative"
        )
    if not weight.any():
        raise ValueError(f"{where} is 0 in all rows")
    return weight / weight.mean()


def _read_split(series: Any, where: str) -> np.ndarray:
    known = leveled(series)
    texts = [] if known is None else texts_of(known.levels)
    words = [text.strip().lower() for text in texts]
    parts = {_PARTS[word] for word in words if word in _PARTS}
    if known is not None and set(words) <= set(_PARTS) and parts == {TRAINING, TEST}:
        return np.array([_PARTS[word] for word in words])[known.codes]
    if known is not None and 2 <= len(texts) <= MOST_PARTS and all(map(_is_whole, texts)):
        order = np.argsort(np.argsort([int(text) for text in texts]))
        return np.asarray(order[known.codes])
    shown = ", ".join(repr(text[:20]) for text in texts[:3])
    raise ValueError(
        f"{where} must hold train and test (and validation), or at least 2 and at most {MOST_PARTS} numbers"
        f" of folds, and holds {shown}"
    )


def _is_whole(text: str) -> bool:
    return text.lstrip("-").isdigit()


_READERS = {
    "time": _read_time,
    "group": _read_group,
    "weight": _read_weight,
    "split": _read_split,
}
