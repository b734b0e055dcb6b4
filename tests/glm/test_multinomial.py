"""Multinomial regression: odds of pairs of classes, tests, bands."""

import pickle

import numpy as np
import pandas as pd
import pytest

from bosquet import BinomialRegression, MultinomialRegression


@pytest.fixture(scope="module")
def choices():
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame(
        {"x": rng.normal(size=n), "z": 100 * rng.normal(size=n), "g": rng.choice(list("uv"), n)}
    )
    scores = np.column_stack([np.zeros(n), 0.3 + frame.x, -0.2 - 0.8 * frame.x + (frame.g == "v")])
    chance = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    frame["choice"] = np.array(["bus", "car", "train"])[
        (rng.random((n, 1)) > chance.cumsum(axis=1)).sum(axis=1)
    ]
    return frame


@pytest.fixture(scope="module")
def model(choices):
    return MultinomialRegression("choice ~ x + g + z").fit(choices)


def test_with_two_classes_it_is_logistic_regression(patients):
    several = MultinomialRegression("ill ~ age + dose * sex").fit(patients)
    two = BinomialRegression("ill ~ age + dose * sex").fit(patients)
    np.testing.assert_allclose(several.params_.to_numpy(), two.params_.to_numpy(), rtol=1e-5)
    np.testing.assert_allclose(
        several.covariance_.to_numpy(), two.covariance_.to_numpy(), rtol=1e-4, atol=1e-9
    )
    assert several.test("age").statistic == pytest.approx(two.test("age").statistic)
    np.testing.assert_allclose(
        several.odds_ratios("yes", "no"), two.odds_ratios(), rtol=1e-4, atol=1e-9
    )
    band = several.confidence_band(patients)["yes"]
    np.testing.assert_allclose(band, two.confidence_band(patients), rtol=1e-4)


def test_coefficients_agree_with_statsmodels_in_the_given_units(choices, model):
    import statsmodels.formula.api as smf

    numbers = choices.assign(k=choices.choice.map({"bus": 0, "car": 1, "train": 2}))
    own = smf.mnlogit("k ~ x + g + z", numbers).fit(disp=False)
    np.testing.assert_allclose(
        model.params_["car"], own.params[0][model.params_["car"].index], rtol=1e-4, atol=1e-6
    )
    assert model.log_likelihood_ == pytest.approx(own.llf)
    errors = np.sqrt(np.diag(model.covariance_))
    np.testing.assert_allclose(errors[:4], own.bse[0][model.params_["car"].index], rtol=1e-4)


def test_odds_of_any_class_against_any_are_ratios_of_probabilities(choices, model):
    p = model.predict_proba(choices)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(model.odds(choices, "train", "car"), p[:, 2] / p[:, 1])
    there, back = model.odds_ratios("car", "train"), model.odds_ratios("train", "car")
    np.testing.assert_allclose(there.odds_ratio, 1 / back.odds_ratio)
    np.testing.assert_allclose(there.low, 1 / back.high)
    with pytest.raises(ValueError, match="'tram' is not one of the classes"):
        model.odds(choices, "tram", "car")


def test_odds_do_not_depend_on_which_class_is_first(choices, model):
    turned = choices.assign(choice=choices.choice.map({"bus": "c", "car": "b", "train": "a"}))
    other = MultinomialRegression("choice ~ x + g + z").fit(turned)
    np.testing.assert_allclose(
        other.odds_ratios("a", "b"), model.odds_ratios("train", "car"), rtol=1e-4, atol=1e-8
    )


def test_a_term_is_tested_in_all_classes_at_once(model):
    result = model.test("g")
    assert result.df == 2
    assert result.p_value < 1e-3
    assert model.test("g", "wald").statistic == pytest.approx(result.statistic, rel=0.2)
    assert model.anova().loc["z", "df"] == 2


def test_backward_removes_a_term_without_effect(model):
    assert model.backward("lr").terms_ == ["Intercept", "x", "g"]


def test_bands_lie_around_the_probabilities_inside_zero_and_one(choices, model):
    p = model.predict_proba(choices)
    for place, (label, band) in enumerate(model.confidence_band(choices).items()):
        assert label == model.classes_[place]
        np.testing.assert_allclose(band.estimate, p[:, place])
        assert (
            (band.low > 0)
            & (band.low < band.estimate)
            & (band.estimate < band.high)
            & (band.high < 1)
        ).all()


def test_summary_and_pickle_contain_the_classes(choices, model):
    result = str(model.summary())
    assert "train: g[T.v]" in result
    assert "against the class 'bus'" in result
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(choices), model.predict_proba(choices))
