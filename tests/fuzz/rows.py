"""Rows that a model accepts, for any columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

ROWS = 4


class Violation(AssertionError):
    """A check failed."""


def expect(holds: Any, what: str) -> None:
    if not holds:
        raise Violation(what)


MAX_COLUMNS = 100_000  # more than any mutated file of the corpus has


def rows_for(model: Any) -> Any:
    """Return a few rows for the model."""
    if type(model).__name__ == "TableModel":
        return frame_for(model.tidier)
    if type(model).__name__ == "HaarBoostClassifier":
        return images_for(model)
    for inner in all_members_of(model):
        if type(inner).__name__ == "HaarBoostClassifier":
            return images_for(inner).reshape(3, -1)
        if hasattr(inner, "_design"):
            return design_rows(inner._design)
    return table_for(model)


def draws_from_many_columns(model: Any) -> bool:
    """Return whether a bagging model with few columns per learner has more columns than a case can use."""
    drawn = getattr(model, "_features", None) or [None]
    return getattr(model, "n_features_in_", 0) > MAX_COLUMNS and all(
        some is not None for some in drawn
    )


def images_for(model: Any) -> np.ndarray:
    width, height = model.window_
    levels = np.arange(3 * width * height).reshape(3, height, width) % 256
    levels[1] = 0
    return levels.astype(np.uint8)


def design_rows(design: Any) -> Any:
    """Return rows for a regression model: no missing values, known levels only."""
    numbers, ordered = [0.5, 1.0, 2.0, 3.0], {}
    if hasattr(design, "encoder"):
        table = np.array([numbers] * design.encoder.n_features, dtype=object).T
        for feature, codes in design.levels.items():
            known = design.encoder.levels[feature]
            table[:, feature] = [known[int(code)] for code in np.resize(codes, ROWS)]
        return table if design.levels else table.astype(float)
    import pandas as pd

    for factor in design.factors:
        for name in factor.columns:
            ordered.setdefault(name, numbers)
        if factor.levels is not None:
            ordered[factor.columns[0]] = [
                factor.levels[k % len(factor.levels)] for k in range(ROWS)
            ]
    return pd.DataFrame(ordered if ordered else {"none": numbers})


def members_of(model: Any) -> list[Any]:
    """Return the models inside a model."""
    return [
        *getattr(model, "estimators_", ()),
        *getattr(model, "models_", ()),
        *(member.model for member in getattr(model, "members_", ())),
    ]


def all_members_of(model: Any) -> Iterator[Any]:
    """Yield the model itself and the models inside it, at every depth."""
    yield model
    for member in members_of(model):
        yield from all_members_of(member)


def encoder_of(model: Any) -> Any:
    """Return the encoder of a model, or of the first model inside it, or None."""
    own = getattr(model, "_encoder", None)
    if own is not None:
        return own
    for member in members_of(model):
        found = encoder_of(member)
        if found is not None and found.n_features == model.n_features_in_:
            return found
    return None


def table_for(model: Any) -> np.ndarray:
    """Return rows of usual, missing, huge and small values, and with unknown categories."""
    width = model.n_features_in_
    expect(width <= MAX_COLUMNS, f"n_features_in_ is {width}, which the file names no columns for")
    encoder = encoder_of(model)
    levels = [None] * width if encoder is None else encoder.levels
    matrix = np.empty((ROWS, width))
    matrix[0] = np.linspace(-1, 1, width)
    matrix[1] = (
        np.nan if encoder is not None else 0.25
    )  # for a mixture, a missing value is a sleeping expert
    matrix[2] = np.where(np.arange(width) % 2, 1e30, -1e30)
    matrix[3] = 0.5
    if all(known is None for known in levels):
        return matrix
    table = matrix.astype(object)
    for column, known in enumerate(levels):
        if known is not None:
            table[:, column] = _levels_and_others(known)
    return table


def _levels_and_others(ordered: list[Any]) -> list[Any]:
    if not ordered:
        return [None] * ROWS
    other = "never seen" if isinstance(ordered[0], str) else 12345.5
    return [ordered[0], None, other, ordered[-1]]


def frame_for(tidier: Any) -> Any:
    """Return rows of a raw table."""
    import pandas as pd

    values: dict[str, list[Any]] = {
        "number": [1.5, None, 1e30, -3],
        "boolean": [True, False, None, True],
        "category": ["u", None, "never seen", "v"],
        "ordinal": ["u", None, "never seen", "v"],
        "date": ["24.12.2025", None, "31.01.1999", "x"],
        "left out": [1, 2, 3, 4],
    }
    return pd.DataFrame(
        {plan.name: pd.Series(values[plan.kind], dtype=object) for plan in tidier.plans}
    )
