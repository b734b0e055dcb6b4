"""What the boosting family says to those who give it something else than it expects."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bosquet

X = np.random.default_rng(0).normal(size=(80, 2))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
CLASSIFIERS = [
    bosquet.AdaBoostClassifier(n_estimators=3),
    bosquet.AnyBoostClassifier("logistic", n_estimators=3),
    bosquet.BrownBoostClassifier(target_error=0.3),
    bosquet.LPBoostClassifier(nu=0.3),
    bosquet.GradientBoostingClassifier(n_estimators=3),
    bosquet.DecisionTreeClassifier(),
    bosquet.RandomForestClassifier(n_estimators=3),
]
ALL = [*CLASSIFIERS, bosquet.AdaBoostRegressor(n_estimators=3)]


def named(model):
    return type(model).__name__


@pytest.mark.parametrize("model", ALL, ids=named)
def test_another_number_of_columns_is_told_by_the_model_itself(model):
    model.fit(X, Y)
    expected = rf"X has 1 features, but {named(model)} is expecting 2 features"
    with pytest.raises(ValueError, match=expected):
        model.predict(X[:, :1])
    if hasattr(model, "staged_predict"):
        with pytest.raises(ValueError, match=expected):
            next(iter(model.staged_predict(X[:, :1])))


@pytest.mark.parametrize("model", ALL, ids=named)
def test_names_that_are_missing_are_told_by_the_model_itself(model):
    model.fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    with pytest.warns(UserWarning, match=f"but {named(model)} was fitted with feature names"):
        model.predict(X)


@pytest.mark.parametrize(
    "model", [model for model in ALL if "n_jobs" in model.get_params()], ids=named
)
@pytest.mark.parametrize("n_jobs", ["x", 1.5, 0])
def test_a_number_of_threads_that_is_none_is_named(model, n_jobs):
    with pytest.raises(ValueError, match=rf"n_jobs={n_jobs!r}.*an integer other than 0, or None"):
        type(model)(n_jobs=n_jobs).fit(X, Y)


@pytest.mark.parametrize(
    "kind",
    [bosquet.AdaBoostClassifier, bosquet.AnyBoostClassifier, bosquet.GradientBoostingClassifier],
)
@pytest.mark.parametrize("callbacks", [3, print, [1, 2]])
def test_callbacks_that_cannot_be_called_are_named(kind, callbacks):
    with pytest.raises(ValueError, match=r"callbacks=.* must be a list of functions, or None"):
        kind(callbacks=callbacks).fit(X, Y)


@pytest.mark.parametrize("model", CLASSIFIERS[:5], ids=named)
def test_the_only_class_is_shown_as_it_was_given(model):
    with pytest.raises(ValueError, match=r"y holds one class only, 0\.0: "):
        model.fit(X, np.zeros(80))


def test_a_single_bad_row_is_told_without_more_of_them():
    y = X[:, 0].copy()
    y[3] = np.nan
    with pytest.raises(ValueError, match=r"y\[3\]; drop such rows"):
        bosquet.AdaBoostRegressor().fit(X, y)
    y[4] = np.nan
    with pytest.raises(ValueError, match=r"y\[3\] \(and 1 more row\);"):
        bosquet.AdaBoostRegressor().fit(X, y)
    y[5] = np.nan
    with pytest.raises(ValueError, match=r"y\[3\] \(and 2 more rows\);"):
        bosquet.AdaBoostRegressor().fit(X, y)


@pytest.mark.parametrize("target_error", [2, 1, 0])
def test_a_range_is_told_as_it_is(target_error):
    with pytest.raises(ValueError, match=r"target_error must be a number in \(0, 1\)$"):
        bosquet.BrownBoostClassifier(target_error=target_error).fit(X, Y)


def test_an_edge_that_is_asked_for_in_vain_is_blamed_on_who_asks():
    with pytest.raises(ValueError, match=r"least_edge=0\.9 is too large: .* has the edge 0\.\d+"):
        bosquet.BrownBoostClassifier(least_edge=0.9).fit(X, Y)
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(bosquet.boosting.WorseThanChance, match="no better than chance"):
        bosquet.BrownBoostClassifier(least_edge=0.9).fit(corners, [0, 1, 1, 0])


def test_the_error_of_a_learner_without_an_edge_has_a_public_name_and_its_error():
    from bosquet.boosting import WorseThanChance

    assert "WorseThanChance" in bosquet.boosting.__all__
    assert WorseThanChance.__module__ == "bosquet.boosting"
    corners = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(WorseThanChance) as caught:
        bosquet.AdaBoostClassifier().fit(corners, [0, 1, 1, 0])
    assert caught.value.error == pytest.approx(0.5)


def test_what_fits_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bosquet.AdaBoostClassifier(n_estimators=3, n_jobs=-1, callbacks=[print]).fit(X, Y)
