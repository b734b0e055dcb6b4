"""Validation of the arguments of `fit`: the design, the target, and values per row such as weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._sklearn import number_of_rows
from bosquet._targets import check_finite_target, check_same_length, warn_of_column_vector
from bosquet._weights import check_sample_weight, power_of_two
from bosquet.glm._columns import ColumnDesign, read_columns
from bosquet.glm._formulas import (
    FormulaDesign,
    as_frame,
    check_names,
    columns_used,
    evaluate_target,
    expand_dot,
    split_formula,
)
from bosquet.glm._statsmodels import import_pandas

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    from bosquet._types import TableLike


Design = FormulaDesign | ColumnDesign


@dataclass
class RegressionData:
    """Complete rows: their design, their target, and other values per row (weights, trials) by name."""

    design: Design
    y: Any
    target: str | None  # left-hand side of the formula, if it has one
    per_row: dict[str, np.ndarray]
    dropped: int
    features: list[str] | None  # names of the columns of X without the target
    n_features: int


def check_formula(formula: str | Sequence[str] | None) -> None:
    if formula is None or isinstance(formula, str):
        return
    if isinstance(formula, bytes | dict) or not hasattr(formula, "__iter__"):
        raise ValueError(
            f"formula={formula!r} is not valid: formula must be a string such as 'y ~ a * b', a list of"
            " columns, or None for all columns"
        )


def read_data(
    X: TableLike,
    y: ArrayLike,
    formula: str | Sequence[str] | None,
    per_row: Mapping[str, Any],
    *,
    owner: str,
    intercept: bool,
    missing: str,
) -> RegressionData:
    """Read the data of a fit, with a formula or from the columns of X.

    `per_row` contains values per row, such as weights or trials, as arrays or as names of columns of X.
    """
    if isinstance(formula, str):
        return _read_formula_data(
            X, y, formula, per_row, owner=owner, intercept=intercept, missing=missing
        )
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None; pass y, or name the target in a"
            " formula ('y ~ .')"
        )
    values = {
        name: _read_per_row(name, value, X, owner)
        for name, value in per_row.items()
        if value is not None
    }
    encoder, columns, indices, complete = read_columns(X, formula, owner, missing)
    n_rows = len(columns[0])
    y, values = _check_lengths(y, values, n_rows)
    complete = complete & _rows_without_missing(y, values, missing)
    dropped = int((~complete).sum())
    complete &= _rows_of_positive_weight(values, n_rows)
    y, values = _select_rows(y, values, complete)
    complete_columns = columns if complete.all() else [column[complete] for column in columns]
    design = ColumnDesign.of_training_rows(encoder, complete_columns, indices, intercept)
    return RegressionData(
        design, y, None, values, dropped, encoder.feature_names, encoder.n_features
    )


def _read_formula_data(
    X: TableLike,
    y: ArrayLike,
    formula: str,
    per_row: Mapping[str, Any],
    *,
    owner: str,
    intercept: bool,
    missing: str,
) -> RegressionData:
    frame = as_frame(X, owner)
    columns = list(frame.columns)
    left, right = split_formula(formula)
    if left is None and y is None:
        raise ValueError(
            f"the formula {formula!r} has no left-hand side and y is None; name the target in the formula, or"
            " pass y"
        )
    if left is not None and y is not None and left not in columns:
        raise ValueError(
            f"y was passed, but the formula also has a target, {left!r}; use only one of them"
        )
    target = columns_used(left, columns) if left is not None else []
    named_columns = [value for value in per_row.values() if isinstance(value, str)]
    right = expand_dot(right, columns, [*target, *named_columns])
    check_names(right, columns)
    values = {
        name: _read_per_row(name, value, frame, owner)
        for name, value in per_row.items()
        if value is not None
    }
    if y is None:
        assert left is not None
        y = counts_from_formula(left, frame) if "+" in left else evaluate_target(left, frame)
    y, values = _check_lengths(y, values, len(frame))
    used = columns_used(right, columns)
    complete = _rows_without_missing(y, values, missing)
    if used:
        is_missing = frame[used].isna()
        if missing == "raise" and is_missing.to_numpy().any():
            listed = ", ".join(f"{name!r} ({n})" for name, n in is_missing.sum().items() if n)
            raise ValueError(
                f"Input X contains NaN: missing values in {listed}; impute them, or pass missing='drop' to"
                " drop these rows"
            )
        complete &= ~is_missing.to_numpy().any(axis=1)
    dropped = int((~complete).sum())
    complete &= _rows_of_positive_weight(values, len(frame))
    y, values = _select_rows(y, values, complete)
    design = FormulaDesign(right if intercept else f"0 + {right}", frame[complete])
    features = [
        column for column in columns if column not in target and column not in named_columns
    ]
    return RegressionData(design, y, left, values, dropped, features, len(features))


def read_numeric_target(y: ArrayLike) -> np.ndarray:
    """Return a target of finite numbers, of shape (n_samples,)."""
    if np.asarray(y).ndim == 2 and np.asarray(y).shape[1] == 1:
        warn_of_column_vector()
    numbers = check_finite_target(y)
    if numbers.shape[0] > 1:
        raise ValueError(f"y must have one number per row, got {numbers.shape[0]} columns")
    return numbers[0]


def counts_from_formula(left: str, frame: DataFrame) -> np.ndarray:
    """Return a left-hand side 'successes + failures' as two columns; evaluate any other expression."""
    names = [summand.strip() for summand in left.split("+")]
    if len(names) == 2 and all(name in frame.columns for name in names):
        return np.column_stack([frame[name].to_numpy(dtype=float) for name in names])
    return evaluate_target(left, frame)


def _read_per_row(name: str, value: object, X: TableLike, owner: str) -> np.ndarray:
    if isinstance(value, str):
        frame = as_frame(X, owner)
        if value not in frame.columns:
            raise ValueError(
                f"{name}={value!r} is not a column of X; pass an array or the name of a column"
            )
        value = frame[value]
    return np.asarray(value)


def _check_lengths(
    y: ArrayLike, per_row: dict[str, np.ndarray], n_rows: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    check_same_length(number_of_rows(y), n_rows)
    for name, values in per_row.items():
        if name == "sample_weight":
            checked = check_sample_weight(values, n_rows, keep_scale=True)
            if power_of_two(checked) != 1:
                raise ValueError(
                    f"the largest sample_weight is {checked.max():g}; sums of such weights overflow or"
                    " underflow. Divide the weights by their mean"
                )
            per_row = {**per_row, name: checked if checked.size else np.ones(n_rows)}
        elif values.shape != (n_rows,):
            raise ValueError(
                f"{name} has shape {values.shape}, but X has {n_rows} rows; pass one value per row"
            )
    return np.asarray(y), per_row


def _rows_without_missing(
    y: np.ndarray, per_row: dict[str, np.ndarray], missing: str
) -> np.ndarray:
    """Return which rows have a target and all values per row.

    Raise a ValueError for missing values unless they are to be dropped.
    """
    complete = np.ones(len(y), dtype=bool)
    for name, values in {"y": y, **per_row}.items():
        is_missing = import_pandas().isna(values)
        is_missing = is_missing if is_missing.ndim == 1 else is_missing.any(axis=1)
        if missing == "raise" and is_missing.any():
            raise ValueError(
                f"Input {name} contains NaN: {name}[{int(np.flatnonzero(is_missing)[0])}] is missing; pass"
                " missing='drop' to drop these rows"
            )
        complete &= ~is_missing
    return complete


def _rows_of_positive_weight(per_row: dict[str, np.ndarray], n_rows: int) -> np.ndarray:
    """Return which rows have a positive weight; rows of weight 0 are excluded from the fit."""
    return (
        per_row["sample_weight"] > 0 if "sample_weight" in per_row else np.ones(n_rows, dtype=bool)
    )


def _select_rows(
    y: np.ndarray, per_row: dict[str, np.ndarray], rows: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    if not rows.any():
        raise ValueError(
            "no complete row is left (n_samples=0): every row has missing values or the weight 0; impute"
            " missing values"
        )
    if rows.all():
        return y, per_row
    return y[rows], {name: values[rows] for name, values in per_row.items()}
