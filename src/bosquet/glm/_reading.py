"""What `fit` is given, read: the design, the target, and what comes with each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import number_of_rows
from bosquet._targets import (
    check_finite_target,
    check_same_length,
    check_sample_weight,
    warn_of_column_vector,
)
from bosquet._weights import power_of_two
from bosquet.glm._columns import ColumnDesign, read_columns
from bosquet.glm._formulas import (
    FormulaDesign,
    as_frame,
    check_names,
    columns_used,
    evaluate,
    expand_dot,
    split,
)
from bosquet.glm._statsmodels import pandas_or_error

Design = FormulaDesign | ColumnDesign


@dataclass
class Table:
    """Rows without a gap: their design, the target, and values that come with them by name."""

    design: Design
    y: Any
    target: str | None  # the left-hand side, where a formula had one
    beside: dict[str, np.ndarray]
    dropped: int
    features: list[str] | None  # names of X's columns, less the target's
    n_features: int


def check_formula(formula: Any) -> None:
    if formula is None or isinstance(formula, str):
        return
    if isinstance(formula, bytes | dict) or not hasattr(formula, "__iter__"):
        raise ValueError(
            f"formula={formula!r} is out of range: formula must be a formula such as 'y ~ a * b', a list of"
            " columns, or None for all of them"
        )


def read_table(
    X: Any,
    y: Any,
    formula: Any,
    beside: Mapping[str, Any],
    *,
    owner: str,
    intercept: bool,
    missing: str,
) -> Table:
    """Reads a formula's table, or every column of one without a formula.

    `beside` holds weights, trials and the like, as arrays or as names of columns of X.
    """
    if isinstance(formula, str):
        return _by_formula(X, y, formula, beside, owner=owner, intercept=intercept, missing=missing)
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None (or name it in a formula: 'y ~ .')"
        )
    values = {
        name: _beside(name, given, X, owner) for name, given in beside.items() if given is not None
    }
    encoder, columns, places, whole = read_columns(X, formula, owner, missing)
    rows = len(columns[0])
    y, values = _aligned(y, values, rows)
    whole = whole & _present(y, values, missing)
    dropped = int((~whole).sum())
    whole &= _heavy(values, rows)
    y, values = _taken(y, values, whole)
    kept = columns if whole.all() else [column[whole] for column in columns]
    design = ColumnDesign.of_training_rows(encoder, kept, places, intercept)
    return Table(design, y, None, values, dropped, encoder.feature_names, encoder.n_features)


def _by_formula(
    X: Any,
    y: Any,
    formula: str,
    beside: Mapping[str, Any],
    *,
    owner: str,
    intercept: bool,
    missing: str,
) -> Table:
    frame = as_frame(X, owner)
    columns = list(frame.columns)
    left, right = split(formula)
    if left is None and y is None:
        raise ValueError(
            f"the formula {formula!r} has no left-hand side: name the target, or pass y"
        )
    if left is not None and y is not None and left not in columns:
        raise ValueError(
            f"y was passed, and the formula has a target {left!r} of its own: give one of them"
        )
    target = columns_used(left, columns) if left is not None else []
    named = [given for given in beside.values() if isinstance(given, str)]
    right = expand_dot(right, columns, [*target, *named])
    check_names(right, columns)
    values = {
        name: _beside(name, given, frame, owner)
        for name, given in beside.items()
        if given is not None
    }
    if y is None:
        assert left is not None
        y = two_counts(left, frame) if "+" in left else evaluate(left, frame)
    y, values = _aligned(y, values, len(frame))
    used = columns_used(right, columns)
    whole = _present(y, values, missing)
    if used:
        gaps = frame[used].isna()
        if missing == "raise" and gaps.to_numpy().any():
            told = ", ".join(f"{name!r} ({n})" for name, n in gaps.sum().items() if n)
            raise ValueError(
                f"Input X contains NaN: missing values in {told}; fill them in, or leave such rows out"
                " with missing='drop'"
            )
        whole &= ~gaps.to_numpy().any(axis=1)
    dropped = int((~whole).sum())
    whole &= _heavy(values, len(frame))
    y, values = _taken(y, values, whole)
    design = FormulaDesign(right if intercept else f"0 + {right}", frame[whole])
    features = [column for column in columns if column not in target and column not in named]
    return Table(design, y, left, values, dropped, features, len(features))


def one_number_a_row(y: Any) -> np.ndarray:
    """A target of numbers, finite and in one column."""
    if np.asarray(y).ndim == 2 and np.asarray(y).shape[1] == 1:
        warn_of_column_vector()
    numbers = check_finite_target(y)
    if numbers.shape[0] > 1:
        raise ValueError(f"y must have one number a row, got {numbers.shape[0]} columns")
    return numbers[0]


def two_counts(left: str, frame: Any) -> np.ndarray:
    """A left-hand side 'successes + failures' as two columns; anything else that holds a plus, evaluated."""
    names = [part.strip() for part in left.split("+")]
    if len(names) == 2 and all(name in frame.columns for name in names):
        return np.column_stack([frame[name].to_numpy(dtype=float) for name in names])
    return evaluate(left, frame)


def _beside(name: str, given: Any, X: Any, owner: str) -> np.ndarray:
    if isinstance(given, str):
        frame = as_frame(X, owner)
        if given not in frame.columns:
            raise ValueError(f"{name}={given!r} names a column that the table does not have")
        given = frame[given]
    return np.asarray(given)


def _aligned(
    y: Any, beside: dict[str, np.ndarray], rows: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    check_same_length(number_of_rows(y), rows)
    for name, values in beside.items():
        if name == "sample_weight":
            checked = check_sample_weight(values, rows, keep_scale=True)
            if power_of_two(checked) != 1:
                raise ValueError(
                    f"the largest sample_weight is {checked.max():g}, and sums of such weights overflow or"
                    " underflow: scale them, so that they are about 1"
                )
            beside = {**beside, name: checked if checked.size else np.ones(rows)}
        elif values.shape != (rows,):
            raise ValueError(
                f"{name} has shape {values.shape}, and the table {rows} rows: give one a row"
            )
    return np.asarray(y), beside


def _present(y: np.ndarray, beside: dict[str, np.ndarray], missing: str) -> np.ndarray:
    """Rows whose target and values beside it are there; others are refused unless they are to be dropped."""
    present = np.ones(len(y), dtype=bool)
    for name, values in {"y": y, **beside}.items():
        gaps = pandas_or_error().isna(values)
        gaps = gaps if gaps.ndim == 1 else gaps.any(axis=1)
        if missing == "raise" and gaps.any():
            raise ValueError(
                f"Input {name} contains NaN: {name}[{int(np.flatnonzero(gaps)[0])}] is missing; drop such"
                " rows, or have it done with missing='drop'"
            )
        present &= ~gaps
    return present


def _heavy(beside: dict[str, np.ndarray], rows: int) -> np.ndarray:
    """A row of weight zero is no row at all."""
    return beside["sample_weight"] > 0 if "sample_weight" in beside else np.ones(rows, dtype=bool)


def _taken(
    y: np.ndarray, beside: dict[str, np.ndarray], rows: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    if not rows.any():
        raise ValueError("no row is left without missing values (n_samples=0)")
    if rows.all():
        return y, beside
    return y[rows], {name: values[rows] for name, values in beside.items()}
