"""Rademacher complexity: exact on small samples, an estimate with a standard error on large ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.tree import DecisionTreeClassifier

from bosquet.datasets import Twonorm
from bosquet.reference import risk as reference
from bosquet.theory import rademacher


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(-3, 3))
)
@settings(max_examples=40, deadline=None)
def test_the_complexity_of_a_finite_class_is_the_mean_over_all_signs(predictions):
    found = rademacher(predictions)
    assert found.value == pytest.approx(reference.rademacher(predictions.T), abs=1e-12)
    assert found.standard_error == 0
    assert found.value <= found.massart + 1e-12
    assert found.value >= -1e-12


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.integers(0, 3))
)
@settings(max_examples=40, deadline=None)
def test_the_complexity_of_stumps_is_the_mean_over_all_signs(X):
    found = rademacher("stumps", X)
    assert found.value == pytest.approx(reference.rademacher(reference.all_stumps(X)), abs=1e-12)
    assert found.value <= found.massart + 1e-12


def test_the_complexity_of_all_labellings_is_1_and_that_of_one_rule_0():
    every = np.array([[1, 1, -1, -1], [1, -1, 1, -1]])
    assert rademacher(every).value == 1
    assert rademacher(np.ones((5, 1))).value == pytest.approx(0)


def test_random_signs_agree_with_all_signs_and_more_rows_reduce_the_complexity():
    X, _ = Twonorm(3).sample(400, random_state=0)
    few, many = (rademacher("stumps", X[:n], random_state=0, n_draws=300) for n in (20, 400))
    assert few.standard_error > 0
    assert many.value < few.value / 2
    assert many.value <= many.massart
    rows = X[:13, :1]
    drawn = rademacher("stumps", rows, n_draws=2000, random_state=0)
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=13)))
    exact = (signs @ reference.all_stumps(rows).T).max(axis=1).mean() / 13
    assert abs(drawn.value - exact) < 4.5 * drawn.standard_error


def test_an_estimator_gives_a_lower_bound():
    X, _ = Twonorm(3).sample(60, random_state=0)
    exact = rademacher("stumps", X, n_draws=100, random_state=0)
    gini = rademacher(DecisionTreeClassifier(max_depth=1), X, n_draws=100, random_state=0)
    full = rademacher(DecisionTreeClassifier(), X, n_draws=20, random_state=0)
    assert gini.value <= exact.value + 3 * exact.standard_error
    assert not gini.exact_supremum
    assert full.value == 1
    assert "lower bound" in repr(gini)


def test_the_gap_is_the_complexity_plus_the_confidence_term():
    found = rademacher("stumps", np.arange(100.0)[:, None], n_draws=50, random_state=0)
    confidence_term = 3 * np.sqrt(np.log(2 / 0.1) / 200)
    assert found.gap(0.1) == pytest.approx(found.value + confidence_term)
    with pytest.raises(ValueError, match="the values -1 and \\+1"):
        rademacher(np.array([[0.5], [2.0]])).gap()


def test_invalid_arguments_raise_an_error():
    with pytest.raises(ValueError, match="hypotheses='trees'"):
        rademacher("trees", [[1.0]])
    with pytest.raises(ValueError, match="shape \\(n_samples, n_rules\\)"):
        rademacher([1, 2])
    with pytest.raises(ValueError, match="X is missing"):
        rademacher(DecisionTreeClassifier())


def test_the_complexity_of_one_rule_is_not_below_0():
    rules = [rademacher(np.ones((20, 1)), n_draws=50, random_state=seed) for seed in range(20)]
    assert min(rule.value for rule in rules) == 0
