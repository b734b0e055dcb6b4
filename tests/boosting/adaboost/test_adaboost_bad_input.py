"""Invalid input of AdaBoost and AnyBoost raises an error with a clear message."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Perceptron, Ridge
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree

from bosquet import (
    AdaBoostClassifier,
    AnyBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def assert_fit_raises(model, match, y=Y, error=ValueError, **fit):
    with pytest.raises(error, match=match):
        model.fit(X, y, **fit)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_estimators", 0),
        ("learning_rate", 0),
        ("variant", "SAMME.R"),
        ("reweight", "sometimes"),
        ("multiclass", "ovr"),
        ("sampling", "over"),
        ("split", "best"),
        ("max_bins", 1000),
        ("early_stopping", "auto"),
        ("validation_fraction", 0),
        ("n_iter_no_change", 0),
    ],
)
def test_a_parameter_out_of_range_is_named(parameter, value):
    assert_fit_raises(AdaBoostClassifier(**{parameter: value}), parameter)


def test_a_learner_without_the_outputs_of_the_variant_is_rejected():
    assert_fit_raises(AdaBoostClassifier(SVC(), variant="real"), "SVC has no predict_proba")
    assert_fit_raises(
        AdaBoostClassifier(Perceptron(), variant="gentle"), "Perceptron has no predict_proba"
    )
    assert_fit_raises(AdaBoostClassifier(Ridge(), variant="real"), "Ridge is not a classifier")
    assert_fit_raises(
        AdaBoostClassifier(SVC(), variant="logit"), "fits numbers.*SVC is a classifier"
    )
    assert_fit_raises(
        AdaBoostClassifier(DecisionTreeClassifier(), variant="logit"), "DecisionTreeRegressor"
    )
    assert_fit_raises(AdaBoostClassifier(Ridge()), "Ridge is not a classifier", y=np.arange(60) % 3)


def test_an_estimator_must_be_an_object_that_fits_and_predicts():
    assert_fit_raises(AdaBoostClassifier(TheirTree), "is not an estimator", error=TypeError)
    assert_fit_raises(
        AdaBoostClassifier("stump"), "with fit, predict and get_params", error=TypeError
    )


def test_the_error_of_a_learner_is_shown_with_its_round():
    class Tired(ClassifierMixin, BaseEstimator):
        kind = ValueError
        calls = 0

        def fit(self, X, y, sample_weight):
            type(self).calls += 1
            if self.calls == 3:
                raise self.kind("I have had enough")
            self.tree_ = TheirTree(max_depth=1).fit(X, y, sample_weight)
            self.classes_ = self.tree_.classes_
            return self

        def predict(self, X):
            return self.tree_.predict(X)

    for kind, raised in ((ValueError, ValueError), (TypeError, TypeError), (OSError, RuntimeError)):
        Tired.calls, Tired.kind = 0, kind
        model = AdaBoostClassifier(Tired(), 10)
        with pytest.raises(raised, match=r"Tired failed at round 3: .*I have had enough") as caught:
            model.fit(X, Y)
        assert isinstance(caught.value.__cause__, kind)
        assert not hasattr(model, "estimators_")


def test_a_learner_must_be_finite():
    class Wild(RegressorMixin, BaseEstimator):
        def fit(self, X, y, sample_weight):
            return self

        def predict(self, X):
            return np.where(np.arange(len(X)) == 7, np.nan, 1.0)

    assert_fit_raises(
        AdaBoostClassifier(Wild(), variant="gentle"),
        "Wild failed at round 1: predict returned nan for row 7",
    )


def test_a_failed_fit_leaves_the_model_unchanged():
    model = AdaBoostClassifier(n_estimators=5).fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, Y[:10])
    assert np.array_equal(model.decision_function(X), before)


def test_invalid_labels_and_weights_are_rejected():
    assert_fit_raises(AdaBoostClassifier(), "one class only", y=np.ones(60))
    assert_fit_raises(AdaBoostClassifier(), "one class only", sample_weight=Y.astype(float))
    assert_fit_raises(
        AdaBoostClassifier(),
        r"sample_weight\[2\]",
        sample_weight=np.where(np.arange(60) == 2, -1, 1),
    )
    assert_fit_raises(AdaBoostClassifier(), "missing", y=np.array(["a", None] * 30, dtype=object))


# ------------------------------------------------------------------ losses
def test_a_loss_must_decrease_at_margin_0():
    assert_fit_raises(AnyBoostClassifier(lambda m: m), "at margin 0 is .*must be negative")
    assert_fit_raises(AnyBoostClassifier(lambda m: m**2), "at margin 0 is .*must be negative")
    assert_fit_raises(AnyBoostClassifier(np.zeros_like), "at margin 0 is .*must be negative")


def test_a_loss_must_be_finite_with_one_value_per_margin():
    assert_fit_raises(
        AnyBoostClassifier(lambda m: np.where(m > 0.5, np.inf, -m)), "is inf at margin"
    )
    assert_fit_raises(AnyBoostClassifier(lambda m: -np.full_like(m, np.nan)), "is nan at margin")
    assert_fit_raises(AnyBoostClassifier(lambda m: -m.sum()), "one number per margin")


def test_a_loss_must_be_a_known_name_or_a_loss_object():
    assert_fit_raises(
        AnyBoostClassifier("hinge"), "loss='hinge' is not valid: loss must be one of 'exponential'"
    )
    assert_fit_raises(AnyBoostClassifier(3), "a function of the margin")


def test_a_slope_that_differs_from_the_derivative_of_the_loss_raises():
    class Mistaken:
        def value(self, margin):
            return np.exp(-margin)

        def slope(self, margin):
            return -2 * np.exp(-margin)

    assert_fit_raises(AnyBoostClassifier(Mistaken()), "the slope of loss=.*at margin")


@pytest.mark.parametrize("step", ["newton", 0, -1.0, True, None])
def test_a_step_must_be_the_name_of_a_search_or_a_positive_length(step):
    assert_fit_raises(AnyBoostClassifier(step=step), "step")


@pytest.mark.parametrize("split", ["exact", "histogram"])
def test_real_adaboost_rejects_a_regression_tree_for_every_kind_of_split(split):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = AdaBoostClassifier(DecisionTreeRegressor(max_depth=2), variant="real", split=split)
    with pytest.raises(ValueError, match="DecisionTreeRegressor is not a classifier"):
        model.fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("split", ["exact", "histogram"])
def test_the_parameters_of_a_tree_are_checked_for_every_kind_of_split(split):
    tree = DecisionTreeRegressor(criterion="gini", max_depth=2)
    assert_fit_raises(AdaBoostClassifier(tree, split=split), "criterion='gini' is not valid")
