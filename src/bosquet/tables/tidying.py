"""Tidying of tables: conversion to numbers and categories, which is repeated on new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.tables.column_plan import ColumnPlan
from bosquet.tables.conversion import as_numbers, convert
from bosquet.tables.delimited import distinct_names, repetition_notes, same_named_columns
from bosquet.tables.errors import TableError, import_pandas
from bosquet.tables.frames import as_frame
from bosquet.tables.levels import NUMBERS, all_instances, factorize, text_of, texts_of
from bosquet.tables.numerals import decimal_mark, numbers_of
from bosquet.tables.planning import has_identifier_name, plan_column, plan_over_time
from bosquet.tables.unique_rows import UniqueRows
from bosquet.tables.wide import number_columns_of_wide_frame, numeric_block, ordinary_number_columns

VERSION = 1
_NAMED = 5  # columns that a note lists by name


@dataclass(frozen=True)
class Tidied:
    """Result of `tidy`: the tidy table, notes on the changes, and the tidier for new tables."""

    frame: Any
    notes: list[str]
    tidier: TableTidier


def tidy(frame: Any, target: str | None = None) -> Tidied:
    """Convert a table to numbers and categories.

    Dates become their varying parts (year, month, day, weekday, hour, minute). Numbers stored as text
    become numbers, booleans become 0 and 1, and text becomes a category. Columns that are constant, empty,
    row numbers, identifiers, or text with fewer than three rows per value are left out. Rows without a
    target are left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str, optional
        The column to predict: numbers, or labels as text. It is the last column of the result.

    Returns
    -------
    Tidied
        The attributes are `frame`, `notes` and `tidier`.

    Examples
    --------
    >>> import pandas as pd
    >>> from bosquet.tables import tidy
    >>> table = pd.DataFrame({"paid": ["1,200", "80"], "on": ["2024-01-31", "2024-03-05"], "who": "me"})
    >>> tidied = tidy(table)
    >>> tidied.frame.columns.tolist()
    ['paid', 'on.month', 'on.day', 'on.weekday']
    >>> tidied.notes
    ['on: a date, turned into its parts', 'who: constant; left out']
    """
    tidier = TableTidier()
    tidier.fit(frame, target)
    features, labels, notes = tidier.apply(frame, with_target=target is not None)
    if target is not None:
        keep = np.asarray(~import_pandas().isna(labels))
        if not keep.all():
            features = features[keep].reset_index(drop=True)
        features[str(target)] = tidier.labels(labels[keep])
    notes = [note for note in notes if note not in tidier.notes]
    return Tidied(features, [*tidier.notes, *notes], tidier)


class TableTidier:
    """Fitted conversion of a table to numbers and categories, which is applied to new tables.

    Attributes
    ----------
    plans : list of ColumnPlan
        One plan per column of the training table.
    target : str or None
        Name of the target column.
    target_kind : "number", "class" or None
        Kind of the target; None without a target.
    notes : list of str
        Remarks on the training table.

    Examples
    --------
    >>> import pandas as pd
    >>> from bosquet.tables import TableTidier
    >>> train = pd.DataFrame({"when": ["1.2.2024", "30.4.2024"], "size": ["3", "4"], "y": [0, 1]})
    >>> tidier = TableTidier().fit(train, "y")
    >>> again = TableTidier.from_state(tidier.to_state())
    >>> again.transform(pd.DataFrame({"size": [5], "when": ["24.12.2025"]})).iloc[0].tolist()
    [12.0, 24.0, 3.0, 5.0]
    """

    def __init__(self) -> None:
        self.plans: list[ColumnPlan] = []
        self.target: str | None = None
        self.target_kind: str | None = None
        self.notes: list[str] = []
        self._target_decimal = "."

    # ------------------------------------------------------------------------------------ learning
    def fit(self, frame: Any, target: str | None = None, *, over_time: bool = False) -> TableTidier:
        """Decide how each column is converted; if the fit fails, the tidier is unchanged.

        With `over_time`, the model will predict later rows: dates become only the parts that recur within the
        table (not the month in less than 18 months) and elapsed time.
        """
        pd = import_pandas()
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(f"frame must be a pandas.DataFrame, got {type(frame).__name__}")
        names, repeated = distinct_names([str(name) for name in frame.columns])
        notes = repetition_notes(repeated)
        if not names:
            raise TableError("the table has no columns; it must have at least one")
        if len(frame) == 0:
            raise TableError("the table has no rows; it must have at least one")
        new = TableTidier()
        rows: np.ndarray | None = None
        if target is not None:
            new._fit_target(frame, str(target), names)
            has_target = ~pd.isna(new._read_target(frame, names))
            if not has_target.all():
                notes.append(
                    f"{int((~has_target).sum())} rows without a value of {new.target!r} are left out"
                )
                rows = has_target
        notes_by_column: list[tuple[str, str]] = []
        frame = _without_attrs(frame)
        learned_rows = frame if rows is None else frame[rows]
        is_ordinary_number = ordinary_number_columns(
            learned_rows, number_columns_of_wide_frame(frame)
        )
        unique_rows = UniqueRows(learned_rows)
        for index, name in enumerate(names):
            if name != new.target:
                if is_ordinary_number[index] and not has_identifier_name(name):
                    new.plans.append(ColumnPlan(name, "number", outputs=(name,)))
                    continue
                plan, note = plan_column(name, learned_rows.iloc[:, index], unique_rows)
                if over_time:
                    plan, note = plan_over_time(plan, note, learned_rows.iloc[:, index])
                new.plans.append(plan)
                if note:
                    notes_by_column.append((name, note))
        new._make_outputs_unique()
        new.notes = [*notes, *_merge_notes(notes_by_column)]
        if not new.feature_names:
            raise TableError(f"no usable feature is left: {'; '.join(new.notes)[:300]}")
        self.__dict__ = new.__dict__
        return self

    def _make_outputs_unique(self) -> None:
        """Rename parts of dates that have the name of another column."""
        all_names = {name for plan in self.plans for name in (plan.name, *plan.outputs)}
        column_names = {plan.name for plan in self.plans} | {self.target}
        for index, plan in enumerate(self.plans):
            if plan.kind == "date" and column_names & set(plan.outputs):
                outputs = []
                for name in plan.outputs:
                    new = name
                    while new in column_names or (new != name and new in all_names):
                        new += "_"
                    outputs.append(new)
                self.plans[index] = replace(plan, outputs=tuple(outputs))

    def _fit_target(self, frame: Any, target: str, names: list[str]) -> None:
        pd = import_pandas()
        if len(same_named_columns(frame, target)) > 1:
            raise TableError(
                f"the target {target!r} is the name of more than one column; rename the other columns"
            )
        if target not in names:
            raise TableError(
                f"the target column {target!r} is not in the table; {hint(target, names)}"
            )
        if len(names) == 1:
            raise TableError(
                f"the table has no column besides the target {target!r}; it needs at least one feature"
            )
        if len(frame) == 1:
            raise TableError("the table has only one row; training needs at least two")
        self.target = target
        series = frame.iloc[:, names.index(target)]
        dtype = series.dtype
        if pd.api.types.is_datetime64_any_dtype(dtype):
            raise TableError(
                f"the target {target!r} is a date; convert it to a number or to classes"
            )
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
            self.target_kind = "number"
            values = as_numbers(series)
            if np.isinf(values).any():
                raise TableError(
                    f"the target {target!r} has infinite values; correct or drop these rows"
                )
            distinct: Any = np.unique(values[~np.isnan(values)])
        else:
            distinct = self._fit_labels(series)
        if len(distinct) == 0:
            raise TableError(
                f"the target {target!r} is missing in every row; use another column as target"
            )
        if len(distinct) == 1:
            value = str(distinct[0])
            shown = value if len(value) <= 60 else f"{value[:60]}..."
            raise TableError(
                f"the target {target!r} is {shown} in every row, so there is nothing to predict; use another"
                " column as target"
            )

    def _fit_labels(self, series: Any) -> list[Any]:
        import pyarrow as pa

        factor = factorize(series)
        if factor is None:
            raise TableError(
                f"the target {self.target!r} has lists or other nested values; it must be numbers or labels"
            )
        texts = texts_of(factor.levels)
        self.target_kind = "class"
        if (
            texts
            and series.dtype.name != "category"
            and not all_instances(factor.levels, bool, np.bool_)
        ):
            self._target_decimal = decimal_mark(texts[:1000])
            if all_instances(factor.levels, *NUMBERS) or numbers_of(
                pa.array(texts, pa.string()), self._target_decimal
            ):
                self.target_kind = "number"
                return texts
        rows = int(factor.counts.sum())
        if len(texts) > max(2, rows / 2):
            raise TableError(
                f"the target {self.target!r} has {len(texts)} distinct values in {rows} rows, but a class"
                " must have at least two rows on average; if it is a number, convert it; if it identifies"
                " rows, use another target"
            )
        return texts

    # ------------------------------------------------------------------------------------ applying
    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of a tidied table."""
        return [name for plan in self.plans for name in plan.outputs]

    @property
    def input_columns(self) -> list[str]:
        """Names of the columns of a raw table that `transform` reads."""
        return [plan.name for plan in self.plans if plan.used]

    def transform(self, frame: Any) -> Any:
        """Convert a table with the same columns, in any container, in the same way."""
        return self.apply(as_frame(frame))[0]

    def apply(self, frame: Any, with_target: bool = False) -> tuple[Any, Any, list[str]]:
        """Return the features, the target (None unless `with_target`) and notes on values set to missing."""
        pd = import_pandas()
        names, _ = distinct_names([str(name) for name in frame.columns])
        frame = _without_attrs(frame)
        column_index = {name: index for index, name in enumerate(names)}
        used_names = self.input_columns
        absent_names = [name for name in used_names if name not in column_index]
        if absent_names:
            noun = "column" if len(absent_names) == 1 else "columns"
            advice = (
                f"add the {noun}"
                if len(absent_names) < len(used_names)
                else "pass rows with column names, as a data frame or a list of dicts"
            )
            raise TableError(
                f"the table lacks the {noun} {_list_names(absent_names)} of the training table; {advice}"
            )
        is_plain_number = number_columns_of_wide_frame(frame)
        together = [
            plan
            for plan in self.plans
            if plan.kind == "number" and is_plain_number[column_index[plan.name]]
        ]
        arrays: dict[str, Any] = {}
        notes_by_column = []
        converted_alone = {plan.name for plan in self.plans} - {plan.name for plan in together}
        for plan in self.plans:
            if plan.used and plan.name in converted_alone:
                columns, note = convert(plan, frame.iloc[:, column_index[plan.name]])
                arrays.update(zip(plan.outputs, columns, strict=True))
                if note:
                    notes_by_column.append((plan.name, note))
        features = pd.DataFrame(arrays)
        if together:
            names_together = [plan.name for plan in together]
            block = numeric_block(
                frame, np.array([column_index[n] for n in names_together]), names_together
            )
            features = pd.concat([block, features], axis=1) if arrays else block
            features = features[self.feature_names]
        labels = self._read_target(frame, names) if with_target else None
        return features, labels, _merge_notes(notes_by_column)

    def _read_target(self, frame: Any, names: list[str]) -> np.ndarray:
        """Return the target as floats or text, with missing values."""
        if self.target not in names:
            raise TableError(f"the target column {self.target!r} is not in the table; add it")
        series = frame.iloc[:, names.index(self.target)]
        if self.target_kind == "number":
            plan = ColumnPlan(self.target, "number", decimal=self._target_decimal)
            return np.asarray(convert(plan, series)[0][0])
        factor = factorize(series)
        if factor is None:
            raise TableError(
                f"the target {self.target!r} has lists or other nested values; it must be labels"
            )
        texts = np.array([*map(text_of, factor.levels), None], dtype=object)
        return texts[factor.codes]

    def labels(self, values: np.ndarray) -> np.ndarray:
        """Return a target without missing values, as integers if all values are integers."""
        if self.target_kind == "class":
            return np.array([str(value) for value in values], dtype=object)
        whole = values.dtype.kind == "f" and values.size and (values == np.floor(values)).all()
        return values.astype(np.int64) if whole and np.abs(values).max() < 2**53 else values

    # --------------------------------------------------------------------------------------- state
    def to_state(self) -> dict[str, Any]:
        """Return the fitted state as a JSON-serialisable dict, as stored in a model file."""
        target = None
        if self.target is not None:
            kind, mark = self.target_kind, self._target_decimal
            target = {"name": self.target, "kind": kind, "decimal": mark}
        return {
            "version": VERSION,
            "target": target,
            "columns": [plan.to_state() for plan in self.plans],
        }

    @classmethod
    def from_state(cls, state: Any) -> TableTidier:
        """Return the tidier of a state; raise ValueError if the state is invalid."""
        if not isinstance(state, dict) or set(state) != {"version", "target", "columns"}:
            raise ValueError(
                "invalid tidier state: it must have the keys version, target and columns"
            )
        if state["version"] != VERSION:
            raise ValueError(
                "the tidier state was written by a newer version of Bosquet; update Bosquet to read it"
            )
        columns, target = state["columns"], state["target"]
        if not isinstance(columns, list):
            raise ValueError("invalid tidier state: columns must be a list")
        new = cls()
        new.plans = [ColumnPlan.from_state(column) for column in columns]
        if target is not None:
            if (
                not isinstance(target, dict)
                or not isinstance(target.get("name"), str)
                or target.get("kind") not in ("number", "class")
                or target.get("decimal") not in (".", ",")
            ):
                raise ValueError(
                    f"invalid tidier state: the target is {target!r}; it must be a dict with name (text),"
                    " kind ('number' or 'class') and decimal ('.' or ',')"
                )
            new.target, new.target_kind = target["name"], target["kind"]
            new._target_decimal = target["decimal"]
        names = [plan.name for plan in new.plans]
        outputs = new.feature_names
        if len(set(names)) != len(names) or len(set(outputs)) != len(outputs) or not outputs:
            raise ValueError(
                "invalid tidier state: it needs at least one column, and column names must be distinct"
            )
        for name in names:
            if not name or name != name.strip():  # `transform` strips the names of a table
                raise ValueError(
                    f"invalid tidier state: the column name {name!r} is blank or begins or ends with a space"
                )
        return new


def _without_attrs(frame: Any) -> Any:
    """Return the frame without `attrs`, which pandas would copy for every column."""
    frame = frame.copy(deep=False)
    frame.attrs = {}
    return frame


def _list_names(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _merge_notes(notes_by_column: list[tuple[str, str]]) -> list[str]:
    """Return the notes, with one line for columns that share a text."""
    by_text: dict[str, list[str]] = {}
    for name, text in notes_by_column:
        by_text.setdefault(text, []).append(name)
    lines = []
    for text, names in by_text.items():
        if len(names) <= 3:
            lines += [f"{name}: {text}" for name in names]
        else:
            shown = ", ".join(names[:_NAMED])
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            lines.append(f"{len(names)} columns ({shown}{more}): {text}")
    return lines
