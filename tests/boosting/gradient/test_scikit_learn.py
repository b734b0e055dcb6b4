"""The estimators work with scikit-learn: estimator checks, cloning, pipelines, searches, pickling."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor


def failing_checks(estimator):
    """Gradients are rounded to a grid that depends on their sum, so that features whose gains are equal up
    to rounding may be chosen differently; `subsample` draws a row of weight 2 as one row."""
    if estimator.estimator is not None:
        return {}
    kinds = ("dense", "sparse")
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": failing_checks.__doc__ for kind in kinds
    }


@parametrize_with_checks(
    [
        GradientBoostingClassifier(),
        GradientBoostingRegressor(),
        GradientBoostingClassifier(quality="fast"),
        GradientBoostingRegressor(quality="fast"),
        GradientBoostingRegressor("absolute_error", quality="fast"),
        GradientBoostingClassifier(estimator=Ridge(), n_estimators=3, learning_rate=1),
        GradientBoostingRegressor(
            estimator=DecisionTreeRegressor(max_depth=3), n_estimators=3, learning_rate=1
        ),
    ],
    expected_failed_checks=failing_checks,
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_clones_keep_every_parameter(estimator):
    model = estimator(learning_rate=0.3, max_leaf_nodes=7, monotonic_cst=[1, 0])
    assert clone(model).get_params() == model.get_params()


def test_pickled_models_predict_the_same_bits(two_classes):
    X, y = two_classes
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.feature_importances_, model.feature_importances_)


def test_works_in_a_pipeline_with_early_stopping_and_in_a_grid_search(two_classes):
    X, y = two_classes
    pipeline = make_pipeline(
        StandardScaler(), GradientBoostingClassifier(early_stopping=True, random_state=0)
    )
    search = GridSearchCV(pipeline, {"gradientboostingclassifier__max_leaf_nodes": [3, 8]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.7


def test_runs_under_joblib_workers(regression):
    X, y = regression
    model = GradientBoostingRegressor(n_estimators=20, random_state=0)
    serial = cross_val_score(model, X, y, cv=3)
    assert np.array_equal(cross_val_score(model, X, y, cv=3, n_jobs=2), serial)


def test_multi_output_regression_is_one_model_per_target(regression):
    X, y = regression
    both = GradientBoostingRegressor(n_estimators=15, random_state=0).fit(X, np.c_[y, -2 * y])
    single = GradientBoostingRegressor(n_estimators=15, random_state=0).fit(X, y)
    assert both.predict(X).shape == (500, 2)
    np.testing.assert_allclose(both.predict(X)[:, 0], single.predict(X), rtol=1e-12)
