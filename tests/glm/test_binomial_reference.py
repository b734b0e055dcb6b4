"""Binomial regression against its reference: coefficients, covariance, tests, bands, selection."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bosquet import BinomialRegression
from bosquet.reference import glm as reference

LINKS = ("logit", "probit", "cloglog")


def draw_sample(seed, rows=120, columns=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    beta = rng.normal(0, 0.5, size=columns)
    chance = 1 / (1 + np.exp(-(X @ beta) + rng.normal(0, 0.3)))
    return X, (rng.random(rows) < chance).astype(int)


def with_constant(X):
    return np.column_stack([np.ones(len(X)), X])


@pytest.mark.parametrize("link", LINKS)
@given(seed=st.integers(0, 10_000))
@example(seed=1693)  # full steps diverge with the complementary log-log link
@settings(max_examples=8, deadline=None)
def test_coefficients_errors_and_tests_agree_with_the_reference(link, seed):
    X, y = draw_sample(seed)
    model = BinomialRegression(link=link).fit(X, y)
    fit = reference.fit_binomial(with_constant(X), y, 1, link)
    errors = np.sqrt(np.diag(fit.covariance))
    assert (np.abs(model.params_ - fit.coefficients) < 1e-3 * errors).all()
    np.testing.assert_allclose(model.covariance_, fit.covariance, rtol=1e-3, atol=1e-7)
    assert model.log_likelihood_ == pytest.approx(fit.log_likelihood, rel=1e-9)
    statistic, p = reference.wald_test(fit, [1, 2])
    result = model.test(["x0", "x1"], kind="wald")
    assert (result.statistic, result.p_value) == pytest.approx((statistic, p), rel=1e-3)
    statistic, p = reference.likelihood_ratio_test(with_constant(X), y, 1, [1, 2], link)
    result = model.test(["x0", "x1"], kind="lr")
    assert (result.statistic, result.p_value) == pytest.approx((statistic, p), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("link", LINKS)
def test_bands_go_through_the_inverse_link_as_the_reference_does(link):
    X, y = draw_sample(3)
    new = draw_sample(4)[0]
    band = BinomialRegression(link=link).fit(X, y).confidence_band(new)
    wanted = reference.confidence_band(
        with_constant(new), reference.fit_binomial(with_constant(X), y, 1, link), link
    )
    np.testing.assert_allclose(band.to_numpy(), np.column_stack(wanted), rtol=1e-4)
    assert (
        (band.low > 0) & (band.low < band.estimate) & (band.estimate < band.high) & (band.high < 1)
    ).all()


@pytest.mark.parametrize("link", LINKS)
def test_grouped_data_have_the_deviance_of_the_reference(link, beetles):
    model = BinomialRegression("killed ~ dose", link=link).fit(beetles, trials="beetles")
    X = with_constant(beetles[["dose"]].to_numpy())
    fit = reference.fit_binomial(X, beetles.killed, beetles.beetles, link)
    np.testing.assert_allclose(model.params_, fit.coefficients, rtol=1e-6)
    wanted = reference.deviance(
        beetles.killed.to_numpy(), beetles.beetles.to_numpy(), fit.log_likelihood
    )
    assert model.deviance_ == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_backward_by_aic_takes_the_path_of_the_reference(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    line = 0.8 * frame.a - 0.5 * frame.b + (seed % 2) * 0.9 * frame.a * frame.b
    frame["y"] = (rng.random(200) < 1 / (1 + np.exp(-line))).astype(int)

    def aic(terms):
        columns = [frame[sorted(term)].prod(axis=1) for term in terms]
        fit = reference.fit_binomial(np.column_stack([np.ones(200), *columns]), frame.y)
        return 2 * (1 + len(terms)) - 2 * fit.log_likelihood

    every = [frozenset(term) for term in ("a", "b", "c", "ab", "ac", "bc")]
    kept, best = reference.backward_elimination(every, aic)
    chosen = BinomialRegression("y ~ a*b + a*c + b*c").fit(frame).backward("aic")
    assert {frozenset(t.split(":")) for t in chosen.terms_ if t != "Intercept"} == set(kept)
    assert chosen.aic_ == pytest.approx(best, abs=1e-6)
    assert (np.diff(chosen.selection_.aic) < 0).all()
