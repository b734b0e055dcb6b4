"""The estimators in scikit-learn: estimator checks, cloning, pipelines, searches, pickles."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from bosquet import Mixture, SuperLearnerClassifier, SuperLearnerRegressor
from bosquet.experts import (
    ExponentialWeights,
    ExponentiatedGradient,
    FixedShare,
    OnlineMixtureClassifier,
    OnlineMixtureRegressor,
)

CLASSIFIERS = [
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
]
REGRESSORS = [("line", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
ONLINE_CLASSIFIERS = [
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
]
A_STREAM = {"check_fit2d_predict1d": "a vector is one step of a stream, not a mistake"}
DRAWS = dict.fromkeys(
    ["check_methods_sample_order_invariance", "check_methods_subset_invariance"],
    "the expert drawn for a row depends on the number of the row",
)


def known_to_fail(estimator):
    if not isinstance(estimator, Mixture) or estimator.block > 1:
        return {}
    return A_STREAM | (DRAWS if estimator.randomised else {})


@parametrize_with_checks(
    [
        Mixture(),
        Mixture("ewa", "absolute", gradient=False, randomised=True),
        Mixture("ridge", block=3),
        SuperLearnerClassifier(CLASSIFIERS, cv=3),
        SuperLearnerRegressor(REGRESSORS, cv=3),
        SuperLearnerRegressor(REGRESSORS, loss="absolute", combination="best", cv=3),
        OnlineMixtureClassifier(ONLINE_CLASSIFIERS, batch_size=10),
        OnlineMixtureRegressor(REGRESSORS, batch_size=10),
    ],
    expected_failed_checks=known_to_fail,
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "model",
    [
        Mixture(FixedShare(0.2), "pinball", quantile=0.1, prior=[1, 2]),
        SuperLearnerClassifier(CLASSIFIERS, cv=4),
        OnlineMixtureRegressor(REGRESSORS, rule=ExponentialWeights(0.1), warmup=0.2),
        ExponentiatedGradient(0.3),
    ],
)
def test_clones_keep_every_parameter(model):
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert repr(copy.get_params()) == repr(model.get_params())


def test_a_mixture_works_in_a_pipeline_and_in_a_search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + rng.normal(scale=0.1, size=300)
    forecasts = FunctionTransformer(lambda X: np.column_stack([X[:, 0], X[:, 1], X.mean(axis=1)]))
    pipeline = make_pipeline(forecasts, Mixture(ExponentialWeights()))
    grid = {
        "mixture__rule__learning_rate": [1e-3, 1.0],
        "mixture__gradient": [True, False],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_["mixture__rule__learning_rate"] == 1.0
    rules = GridSearchCV(Mixture(), {"rule": ["ewa", "boa"], "loss": ["absolute"]}, cv=3)
    assert rules.fit(X, y).best_score_ > 0.9


def test_super_learners_and_online_mixtures_search_their_learners_by_name():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.sin(X[:, 0]) + rng.normal(scale=0.1, size=200)
    learners = [("near", KNeighborsRegressor()), ("line", Ridge())]
    model = make_pipeline(StandardScaler(), SuperLearnerRegressor(learners, cv=3, random_state=0))
    grid = {
        "superlearnerregressor__near__n_neighbors": [3, 15],
        "superlearnerregressor__line": [Ridge(), SGDRegressor(random_state=0)],
    }
    assert GridSearchCV(model, grid, cv=3).fit(X, y).best_score_ > 0.5
    online = OnlineMixtureRegressor(learners).set_params(near__n_neighbors=2, rule="ewa")
    assert online.get_params()["near__n_neighbors"] == 2
    assert len(cross_val_score(online, X, y, cv=3)) == 3


def test_results_do_not_depend_on_the_number_of_workers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + rng.normal(size=150) > 0).astype(int)
    with joblib.parallel_backend("threading"):
        one, two = (
            SuperLearnerClassifier(CLASSIFIERS, n_jobs=jobs, random_state=1).fit(X, y)
            for jobs in (1, 2)
        )
    assert np.array_equal(one.weights_, two.weights_)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_models_of_models_are_pickled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] > 0).astype(int)
    sgd = SGDClassifier(loss="log_loss", random_state=0)
    models = [
        (SuperLearnerClassifier(CLASSIFIERS, cv=3, random_state=0), "weights_"),
        (OnlineMixtureClassifier([("sgd", sgd)]), "final_weights_"),
    ]
    for model, weights in models:
        model.fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(getattr(again, weights), getattr(model, weights))
