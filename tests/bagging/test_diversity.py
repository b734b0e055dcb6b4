"""The ambiguity decomposition of a mean of predictions, and the correlation of errors."""

import numpy as np
import pytest
from scipy.linalg import hadamard

from bosquet import BaggingRegressor
from bosquet.bagging import ambiguity
from bosquet.reference import bagging as reference

RANDOM = np.random.default_rng(0)
PREDICTIONS = RANDOM.normal(size=(40, 5)) + RANDOM.normal(size=(40, 1))
TRUTH = RANDOM.normal(size=40)


@pytest.mark.parametrize("weights", [None, [1, 2, 0, 0.5, 3]])
def test_the_error_of_the_mean_is_the_mean_error_less_the_ambiguity(weights):
    parts = ambiguity(PREDICTIONS, TRUTH, weights)
    assert parts.error_of_mean == pytest.approx(parts.mean_error - parts.ambiguity, rel=1e-12)
    assert parts.ambiguity > 0
    assert parts[:3] == pytest.approx(reference.ambiguity(PREDICTIONS, TRUTH, weights or [1] * 5))


def test_uncorrelated_centred_errors_divide_the_error_by_the_number_of_learners():
    # All columns of a Hadamard matrix except the first: mean 0, correlation 0, squares 1.
    errors = hadamard(16)[:, 1:9].astype(float)
    truth = np.arange(16.0)
    parts = ambiguity(errors + truth[:, None], truth)
    assert parts.mean_error == pytest.approx(1)
    assert parts.error_of_mean == pytest.approx(1 / 8)
    assert parts.correlation == pytest.approx(0, abs=1e-12)


def test_learners_that_agree_gain_nothing():
    same = np.tile(PREDICTIONS[:, :1], (1, 4))
    parts = ambiguity(same, TRUTH)
    assert parts.ambiguity == pytest.approx(0)
    assert parts.correlation == pytest.approx(1)


def test_the_correlation_is_the_mean_of_the_off_diagonal():
    matrix = np.corrcoef((PREDICTIONS - TRUTH[:, None]).T)
    mean = matrix[~np.eye(5, dtype=bool)].mean()
    assert ambiguity(PREDICTIONS, TRUTH).correlation == pytest.approx(mean)


def test_a_constant_error_or_a_single_learner_has_no_correlation():
    assert np.isnan(ambiguity(PREDICTIONS[:, :1], TRUTH).correlation)
    shifted = np.column_stack([TRUTH + 0.1, PREDICTIONS[:, :2]])
    pair = ambiguity(PREDICTIONS[:, :2], TRUTH).correlation
    assert ambiguity(shifted, TRUTH).correlation == pytest.approx(pair)


def test_bagged_trees_obey_the_identity_on_new_rows(regression):
    X, y = regression
    model = BaggingRegressor(n_estimators=12, random_state=0).fit(X[:100], y[:100])
    parts = ambiguity(model.votes(X[100:]), y[100:])
    assert parts.error_of_mean == pytest.approx(np.mean((model.predict(X[100:]) - y[100:]) ** 2))
    assert parts.error_of_mean < parts.mean_error


def test_invalid_input_raises():
    with pytest.raises(ValueError, match="n_samples, n_learners"):
        ambiguity([1, 2, 3], [1, 2, 3])
    with pytest.raises(ValueError, match="40 rows"):
        ambiguity(PREDICTIONS, TRUTH[:30])
    with pytest.raises(ValueError, match=r"y\[2\]"):
        ambiguity(PREDICTIONS, np.where(np.arange(40) == 2, np.nan, TRUTH))
    with pytest.raises(ValueError, match=r"weights\[1\] is -1"):
        ambiguity(PREDICTIONS, TRUTH, [1, -1, 1, 1, 1])
    with pytest.raises(ValueError, match="5 learners"):
        ambiguity(PREDICTIONS, TRUTH, [1, 1])
    with pytest.raises(ValueError, match="zero"):
        ambiguity(PREDICTIONS, TRUTH, [0] * 5)
