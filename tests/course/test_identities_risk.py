"""Equalities of the course on risk, by the number of the item."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.tree import DecisionTreeRegressor

from bosquet.datasets import Polynomial
from bosquet.theory import bayes_error, bias_variance


class RecordingTree(RegressorMixin, BaseEstimator):
    """A tree that records its inputs and predictions, so that the error can be computed by hand."""

    recorded: list = []  # noqa: RUF012

    def __init__(self, max_depth=2):
        self.max_depth = max_depth

    def fit(self, X, y):
        self.tree_ = DecisionTreeRegressor(max_depth=self.max_depth, random_state=0).fit(X, y)
        return self

    def predict(self, X):
        predictions = self.tree_.predict(X)
        self.recorded.append((np.array(X), predictions))
        return predictions


@settings(max_examples=15, deadline=None)
@given(
    coefficients=st.lists(st.floats(-3, 3), min_size=1, max_size=4),
    noise=st.floats(0.05, 2),
    depth=st.integers(1, 4),
    seed=st.integers(0, 2**16),
)
def test_item_1_squared_error_is_bias_plus_variance_plus_noise(coefficients, noise, depth, seed):
    truth = Polynomial(coefficients, noise=noise)
    RecordingTree.recorded = []
    parts = bias_variance(
        RecordingTree(depth), truth, n_train=20, n_test=25, n_draws=6, n_bootstrap=2,
        unbiased=False, random_state=seed, n_jobs=1,
    )  # fmt: skip
    X = RecordingTree.recorded[0][0]
    h = np.array([predictions for _, predictions in RecordingTree.recorded])
    f = truth.mean(X)
    assert h.shape == (6, 25)
    assert parts.error == pytest.approx(((h - f) ** 2).mean() + noise**2, rel=1e-9)
    assert parts.bias == pytest.approx(((h.mean(axis=0) - f) ** 2).mean(), rel=1e-9, abs=1e-12)
    assert parts.variance == pytest.approx(h.var(axis=0).mean(), rel=1e-9, abs=1e-12)
    assert parts.noise == pytest.approx(noise**2, rel=1e-9)
    assert parts.error == pytest.approx(parts.bias + parts.variance + parts.noise, rel=1e-9)


heights = st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(any)


@settings(max_examples=12, deadline=None)
@given(first=heights, second=heights, prior=st.floats(0.1, 0.9))
def test_item_2_the_bayes_error_is_the_area_under_the_smaller_density(first, second, prior):
    d1, d2 = (np.array(h) / sum(h) / 0.5 for h in (first, second))  # four steps of width ½

    def step(levels):
        def density(x):
            inside = (x >= 0) & (x < 2)
            return np.where(inside, levels[np.clip((x / 0.5).astype(int), 0, 3)], 0.0)

        return density

    found = bayes_error([step(d1), step(d2)], priors=[prior, 1 - prior], support=(0, 2))
    area = 0.5 * np.minimum(prior * d1, (1 - prior) * d2).sum()
    assert float(found) == pytest.approx(area, abs=1e-9)
    assert found.overlap == pytest.approx(0.5 * np.minimum(d1, d2).sum(), abs=1e-9)
    assert float(found) <= min(prior, 1 - prior) + 1e-9  # the constant rule is never better
