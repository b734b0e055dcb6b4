"""Separation: detected exactly if no estimate exists, and attributed to the right terms."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet import BinomialRegression, LogLinearModel, MultinomialRegression, PoissonRegression
from bosquet.glm import SeparationWarning
from bosquet.glm.separation import has_certain_maximum


def fit_model(frame, formula="y ~ .", kind=BinomialRegression, **options):
    return kind(formula, on_separation="ignore", **options).fit(frame)


@pytest.fixture
def overlapping():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["y"] = (frame.a + rng.normal(size=60) > 0).astype(int)
    return frame


def test_overlapping_classes_are_not_separated(overlapping):
    assert fit_model(overlapping).separation_ is None


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_complete_separation_names_the_term_that_separates_alone(overlapping, link):
    overlapping["y"] = (overlapping.b > 0.3).astype(int)
    with pytest.warns(SeparationWarning, match="complete separation by b: "):
        model = BinomialRegression("y ~ a + b", link=link).fit(overlapping)
    assert model.separation_.kind == "complete"
    assert model.separation_.terms == ("b",)
    assert model.score(overlapping, overlapping.y) == 1.0
    assert np.isfinite(model.params_).all()


def test_classes_may_be_separated_by_two_terms_and_by_neither_alone(overlapping):
    overlapping["y"] = (overlapping.a + overlapping.b > 0.1).astype(int)
    overlapping["c"] = np.arange(60) % 7
    separation = fit_model(overlapping).separation_
    assert separation.kind == "complete"
    assert separation.terms == ("a", "b")


def test_a_level_without_failures_is_quasi_complete_and_leaves_other_coefficients_finite(
    overlapping,
):
    overlapping["g"] = np.where(np.arange(60) % 5 == 0, "rare", "common")
    overlapping.loc[overlapping.g == "rare", "y"] = 1
    model = fit_model(overlapping)
    assert model.separation_.kind == "quasi-complete"
    assert model.separation_.coefficients == ("g[T.rare]",)
    assert model.separation_.terms == ("g",)
    # The finite coefficients are those of a fit to the rows that overlap.
    rest = fit_model(overlapping[overlapping.g == "common"], "y ~ a + b")
    np.testing.assert_allclose(model.params_[["Intercept", "a", "b"]], rest.params_, rtol=1e-4)


def test_separation_can_be_an_error(overlapping):
    overlapping["y"] = (overlapping.b > 0).astype(int)
    with pytest.raises(ValueError, match="complete separation by b"):
        BinomialRegression(on_separation="raise").fit(overlapping[["a", "b"]], overlapping.y)


def test_the_likelihood_ratio_test_is_valid_under_separation(overlapping):
    overlapping["y"] = (overlapping.b > 0).astype(int)
    model = fit_model(overlapping)
    assert model.test("b", "wald").p_value > 0.5
    assert model.test("b", "lr").p_value < 1e-6


def test_an_infinite_estimate_has_a_one_sided_profile_interval(overlapping):
    overlapping["g"] = (np.arange(60) % 5 == 0).astype(float)
    overlapping.loc[overlapping.g == 1, "y"] = 1
    ends = fit_model(overlapping, "y ~ a + g").confidence_intervals(interval="profile").loc["g"]
    assert np.isfinite(ends.low)
    assert ends.high == np.inf


@given(seed=st.integers(0, 10**6), rows=st.integers(8, 40), columns=st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_a_known_separation_is_found_and_vanishes_with_mislabelled_rows(seed, rows, columns):
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, size=(rows, columns)).astype(float)
    X += 1e-3 * rng.normal(size=X.shape)  # distinct, so that the matrix has full rank
    y = (X @ rng.normal(size=columns) > 0).astype(int)
    if y.min() == y.max():
        return
    model = BinomialRegression(on_separation="ignore").fit(X, y)
    assert model.separation_ is not None
    assert model.separation_.kind == "complete"
    # With a copy of every row in the other class, nothing separates the classes.
    both = BinomialRegression(on_separation="ignore").fit(
        np.vstack([X, X]), np.concatenate([y, 1 - y])
    )
    assert both.separation_ is None


@given(seed=st.integers(0, 10**6), length=st.floats(0.1, 30))
@settings(max_examples=60, deadline=None)
def test_no_point_proves_a_maximum_of_separated_classes(seed, length):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    direction = rng.normal(size=3)
    y = X @ direction > 0
    chance = 1 / (1 + np.exp(-length * (X @ direction)))
    assert not has_certain_maximum(X, y - chance, chance * (1 - chance))


def test_a_fit_to_rows_that_overlap_proves_its_maximum(patients):
    model = BinomialRegression("ill ~ age + dose * sex + clinic").fit(patients)
    assert model._logit_has_maximum()


def test_many_separated_rows_are_handled_quickly():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    start = time.process_time()
    model = BinomialRegression(on_separation="ignore").fit(X, X @ [1, 2, 3, 4, 5] > 0)
    assert model.separation_.terms == ("x0", "x1", "x2", "x3", "x4")
    assert time.process_time() - start < 20


def test_grouped_data_are_separated_only_if_no_group_is_mixed(beetles):
    frame = beetles.assign(killed=[0, 0, 0, 0, 63, 59, 62, 60])
    model = BinomialRegression("killed ~ dose", on_separation="ignore").fit(frame, trials="beetles")
    assert model.separation_.kind == "complete"
    frame.loc[3, "killed"] = 1
    mixed = BinomialRegression("killed ~ dose", on_separation="ignore").fit(frame, trials="beetles")
    assert mixed.separation_.kind == "quasi-complete"
    frame.loc[4, "killed"] = 62
    assert BinomialRegression("killed ~ dose").fit(frame, trials="beetles").separation_ is None


def test_one_of_three_classes_may_be_separated():
    rng = np.random.default_rng(1)
    x = rng.normal(size=90)
    y = np.where(x > 0.5, "high", np.where(x + rng.normal(0, 1.0, 90) > 0, "middle", "low"))
    y[x > 0.5] = "high"
    frame = pd.DataFrame({"x": x, "y": y})
    model = fit_model(frame, kind=MultinomialRegression)
    assert model.separation_ is not None
    frame["y"] = rng.permutation(y)
    assert fit_model(frame, kind=MultinomialRegression).separation_ is None


def test_counts_that_are_all_zero_at_a_level_send_its_coefficient_to_minus_infinity():
    frame = pd.DataFrame({"g": list("aaabbbccc"), "y": [1, 2, 3, 0, 0, 0, 4, 1, 0]})
    model = fit_model(frame, kind=PoissonRegression)
    assert model.separation_.coefficients == ("g[T.b]",)
    assert model.params_["g[T.b]"] < -5


def test_an_empty_margin_of_a_table_warns(berkeley):
    empty = berkeley.assign(count=berkeley["count"].where(berkeley.department != "F", 0))
    with pytest.warns(SeparationWarning, match="department"):
        LogLinearModel("count ~ department + sex").fit(empty)
