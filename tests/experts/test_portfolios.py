"""Portfolios: wealth against the best stock and the best constant rebalanced portfolio."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bosquet.experts import (
    ExponentiatedGradient,
    SemiLogOptimal,
    UniversalPortfolio,
    best_constant_rebalanced,
    best_stock,
    wealth,
    wealth_table,
)
from bosquet.reference import portfolios as reference
from bosquet.reference import regret_bounds as papers

markets = st.tuples(st.integers(1, 40), st.integers(2, 4)).flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(0.4, 2.5))
)
two_stocks = st.integers(1, 40).flatmap(
    lambda days: arrays(float, (days, 2), elements=st.floats(0.2, 5))
)


def a_market(days=60, stocks=3, seed=0):
    return np.exp(np.random.default_rng(seed).normal(scale=0.1, size=(days, stocks)))


def test_exponentiated_gradient_agrees_with_the_reference():
    X = a_market()
    model = ExponentiatedGradient(0.7).fit(X)
    expected = reference.exponentiated_gradient(X, 0.7)
    np.testing.assert_allclose(model.portfolios_, expected[:-1], rtol=1e-10)
    np.testing.assert_allclose(model.final_portfolio_, expected[-1], rtol=1e-10)
    np.testing.assert_allclose(model.wealth_, np.cumprod((X * expected[:-1]).sum(axis=1)))


@given(X=two_stocks)
@settings(max_examples=50, deadline=None)
def test_with_two_stocks_universal_wealth_is_an_exact_integral(X):
    model = UniversalPortfolio().fit(X)
    assert model.wealth_[-1] == pytest.approx(reference.universal_wealth(X), rel=1e-6)
    best = wealth(X, best_constant_rebalanced(X))[-1]
    behind = np.log(best / model.wealth_[-1])
    assert behind <= papers.universal_portfolio(2, len(X)) + 1e-9
    assert model.bound_ == papers.universal_portfolio(2, len(X))


@given(X=markets, eta=st.floats(0.01, 1))
@settings(max_examples=50, deadline=None)
def test_the_regret_of_exponentiated_gradient_is_within_its_bound(X, eta):
    best = wealth(X, best_constant_rebalanced(X))[-1]
    for model in (ExponentiatedGradient(eta).fit(X), ExponentiatedGradient("tuned").fit(X)):
        assert np.log(best / model.wealth_[-1]) <= model.bound_ + 1e-9
    ratio = (X.min(axis=1) / X.max(axis=1)).min()
    expected = papers.exponentiated_gradient(X.shape[1], len(X), ratio, eta)
    assert ExponentiatedGradient(eta).fit(X).bound_ == pytest.approx(expected)


@given(X=markets)
@settings(max_examples=50, deadline=None)
def test_no_constant_rebalanced_portfolio_beats_the_best_one(X):
    best = best_constant_rebalanced(X)
    assert best.sum() == pytest.approx(1)
    assert (best >= 0).all()
    final = np.log(X @ best).sum()
    stocks = X.shape[1]
    assert final >= np.log(X).sum(axis=0).max() - 1e-9
    for b in np.random.default_rng(0).dirichlet(np.ones(stocks), size=50):
        assert final >= np.log(X @ b).sum() - 1e-9
    assert best_stock(X) == np.log(X).sum(axis=0).argmax()


def test_universal_portfolio_of_many_stocks_is_the_mean_of_drawn_ones():
    X = a_market(stocks=4)
    model = UniversalPortfolio(500, random_state=0).fit(X)
    drawn = np.random.RandomState(0).dirichlet(np.ones(4), size=500)
    assert model.wealth_[-1] == pytest.approx(np.prod(X @ drawn.T, axis=0).mean(), rel=1e-9)
    again = UniversalPortfolio(500, random_state=0).fit(X)
    assert np.array_equal(model.portfolios_, again.portfolios_)
    assert np.allclose(model.portfolios_.sum(axis=1), 1)


@pytest.mark.parametrize("window", [1, 2])
def test_semi_log_optimal_uses_days_similar_to_the_last_one(window):
    X = np.exp(np.random.default_rng(1).normal(scale=0.05, size=(40, 2)))
    model = SemiLogOptimal([window], radii=1).fit(X)
    radius = np.sqrt(1e-4 * 2 * window)
    expected = [reference.semi_log_choice(X[:t], window, radius) for t in range(len(X) + 1)]
    np.testing.assert_allclose(model.portfolios_, expected[:-1], atol=1e-3)
    np.testing.assert_allclose(model.final_portfolio_, expected[-1], atol=1e-3)


def test_semi_log_optimal_weights_its_experts_by_their_wealth():
    X = np.exp(np.random.default_rng(2).normal(scale=0.05, size=(50, 3)))
    model = SemiLogOptimal([1, 2], radii=3).fit(X)
    assert model.wealth_[-1] == pytest.approx(model.expert_wealth_.mean(), rel=1e-9)
    assert np.isnan(model.bound_)


def test_semi_log_optimal_exploits_a_periodic_market():
    X = np.tile([[1.0, 2.0], [1.0, 0.5]], (30, 1))
    table = wealth_table(X)
    assert table.wealth["best stock"] == pytest.approx(1)
    assert table.wealth["best rebalanced"] == pytest.approx(1.125**30, rel=1e-6)
    assert table.wealth["semi-log-optimal"] > 1e6
    lines = str(table).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["uniform", "best", "best"]
    assert len(lines) == 7


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, -1.0]], r"X\[0, 1\] is -1"),
        ([[1.0, np.nan]], r"X\[0, 1\] is nan"),
        ([[0.0, 0.0]], r"X\[0\] is 0 for every stock"),
        ([1.0, 2.0], r"must have shape \(n_days, n_stocks\)"),
    ],
)
def test_invalid_price_relatives_are_rejected(X, message):
    for strategy in (ExponentiatedGradient(), UniversalPortfolio(), SemiLogOptimal()):
        with pytest.raises(ValueError, match=message):
            strategy.fit(X)


def test_the_shares_of_a_portfolio_must_sum_to_1():
    X = np.ones((4, 2))
    with pytest.raises(
        ValueError, match="portfolios has the sum 2; shares must be finite and sum to 1"
    ):
        wealth(X, np.ones(2))
    shares = np.full((4, 2), 0.5)
    shares[3, 0] = np.nan
    with pytest.raises(ValueError, match=r"portfolios\[3\] has the sum nan; shares"):
        wealth(X, shares)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        wealth(X, np.ones(3) / 3)


def test_wealth_that_overflows_is_available_as_a_logarithm():
    X = np.full((300, 2), 30.0)
    table = wealth_table(X, [ExponentiatedGradient(), UniversalPortfolio()])
    assert table.log_wealth["uniform"] == pytest.approx(300 * np.log(30))
    assert table.wealth["uniform"] == np.inf
    assert "nan" not in str(table)
    assert abs(table.log_wealth["ExponentiatedGradient"] - 300 * np.log(30)) < 1e-6


def test_random_portfolios_have_no_bound():
    X = np.full((40, 20), 0.01)
    X[:, 7] = 1
    assert np.isnan(UniversalPortfolio(random_state=0, n_samples=100).fit(X).bound_)


def test_parameters_of_strategies_are_checked():
    X = a_market()
    with pytest.raises(ValueError, match="learning_rate=0"):
        ExponentiatedGradient(0).fit(X)
    with pytest.raises(ValueError, match="n_samples=0"):
        UniversalPortfolio(0).fit(X)
    with pytest.raises(ValueError, match="windows="):
        SemiLogOptimal([0]).fit(X)
    # A stock whose price falls to 0 is handled, but there is no finite bound.
    ruined = np.vstack([X, [0.0, 1.0, 1.0]])
    assert ExponentiatedGradient().fit(ruined).bound_ == np.inf
    assert UniversalPortfolio(100, random_state=0).fit(ruined).wealth_[-1] > 0
