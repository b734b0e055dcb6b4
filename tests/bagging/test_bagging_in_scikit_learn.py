"""The estimators work with scikit-learn: estimator checks, cloning, pipelines, searches, pickling."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from bosquet import BaggingClassifier, BaggingRegressor, VotingClassifier, VotingRegressor

CLASSIFIERS = [
    ("line", LogisticRegression(max_iter=500)),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
]
REGRESSORS = [("line", Ridge()), ("tree", DecisionTreeRegressor(random_state=0))]
BAGGING_OF_WEIGHTS = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "a row of weight 2 is one row to draw, two equal rows are two: equal in distribution, not in bits",
)


def known_to_fail(estimator):
    return BAGGING_OF_WEIGHTS if type(estimator).__name__.startswith("Bagging") else {}


@parametrize_with_checks(
    [
        BaggingClassifier(n_estimators=3),
        BaggingClassifier(GaussianNB(), n_estimators=3, voting="hard", random_state=0),
        BaggingRegressor(n_estimators=3),
        BaggingRegressor(KNeighborsRegressor(), n_estimators=5, max_features=0.9),
        VotingClassifier(CLASSIFIERS),
        VotingClassifier(CLASSIFIERS, voting="soft", weights=[1, 2]),
        VotingClassifier(CLASSIFIERS[:1], voting="real"),
        VotingRegressor(REGRESSORS),
    ],
    expected_failed_checks=known_to_fail,
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(GaussianNB(), 7, max_samples=0.3, balanced=True),
        BaggingRegressor(Ridge(alpha=3), "auto", oob_score=True),
        VotingClassifier(CLASSIFIERS, weights=[1, 3]),
        VotingRegressor([("line", Ridge(alpha=7)), ("gone", "drop")]),
    ],
)
def test_clones_keep_every_parameter(model):
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert repr(copy.get_params()) == repr(model.get_params())


def test_pickled_models_have_the_same_predictions_and_bags(two_classes):
    X, y = two_classes
    model = BaggingClassifier(n_estimators=12, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="in all 12 bags"):
        model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    for mine, other in zip(again.estimators_samples_, model.estimators_samples_, strict=True):
        assert np.array_equal(mine, other)
    voting = VotingClassifier(CLASSIFIERS).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(voting)).predict(X), voting.predict(X))


def test_a_bag_is_the_same_in_every_version():
    # Bags of pickled models are drawn again, which relies on the frozen streams of RandomState.
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    model = BaggingRegressor(n_estimators=2, random_state=0).fit(X, y)
    frozen = [[3, 3, 7, 5, 4, 5, 3, 1], [7, 1, 2, 1, 2, 6, 5, 7]]
    assert [rows.tolist() for rows in model.estimators_samples_] == frozen


def test_works_in_a_pipeline_and_in_a_grid_search(two_classes):
    X, y = two_classes
    pipeline = make_pipeline(StandardScaler(), BaggingClassifier(random_state=0))
    grid = {
        "baggingclassifier__max_samples": [0.3, 1.0],
        "baggingclassifier__estimator": [DecisionTreeClassifier(), GaussianNB()],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.7
    nested = GridSearchCV(
        VotingClassifier(CLASSIFIERS), {"tree__max_depth": [1, 3], "line": ["drop", GaussianNB()]}
    )
    assert nested.fit(X, y).best_score_ > 0.7


def test_runs_under_joblib_workers(regression):
    X, y = regression
    model = BaggingRegressor(n_estimators=5, n_jobs=2, random_state=0)
    serial = cross_val_score(model, X, y, cv=3)
    assert np.array_equal(cross_val_score(model, X, y, cv=3, n_jobs=2), serial)
