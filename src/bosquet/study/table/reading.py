"""From what was given to the study's table: a tidy frame, a target, and what was done to either."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.study.table.design import Design, read_design
from bosquet.study.table.frames import pandas_or_error, rows_called
from bosquet.study.table.target import Target, read_target
from bosquet.tables.frames import as_frame

# Twenty methods, each tuned and repeated, read every column some hundred times.
MOST_COLUMNS = 20_000


@dataclass
class StudyTable:
    """The rows that a study is about.

    Attributes
    ----------
    raw : pandas frame as it came, without the target and without rows that lack one
    X : the same, tidy: numbers and categories; the column of an offset as it is
    target : Target
    tidier : does to new rows what was done to these
    labels : the names of the rows in the table as it came
    rows_called : a sentence that says what these are
    notes : what was left out or read otherwise
    """

    raw: Any
    X: Any
    target: Target
    tidier: Any
    labels: Any
    rows_called: str
    notes: list[str]
    design: Design = field(default_factory=Design)


def read_study_table(
    data: Any,
    target: Any,
    task: str,
    positive: Any = None,
    *,
    any_width: bool = False,
    design: Mapping[str, Any] | None = None,
) -> StudyTable:
    """A table and the name of its target, or X and y, made ready; errors are ValueErrors of one line.

    A study, unlike a fit of one model (`any_width`), has a limit to the columns it takes. `design` are the
    columns, or arrays, of `read_design`.
    """
    from bosquet.tables import TableTidier

    frame = as_frame(data)
    if len(frame) == 0:
        raise ValueError("the table has no rows")
    features, series, name = _parted(frame, target)
    features, series, design, dropped = _without_weightless(features, series, dict(design or {}))
    if not any_width:
        _refuse_too_wide(features.shape[1])
    counted = any(design.get(option) is not None for option in ("offset", "exposure"))
    if counted and task == "auto" and series.dtype.kind in "iuf":
        task = "regression"  # of counts there may be a few values alone
    found = read_target(series, name, task, positive)
    given = {option: _kept(value, found.kept) for option, value in design.items()}
    raw = features if found.kept.all() else features[found.kept]
    known = read_design(raw, given, is_classes=found.is_classes)
    if known.left_out:
        raw = raw.loc[:, [name not in known.left_out for name in map(str, raw.columns)]]
    tidier = TableTidier().fit(raw, over_time=known.time is not None)
    tidier.target, tidier.target_kind = name, "class" if found.is_classes else "number"
    X = tidier.transform(raw)
    X.index = np.arange(len(X))
    offset = known.offset_column
    if offset is not None:
        _refuse_negative(found, offset.kind, raw.index)
        X[offset.name] = offset.read(features[found.kept])
    notes = [*dropped, *found.notes, *tidier.notes, *_design_notes(known)]
    called = rows_called(frame.index)
    return StudyTable(raw, X, found, tidier, raw.index.to_numpy(), called, notes, known)


def _without_weightless(
    features: Any, series: Any, design: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any], list[str]]:
    """Rows of weight 0 left out, with a note; a row of weight 0 counts as a row that is not there."""
    pandas = pandas_or_error()
    weight = design.get("weight")
    if isinstance(weight, str):
        names = [str(name) for name in features.columns]
        weight = features.iloc[:, names.index(weight)] if weight in names else None
    if weight is None or len(weight) != len(features):
        return features, series, design, []
    numbers = pandas.to_numeric(pandas.Series(np.asarray(weight)), errors="coerce").to_numpy()
    kept = numbers != 0
    if kept.all() or not kept.any():
        return features, series, design, []
    design = {option: _kept(value, kept) for option, value in design.items()}
    left = int((~kept).sum())
    note = f"{left:,} {'row' if left == 1 else 'rows'} of weight 0 left out."
    return features[kept], series[kept], design, [note]


def _refuse_negative(target: Target, option: str, labels: Any) -> None:
    negative = np.flatnonzero(target.y < 0)
    if negative.size:
        first = int(negative[0])
        raise ValueError(
            f"an {option} is for counts and other numbers that are not negative, and {target.name!r} is"
            f" {target.y[first]:g} in row {labels[first]}"
        )


def _kept(value: Any, kept: np.ndarray) -> Any:
    """An array without the rows that have no target; the name of a column as it is."""
    if value is None or isinstance(value, str):
        return value
    values = np.asarray(value)
    return values[kept] if len(values) == len(kept) else values


def _design_notes(design: Design) -> list[str]:
    names = {option: name for option, name in design.columns.items() if name}
    left_out = [f"{name} ({option})" for option, name in names.items() if name in design.left_out]
    return [f"{', '.join(left_out)}: of the design, no feature"] if left_out else []


def _refuse_too_wide(columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise ValueError(
            f"the table has {columns:,} columns besides the target, and a study takes up to {MOST_COLUMNS:,}:"
            " choose those that matter, or fit one model, which takes any number: bosquet fit, or"
            " GradientBoostingClassifier"
        )


def _parted(frame: Any, target: Any) -> tuple[Any, Any, str]:
    """Features and target, and the target's name."""
    pandas = pandas_or_error()
    if target is None:
        raise ValueError("say what to predict: fit(table, 'name of a column') or fit(X, y)")
    if isinstance(target, str):
        return _by_name(frame, target)
    name = str(getattr(target, "name", None) or "y")
    if isinstance(target, pandas.Series):
        series = target
    else:
        values = target.to_numpy() if hasattr(target, "to_numpy") else np.asarray(target)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ValueError(
                f"y has shape {values.shape}; a study predicts one number or label a row"
            )
        series = pandas.Series(values)
    if len(series) != len(frame):
        raise ValueError(f"X has {len(frame)} rows, but y has {len(series)}")
    while name in map(str, frame.columns):  # the target is another column than the one of its name
        name += " (target)"
    return frame, series.set_axis(frame.index), name


def _by_name(frame: Any, target: str) -> tuple[Any, Any, str]:
    from bosquet.tables.delimited import namesakes

    names = [str(name).strip() for name in frame.columns]
    target = target.strip()
    if target not in names:
        raise ValueError(f"there is no column {target!r} to be the target; {hint(target, names)}")
    same = namesakes(frame, target)
    if len(same) > 1:
        read_as = "" if len(set(same)) == 1 else f" (read as {', '.join(same[:4])})"
        raise ValueError(
            f"{len(same)} columns are called {target!r}{read_as}: rename or drop all but the target"
        )
    if len(names) == 1:
        raise ValueError(f"the table has the target {target!r} and no other column to learn from")
    place = names.index(target)
    others = [other for other in range(len(names)) if other != place]
    return frame.iloc[:, others], frame.iloc[:, place], target
