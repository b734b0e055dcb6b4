"""Discriminant analysis by densities."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bosquet.datasets import Twonorm, Xor, make_moons
from bosquet.discriminant import DensityDiscriminant
from bosquet.reference import discriminant as reference


@parametrize_with_checks([DensityDiscriminant(), DensityDiscriminant("neighbours")])
def test_passes_check_estimator(estimator, check):
    check(estimator)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    features, classes = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, draw(st.integers(4, 20)))])
    return rng.normal(size=(len(y), features)) * [1, 5, 0.2][:features], y, rng


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from(["gaussian", "laplacian"]), st.floats(0.2, 2))
def test_the_class_is_that_of_the_largest_weighted_density(table, kernel, width):
    X, y, rng = table
    priors = rng.uniform(0.1, 1, y.max() + 1)
    model = DensityDiscriminant(kernel=kernel, bandwidth=width, priors=priors).fit(X, y)
    points = rng.normal(size=(5, X.shape[1])) * X.std(axis=0)
    scale = X.std(axis=0)
    for row, probabilities, logs in zip(
        points, model.predict_proba(points), model.log_densities(points), strict=True
    ):
        densities = [
            reference.kernel_density(row / scale, X[y == k] / scale, width, kernel)
            for k in range(y.max() + 1)
        ]
        np.testing.assert_allclose(np.exp(logs) * scale.prod(), densities, rtol=1e-9)
        np.testing.assert_allclose(probabilities, reference.posterior(densities, priors), rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(tables(), st.integers(1, 6))
def test_neighbours_are_counted_as_the_reference_counts_them(table, k):
    X, y, rng = table
    priors = rng.uniform(0.1, 1, y.max() + 1)
    model = DensityDiscriminant("neighbours", n_neighbors=k, priors=priors).fit(X, y)
    scale = X.std(axis=0)
    points = rng.normal(size=(5, X.shape[1])) * scale
    for row, probabilities in zip(points, model.predict_proba(points), strict=True):
        densities = reference.neighbour_densities(row / scale, X / scale, y, y.max() + 1, k)
        np.testing.assert_allclose(probabilities, reference.posterior(densities, priors), rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(tables(), st.integers(1, 6))
def test_with_priors_by_frequency_neighbours_vote(table, k):
    X, y, rng = table
    points = rng.normal(size=(8, X.shape[1])) * X.std(axis=0)
    model = DensityDiscriminant("neighbours", n_neighbors=k).fit(X, y)
    votes = KNeighborsClassifier(k).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(
        model.predict_proba(points), votes.predict_proba(points / X.std(axis=0)), atol=1e-9
    )


def test_a_density_integrates_to_one():
    X, y = make_moons(40, noise=0.2, random_state=0)
    grid = np.stack(np.meshgrid(np.linspace(-6, 7, 260), np.linspace(-6, 7, 260)), axis=-1)
    cell = (13 / 259) ** 2
    for kernel in ("gaussian", "laplacian"):
        logs = (
            DensityDiscriminant(kernel=kernel, bandwidth=0.4)
            .fit(X, y)
            .log_densities(grid.reshape(-1, 2))
        )
        np.testing.assert_allclose(np.exp(logs).sum(axis=0) * cell, 1, rtol=2e-2)


def test_the_model_does_not_depend_on_the_unit_of_a_column():
    X, y = make_moons(200, noise=0.3, random_state=0)
    model = DensityDiscriminant().fit(X, y)
    other = DensityDiscriminant().fit(X * [1000, 0.01], y)
    np.testing.assert_allclose(
        model.predict_proba(X[:20]), other.predict_proba(X[:20] * [1000, 0.01]), rtol=1e-8
    )


@pytest.mark.parametrize("density", ["kernel", "neighbours"])
def test_the_error_is_close_to_that_of_the_bayes_classifier(density):
    for generator in (Twonorm(n_features=2), Xor(spread=0.5)):
        X, y = generator.sample(2000, random_state=0)
        X_test, y_test = generator.sample(4000, random_state=1)
        error = 1 - DensityDiscriminant(density).fit(X, y).score(X_test, y_test)
        assert error < generator.bayes_error + 0.03


def test_priors_find_more_of_a_class_that_was_sampled_less():
    X, y = Twonorm(n_features=2).sample(2000, random_state=0)
    kept = (y == y.min()) | (np.arange(2000) % 20 == 0)
    X, y = X[kept], y[kept]
    X_test, y_test = Twonorm(n_features=2).sample(2000, random_state=1)
    for density in ("kernel", "neighbours"):
        by_share = DensityDiscriminant(density).fit(X, y)
        even = DensityDiscriminant(density, priors=[0.5, 0.5]).fit(X, y)
        assert even.score(X_test, y_test) > by_share.score(X_test, y_test)


def test_far_from_all_training_rows_the_probabilities_are_the_priors():
    X, y = make_moons(40, noise=0.1, random_state=0)
    model = DensityDiscriminant("kernel", bandwidth=1e-3, priors=[0.3, 0.7]).fit(X, y)
    probabilities = model.predict_proba([[1e9, 1e9]])
    assert np.isfinite(probabilities).all()
    assert probabilities.sum() == pytest.approx(1)


def test_works_in_a_search_and_survives_pickling():
    X, y = make_moons(120, noise=0.3, random_state=0)
    search = GridSearchCV(DensityDiscriminant(), {"bandwidth": [0.05, 0.3, 2.0]}, cv=3).fit(X, y)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_errors_name_the_invalid_argument():
    X, y = make_moons(20, random_state=0)
    with pytest.raises(ValueError, match="bandwidth='silverman'"):
        DensityDiscriminant(bandwidth="silverman").fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors=50 exceeds the number of rows \\(20\\)"):
        DensityDiscriminant("neighbours", n_neighbors=50).fit(X, y)
    with pytest.raises(ValueError, match="must be 2 non-negative numbers"):
        DensityDiscriminant(priors=[1, -1]).fit(X, y)
    model = DensityDiscriminant().fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(20))
    assert model.classes_.tolist() == [0, 1]
