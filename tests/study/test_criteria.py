"""AIC and BIC agree with statsmodels without a penalty, and use the effective parameters with one."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bosquet.reference.resampling import effective_parameters
from bosquet.study.tuning.information_criteria import information_criterion

statsmodels = pytest.importorskip("statsmodels.api")


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    return X, X @ [1.0, -0.5, 0.0], random


def assert_same_criteria(fitted, X, y, theirs):
    # The BIC of statsmodels has another scale for generalised models; its log-likelihood is used instead.
    parameters = (theirs.aic + 2 * theirs.llf) / 2
    bic = parameters * np.log(len(y)) - 2 * theirs.llf
    assert information_criterion(fitted, X, y) == pytest.approx(theirs.aic, rel=1e-5)
    assert information_criterion(fitted, X, y, kind="bic") == pytest.approx(bic, rel=1e-5)


def test_criteria_of_least_squares_agree_with_statsmodels(rows):
    X, signal, random = rows
    y = signal + random.normal(size=len(X))
    theirs = statsmodels.OLS(y, statsmodels.add_constant(X)).fit()
    assert_same_criteria(LinearRegression().fit(X, y), X, y, theirs)
    assert_same_criteria(make_pipeline(StandardScaler(), Ridge(alpha=1e-9)).fit(X, y), X, y, theirs)
    assert information_criterion(LinearRegression().fit(X, y), X, y, kind="bic") == pytest.approx(
        theirs.bic
    )


def test_criteria_of_logistic_regression_agree_with_statsmodels(rows):
    X, signal, random = rows
    y = np.where(signal + random.logistic(size=len(X)) > 0, "yes", "no")
    theirs = statsmodels.Logit(y == "yes", statsmodels.add_constant(X)).fit(disp=0)
    assert_same_criteria(LogisticRegression(C=1e9, tol=1e-8).fit(X, y), X, y, theirs)


def test_criteria_of_logistic_regression_of_several_classes_agree_with_statsmodels(rows):
    X, signal, random = rows
    y = np.digitize(signal + random.logistic(size=len(X)), [-1, 1])
    theirs = statsmodels.MNLogit(y, statsmodels.add_constant(X)).fit(disp=0)
    assert_same_criteria(LogisticRegression(C=1e9, tol=1e-8, max_iter=1000).fit(X, y), X, y, theirs)


@pytest.mark.parametrize("model", [LogisticRegression(), Ridge(2.0), PoissonRegressor()])
def test_sparse_rows_have_the_criteria_of_dense_ones(rows, model):
    X, signal, random = rows
    X = np.where(random.random(X.shape) < 0.5, 0, X)
    y = random.poisson(np.exp(signal)).clip(max=3)
    fitted = model.fit(X, y)
    thin = information_criterion(fitted, sparse.csr_matrix(X), y)
    assert thin == pytest.approx(information_criterion(fitted, X, y))


def test_criteria_of_poisson_regression_agree_with_statsmodels(rows):
    X, signal, random = rows
    y = random.poisson(np.exp(signal))
    theirs = statsmodels.GLM(
        y, statsmodels.add_constant(X), family=statsmodels.families.Poisson()
    ).fit()
    assert_same_criteria(PoissonRegressor(alpha=0, tol=1e-9, max_iter=1000).fit(X, y), X, y, theirs)


def test_a_penalty_leaves_fewer_parameters(rows):
    X, signal, random = rows
    y = signal + random.normal(size=len(X))
    alpha = 40.0
    fitted = Ridge(alpha=alpha).fit(X, y)
    design = np.c_[np.ones(len(X)), X]
    freedom = effective_parameters(design, np.array([0, alpha, alpha, alpha]))
    assert 1 < freedom < 4
    variance = np.mean((y - fitted.predict(X)) ** 2)
    expected = len(y) * (np.log(2 * np.pi * variance) + 1) + 2 * freedom
    assert information_criterion(fitted, X, y) == pytest.approx(expected)


def test_a_weight_counts_as_that_many_rows(rows):
    X, signal, random = rows
    y = random.poisson(np.exp(signal))
    times = random.integers(1, 4, size=len(y))
    fitted = PoissonRegressor(alpha=0.01).fit(X, y, sample_weight=times)
    repeated = information_criterion(fitted, np.repeat(X, times, axis=0), np.repeat(y, times))
    assert information_criterion(fitted, X, y, times) == pytest.approx(repeated)


def test_columns_that_are_sums_of_others_count_once(rows):
    X, signal, random = rows
    y = signal + random.normal(size=len(X))
    twice = np.c_[X, X[:, 0] + X[:, 1]]
    alone = information_criterion(Ridge(alpha=1e-9).fit(X, y), X, y)
    assert information_criterion(Ridge(alpha=1e-9).fit(twice, y), twice, y) == pytest.approx(
        alone, abs=1e-3
    )


def test_models_without_a_likelihood_raise(rows):
    X, signal, _ = rows
    with pytest.raises(ValueError, match="RandomForestRegressor has no likelihood"):
        information_criterion(RandomForestRegressor(5).fit(X, signal), X, signal)
