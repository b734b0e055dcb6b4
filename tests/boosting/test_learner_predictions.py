"""Predictions of base learners must be known classes, probabilities or finite numbers, one per row."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

from bosquet import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    AnyBoostClassifier,
    BrownBoostClassifier,
    GradientBoostingRegressor,
    LPBoostClassifier,
)

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
VOTES = [
    AdaBoostClassifier,
    lambda learner: AnyBoostClassifier("logistic", estimator=learner),
    BrownBoostClassifier,
    lambda learner: LPBoostClassifier(learner, nu=0.3),
]


class Odd(ClassifierMixin, BaseEstimator):
    """A stump whose `at`-th prediction is replaced."""

    calls = 0

    def __init__(self, replace=None, at=-1):
        self.replace, self.at = replace, at

    def fit(self, X, y, sample_weight=None):
        self.tree_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        type(self).calls += 1
        predictions = self.tree_.predict(X)
        return self.replace(predictions) if type(self).calls == self.at else predictions

    def predict_proba(self, X):
        type(self).calls += 1
        shares = self.tree_.predict_proba(X)
        return self.replace(shares) if type(self).calls == self.at else shares


def nan_at_seven(predictions):
    return np.where(np.arange(predictions.shape[0]) == 7, np.nan, predictions)


def assert_fit_raises(model, message, y=Y):
    Odd.calls = 0
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("at", [1, 2])
def test_a_vote_for_an_unknown_class_raises(vote, at):
    assert_fit_raises(
        vote(Odd(nan_at_seven, at)),
        rf"Odd failed at round {at}: predict returned nan for row 7.*classes 0, 1;",
    )
    seven = lambda predictions: np.where(np.arange(predictions.size) == 3, 7, predictions)  # noqa: E731
    assert_fit_raises(
        vote(Odd(seven, at)),
        rf"Odd failed at round {at}: predict returned 7 for row 3.*not one of the classes",
    )


@pytest.mark.parametrize("vote", VOTES)
def test_one_prediction_per_row_is_required(vote):
    assert_fit_raises(
        vote(Odd(lambda predictions: predictions[:-1], 2)),
        r"Odd failed at round 2: predict returned shape \(59,\) for 60 rows",
    )


@pytest.mark.parametrize("multiclass", ["samme", "mh", "one-vs-rest"])
def test_a_vote_for_an_unknown_class_raises_for_several_classes(multiclass):
    message = "Odd failed at round 1: predict returned .*not one of the classes"
    model = AdaBoostClassifier(Odd(lambda predictions: predictions + 9, 1), multiclass=multiclass)
    assert_fit_raises(model, message, y=np.arange(60) % 3)


@pytest.mark.parametrize("variant", ["real", "gentle"])
def test_probabilities_need_one_column_per_class_and_finite_non_negative_values(variant):
    def boosted(replace):
        return AdaBoostClassifier(Odd(replace, 2), variant=variant)

    assert_fit_raises(
        boosted(lambda shares: np.column_stack([shares, shares[:, 0]])),
        r"Odd failed at round 2: predict_proba returned shape \(60, 3\) for 60 rows",
    )
    assert_fit_raises(
        boosted(lambda shares: shares[:9]), r"round 2: predict_proba returned shape \(9, 2\)"
    )
    assert_fit_raises(
        boosted(lambda shares: shares * np.nan),
        r"round 2: predict_proba returned \[nan nan\] for row 0",
    )
    assert_fit_raises(
        boosted(lambda shares: shares - 2), "round 2: predict_proba returned .*must not be negative"
    )


def test_a_learner_fitted_to_one_of_two_classes_may_predict_only_it():
    model = AdaBoostClassifier(Odd(), 5, variant="real", reweight="resample", random_state=0)
    few = np.array([0] * 58 + [1, 1])
    X_separable = X + 9 * few[:, None]
    assert model.fit(X_separable, few).score(X_separable, few) == 1


def test_a_learner_with_invalid_predictions_is_named_when_the_vote_predicts():
    Odd.calls = 0
    model = AdaBoostClassifier(Odd(), 3).fit(X, Y)
    model.estimators_[1].tree_.classes_ = np.array([0, 5])
    with pytest.raises(ValueError, match="Odd failed at round 2: predict returned 5"):
        model.predict(X)


def test_a_regressor_that_rejects_missing_values_is_named_with_its_round():
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match="Ridge failed at round 1: Input X contains NaN"):
        AdaBoostRegressor(Ridge(), random_state=0).fit(holes, X[:, 0])


@pytest.mark.parametrize("row", [0, 59])
def test_a_regressor_that_predicts_infinity_is_named_with_its_round(row):
    class Wild(RegressorMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None):
            return self

        def predict(self, X):
            return np.where(np.arange(X.shape[0]) == row, np.inf, 0.5)

    with pytest.raises(
        ValueError, match=f"Wild failed at round 1: predict returned inf for row {row}"
    ):
        AdaBoostRegressor(Wild()).fit(X, X[:, 0])


class Line(RegressorMixin, BaseEstimator):
    """A linear regression whose predictions are converted by a function."""

    def __init__(self, convert):
        self.convert = convert

    def fit(self, X, y):
        self.line_ = Ridge().fit(X, y)
        return self

    def predict(self, X):
        return self.convert(self.line_.predict(X))


@pytest.mark.parametrize(
    "convert",
    [list, lambda numbers: numbers[:, None], lambda numbers: numbers.astype(np.longdouble)],
    ids=["list", "column", "longdouble"],
)
def test_gradient_boosting_accepts_predictions_in_any_container(convert):
    def predictions(learner):
        model = GradientBoostingRegressor(estimator=learner, n_estimators=3)
        return model.fit(X, X[:, 0], eval_set=(X.tolist(), X[:, 0])).predict(X)

    expected = predictions(Line(np.asarray))
    np.testing.assert_array_equal(predictions(Line(convert)), expected)


@pytest.mark.parametrize(
    ("convert", "message"),
    [
        (nan_at_seven, "predict returned nan for row 7"),
        (lambda numbers: numbers[:-1], r"predict returned shape \(59,\) for 60 rows"),
        (lambda numbers: 1.0, r"predict returned shape \(\) for 60 rows"),
    ],
    ids=["nan", "too few", "scalar"],
)
def test_gradient_boosting_names_a_learner_with_invalid_predictions(convert, message):
    model = GradientBoostingRegressor(estimator=Line(convert), n_estimators=3)
    with pytest.raises(ValueError, match=f"Line failed at round 1: {message}"):
        model.fit(X, X[:, 0])


def test_a_validation_set_of_another_length_is_rejected_for_any_learner():
    model = GradientBoostingRegressor(estimator=Ridge(), n_estimators=3)
    with pytest.raises(ValueError, match="inconsistent numbers of samples: X has 59, y has 60"):
        model.fit(X, X[:, 0], eval_set=(X[:-1], X[:, 0]))
