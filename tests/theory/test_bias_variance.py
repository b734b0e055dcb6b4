"""Bias, variance and noise: sums, the reference implementation, and known values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet import BaggingRegressor
from bosquet.datasets import Friedman1, Moons, Polynomial, Twonorm, Waveform
from bosquet.reference import risk as reference
from bosquet.theory import bias_variance
from bosquet.theory._error_decompositions import (
    DomingosDecomposition,
    KohaviWolpertDecomposition,
    SquaredErrorDecomposition,
)

NUMBERS = st.floats(-100, 100, allow_subnormal=False)


def mean_parts(formula, predictions):
    """The parts over all learners, with equal weights, and their names."""
    weights = np.full((1, predictions.shape[0]), 1 / predictions.shape[0])
    return {name: float(values.mean()) for name, values in formula(predictions, weights).items()}


@st.composite
def predictions_of_numbers(draw):
    shape = draw(st.tuples(st.integers(2, 6), st.integers(1, 5)))
    predictions = draw(hnp.arrays(float, shape, elements=NUMBERS))
    mean = draw(hnp.arrays(float, shape[1], elements=NUMBERS))
    noise = draw(hnp.arrays(float, shape[1], elements=st.floats(0, 50)))
    return predictions, mean, noise


@st.composite
def predictions_of_classes(draw):
    draws, rows, classes = draw(st.tuples(st.integers(2, 6), st.integers(1, 5), st.integers(2, 4)))
    predictions = draw(hnp.arrays(int, (draws, rows), elements=st.integers(0, classes - 1)))
    weight = draw(hnp.arrays(float, (rows, classes), elements=st.floats(0.01, 1)))
    return predictions, weight / weight.sum(axis=1, keepdims=True)


@given(predictions_of_numbers(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_squared_error_is_bias_plus_variance_plus_noise(case, unbiased):
    predictions, mean, noise = case
    parts = mean_parts(SquaredErrorDecomposition(mean, noise, unbiased), predictions)
    error = float(((predictions - mean) ** 2).mean() + noise.mean())
    assert sum(parts.values()) == pytest.approx(error, rel=1e-9, abs=1e-9)
    bias, variance, _ = reference.squared_error_parts(predictions, mean, noise)
    moved = variance / (predictions.shape[0] - 1) if unbiased else 0
    assert parts["bias"] == pytest.approx(bias - moved, rel=1e-9, abs=1e-7)
    assert parts["variance"] == pytest.approx(variance + moved, rel=1e-9, abs=1e-7)


@given(predictions_of_classes(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_kohavi_and_wolperts_parts_add_up_to_the_error(case, unbiased):
    predictions, probability = case
    parts = mean_parts(KohaviWolpertDecomposition(probability, unbiased), predictions)
    assert sum(parts.values()) == pytest.approx(
        reference.zero_one_error(predictions, probability), abs=1e-12
    )
    bias, variance, noise = reference.kohavi_wolpert_parts(predictions, probability)
    moved = variance / (predictions.shape[0] - 1) if unbiased else 0
    expected = (bias - moved, variance + moved, noise)
    assert tuple(parts.values()) == pytest.approx(expected, abs=1e-12)


@given(predictions_of_classes())
@settings(max_examples=60, deadline=None)
def test_domingos_effects_add_up_for_any_number_of_classes(case):
    predictions, probability = case
    parts = mean_parts(DomingosDecomposition(probability), predictions)
    error = reference.zero_one_error(predictions, probability)
    assert parts["bias"] + parts["variance"] + parts["noise"] == pytest.approx(error, abs=1e-12)
    bias, hurting, helping, noise = reference.domingos_rates(predictions, probability)
    assert parts["bias"] == pytest.approx(bias)
    assert parts["variance where the main prediction is right"] == pytest.approx(hurting, abs=1e-12)
    assert parts["variance where it is wrong"] == pytest.approx(helping, abs=1e-12)
    assert parts["noise rate"] == pytest.approx(noise, abs=1e-12)
    if probability.shape[1] == 2:
        assert parts["variance"] == pytest.approx(hurting - helping, abs=1e-12)


def test_the_correction_removes_the_variance_of_few_training_sets_from_the_bias():
    # Unbiased rules: their estimated squared bias is due to the finite number of rules.
    random = np.random.default_rng(0)
    predictions = random.normal(size=(4, 20_000))
    plain, corrected = (
        mean_parts(
            SquaredErrorDecomposition(np.zeros(20_000), np.zeros(20_000), unbiased), predictions
        )
        for unbiased in (False, True)
    )
    assert plain["bias"] == pytest.approx(1 / 4, rel=0.05)
    assert corrected["bias"] == pytest.approx(0, abs=0.01)
    assert corrected["variance"] == pytest.approx(1, rel=0.05)


def test_linear_regression_on_a_fixed_design_has_the_variance_of_the_textbook():
    # y = f(i/n) + ε fitted by a constant and a slope: variance 2σ²/n, bias² that of the projection.
    n, noise = 40, 0.5
    generator = Polynomial(noise=noise)
    found = bias_variance(
        LinearRegression(), generator, n_train=n, n_test=n, n_draws=400, random_state=0
    )
    X, _ = generator.sample(n)
    truth = generator.mean(X)
    projected = LinearRegression().fit(X, truth).predict(X)
    assert found.noise == noise**2
    assert found.variance == pytest.approx(2 * noise**2 / n, rel=0.2)
    assert found.bias == pytest.approx(np.mean((truth - projected) ** 2), rel=0.02)
    low, high = found.intervals["variance"]
    assert low < 2 * noise**2 / n < high


def test_full_trees_have_variance_small_trees_have_bias_and_bagging_reduces_variance():
    settings = {"n_draws": 12, "n_test": 300, "random_state": 0, "n_bootstrap": 20}
    full = bias_variance(DecisionTreeRegressor(), Friedman1(), **settings)
    small = bias_variance(DecisionTreeRegressor(max_depth=1), Friedman1(), **settings)
    bagged = bias_variance(BaggingRegressor(n_estimators=12), Friedman1(), **settings)
    assert full.variance > 2 * small.variance
    assert small.bias > 2 * full.bias
    assert bagged.variance < full.variance / 2
    assert bagged.bias == pytest.approx(full.bias, rel=0.3)


def test_the_error_is_that_of_fresh_rows():
    settings = {"n_train": 100, "n_draws": 20, "n_test": 1000, "random_state": 0}
    found = bias_variance(KNeighborsClassifier(1), Waveform(), **settings)
    X, y = Waveform().sample(5000, random_state=5)
    errors = [
        (KNeighborsClassifier(1).fit(*Waveform().sample(100, seed)).predict(X) != y).mean()
        for seed in range(10)
    ]
    assert found.error == pytest.approx(np.mean(errors), abs=0.02)
    assert found.domingos.error == pytest.approx(found.error, abs=1e-12)
    assert found.noise_known
    assert found.domingos.details["noise rate"] == pytest.approx(Waveform().bayes_error, abs=0.015)


def test_curves_end_at_the_whole_model_and_boosting_reduces_the_bias():
    model = GradientBoostingRegressor(n_estimators=20, max_depth=1, learning_rate=0.3)
    settings = {"n_draws": 8, "n_test": 200, "random_state": 0, "n_bootstrap": 20}
    staged = bias_variance(model, Friedman1(), staged=True, **settings)
    whole = bias_variance(model, Friedman1(), **settings)
    assert staged.curves["bias"].shape == (20,)
    assert staged.curve_intervals["error"].shape == (20, 2)
    assert staged.curves["error"][-1] == staged.error == pytest.approx(whole.error)
    assert staged.curves["bias"][-1] < staged.curves["bias"][0] / 2
    np.testing.assert_allclose(
        staged.curves["error"],
        staged.curves["bias"] + staged.curves["variance"] + staged.curves["noise"],
    )


def test_a_model_with_fewer_rounds_keeps_its_last_predictions():
    # A full tree makes no error in training, and AdaBoost stops; others go on for a second round.
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=15)
    found = bias_variance(
        model, Moons(0.1), n_train=40, n_test=100, n_draws=6, staged=True, random_state=0
    )
    assert found.curves["error"][-1] == found.error


def test_a_table_is_split_and_its_noise_counts_as_bias():
    X, y = Moons(0.4).sample(600, random_state=0)
    names = np.array(["left", "right"])[y]
    found = bias_variance(DecisionTreeClassifier(), X, names, n_draws=20, random_state=0)
    assert found.noise == 0
    assert not found.noise_known
    assert "bias includes noise" in repr(found)
    assert found.error == pytest.approx(found.bias + found.variance, abs=1e-12)
    assert found.bias > Moons(0.4).bayes_error / 2


def test_the_result_depends_on_the_seed_alone():
    model = DecisionTreeClassifier(max_features=1)
    settings = {"n_draws": 5, "n_test": 50, "n_bootstrap": 10}
    first = bias_variance(model, Twonorm(3), random_state=1, **settings)
    again = bias_variance(model, Twonorm(3), random_state=1, n_jobs=2, **settings)
    other = bias_variance(model, Twonorm(3), random_state=2, **settings)
    assert repr(first) == repr(again)
    assert first.error != other.error
    assert model.random_state is None


def test_an_estimator_with_a_random_state_keeps_it():
    """With equal training sets the variance is then 0."""
    X, y = Friedman1().sample(60, random_state=0)
    settings = {"n_train": 1.0, "n_draws": 4, "random_state": 0}
    fixed = DecisionTreeRegressor(splitter="random", random_state=7)
    assert bias_variance(fixed, X, y, **settings).variance == pytest.approx(0, abs=1e-12)
    free = DecisionTreeRegressor(splitter="random")
    assert bias_variance(free, X, y, **settings).variance > 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": np.zeros((9, 2))}, "y is missing"),
        ({"data": Moons(), "y": [1]}, "y is only allowed for a table"),
        ({"data": Moons(), "loss": "squared"}, "loss='squared' needs a generator of numbers"),
        ({"data": Moons(), "staged": True}, "staged=True needs an estimator with staged_predict"),
        ({"data": Moons(), "n_draws": 1}, "n_draws=1 is not valid"),
        ({"data": np.zeros((9, 2)), "y": [0, 1]}, r"y has shape \(2,\), but X has 9 rows"),
        ({"data": np.zeros((9, 2)), "y": range(9), "n_test": 9}, "n_test=9 of 9 rows"),
        (
            {"data": np.zeros((9, 2)), "y": range(9), "n_train": 8},
            "n_train=8 is not valid: 6 rows are left",
        ),
    ],
)
def test_invalid_arguments_raise_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        bias_variance(DecisionTreeClassifier(), **arguments)
    with pytest.raises(TypeError, match="pass an instance"):
        bias_variance(DecisionTreeClassifier, Moons())


@pytest.mark.parametrize("data", ["moons", 3])
def test_data_that_are_neither_generator_nor_table_raise_an_error(data):
    with pytest.raises(TypeError, match=r"data=.*such as bosquet\.datasets\.Moons\(\)"):
        bias_variance(DecisionTreeClassifier(), data)


def test_a_table_without_its_target_raises_an_error():
    with pytest.raises(ValueError, match="y is missing: data is a table"):
        bias_variance(DecisionTreeClassifier(), np.zeros((9, 2)))


def test_shares_that_exceed_1_by_rounding_have_no_variance_below_0():
    for learners in range(2, 60):
        parts = KohaviWolpertDecomposition(np.array([[1.0, 0.0]]), unbiased=False)(
            np.zeros((learners, 1)), np.full((1, learners), 1 / learners)
        )
        assert parts["variance"].min() >= 0
