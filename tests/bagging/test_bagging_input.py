"""Bad input gets one clear error that names the parameter, the row or the value."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from bosquet import BaggingClassifier, BaggingRegressor, VotingRegressor

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
    with pytest.raises(ValueError, match=f"{parameter}={value!r} is out of range"):
        model.fit(X, Y > 1)


def refuses(match, model, X=X, y=Y, kind=ValueError, **fit):
    with pytest.raises(kind, match=match):
        model.fit(X, y, **fit)


def test_more_than_there_is_cannot_be_drawn():
    refuses("max_samples=61 is more than the 60 rows", BaggingRegressor(max_samples=61))
    refuses("max_features=4 is more than the 3 features", BaggingRegressor(max_features=4))
    rare = BaggingClassifier(max_samples=4, balanced=True)
    refuses("more than the 3 rows of the smallest class", rare, y=np.arange(60) < 3)


def test_what_is_no_estimator_is_told():
    refuses("not its class", BaggingClassifier(DecisionTreeClassifier), y=Y > 1, kind=TypeError)
    refuses("fit and predict", BaggingClassifier("tree"), y=Y > 1, kind=TypeError)


@pytest.mark.parametrize("model", [BaggingRegressor(Ridge()), VotingRegressor([("a", Ridge())])])
def test_bad_tables_targets_and_weights_are_told(model):
    refuses("NaN", model, X=np.where(X > 2, np.nan, X))
    refuses("0 sample", model, X=X[:0], y=Y[:0])
    refuses("Reshape your data", model, X=X[:, 0])
    refuses("inconsistent numbers", model, y=Y[:50])
    refuses(r"y\[3\]", model, y=np.where(np.arange(60) == 3, np.inf, Y))
    refuses("numbers", model, y=["a"] * 60)
    refuses("zero", model, sample_weight=np.zeros(60))
    refuses(r"sample_weight\[2\]", model, sample_weight=np.where(np.arange(60) == 2, -1.0, 1.0))
    model.fit(X, Y)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(X[:, :2])


def test_empty_frames_are_told():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    refuses("0 sample", BaggingRegressor(), X=frame[:0], y=Y[:0])
    refuses("0 feature", BaggingRegressor(), X=frame[[]])


def test_weights_that_could_not_count_are_told():
    model = BaggingRegressor(KNeighborsRegressor(), bootstrap=False, max_samples=0.5)
    refuses("KNeighborsRegressor takes no sample_weight", model, sample_weight=np.arange(60.0))


def test_a_warm_start_keeps_to_its_rows_classes_and_number():
    model = BaggingClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, Y > 1)
    refuses("X has 50", model, X=X[:50], y=Y[:50] > 1)
    refuses("n_estimators=3 is below the 5", clone_with(model, 3), y=Y > 1)
    refuses("not one of", model, y=np.where(Y > 1, "a", "b"))
    numbers = BaggingRegressor(warm_start=True).fit(X, Y)
    refuses("2 targets", numbers, y=np.c_[Y, Y])


def clone_with(model, n_estimators):
    from copy import copy

    return copy(model).set_params(n_estimators=n_estimators)
