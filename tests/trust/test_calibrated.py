"""CalibratedModel: calibrated probabilities of any classifier, and cost-sensitive predictions."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from bosquet import (
    BaggingClassifier,
    CalibratedModel,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.trust import brier_decomposition, cost_threshold

BOOSTED = GradientBoostingClassifier(
    n_estimators=300, learning_rate=0.3, early_stopping=False, random_state=0
)
FOREST = RandomForestClassifier(n_estimators=60, random_state=0)


FOLDS_OF_WEIGHTS = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "one row of weight 2 is in one fold or bag, but two equal rows may be in different ones",
)


@parametrize_with_checks(
    [CalibratedModel(GaussianNB(), "platt", cv=2)],
    expected_failed_checks=lambda _: FOLDS_OF_WEIGHTS,
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        # KFold: the checks round X for a model that accepts categories, which leaves a class of one row.
        CalibratedModel(GradientBoostingClassifier(n_estimators=10), cv=KFold(2), ensemble=True),
        CalibratedModel(RandomForestClassifier(n_estimators=30, random_state=0), "beta", cv="oob"),
    ],
    expected_failed_checks=lambda _: FOLDS_OF_WEIGHTS,
)
def test_passes_check_estimator_around_models_of_bosquet(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [BOOSTED, FOREST], ids=["boosted", "forest"])
@pytest.mark.parametrize("method", ["isotonic", "platt", "beta"])
def test_calibration_lowers_the_brier_score_on_new_rows(
    two_classes, two_classes_later, model, method
):
    X, y = two_classes
    X_new, y_new = two_classes_later
    raw = brier_decomposition(y_new, clone(model).fit(X, y).predict_proba(X_new))
    calibrated = CalibratedModel(model, method, cv=3).fit(X, y)
    after = brier_decomposition(y_new, calibrated.predict_proba(X_new))
    assert after.score < 0.97 * raw.score
    assert after.reliability < 0.5 * raw.reliability


@pytest.mark.parametrize(
    "model",
    [
        FOREST,
        BaggingClassifier(n_estimators=40, random_state=0),
        TheirForest(n_estimators=60, random_state=0),
    ],
    ids=["forest", "bagging", "scikit-learn's forest"],
)
def test_out_of_bag_calibration_needs_no_further_fits(two_classes, two_classes_later, model):
    X, y = two_classes
    X_new, y_new = two_classes_later
    calibrated = CalibratedModel(model, "beta", cv="oob").fit(X, y)
    raw = calibrated.members_[0].model
    assert not hasattr(model, "classes_")
    np.testing.assert_array_equal(
        raw.predict_proba(X_new), clone(model).fit(X, y).predict_proba(X_new)
    )
    before = brier_score_loss(y_new, raw.predict_proba(X_new)[:, 1])
    assert brier_score_loss(y_new, calibrated.predict_proba(X_new)[:, 1]) < before


def test_several_classes_are_calibrated_one_against_the_rest(three_classes):
    X, y = three_classes
    model = CalibratedModel(GaussianNB(), cv=4).fit(X[:600], y[:600])
    probabilities = model.predict_proba(X[600:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    raw = GaussianNB().fit(X[:600], y[:600]).predict_proba(X[600:])
    assert (
        brier_decomposition(y[600:], probabilities).score < brier_decomposition(y[600:], raw).score
    )


def test_prefit_calibrates_the_fitted_model_itself(two_classes):
    X, y = two_classes
    model = GaussianNB().fit(X[:600], y[:600])
    calibrated = CalibratedModel(model, "platt", cv="prefit").fit(X[600:], y[600:])
    assert calibrated.members_[0].model is model
    with pytest.raises(NotFittedError):
        CalibratedModel(GaussianNB(), cv="prefit").fit(X, y)


@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_of_decision_functions_matches_scikit_learn(two_classes, ensemble):
    X, y = two_classes
    mine = CalibratedModel(LinearSVC(random_state=0), "platt", cv=3, ensemble=ensemble).fit(X, y)
    theirs = CalibratedClassifierCV(LinearSVC(random_state=0), cv=3, ensemble=ensemble).fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=2e-3)


def test_integer_weights_are_equivalent_to_repeated_rows(two_classes):
    X, y = two_classes[0][:300], two_classes[1][:300]
    times = np.random.default_rng(0).integers(1, 4, size=300)
    model = GaussianNB().fit(X, y)
    weighted = CalibratedModel(model, cv="prefit").fit(X, y, sample_weight=times)
    repeated = CalibratedModel(model, cv="prefit").fit(np.repeat(X, times, 0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=0.01)
    assert not np.allclose(
        weighted.predict_proba(X), CalibratedModel(model, cv="prefit").fit(X, y).predict_proba(X)
    )


def test_a_model_without_sample_weight_raises_a_warning(two_classes):
    X, y = two_classes
    with pytest.warns(UserWarning, match="KNeighborsClassifier has no parameter sample_weight"):
        CalibratedModel(KNeighborsClassifier(), cv=2).fit(X, y, sample_weight=y + 1.0)


def test_costs_move_the_threshold(two_classes, two_classes_later):
    X, y = two_classes
    X_new, y_new = two_classes_later
    costs = np.array([[0, 1], [9, 0]])
    model = CalibratedModel(GaussianNB(), cv=3).fit(X, y)
    cheap = model.predict(X_new, costs=costs)
    np.testing.assert_array_equal(
        cheap == 1, model.predict_proba(X_new)[:, 1] > cost_threshold(costs)
    )
    assert costs[y_new, cheap].mean() < 0.8 * costs[y_new, model.predict(X_new)].mean()
    made_with = CalibratedModel(GaussianNB(), cv=3, costs=costs).fit(X, y)
    np.testing.assert_array_equal(made_with.predict(X_new), cheap)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1, 2], [1, 0, 1]], "a row per true class"),
        ([[0, np.inf], [1, 0]], r"costs\[0, 1\] is inf"),
        ([[0, 0], [1, 0]], r"costs\[0, 1\] must exceed costs\[0, 0\]"),
        ([[0, 1], [1, 2]], r"costs\[1, 0\] must exceed costs\[1, 1\]"),
    ],
)
def test_costs_without_a_threshold_raise(costs, message):
    with pytest.raises(ValueError, match=message):
        cost_threshold(costs)


def test_gains_are_negative_costs():
    assert cost_threshold([[-2, 1], [1, 0]]) == pytest.approx(3 / 4)


def test_invalid_input_raises(two_classes):
    X, y = two_classes
    cases = [
        (CalibratedModel(GaussianNB(), "cubic"), y, "method='cubic' is not valid"),
        (CalibratedModel(RandomForestRegressor()), y, r"is a regressor.*bosquet\.ConformalModel"),
        (CalibratedModel(GaussianNB(), cv="folds"), y, "cv must be a number of folds"),
        (CalibratedModel(GaussianNB(), cv="oob"), y, "GaussianNB has no out-of-bag predictions"),
        (CalibratedModel(GaussianNB()), np.zeros(y.size), "y has 1 class"),
        (CalibratedModel(GaussianNB()), np.arange(y.size) < 3, "True has 3 row.*cv=5"),
        (CalibratedModel(GaussianNB), y, "is not valid: model must be an estimator, not a class"),
        (CalibratedModel(GaussianNB(), costs=[1, 2]), y, "costs has shape"),
        (CalibratedModel(GaussianNB().fit(X, y), cv="prefit"), y * 0, "y has 1 class"),
    ]
    for model, target, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(X, target)
    with pytest.raises(NotFittedError):
        CalibratedModel(GaussianNB()).predict_proba(X)


def test_sigmoid_is_an_alias_of_platt(two_classes):
    X, y = two_classes
    probabilities = [
        CalibratedModel(GaussianNB(), method, cv=2).fit(X, y).predict_proba(X)
        for method in ("platt", "sigmoid")
    ]
    np.testing.assert_array_equal(*probabilities)


def test_a_class_without_rows_cannot_be_calibrated(three_classes):
    X, y = three_classes
    model = CalibratedModel(GaussianNB().fit(X, y), cv="prefit")
    with pytest.raises(ValueError, match="no row of class 2"):
        model.fit(X[y != 2], y[y != 2])


def test_a_failed_fit_leaves_the_model_unchanged(two_classes):
    X, y = two_classes
    model = CalibratedModel(GaussianNB(), cv=3).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="y has 1 class"):
        model.fit(X, np.zeros(y.size))
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_works_in_pipelines_searches_and_pickles(two_classes):
    X, y = two_classes
    pipeline = make_pipeline(StandardScaler(), CalibratedModel(GaussianNB(), cv=KFold(3)))
    grid = {"calibratedmodel__method": ["isotonic", "platt"]}
    search = GridSearchCV(pipeline, grid, cv=2, scoring="neg_brier_score").fit(X, y)
    assert search.best_score_ > -0.2
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
