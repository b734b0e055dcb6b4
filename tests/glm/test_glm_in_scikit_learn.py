"""Regression models in scikit-learn: estimator checks, cloning, pipelines, searches."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bosquet import BinomialRegression, LinearModel, MultinomialRegression, PoissonRegression

WIDE = {
    "check_sample_weight_equivalence_on_dense_data": (
        "its X has more columns than rows, so the maximum of the likelihood is not unique"
    )
}


def expected_failures(estimator):
    return {} if isinstance(estimator, MultinomialRegression) else WIDE


@pytest.mark.filterwarnings("ignore::bosquet.glm.separation.SeparationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        BinomialRegression(),
        BinomialRegression(link="cloglog"),
        MultinomialRegression(),
        PoissonRegression(),
        LinearModel(),
    ],
    expected_failed_checks=expected_failures,
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kind", [BinomialRegression, MultinomialRegression, PoissonRegression, LinearModel]
)
def test_clones_keep_every_parameter(kind):
    model = kind("y ~ a", missing="drop", fit_intercept=False)
    assert clone(model).get_params() == model.get_params()


def test_works_in_a_pipeline_and_in_a_search(patients):
    X = patients[["age", "dose", "noise"]]
    pipeline = make_pipeline(StandardScaler(), BinomialRegression())
    search = GridSearchCV(
        pipeline, {"binomialregression__link": ["logit", "probit", "cloglog"]}, cv=3
    )
    assert search.fit(X, patients.ill).best_score_ > 0.6
    formulas = GridSearchCV(BinomialRegression(), {"formula": ["age", "age + dose * sex"]}, cv=3)
    assert formulas.fit(patients, patients.ill).best_params_ == {"formula": "age + dose * sex"}


def test_a_model_selected_by_backward_accepts_the_same_table(patients):
    frame = patients[["noise", "age", "sex"]]
    chosen = BinomialRegression().fit(frame, patients.ill).backward("lr", 0.01)
    assert chosen.formula == ["age", "sex"]
    assert chosen.n_features_in_ == 3
    again = clone(chosen).fit(frame, patients.ill)
    np.testing.assert_allclose(again.params_, chosen.params_)
    np.testing.assert_allclose(again.predict_proba(frame), chosen.predict_proba(frame))
    X = frame[["noise", "age"]].to_numpy()
    by_place = BinomialRegression().fit(X, patients.ill).backward("lr")
    assert by_place.formula == [1]
    np.testing.assert_array_equal(
        clone(by_place).fit(X, patients.ill).predict(X), by_place.predict(X)
    )
