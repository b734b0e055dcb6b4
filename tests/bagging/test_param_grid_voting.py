"""Voting ensembles of one estimator with many settings."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bosquet import VotingClassifier, VotingRegressor
from bosquet.bagging import vote_over_grid
from bosquet.datasets import make_moons


def test_every_setting_of_the_grid_has_a_vote():
    X, y = make_moons(150, noise=0.3, random_state=0)
    grid = {"n_neighbors": [1, 7], "weights": ["uniform", "distance"]}
    vote = vote_over_grid(KNeighborsClassifier(), grid, voting="soft").fit(X, y)
    assert isinstance(vote, VotingClassifier)
    members = [
        KNeighborsClassifier(n_neighbors=k, weights=w).fit(X, y)
        for k in (1, 7)
        for w in ("uniform", "distance")
    ]
    expected = np.mean([member.predict_proba(X) for member in members], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X), expected)


def test_numbers_are_averaged_and_parameters_of_steps_can_be_set():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=50)
    pipeline = make_pipeline(StandardScaler(), Ridge())
    vote = vote_over_grid(pipeline, {"ridge__alpha": [0.1, 100.0]}).fit(X, y)
    assert isinstance(vote, VotingRegressor)
    assert [name for name, _ in vote.estimators] == ["ridge.alpha=0.1", "ridge.alpha=100.0"]
    each = [
        make_pipeline(StandardScaler(), Ridge(alpha=alpha)).fit(X, y).predict(X)
        for alpha in (0.1, 100.0)
    ]
    np.testing.assert_allclose(vote.predict(X), np.mean(each, axis=0))
    assert vote.set_params(**{"ridge.alpha=0.1__ridge__alpha": 5.0}) is vote


def test_a_clusterer_raises():
    with pytest.raises(TypeError, match="KMeans is neither a classifier nor a regressor"):
        vote_over_grid(KMeans(), {"n_clusters": [2, 3]})
