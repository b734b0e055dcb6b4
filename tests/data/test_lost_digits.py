"""A warning names the columns with integers that float64 cannot represent."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from bosquet import (
    BaggingRegressor,
    DecisionTreeClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from bosquet.data import TableEncoder
from bosquet.discriminant import DensityDiscriminant

LARGE = 2**53 + 1 + 2 * np.arange(50)
NUMBERS = np.arange(50.0)

CONTAINERS = {
    "array": np.column_stack([np.arange(50), LARGE]),
    "large array": np.column_stack([np.arange(5000), np.resize(LARGE, 5000)]),
    "sparse": sp.csr_array(np.column_stack([np.arange(50), LARGE])),
    "objects": np.array([[1.5, int(value)] for value in LARGE], dtype=object),
    "beyond 64 bits": np.array([[1, int(value) * 2**70] for value in LARGE], dtype=object),
    "pandas": pd.DataFrame({"number": NUMBERS, "id": LARGE}),
    "pandas with text": pd.DataFrame({"text": ["a", "b"] * 25, "id": LARGE}),
    "nullable": pd.DataFrame({"number": NUMBERS, "id": pd.array(LARGE, dtype="Int64")}),
    "polars": pl.DataFrame({"number": NUMBERS, "id": LARGE}),
    "arrow": pl.DataFrame({"number": NUMBERS, "id": LARGE}).to_arrow(),
    "unsigned": np.column_stack([np.arange(50), LARGE]).astype(np.uint64),
    "below 0": np.column_stack([np.arange(50), -LARGE]),
}


def fit_quietly(X: Any, **options: Any) -> list[str]:
    """Return the warnings of an encoder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TableEncoder.fit_encode(X, **options)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_column_of_integers_that_lose_digits_is_named(container: str) -> None:
    X = CONTAINERS[container]
    (message,) = fit_quietly(X)
    assert message.startswith("column 'id'" if hasattr(X, "columns") else "column 1")
    assert "lose digits" in message
    assert "column 0" not in message


def test_exact_integers_give_no_warning() -> None:
    assert not fit_quietly(np.column_stack([LARGE - 1, LARGE]) // 2)
    assert not fit_quietly(pd.DataFrame({"even": LARGE - 1, "float": LARGE.astype(float)}))
    assert not fit_quietly(pd.DataFrame({"id": LARGE}), categorical_features=["id"])
    assert not fit_quietly(np.array([[np.inf, 1e300], [0, np.nan]]))


def test_many_columns_give_one_warning() -> None:
    (message,) = fit_quietly(pd.DataFrame({f"id {k}": LARGE for k in range(8)}))
    assert "column 'id 4' and 3 more" in message


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        RandomForestRegressor(2),
        GradientBoostingRegressor(n_estimators=2),
        BaggingRegressor(n_estimators=2),
        DensityDiscriminant(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_kind_of_estimator_warns(model: Any) -> None:
    X, y = pd.DataFrame({"number": NUMBERS % 7, "id": LARGE}), np.arange(50) % 2
    with pytest.warns(UserWarning, match="column 'id': integers larger than"):
        model.fit(X, y)


def test_a_target_that_loses_digits_gives_a_warning() -> None:
    with pytest.warns(UserWarning, match="y: integers larger than"):
        GradientBoostingRegressor(n_estimators=2).fit(NUMBERS[:, None], LARGE)
