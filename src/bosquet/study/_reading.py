"""From what was given to the study's table: a tidy frame, a target, and what was done to either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.study._frames import as_frame, pandas_or_error, rows_called
from bosquet.study._target import Target, read_target

# Twenty methods, each tuned and repeated, read every column some hundred times.
MOST_COLUMNS = 20_000


@dataclass
class StudyTable:
    """The rows that a study is about.

    Attributes
    ----------
    raw : pandas frame as it came, without the target and without rows that lack one
    X : the same, tidy: numbers and categories
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


def read_study_table(
    data: Any, target: Any, task: str, positive: Any = None, *, any_width: bool = False
) -> StudyTable:
    """A table and the name of its target, or X and y, made ready; errors are ValueErrors of one line.

    A study, unlike a fit of one model (`any_width`), has a limit to the columns it takes.
    """
    from bosquet.tables import TableTidier

    frame = as_frame(data)
    if len(frame) == 0:
        raise ValueError("the table has no rows")
    features, series, name = _parted(frame, target)
    if not any_width:
        _refuse_too_wide(features.shape[1])
    found = read_target(series, name, task, positive)
    raw = features if found.kept.all() else features[found.kept]
    tidier = TableTidier().fit(raw)
    tidier.target, tidier.target_kind = name, "class" if found.is_classes else "number"
    X = tidier.transform(raw)
    X.index = np.arange(len(X))
    notes = [*found.notes, *tidier.notes]
    called = rows_called(frame.index)
    return StudyTable(raw, X, found, tidier, raw.index.to_numpy(), called, notes)


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
    names = [str(name).strip() for name in frame.columns]
    places = [place for place, name in enumerate(names) if name == target.strip()]
    if not places:
        raise ValueError(f"there is no column {target!r} to be the target; {hint(target, names)}")
    if len(places) > 1:
        raise ValueError(f"{len(places)} columns are called {target!r}: rename all but the target")
    if len(names) == 1:
        raise ValueError(f"the table has the target {target!r} and no other column to learn from")
    others = [place for place in range(len(names)) if place != places[0]]
    return frame.iloc[:, others], frame.iloc[:, places[0]], target.strip()
