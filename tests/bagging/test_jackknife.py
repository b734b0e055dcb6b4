"""Standard errors of bagged predictions by the jackknife after the bootstrap."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.tree import DecisionTreeRegressor

from bosquet import BaggingClassifier, BaggingRegressor
from bosquet._bags import Bags, jackknife_variance
from bosquet.bagging._sampling import plain_sampler


class MeanRegressor(RegressorMixin, BaseEstimator):
    """Predicts the mean of the training targets."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_the_standard_error_of_a_bagged_mean_is_that_of_the_mean():
    # The bagged mean is the mean, and the standard error of a mean is known: s / sqrt(n).
    y = np.random.default_rng(0).exponential(size=40)
    model = BaggingRegressor(MeanRegressor(), n_estimators=1500, random_state=0)
    model.fit(np.zeros((40, 1)), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = model.jackknife_standard_errors(np.zeros((1, 1)))
    assert error.shape == (1,)
    assert error[0] == pytest.approx(y.std(ddof=1) / np.sqrt(40), rel=0.1)


def test_smaller_bags_give_the_same_standard_error_of_a_mean():
    y = np.random.default_rng(0).exponential(size=40)
    model = BaggingRegressor(MeanRegressor(), 1500, max_samples=20, random_state=0)
    error = model.fit(np.zeros((40, 1)), y).jackknife_standard_errors(np.zeros((1, 1)))
    assert error[0] == pytest.approx(y.std(ddof=1) / np.sqrt(40), rel=0.15)


def test_the_correction_removes_monte_carlo_noise_on_average():
    # Votes that do not depend on the bags: without the correction the variance would be about
    # (e - 1) n / B = 6 times that of a vote.
    sampler = plain_sampler(0, 100, np.zeros(0), by_weight=False, max_samples=1.0, replace=True)
    votes = np.random.default_rng(0).normal(size=(30, 400))
    with pytest.warns(UserWarning, match="30 learners are too few"):
        variance = jackknife_variance(Bags(sampler.counts, sampler.leave_one_out_factors()), votes)
    assert np.median(variance) < 0.2
    assert 0.3 < np.mean(variance == 0) < 0.7
    # The relative standard deviation of the noise is sqrt(2 / n), as in the docstring.
    deviation = np.sqrt(2 / 100) * (np.e - 1) * 100 / 30
    assert np.sqrt(np.mean(variance**2)) == pytest.approx(deviation / np.sqrt(2), rel=0.35)


@pytest.mark.slow
def test_the_jackknife_estimates_how_predictions_vary_over_data_sets():
    random = np.random.default_rng(0)
    new = np.linspace(0.1, 0.9, 5)[:, None]
    predictions, errors = [], []
    for seed in range(40):
        X = random.uniform(size=(80, 1))
        y = np.sin(5 * X[:, 0]) + 0.3 * random.normal(size=80)
        tree = DecisionTreeRegressor(min_samples_leaf=5)
        model = BaggingRegressor(tree, n_estimators=150, random_state=seed).fit(X, y)
        predictions.append(model.predict(new))
        errors.append(model.jackknife_standard_errors(new))
    truth = np.std(predictions, axis=0).mean()
    assert np.mean(errors) == pytest.approx(truth, rel=0.3)


def test_a_classifier_has_a_standard_error_per_class(three_classes):
    X, y = three_classes
    model = BaggingClassifier(n_estimators=100, random_state=0).fit(X, y)
    errors = model.jackknife_standard_errors(X[:7])
    assert errors.shape == (7, 3)
    assert (errors >= 0).all()
    assert errors.max() > 0.02
    balanced = BaggingClassifier(balanced=True, n_estimators=200, random_state=0).fit(X, y)
    assert np.isfinite(balanced.jackknife_standard_errors(X[:7])).all()


def test_two_classes_have_the_same_standard_error(two_classes):
    X, y = two_classes
    model = BaggingClassifier(n_estimators=80, random_state=0).fit(X, y)
    errors = model.jackknife_standard_errors(X)
    np.testing.assert_allclose(errors[:, 0], errors[:, 1], atol=1e-9)


def test_too_few_learners_for_the_rows_give_a_warning():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 3))
    y = X[:, 0] + random.normal(size=2000)
    model = BaggingRegressor(n_estimators=30, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="30 learners are too few"):
        model.jackknife_standard_errors(X[:200])


def test_the_jackknife_needs_a_bootstrap_and_enough_learners(regression):
    X, y = regression
    without = BaggingRegressor(bootstrap=False, max_samples=0.5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="bootstrap=True"):
        without.jackknife_standard_errors(X)
    few = BaggingRegressor(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"in all 3 bags.*n_estimators"):
        few.jackknife_standard_errors(X)
