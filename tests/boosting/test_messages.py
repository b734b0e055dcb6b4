"""Error messages and warnings of the boosting estimators."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

import bosquet
from bosquet._sklearn import effective_threads

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


def class_name_of(model):
    return type(model).__name__


@pytest.mark.parametrize("power", [1, 2, 3])
def test_the_range_of_the_tweedie_power_excludes_both_ends(power):
    model = bosquet.GradientBoostingRegressor("tweedie", tweedie_power=power)
    expected = rf"tweedie_power={power} is not valid: .* in \(1, 2\); use loss='gamma'"
    with pytest.raises(ValueError, match=expected):
        model.fit(X, Y)


def test_an_unknown_class_is_reported_with_its_row_and_the_classes():
    model = bosquet.GradientBoostingClassifier(n_estimators=3, early_stopping=True)
    expected = r"y\[1\] is 7, which is not one of the classes 0, 1; drop this row"
    with pytest.raises(ValueError, match=expected):
        model.fit(X, Y, eval_set=(X[:2], [0, 7]))


@pytest.mark.parametrize("model", ALL, ids=class_name_of)
def test_the_error_for_another_number_of_columns_names_the_model(model):
    model.fit(X, Y)
    expected = rf"X has 1 features, but {class_name_of(model)} is expecting 2 features"
    with pytest.raises(ValueError, match=expected):
        model.predict(X[:, :1])
    if hasattr(model, "staged_predict"):
        with pytest.raises(ValueError, match=expected):
            next(iter(model.staged_predict(X[:, :1])))


@pytest.mark.parametrize(
    "model",
    [
        *ALL,
        bosquet.GradientBoostingRegressor(),
        bosquet.DecisionTreeRegressor(),
        bosquet.ExtraTreesRegressor(),
        bosquet.BaggingClassifier(),
        bosquet.BaggingRegressor(),
        bosquet.VotingRegressor([("tree", bosquet.DecisionTreeRegressor())]),
        bosquet.CalibratedModel(bosquet.DecisionTreeClassifier()),
        bosquet.ConformalModel(bosquet.DecisionTreeRegressor()),
        bosquet.Mixture(),
    ],
    ids=class_name_of,
)
def test_a_missing_target_is_reported_with_the_name_of_the_class(model):
    with pytest.raises(ValueError, match=f"{class_name_of(model)} requires y to be passed"):
        model.fit(X, None)


def test_n_jobs_0_raises_the_same_message_in_estimators_and_helpers():
    message = "n_jobs=0 is not valid: n_jobs must be an integer other than 0, or None"
    with pytest.raises(ValueError, match=message):
        bosquet.RandomForestClassifier(n_jobs=0).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        effective_threads(0)


@pytest.mark.parametrize("model", ALL, ids=class_name_of)
def test_the_warning_about_missing_names_names_the_model(model):
    model.fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    with pytest.warns(
        UserWarning, match=f"but {class_name_of(model)} was fitted with feature names"
    ):
        model.predict(X)


@pytest.mark.parametrize(
    "model", [model for model in ALL if "n_jobs" in model.get_params()], ids=class_name_of
)
@pytest.mark.parametrize("n_jobs", ["x", 1.5, 0])
def test_an_invalid_number_of_threads_is_named(model, n_jobs):
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


@pytest.mark.parametrize("model", CLASSIFIERS[:5], ids=class_name_of)
def test_the_only_class_is_shown_as_it_was_given(model):
    with pytest.raises(ValueError, match=r"y has one class only, 0\.0: "):
        model.fit(X, np.zeros(80))


def test_the_error_for_a_single_invalid_row_does_not_mention_others():
    y = X[:, 0].copy()
    y[3] = np.nan
    with pytest.raises(ValueError, match=r"y\[3\]; drop these rows"):
        bosquet.AdaBoostRegressor().fit(X, y)
    y[4] = np.nan
    with pytest.raises(ValueError, match=r"y\[3\] \(and 1 more row\);"):
        bosquet.AdaBoostRegressor().fit(X, y)
    y[5] = np.nan
    with pytest.raises(ValueError, match=r"y\[3\] \(and 2 more rows\);"):
        bosquet.AdaBoostRegressor().fit(X, y)


@pytest.mark.parametrize("target_error", [2, 1, 0])
def test_the_error_states_the_exact_range(target_error):
    with pytest.raises(ValueError, match=r"target_error must be a number in \(0, 1\)$"):
        bosquet.BrownBoostClassifier(target_error=target_error).fit(X, Y)


def test_the_error_for_an_edge_that_is_not_reached_names_the_parameter():
    with pytest.raises(
        ValueError,
        match=r"least_edge=0\.9 is too large: the edge of the first hypothesis is only 0\.\d+",
    ):
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


class Sure(RegressorMixin, BaseEstimator):
    """Predict the correct sign times `right` for 70 of 100 rows, and the wrong sign for the others."""

    def __init__(self, right=0.1):
        self.right = right

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = 1
        return self

    def predict(self, X):
        row = np.asarray(X)[:, 0].astype(int)
        return np.where(row < 70, self.right, -1.0) * np.where(row % 2 == 1, 1.0, -1.0)


ROWS, PARITY = np.arange(100.0)[:, None], np.arange(100) % 2


@pytest.mark.parametrize(
    "model",
    [
        bosquet.AdaBoostClassifier(Sure()),
        bosquet.AdaBoostClassifier(Sure(), variant="mada"),
        bosquet.AnyBoostClassifier(estimator=Sure()),
        bosquet.BrownBoostClassifier(Sure()),
        bosquet.LPBoostClassifier(Sure()),
    ],
)
def test_the_error_of_a_real_valued_learner_is_half_of_what_it_lacks_of_full_agreement(model):
    # ε = ½(1 - Σ w y h) = ½(1 - 0.7 · 0.1 + 0.3) = 0.615, though only 0.3 of the signs are wrong.
    with pytest.raises(
        bosquet.boosting.WorseThanChance, match=r"ε = 0\.615, and guessing"
    ) as caught:
        model.fit(ROWS, PARITY)
    assert caught.value.error == pytest.approx(0.615)


@pytest.mark.parametrize("variant", ["gentle", "logit"])
@pytest.mark.parametrize(("right", "error"), [(0.1, 0.615), (-5.0, 0.88)])
def test_numbers_of_any_size_are_scaled_for_their_error(variant, right, error):
    # ½(1 + 0.7 · 5/5 + 0.3 · 1/5) = 0.88
    model = bosquet.AdaBoostClassifier(Sure(right), variant=variant)
    with pytest.raises(bosquet.boosting.WorseThanChance, match=rf"ε = {error}, and guessing"):
        model.fit(ROWS, PARITY)


def test_the_error_of_a_learner_that_ends_the_rounds_is_at_least_one_half():
    model = bosquet.AdaBoostClassifier(Sure(right=0.5), n_estimators=50)
    with pytest.warns(ConvergenceWarning):
        model.fit(ROWS, PARITY)
    error = float(re.search(r"ε = ([\d.]+), and guessing", model.stopped_because_)[1])
    assert error >= 0.5


def test_estimator_errors_and_certificates_have_the_same_error():
    for model in (
        bosquet.BrownBoostClassifier(Sure(right=0.8), n_estimators=1),
        bosquet.LPBoostClassifier(Sure(right=0.8), n_estimators=1),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(ROWS, PARITY)
        # ½(1 - 0.7 · 0.8 + 0.3)
        assert model.certificate_.errors == pytest.approx([0.37])


def test_a_real_valued_learner_whose_signs_are_all_correct_is_not_reported_as_without_error():
    class Shy(Sure):
        def predict(self, X):
            return 0.4 * np.where(np.asarray(X)[:, 0] % 2 == 1, 1.0, -1.0)

    with pytest.warns(ConvergenceWarning):
        model = bosquet.AnyBoostClassifier(estimator=Shy(), n_estimators=5).fit(ROWS, PARITY)
    assert "every sign is correct" in model.stopped_because_
    assert model.estimator_errors_ == pytest.approx([0.3])


def test_valid_input_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bosquet.AdaBoostClassifier(n_estimators=3, n_jobs=-1, callbacks=[print]).fit(X, Y)


@pytest.mark.parametrize(
    "model",
    [bosquet.LPBoostClassifier(nu=0.3), bosquet.BrownBoostClassifier(target_error=0.3)],
    ids=class_name_of,
)
def test_weights_that_leave_one_class_are_an_error_with_advice(model):
    expected = "have the same class; give rows of another class a positive weight"
    with pytest.raises(ValueError, match=expected):
        model.fit(X, Y, sample_weight=Y.astype(float))
