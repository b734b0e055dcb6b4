"""Excess risk in parts, simple rules, and the degree of a polynomial."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bosquet.datasets import Friedman1, Moons, Polynomial, Twonorm
from bosquet.theory import (
    cover_hart_bound,
    excess_risk,
    log_neighbours,
    polynomial_degree,
    simple_rules,
)

FAST = {"n_large": 2000, "n_test": 1000, "n_draws": 6, "random_state": 0}


def polynomials(*degrees):
    return [
        (f"degree {d}", make_pipeline(PolynomialFeatures(d), LinearRegression())) for d in degrees
    ]


def test_both_decompositions_add_up_to_the_excess_risk():
    found = excess_risk(polynomials(1, 2), Friedman1(5), **FAST)
    for part in found:
        total = part.approximation + part.estimation + part.optimisation
        assert part.excess == pytest.approx(total, abs=1e-12)
        gaps = part.learned_gap + part.advantage + part.best_gap
        assert part.estimation + part.optimisation == pytest.approx(gaps, abs=1e-12)
        assert part.optimisation == 0
    assert found.bayes == pytest.approx(1)
    assert "degree 2" in repr(found)


def test_a_richer_class_approximates_better_and_is_harder_to_estimate():
    poor, middle, rich = excess_risk(polynomials(1, 2, 3), Friedman1(5), n_samples=80, **FAST)
    assert poor.approximation > middle.approximation > rich.approximation
    assert poor.estimation < middle.estimation < rich.estimation
    # A minimiser of the training error beats the best rule of its class there, and not elsewhere.
    assert rich.advantage < 0 < rich.learned_gap
    more = excess_risk(polynomials(3), Friedman1(5), n_samples=800, **FAST)[0]
    assert more.estimation < rich.estimation / 4


def test_linear_regression_has_the_estimation_error_of_the_textbook():
    # The truth is linear: approximation 0, estimation about σ² p/n with p = 2 coefficients.
    line = Polynomial((1.0, 2.0), noise=0.5)
    found = excess_risk(
        LinearRegression(),
        line,
        n_samples=50,
        n_draws=200,
        n_large=5000,
        n_test=500,
        random_state=0,
    )[0]
    assert found.approximation == pytest.approx(0, abs=1e-3)
    assert found.estimation == pytest.approx(0.25 * 2 / 50, rel=0.3)


def test_an_optimiser_stopped_early_has_an_optimisation_error():
    def stopped_after(steps):
        return make_pipeline(StandardScaler(), SGDRegressor(max_iter=steps, tol=None))

    generator = Friedman1(5)
    settings = {**FAST, "converged": LinearRegression()}
    with np.errstate(all="ignore"):
        one = excess_risk(stopped_after(1), generator, **settings)[0]
        many = excess_risk(stopped_after(50), generator, **settings)[0]
    assert one.optimisation > 0.5
    assert abs(many.optimisation) < one.optimisation / 5
    assert one.approximation == pytest.approx(many.approximation)


def test_classes_are_measured_by_their_probabilities():
    trees = [(str(d), DecisionTreeClassifier(max_depth=d)) for d in (1, 4)]
    stump, tree = excess_risk(trees, Moons(0.3), **FAST)
    assert stump.approximation > 0.05
    assert 0 <= tree.approximation < stump.approximation
    again = excess_risk(trees, Moons(0.3), **FAST)
    assert (again[0], again[1]) == (stump, tree)


def test_invalid_arguments_raise_an_error():
    with pytest.raises(TypeError, match="is not a generator"):
        excess_risk(LinearRegression(), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="converged has 2 estimators"):
        excess_risk(LinearRegression(), Friedman1(), converged=[LinearRegression()] * 2)
    with pytest.raises(ValueError, match="n_draws=1 is not valid"):
        excess_risk(LinearRegression(), Friedman1(), n_draws=1)
    with pytest.raises(ValueError, match="estimators is empty"):
        excess_risk([], Friedman1())


def test_one_neighbour_has_at_most_twice_the_bayes_error_and_log_n_neighbours_approach_it():
    rules = simple_rules(Moons(0.4), (50, 3000), n_test=3000, random_state=0)
    assert rules.bayes <= rules.limit <= rules.bound <= 2 * rules.bayes
    assert rules.nearest[1] == pytest.approx(rules.limit, abs=0.015)
    assert rules.log_n[1] < rules.log_n[0]
    assert rules.log_n[1] < rules.nearest[1]
    assert rules.random == 0.5
    assert rules.constant == pytest.approx(0.5, abs=0.02)
    assert "k = log n" in repr(rules)


def test_the_bound_of_cover_and_hart_holds_row_by_row():
    p = np.linspace(0, 1, 101)
    bayes, limit = np.minimum(p, 1 - p), 2 * p * (1 - p)
    assert [cover_hart_bound(b) for b in bayes] == pytest.approx(limit)
    assert cover_hart_bound(2 / 3, n_classes=3) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"bayes_error=0\.6"):
        cover_hart_bound(0.6)


@pytest.mark.parametrize("n", [1, 7, 8, 100, 12_345])
def test_the_number_of_neighbours_is_odd_and_near_log_n(n):
    k = log_neighbours(n)
    assert k % 2 == 1
    assert abs(k - np.log(n)) <= 1
    assert k <= n


def test_simple_rules_need_classes():
    with pytest.raises(TypeError, match="does not generate classes"):
        simple_rules(Friedman1())
    with pytest.raises(ValueError, match="n_samples=0"):
        simple_rules(Twonorm(), (0,))


def test_the_training_error_chooses_the_largest_degree_and_the_others_do_not():
    X, y = Polynomial(noise=0.3).sample(80, random_state=1)
    found = polynomial_degree(X, y, max_degree=12, random_state=0)
    assert (np.diff(found.training) <= 1e-12).all()
    assert found.training.argmin() == 12
    assert all(3 <= found.best[name] <= 7 for name in ("aic", "bic", "cv", "bootstrap"))
    assert found.best["bic"] <= found.best["aic"]
    assert found.degree == found.best["cv"]
    assert "best" in repr(found)
    truth = Polynomial().mean(X)
    chosen = polynomial_degree(X, y, criterion="bic", random_state=0)
    assert np.mean((chosen.predict(X) - truth) ** 2) < 0.03


def test_more_rows_allow_a_higher_degree():
    cubic = Polynomial(noise=1.5)
    fast = {"max_degree": 5, "criterion": "bic", "n_bootstrap": 1, "cv": 2, "random_state": 0}
    few, many = (
        np.mean([polynomial_degree(*cubic.sample(n, seed), **fast).degree for seed in range(5)])
        for n in (20, 900)
    )
    assert few < 2.5
    assert many >= 3


def test_the_scores_are_those_of_the_definitions():
    X, y = Polynomial().sample(30, random_state=0)
    found = polynomial_degree(X, y, max_degree=3, cv=30, random_state=0)
    x = X[:, 0]
    residuals = y - np.polynomial.Polynomial.fit(x, y, 2)(x)
    fit = 30 * np.log(np.mean(residuals**2))
    assert found.scores["aic"][2] == pytest.approx(fit + 8)
    assert found.scores["bic"][2] == pytest.approx(fit + 4 * np.log(30))
    left_out = []
    for i in range(30):
        others = np.arange(30) != i
        left_out.append(y[i] - np.polynomial.Polynomial.fit(x[others], y[others], 2)(x[i]))
    assert found.scores["cv"][2] == pytest.approx(np.mean(np.square(left_out)))


@pytest.mark.parametrize(
    ("x", "y", "arguments", "message"),
    [
        ([1, 2, 3], [1, 2], {}, "two arrays of the same length"),
        ([1, 1, 1], [1, 2, 3], {}, "two distinct values"),
        ([1, 2, np.nan], [1, 2, 3], {}, r"x\[2\] is nan"),
        (range(5), range(5), {"max_degree": 4, "cv": 2}, "max_degree=4 is too large"),
        (range(20), range(20), {"criterion": "r2"}, "criterion='r2' is not valid"),
        (range(20), range(20), {"cv": 21}, "cv=21 is not valid"),
    ],
)
def test_invalid_arguments_of_polynomial_degree_raise_an_error(x, y, arguments, message):
    with pytest.raises(ValueError, match=message):
        polynomial_degree(x, y, **arguments)


def test_few_rows_reduce_the_folds_and_degrees():
    found = polynomial_degree([1, 2, 3], [1, 2, 3.5])
    assert found.degrees.tolist() == [0, 1]
    assert found.degree == 1
    with pytest.raises(ValueError, match="max_degree=5 is too large for 3 rows"):
        polynomial_degree([1, 2, 3], [1, 2, 3.5], max_degree=5)
