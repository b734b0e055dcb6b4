"""Polynomial regression: terms of sparse rows, and least squares from blocks of rows."""

import tracemalloc

import numpy as np
import pytest
from large_tables import many_levels
from scipy import sparse
from sklearn.linear_model import Ridge

from bosquet.study.methods import METHODS, polynomial
from bosquet.study.methods.polynomial import PolynomialTerms, QRRidge
from bosquet.study.methods.shapes import table_shape


def parts_of(X, y, weight, size):
    return [
        (X[k : k + size], y[k : k + size], weight[k : k + size]) for k in range(0, len(y), size)
    ]


@pytest.mark.parametrize("size", [7, 60, 200])
@pytest.mark.parametrize("columns", [3, 90])
def test_least_squares_of_blocks_are_those_of_all_rows(size, columns):
    random = np.random.default_rng(0)
    X, y, weight = random.normal(2, 3, (100, columns)), random.normal(size=100), random.random(100)
    expected = Ridge(0.5, solver="svd").fit(X, y, weight)
    fitted = QRRidge(0.5).fit_blocks(parts_of(X, y, weight, size))
    assert np.allclose(fitted.coef_, expected.coef_, rtol=1e-9, atol=1e-11)
    assert np.allclose(fitted.predict(X), expected.predict(X), rtol=1e-10)


def test_fewer_rows_than_columns_and_columns_that_are_sums_of_others_stay_finite():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(8, 12)), random.normal(size=8)
    X[:, 3] = X[:, 1] + X[:, 2]
    fitted = QRRidge(1e-9).fit_blocks(parts_of(X, y, np.ones(8), 3))
    assert np.allclose(fitted.predict(X), y, atol=1e-4)
    assert np.abs(fitted.coef_).max() < 100


def test_terms_of_sparse_rows_are_those_of_dense_ones():
    random = np.random.default_rng(0)
    X = np.c_[random.normal(size=(60, 2)), random.integers(2, size=(60, 2)), np.zeros(60)]
    X[random.random(60) < 0.7, 1] = (
        0  # zeros are not stored, but lie between the smallest and the largest value
    )
    X[:, 4] = np.where(np.arange(60) < 20, 3.0, 0.0)
    thin = sparse.csr_matrix(X)
    dense_terms, thin_terms = PolynomialTerms(3).fit(X), PolynomialTerms(3).fit(thin)
    assert thin_terms.curved_.tolist() == dense_terms.curved_.tolist()
    assert np.array_equal(thin_terms.transform(thin), dense_terms.transform(X))


def test_a_fit_never_holds_the_terms_of_all_rows(monkeypatch):
    frame, labels = many_levels(20_000, 150)
    y = frame["x"].to_numpy() ** 2 + (labels == "yes")
    shape = table_shape(frame, y, "regression")
    candidates = METHODS["polynomial"].candidates(shape)
    pipeline = next(one for one in candidates if one.label == "degree 3").make(0)
    tracemalloc.start()
    try:
        pipeline.fit(frame, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    terms = len(pipeline[1].get_feature_names_out())
    assert terms > 140
    assert peak < 20_000 * terms * 8
    # With a single block it is the same model.
    expected = pipeline.predict(frame)
    monkeypatch.setattr(polynomial, "ROWS_PER_TERM", 10_000)
    assert np.allclose(pipeline.fit(frame, y).predict(frame), expected, atol=1e-8)


def test_rows_of_weight_zero_have_no_effect():
    frame, labels = many_levels(400, 5)
    y = frame["x"].to_numpy() ** 2 + (labels == "yes")
    weight = np.r_[np.ones(300), np.zeros(100)]
    make = METHODS["polynomial"].candidates(table_shape(frame, y, "regression"))[0].make
    # The terms depend on the range of the columns over all rows, but the predictions do not.
    weighed = make(0).fit(frame, y, sample_weight=weight).predict(frame)
    alone = make(0).fit(frame[:300], y[:300]).predict(frame[:300])
    assert np.allclose(weighed[:300], alone, atol=1e-6)
