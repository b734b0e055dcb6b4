"""Invalid input raises an error that names the parameter, the row or the value."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from bosquet import BaggingClassifier, BaggingRegressor, VotingClassifier, VotingRegressor

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + 1


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_estimators", 0),
        ("n_estimators", 2.5),
        ("n_estimators", "many"),
        ("max_samples", 0),
        ("max_samples", 1.5),
        ("max_samples", "half"),
        ("max_features", 0.0),
        ("max_features", "some"),
        ("bootstrap", "yes"),
        ("bootstrap_features", 1),
        ("voting", "loud"),
        ("balanced", None),
        ("oob_score", "auto"),
        ("warm_start", 2),
        ("verbose", -1),
    ],
)
def test_a_parameter_out_of_range_is_named(parameter, value):
    model = BaggingClassifier(**{parameter: value})
    with pytest.raises(ValueError, match=f"{parameter}={value!r} is not valid"):
        model.fit(X, Y > 1)


def assert_raises(match, model, X=X, y=Y, kind=ValueError, **fit):
    with pytest.raises(kind, match=match):
        model.fit(X, y, **fit)


def test_samples_larger_than_the_data_raise():
    assert_raises(
        r"max_samples=61 exceeds the number of rows of X \(60\)", BaggingRegressor(max_samples=61)
    )
    assert_raises(
        r"max_features=4 exceeds the number of features of X \(3\)",
        BaggingRegressor(max_features=4),
    )
    rare = BaggingClassifier(max_samples=4, balanced=True)
    assert_raises(
        r"exceeds the number of rows of the smallest class \(3\)", rare, y=np.arange(60) < 3
    )


def test_objects_that_are_not_estimators_raise():
    assert_raises("not a class", BaggingClassifier(DecisionTreeClassifier), y=Y > 1, kind=TypeError)
    assert_raises(
        "with fit, predict and get_params", BaggingClassifier("tree"), y=Y > 1, kind=TypeError
    )


@pytest.mark.parametrize("model", [BaggingRegressor(Ridge()), VotingRegressor([("a", Ridge())])])
def test_invalid_tables_targets_and_weights_raise(model):
    assert_raises("NaN", model, X=np.where(X > 2, np.nan, X))
    assert_raises("0 sample", model, X=X[:0], y=Y[:0])
    assert_raises("Reshape your data", model, X=X[:, 0])
    assert_raises("inconsistent numbers", model, y=Y[:50])
    assert_raises(r"y\[3\]", model, y=np.where(np.arange(60) == 3, np.inf, Y))
    assert_raises("y must be numeric", model, y=["a"] * 60)
    assert_raises("zero", model, sample_weight=np.zeros(60))
    assert_raises(
        r"sample_weight\[2\]", model, sample_weight=np.where(np.arange(60) == 2, -1.0, 1.0)
    )
    model.fit(X, Y)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(X[:, :2])


def test_empty_frames_raise():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    assert_raises("0 sample", BaggingRegressor(), X=frame[:0], y=Y[:0])
    assert_raises("0 feature", BaggingRegressor(), X=frame[[]])


def test_weights_that_cannot_be_used_raise():
    model = BaggingRegressor(KNeighborsRegressor(), bootstrap=False, max_samples=0.5)
    assert_raises(
        "KNeighborsRegressor.fit has no parameter sample_weight",
        model,
        sample_weight=np.arange(60.0),
    )


def test_a_warm_start_needs_the_same_rows_and_classes_and_not_fewer_learners():
    model = BaggingClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, Y > 1)
    assert_raises("X has 50 rows, but the model was fitted to 60", model, X=X[:50], y=Y[:50] > 1)
    assert_raises(
        r"n_estimators=3 is smaller than the number of fitted learners \(5\)",
        clone_with(model, 3),
        y=Y > 1,
    )
    assert_raises("y has the class 'a'", model, y=np.where(Y > 1, "a", "b"))
    numbers = BaggingRegressor(warm_start=True).fit(X, Y)
    assert_raises("2 targets", numbers, y=np.c_[Y, Y])


def clone_with(model, n_estimators):
    from copy import copy

    return copy(model).set_params(n_estimators=n_estimators)


class Converted(BaseEstimator):
    """A learner whose predictions are converted by a function."""

    def __init__(self, convert):
        self.convert = convert

    def fit(self, X, y):
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self.line_ = Ridge().fit(X, numbers if isinstance(self, ClassifierMixin) else y)
        return self

    def predict(self, X):
        predicted = self.line_.predict(X)
        if isinstance(self, ClassifierMixin):
            predicted = self.classes_[(predicted > 0.5).astype(int)]
        return self.convert(predicted)


class ConvertedClassifier(ClassifierMixin, Converted):
    pass


class ConvertedRegressor(RegressorMixin, Converted):
    pass


def ensembles(learner):
    if isinstance(learner, ClassifierMixin):
        return [BaggingClassifier(learner, 2), VotingClassifier([("a", learner)], voting="hard")]
    return [BaggingRegressor(learner, 2), VotingRegressor([("a", learner)])]


@pytest.mark.parametrize(
    ("convert", "message"),
    [
        # 1 lies between the classes 0 and 2, 9 is larger than both.
        (np.ones_like, "predicts the class 1, which is not one of 0, 2; the estimator must"),
        (lambda labels: labels + 9, "predicts the class (9|11), which is not one of"),
        (lambda labels: labels[:-1], r"returned predictions of shape \(\d+,\) for \d+ rows"),
    ],
    ids=["between", "above", "too few"],
)
def test_a_learner_that_predicts_other_classes_or_rows_is_named(convert, message):
    classes = 2 * (X[:, 0] > 0)
    for model in ensembles(ConvertedClassifier(convert)):
        with pytest.raises(ValueError, match=f"ConvertedClassifier {message}"):
            model.fit(X, classes).predict(X)


def test_a_regressor_that_predicts_too_few_rows_is_named():
    for model in ensembles(ConvertedRegressor(lambda numbers: numbers[:-1])):
        with pytest.raises(ValueError, match="ConvertedRegressor returned predictions of shape"):
            model.fit(X, X[:, 0]).predict(X)


def test_a_column_of_labels_is_accepted_as_one_label_per_row():
    def predictions(convert):
        learner = ConvertedClassifier(convert)
        model = BaggingClassifier(learner, 3, random_state=0)
        return model.fit(X, X[:, 0] > 0).predict(X)

    expected = predictions(np.asarray)
    assert 0 < expected.sum() < expected.size
    np.testing.assert_array_equal(predictions(lambda labels: labels[:, None]), expected)
