"""Every fit warns about pandas objects with the same row labels in different orders."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bosquet
from bosquet import GradientBoostingRegressor
from bosquet.discriminant import DensityDiscriminant

X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40) % 7})
Y = pd.Series(np.arange(40) % 2, name="y")
SHUFFLED = Y.sample(frac=1, random_state=0)
TREE = bosquet.DecisionTreeClassifier(max_depth=1)
MODELS = [
    TREE,
    bosquet.RandomForestClassifier(2),
    bosquet.GradientBoostingClassifier(n_estimators=2),
    bosquet.AdaBoostClassifier(n_estimators=2),
    bosquet.AdaBoostRegressor(n_estimators=2),
    bosquet.AnyBoostClassifier(n_estimators=2),
    bosquet.BrownBoostClassifier(n_estimators=2),
    bosquet.LPBoostClassifier(n_estimators=2),
    bosquet.BaggingClassifier(n_estimators=2),
    bosquet.VotingClassifier([("tree", TREE)]),
    bosquet.SuperLearnerClassifier([("tree", TREE), ("stump", TREE)]),
    bosquet.CalibratedModel(TREE),
    bosquet.ConformalModel(TREE),
    bosquet.LinearModel(),
    DensityDiscriminant(),
]


def label_warnings(model: Any, *args: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*args, **options)
    return [str(one.message) for one in caught if "row labels" in str(one.message)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_labels_in_different_orders_give_one_warning(model: Any) -> None:
    (message,) = label_warnings(model, X, SHUFFLED)
    assert "X and y have the same row labels in different orders (row 0 is 0 in X" in message
    assert "y.loc[X.index]" in message
    assert not label_warnings(model, X, SHUFFLED.loc[X.index])


def test_equal_or_different_labels_give_no_warning() -> None:
    model = GradientBoostingRegressor(n_estimators=2)
    assert not label_warnings(model, X, SHUFFLED.reset_index(drop=True))
    assert not label_warnings(model, X.set_axis(range(100, 140)), SHUFFLED)
    assert not label_warnings(model, X, SHUFFLED.to_numpy())
    assert not label_warnings(model, X.set_axis([0] * 40), Y.set_axis([0] * 40))
    assert not label_warnings(model, X.loc[SHUFFLED.index], SHUFFLED)


def test_labels_that_cannot_be_compared_do_not_fail_a_fit() -> None:
    names = [f"row {k}" for k in range(40)]
    table = X.set_axis(pd.CategoricalIndex(names))
    target = Y.set_axis(pd.CategoricalIndex(names[::-1], categories=[*names, "unused"]))
    assert len(label_warnings(TREE, table, target)) == 1


def test_labels_with_different_counts_give_no_warning() -> None:
    table, target = X.set_axis([0, 0, *range(1, 39)]), Y.set_axis([0, 1, *range(1, 39)])
    assert label_warnings(TREE, table, target) == []


def test_weights_and_validation_sets_are_compared_too() -> None:
    model = GradientBoostingRegressor(n_estimators=2)
    (message,) = label_warnings(model, X, Y, sample_weight=SHUFFLED + 1)
    assert "X and sample_weight" in message
    (message,) = label_warnings(model, X, Y, eval_set=(X, SHUFFLED))
    assert "X of eval_set and y of eval_set" in message
    text = Y.set_axis([f"row {k}" for k in range(40)])
    (message,) = label_warnings(model, X.set_axis(text.index), text.iloc[::-1])
    assert "row 0 is 'row 0' in X and 'row 39' in y" in message
