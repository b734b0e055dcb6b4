"""Read the table of a study: a tidy frame, the target and the design, with notes on what was changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet._optional import import_pandas
from bosquet._suggestions import hint
from bosquet.study.table.design import Design, read_design
from bosquet.study.table.frames import row_label_note
from bosquet.study.table.target import StudyTarget, read_target
from bosquet.tables import TableTidier
from bosquet.tables.delimited import same_named_columns
from bosquet.tables.frames import as_frame

# About twenty methods, each tuned on several splits, read every column some hundred times.
MAX_COLUMNS = 20_000


@dataclass
class StudyTable:
    """The table of a study, without rows that lack a target.

    Attributes
    ----------
    raw : pandas frame as passed, without the target and the columns of the design
    X : the same after tidying: numbers and categories; an offset column is unchanged
    target : StudyTarget
    tidier : fitted TableTidier, which prepares new rows in the same way
    row_labels : labels of the rows in the table as passed
    row_label_note : a sentence that explains the labels
    notes : remarks on rows and columns that were left out or converted
    design : time, group, weight, offset and fixed split of the rows
    """

    raw: Any
    X: Any
    target: StudyTarget
    tidier: Any
    row_labels: Any
    row_label_note: str
    notes: list[str]
    design: Design = field(default_factory=Design)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        rows, columns = self.X.shape
        return rows, columns


def read_study_table(
    data: Any,
    target: Any,
    task: str,
    positive: Any = None,
    *,
    any_width: bool = False,
    design: Mapping[str, Any] | None = None,
) -> StudyTable:
    """Read and check a table with the name of its target, or X and y.

    Parameters
    ----------
    data : table
    target : str or array of shape (n_rows,)
        Name of the target column, or the targets.
    task : str
        One of `TASKS`.
    positive : label, optional
        Positive class of a binary target.
    any_width : bool, default=False
        Whether to accept any number of columns, as a fit of a single model does. A study has a limit.
    design : dict, optional
        Columns or arrays, as in `read_design`.

    Raises
    ------
    ValueError
        If the table cannot be used; the message is one line.
    """
    frame = as_frame(data)
    if len(frame) == 0:
        raise ValueError("the table has no rows; pass at least one row")
    features, series, name = _separate_target(frame, target)
    features, series, design, dropped = _drop_zero_weights(features, series, dict(design or {}))
    if not any_width:
        _refuse_too_wide(features.shape[1])
    counted = any(design.get(option) is not None for option in ("offset", "exposure"))
    if counted and task == "auto" and series.dtype.kind in "iuf":
        task = "regression"  # counts with few distinct values would be read as classes
    study_target = read_target(series, name, task, positive)
    options_of_rows = {
        option: _select_rows(value, study_target.has_target) for option, value in design.items()
    }
    raw = features if study_target.has_target.all() else features[study_target.has_target]
    study_design = read_design(raw, options_of_rows, is_classes=study_target.is_classes)
    if study_design.left_out:
        raw = raw.loc[:, [name not in study_design.left_out for name in map(str, raw.columns)]]
    tidier = TableTidier().fit(raw, over_time=study_design.time is not None)
    tidier.target, tidier.target_kind = name, "class" if study_target.is_classes else "number"
    X = tidier.transform(raw)
    X.index = np.arange(len(X))
    offset = study_design.offset_column
    if offset is not None:
        _refuse_negative(study_target, offset.kind, raw.index)
        X[offset.name] = offset.read(features[study_target.has_target])
    notes = [*dropped, *study_target.notes, *tidier.notes, *_design_notes(study_design)]
    about_labels = row_label_note(frame.index)
    return StudyTable(
        raw, X, study_target, tidier, raw.index.to_numpy(), about_labels, notes, study_design
    )


def _drop_zero_weights(
    features: Any, series: Any, design: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any], list[str]]:
    """Drop rows of weight 0, so that they have no effect at all, and return a note about them."""
    pandas = import_pandas("Study")
    weight = design.get("weight")
    if isinstance(weight, str):
        names = [str(name) for name in features.columns]
        weight = features.iloc[:, names.index(weight)] if weight in names else None
    if weight is None or len(weight) != len(features):
        return features, series, design, []
    numbers = pandas.to_numeric(pandas.Series(np.asarray(weight)), errors="coerce").to_numpy()
    has_weight = numbers != 0
    if has_weight.all() or not has_weight.any():
        return features, series, design, []
    design = {option: _select_rows(value, has_weight) for option, value in design.items()}
    n_dropped = int((~has_weight).sum())
    note = f"{n_dropped:,} {'row' if n_dropped == 1 else 'rows'} of weight 0 left out."
    return features[has_weight], series[has_weight], design, [note]


def _refuse_negative(target: StudyTarget, option: str, labels: Any) -> None:
    negative = np.flatnonzero(target.y < 0)
    if negative.size:
        first = int(negative[0])
        raise ValueError(
            f"{option} needs a target that is >= 0, such as a count, but {target.name!r} is"
            f" {target.y[first]:g} in row {labels[first]}; correct the target or remove {option}"
        )


def _select_rows(value: Any, mask: np.ndarray) -> Any:
    """Return the rows of an array that the mask selects; the name of a column is returned unchanged."""
    if value is None or isinstance(value, str):
        return value
    values = np.asarray(value)
    return values[mask] if len(values) == len(mask) else values


def _design_notes(design: Design) -> list[str]:
    names = {option: name for option, name in design.columns.items() if name}
    left_out = [f"{name} ({option})" for option, name in names.items() if name in design.left_out]
    return [f"{', '.join(left_out)}: used for the design, not as a feature"] if left_out else []


def _refuse_too_wide(columns: int) -> None:
    if columns > MAX_COLUMNS:
        raise ValueError(
            f"the table has {columns:,} columns besides the target, but a study accepts at most"
            f" {MAX_COLUMNS:,}; select columns, or fit a single model, which accepts any number: bosquet fit"
            " or GradientBoostingClassifier"
        )


def _separate_target(frame: Any, target: Any) -> tuple[Any, Any, str]:
    """Return the features, the target and the name of the target."""
    pandas = import_pandas("Study")
    if target is None:
        raise ValueError("no target was passed; use fit(table, 'name of a column') or fit(X, y)")
    if isinstance(target, str):
        return _separate_column(frame, target)
    name = str(getattr(target, "name", None) or "y")
    if isinstance(target, pandas.Series):
        series = target
    else:
        values = target.to_numpy() if hasattr(target, "to_numpy") else np.asarray(target)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ValueError(
                f"y has shape {values.shape}; pass one number or label per row, shape (n_rows,)"
            )
        series = pandas.Series(values)
    if len(series) != len(frame):
        raise ValueError(
            f"X has {len(frame)} rows, but y has {len(series)}; pass as many targets as rows"
        )
    while name in map(str, frame.columns):  # a feature has the same name
        name += " (target)"
    return frame, series.set_axis(frame.index), name


def _separate_column(frame: Any, target: str) -> tuple[Any, Any, str]:
    names = [str(name).strip() for name in frame.columns]
    target = target.strip()
    if target not in names:
        raise ValueError(f"the target column {target!r} is not in the table; {hint(target, names)}")
    same = same_named_columns(frame, target)
    if len(same) > 1:
        read_as = "" if len(set(same)) == 1 else f" (read as {', '.join(same[:4])})"
        raise ValueError(
            f"{len(same)} columns are named {target!r}{read_as}; rename or drop all but the target"
        )
    if len(names) == 1:
        raise ValueError(
            f"the table has no column besides the target {target!r}; it needs at least one feature"
        )
    position = names.index(target)
    others = [other for other in range(len(names)) if other != position]
    return frame.iloc[:, others], frame.iloc[:, position], target
