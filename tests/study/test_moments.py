"""Discriminant analysis and least squares from sums over rows: the same models as scikit-learn's."""

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestCentroid

from bosquet.study.methods import moments
from bosquet.study.methods.moments import (
    Barycentres,
    LinearDiscriminant,
    MomentRidge,
    QuadraticDiscriminant,
)

PAIRS = {
    "barycentres": (
        NearestCentroid(priors="empirical"),
        Barycentres(priors="empirical"),
    ),
    "shrunk barycentres": (
        NearestCentroid(priors="empirical", shrink_threshold=2.0),
        Barycentres(priors="empirical", shrink_threshold=2.0),
    ),
    "lda": (LinearDiscriminantAnalysis("lsqr"), LinearDiscriminant("lsqr")),
    "shrunk lda": (
        LinearDiscriminantAnalysis("lsqr", shrinkage=0.2),
        LinearDiscriminant("lsqr", shrinkage=0.2),
    ),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Use several blocks, the last one partly filled, for tables of a few hundred rows."""
    monkeypatch.setattr(moments, "BLOCK_VALUES", 1000)


def make_table(classes, rows=400, seed=0):
    """Return numeric and binary columns, and labels of unequal classes with different covariances."""
    random = np.random.default_rng(seed)
    y = random.choice(classes, size=rows, p=np.arange(1, classes + 1) / sum(range(classes + 1)))
    numbers = random.normal(size=(rows, 4)) @ random.normal(size=(4, 4)) * (1 + y[:, None])
    flags = random.random((rows, 6)) < 0.1 + 0.1 * y[:, None]
    return np.hstack([numbers + y[:, None], flags]), np.array(["a", "b", "c", "d"])[y]


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", PAIRS)
def test_dense_and_sparse_rows_give_the_probabilities_of_scikit_learn(name, classes):
    theirs, ours = PAIRS[name]
    X, y = make_table(classes)
    expected = theirs.fit(X, y).predict_proba(X)
    for matrix in (X, sparse.csr_matrix(X)):
        fitted = ours.fit(matrix, y)
        assert np.allclose(fitted.predict_proba(matrix), expected, rtol=1e-7, atol=1e-9)
        assert np.array_equal(fitted.predict(matrix), theirs.predict(X))
        assert list(fitted.classes_) == list(theirs.classes_)


@pytest.mark.parametrize("name", PAIRS)
def test_single_precision_changes_probabilities_by_less_than_a_thousandth(name):
    theirs, ours = PAIRS[name]
    X, y = make_table(2)
    expected = theirs.fit(X, y).predict_proba(X)
    thin = sparse.csr_matrix(X.astype(np.float32))
    assert np.allclose(ours.fit(thin, y).predict_proba(thin), expected, atol=1e-3)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("shrinkage", [0.001, 0.5])
def test_quadratic_analysis_gives_the_probabilities_of_gaussian_classes(shrinkage, classes):
    X, y = make_table(classes)
    labels = np.unique(y)
    identity = np.eye(X.shape[1])
    densities = []
    for label in labels:
        rows = X[y == label]
        covariance = (1 - shrinkage) * np.cov(rows.T, bias=True) + shrinkage * identity
        density = multivariate_normal(rows.mean(axis=0), covariance).logpdf(X)
        densities.append(density + np.log(np.mean(y == label)))
    expected = softmax(np.column_stack(densities), axis=1)
    model = QuadraticDiscriminant(reg_param=shrinkage)
    for matrix in (X, sparse.csr_matrix(X)):
        fitted = model.fit(matrix, y)
        assert np.allclose(fitted.predict_proba(matrix), expected, rtol=1e-6, atol=1e-9)
        assert np.array_equal(fitted.predict(matrix), labels[expected.argmax(axis=1)])
    thin = sparse.csr_matrix(X.astype(np.float32))
    assert np.allclose(model.fit(thin, y).predict_proba(thin), expected, atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [1e-6, 50.0])
def test_least_squares_of_sparse_rows_are_those_of_dense_ones(alpha, weighted):
    X, y = make_table(3)
    target = X[:, 0] + (y == "b") + np.random.default_rng(1).normal(size=len(y))
    weight = np.random.default_rng(2).random(len(y)) if weighted else None
    expected = Ridge(alpha).fit(X, target, weight)
    fitted = MomentRidge(alpha).fit(sparse.csr_matrix(X), target, weight)
    assert np.allclose(fitted.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    assert np.allclose(fitted.predict(sparse.csr_matrix(X)), expected.predict(X))


def test_least_squares_without_a_penalty_take_columns_that_are_sums_of_others():
    X, y = make_table(3)
    X = np.hstack([X, X[:, [0]] + X[:, [1]]])
    target = X[:, 0] + (y == "b")
    fitted = MomentRidge(0.0).fit(sparse.csr_matrix(X), target)
    best = np.linalg.lstsq(np.hstack([X, np.ones((len(X), 1))]), target, rcond=None)[0]
    expected = X @ best[:-1] + best[-1]
    assert np.allclose(fitted.predict(X), expected, atol=1e-6)


def test_a_class_of_one_row_has_no_covariance():
    X, y = make_table(2)
    y = np.where(np.arange(len(y)) == 7, "alone", y)
    with pytest.raises(ValueError, match="class 'alone' has one row"):
        QuadraticDiscriminant(reg_param=0.1).fit(X, y)


def test_collinear_columns_without_shrinkage_are_an_error_with_advice():
    X, y = make_table(2)
    with pytest.raises(linalg.LinAlgError, match="within class 'a'; increase reg_param"):
        QuadraticDiscriminant().fit(np.hstack([X, X[:, [0]]]), y)


@pytest.mark.parametrize("model", [Barycentres(), LinearDiscriminant(), QuadraticDiscriminant()])
def test_one_class_raises(model):
    X, _ = make_table(2)
    with pytest.raises(ValueError, match="y has only one class, 'a'"):
        model.fit(X, np.full(len(X), "a"))


def test_barycentres_of_constant_columns_raise():
    with pytest.raises(ValueError, match="every column of X is constant"):
        Barycentres(priors="empirical").fit(np.ones((6, 2)), ["a", "b"] * 3)
