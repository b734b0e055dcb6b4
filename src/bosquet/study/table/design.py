"""The design of a table: time, group, sample weight, offset and fixed split of each row.

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
from bosquet.tables.conversion import as_numbers, dates_of, floats_of
from bosquet.tables.dates import looks_like_date
from bosquet.tables.levels import factorize, texts_of
from bosquet.tables.planning import plan_column

OPTIONS = ("time", "group", "weight", "offset", "split")
PARAMETERS = (*OPTIONS, "exposure")  # an exposure is stored as its logarithm, the offset
FOLDS = 5  # cross-validation folds of tuning, and so the minimum number of groups
MAX_FOLD_NUMBERS = 20  # distinct fold numbers in the column of a fixed split
TRAINING, TEST = -1, 0  # codes of a fixed split into training and test set
_SET_NAMES = {
    **dict.fromkeys(("train", "training", "validation", "valid", "val", "dev"), TRAINING),
    **dict.fromkeys(("test", "testing", "holdout", "hold-out"), TEST),
}


@dataclass(frozen=True)
class Design:
    """Information about each row besides its features; None for what was not passed.

    Attributes
    ----------
    time : numbers; for dates, days since the earliest date
    group : codes; rows of one group are never divided by a split
    weight : sample weights with mean 1
    offset : added to the logarithm of the predicted mean; the logarithm of the exposure
    split : number of the split that tests on the row; -1 for rows that are always in the training set
    splitter_splits : training and test rows of each split of a scikit-learn splitter
    columns : the name of the column for each option; "" for an array
    """

    time: np.ndarray | None = None
    group: np.ndarray | None = None
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None
    split: np.ndarray | None = None
    splitter_splits: tuple[tuple[np.ndarray, np.ndarray], ...] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def offset_column(self) -> OffsetColumn | None:
        """The column of the offset or of the exposure, or None."""
        if "exposure" in self.columns:
            return OffsetColumn(self.columns["exposure"], "exposure")
        return OffsetColumn(self.columns["offset"], "offset") if "offset" in self.columns else None

    def __bool__(self) -> bool:
        has_options = any(getattr(self, option) is not None for option in OPTIONS)
        return has_options or self.splitter_splits is not None

    def take(self, rows: np.ndarray) -> Design:
        """Return the design of some rows, without the splits of a splitter, which refer to all rows."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values_of_rows = {
            name: values[name] if values[name] is None else values[name][rows] for name in OPTIONS
        }
        return Design(**values_of_rows, columns=self.columns)

    @property
    def has_dependent_rows(self) -> bool:
        """Whether rows depend on each other, so that folds and bootstrap samples must respect the design."""
        return self.time is not None or self.group is not None

    @property
    def left_out(self) -> list[str]:
        """Columns of the table that are not features.

        The time column is not among them: whether it is used as a feature is decided on blocks of time.
        """
        return [name for option, name in self.columns.items() if name and option != "time"]


def fingerprint(design: Design) -> dict[str, Any]:
    """Return the columns of a design and a checksum of its values, by which a checkpoint identifies it."""
    values = [getattr(design, option) for option in OPTIONS]
    values += [test for _, test in design.splitter_splits or ()]
    checks = [None if array is None else zlib.crc32(array.tobytes()) for array in values]
    return {"columns": dict(design.columns), "values": checks}


def read_design(frame: Any, options: Mapping[str, Any], *, is_classes: bool) -> Design:
    """Read and check the design of the rows of a table.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows that have a target.
    options : dict
        Option (time, group, weight, split, offset, exposure) -> the name of a column, or an array with one
        value per row. None is ignored. Offset and exposure must be names, because new tables need the
        column too.
    is_classes : bool
        Whether the task is classification, which does not accept an offset.

    Raises
    ------
    ValueError
        If a column is missing or cannot be used; the message is one line.
    """
    options = {option: value for option, value in options.items() if value is not None}
    unknown = [option for option in options if option not in PARAMETERS]
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is not an option of the design; {hint(unknown[0], PARAMETERS)}"
        )
    if "time" in options and "split" in options:
        raise ValueError("time and split both define how rows are split; pass only one of them")
    if "offset" in options and "exposure" in options:
        raise ValueError(
            "offset and exposure both define the offset, which is log(exposure); pass only one of them"
        )
    offset = next((option for option in ("offset", "exposure") if option in options), None)
    if offset is not None and is_classes:
        raise ValueError(
            f"{offset} needs a numeric target, but the task is classification; remove {offset} or, if the"
            " target is numeric, pass task='regression'"
        )
    names = [str(name) for name in frame.columns]
    values: dict[str, Any] = {}
    columns: dict[str, str] = {}
    for option, value in options.items():
        if option == offset:
            if not isinstance(value, str):
                raise ValueError(
                    f"{option} must be the name of a column, got an object of type {type(value).__name__};"
                    " predictions for new tables need the column too"
                )
            columns[option] = value
            column = OffsetColumn(value, option)
            read = column.read(frame)
            values["offset"] = np.log(read) if option == "exposure" else read
            continue
        columns[option] = value if isinstance(value, str) else ""
        where = f"the {option} column {value!r}" if columns[option] else f"the {option}"
        values[option] = _READERS[option](_read_series(frame, names, value, where), where)
    return Design(**values, columns=columns)


def with_splitter(design: Design, splitter: Any, X: Any, y: np.ndarray) -> Design:
    """Return the design with the splits of a scikit-learn splitter, which receives the groups."""
    if design.time is not None or design.split is not None:
        raise ValueError("splitter replaces time and split; pass only one of these three")
    if not hasattr(splitter, "split"):
        raise ValueError(
            f"splitter={splitter!r} has no method split(X, y, groups); pass a splitter of"
            " sklearn.model_selection, such as KFold"
        )
    splits = [
        (_row_numbers(train, len(y)), _row_numbers(test, len(y)))
        for train, test in splitter.split(X, y, design.group)
    ]
    for train, test in splits:
        if not len(train) or not len(test) or np.intersect1d(train, test).size:
            raise ValueError(
                "splitter yields a split whose training or test set is empty, or that has rows in both; each"
                " split needs two disjoint sets of rows"
            )
        if design.group is not None:
            n_shared_groups = np.intersect1d(design.group[train], design.group[test]).size
            if n_shared_groups:
                raise ValueError(
                    f"splitter yields a split with {n_shared_groups:,} groups in both training and test set;"
                    " use a splitter that does not divide groups, such as GroupKFold"
                )
    if not splits:
        raise ValueError("splitter yields no split; it must yield at least one")
    return replace(design, splitter_splits=tuple(splits))


def _row_numbers(rows: Any, n_rows: int) -> np.ndarray:
    """Return checked row numbers in ascending order."""
    numbers = np.sort(np.asarray(rows))
    if numbers.size and (
        numbers.dtype.kind not in "iu" or not 0 <= numbers[0] <= numbers[-1] < n_rows
    ):
        raise ValueError(
            f"splitter must yield integer row numbers from 0 to {n_rows - 1:,} for training and test set"
        )
    return numbers


def _read_series(frame: Any, names: list[str], value: Any, where: str) -> Any:
    import pandas as pd

    if isinstance(value, str):
        if value not in names:
            raise ValueError(f"{where} is not in the table; {hint(value, names)}")
        series = frame.iloc[:, names.index(value)]
    else:
        series = value if isinstance(value, pd.Series) else pd.Series(np.asarray(value))
        if len(series) != len(frame):
            raise ValueError(
                f"{where} has {len(series):,} values, but the table has {len(frame):,} rows; pass one"
                " value per row"
            )
    _refuse_missing(series, where)
    return series


def _refuse_missing(series: Any, where: str) -> None:
    missing = int(series.isna().sum())
    if missing:
        rows = "1 row" if missing == 1 else f"{missing:,} rows"
        raise ValueError(f"{where} has missing values in {rows}; fill them in or drop these rows")


def _read_time(series: Any, where: str) -> np.ndarray:
    plan, _ = plan_column("time", series)
    if plan.reason == "constant" or series.nunique() == 1:
        raise ValueError(
            f"{where} has the same value in all rows, so there are no later rows to test on; use another"
            " column"
        )
    if plan.kind == "date":
        dates = dates_of(plan, series)
        return np.asarray((dates - dates.min()) / np.timedelta64(1, "D"), dtype=float)
    if plan.kind == "number" and series.dtype.kind not in "iuf":
        numbers = floats_of(plan, series)
    elif series.dtype.kind in "iuf":
        numbers = np.asarray(as_numbers(series), dtype=float)
    else:
        raise ValueError(f"{where} {_why_not_times(series)}")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{where} {_why_not_times(series)}")
    return numbers


def _why_not_times(series: Any) -> str:
    encoded = factorize(series)
    texts = [] if encoded is None else texts_of(encoded.levels)
    wrong = [position for position, text in enumerate(texts) if not _is_time(text)]
    if encoded is None or not wrong:
        return "has dates or numbers in more than one format; use one format for all rows"
    count = int(encoded.counts[wrong].sum())
    return (
        f"has {count:,} of {len(series):,} values that are neither dates nor finite numbers, such as"
        f" {texts[wrong[0]][:30]!r}; correct or drop these rows"
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
            f"{where} has {count} groups, but cross-validation with {FOLDS} folds needs at least {FOLDS};"
            " use a column with more groups"
        )
    if count == len(codes):
        raise ValueError(
            f"{where} has a different value in every row, so each group is a single row; use another column"
            " or no group"
        )
    return codes


def _read_numbers(series: Any, where: str) -> np.ndarray:
    plan, _ = plan_column("numbers", series)
    if series.dtype.kind in "iuf":
        numbers = np.asarray(as_numbers(series), dtype=float)
    elif plan.kind == "number":
        numbers = floats_of(plan, series)
    else:
        raise ValueError(f"{where} is not numeric; use a column of numbers")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise ValueError(
            f"{where} is not a finite number in row {series.index[wrong[0]]}; correct or drop such rows"
        )
    return numbers


def read_weight(series: Any, name: str) -> np.ndarray:
    """Return the sample weights in a column, divided by their mean; raise ValueError if they are invalid."""
    where = f"the weight column {name!r}"
    _refuse_missing(series, where)
    return _read_weight(series, where)


def _read_weight(series: Any, where: str) -> np.ndarray:
    weight = _read_numbers(series, where)
    negative = np.flatnonzero(weight < 0)
    if negative.size:
        first = int(negative[0])
        raise ValueError(
            f"{where} is {weight[first]:g} in row {series.index[first]}; weights must be >= 0"
        )
    if not weight.any():
        raise ValueError(f"{where} is 0 in all rows; at least one weight must be positive")
    return weight / weight.mean()


def _read_split(series: Any, where: str) -> np.ndarray:
    encoded = factorize(series)
    texts = [] if encoded is None else texts_of(encoded.levels)
    words = [text.strip().lower() for text in texts]
    sets = {_SET_NAMES[word] for word in words if word in _SET_NAMES}
    if encoded is not None and set(words) <= set(_SET_NAMES) and sets == {TRAINING, TEST}:
        return np.array([_SET_NAMES[word] for word in words])[encoded.codes]
    if encoded is not None and 2 <= len(texts) <= MAX_FOLD_NUMBERS and all(map(_is_integer, texts)):
        order = np.argsort(np.argsort([int(text) for text in texts]))
        return np.asarray(order[encoded.codes])
    examples = ", ".join(repr(text[:20]) for text in texts[:3])
    raise ValueError(
        f"{where} must contain the words train and test (and optionally validation), or 2 to"
        f" {MAX_FOLD_NUMBERS} distinct fold numbers; got {examples}"
    )


def _is_integer(text: str) -> bool:
    return text.lstrip("-").isdigit()


_READERS = {
    "time": _read_time,
    "group": _read_group,
    "weight": _read_weight,
    "split": _read_split,
}
