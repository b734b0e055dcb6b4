"""Masked values of X, y and sample_weight are missing values, for every estimator."""

import re
from dataclasses import replace

import numpy as np
import pytest
from families import FAMILIES, rows, same
from quiet_fits import quietly

import bosquet

DATA = rows(0)
MASK = np.random.default_rng(1).random(DATA.X.shape) < 0.2
MASKED = replace(DATA, X=np.ma.masked_array(DATA.X, MASK))
MISSING = replace(DATA, X=np.where(MASK, np.nan, DATA.X))
FIRST = np.arange(len(DATA.X)) < 3


def outcome(function, *args):
    """What a call returns, or the type of its error."""
    try:
        return quietly(function, *args)
    except (ValueError, TypeError) as error:
        return type(error)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_predictions_of_masked_values_are_those_of_missing_values(family):
    model = family.fitted()
    found, expected = (outcome(family.outputs, model, data) for data in (MASKED, MISSING))
    assert found is expected if isinstance(expected, type) else same(found, expected)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_fits_to_masked_values_are_those_to_missing_values(family):
    found, expected = (
        outcome(lambda data: family.outputs(family.fit(family.make(), data), DATA), data)
        for data in (MASKED, MISSING)
    )
    assert found is expected if isinstance(expected, type) else same(found, expected)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (bosquet.GradientBoostingRegressor(), DATA.numbers, "y contains NaN: y[0]"),
        (bosquet.DecisionTreeClassifier(), DATA.labels, "y[0] is missing"),
        (bosquet.BaggingClassifier(n_estimators=2), DATA.three, "y[0] is missing"),
        (bosquet.Mixture("boa"), DATA.numbers, "y contains NaN: y[0]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_masked_target_is_rejected(model, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(DATA.X, np.ma.masked_array(y, FIRST))


def test_a_masked_weight_is_rejected():
    weight = np.ma.masked_array(np.ones(len(DATA.X)), FIRST)
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is nan"):
        bosquet.RandomForestRegressor(2).fit(DATA.X, DATA.numbers, sample_weight=weight)
