"""The probabilities, means and Bayes errors of the generators agree with the rows that they draw."""

import numpy as np
import pytest
from scipy.stats import norm

from bosquet import datasets
from bosquet.datasets import (
    ChiSquare,
    Friedman1,
    Friedman2,
    Friedman3,
    Moons,
    NestedSpheres,
    Pieces,
    Polynomial,
    Ringnorm,
    Salaries,
    Threenorm,
    Twonorm,
    Waveform,
    Xor,
)

CLASSES = [
    ChiSquare(),
    Moons(0.15),
    Moons(0.4),
    NestedSpheres(3, n_classes=4, label_noise=0.3),
    Pieces((0.2, 0.5, 0.6), first=-1, label_noise=0.1),
    Ringnorm(),
    Ringnorm(5, shift=0),
    Salaries(),
    Salaries(ages=(30, 50), studies=(2, 30)),
    Threenorm(),
    Threenorm(3),
    Twonorm(4),
    Waveform(),
    Waveform(noise_features=3),
    Xor(0.6, n_features=3),
]
NUMBERS = [Friedman1(), Friedman2(), Friedman3(), Polynomial()]


def name_of(generator):
    return repr(generator)


@pytest.mark.parametrize("generator", CLASSES + NUMBERS, ids=name_of)
def test_the_same_seed_gives_the_same_rows_and_leaves_numpy_alone(generator):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    X, y = generator.sample(50, random_state=3)
    again, same = generator.sample(50, random_state=3)
    other, _ = generator.sample(50, random_state=np.random.RandomState(4))
    assert X.shape == (50, generator.n_features)
    assert y.shape == (50,)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)
    assert isinstance(generator, Polynomial) or not np.array_equal(X, other)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("generator", CLASSES, ids=name_of)
def test_label_frequencies_agree_with_the_probabilities(generator):
    X, y = generator.sample(20_000, random_state=0)
    p = generator.probability(X)
    assert p.shape == (20_000, generator.classes.size)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p.min() >= 0
    for k, label in enumerate(generator.classes):
        off = (y == label) - p[:, k]
        # Residuals weighted by 1, by the probability, and by a function of a column have mean 0.
        for weight in (np.ones(y.size), p[:, k], np.tanh(X[:, 0])):
            spread = np.sqrt((weight**2 * p[:, k] * (1 - p[:, k])).sum())
            assert abs((weight * off).sum()) <= 4.5 * spread + 1e-9


@pytest.mark.parametrize("generator", CLASSES, ids=name_of)
def test_the_bayes_error_is_the_mean_risk_of_the_best_rule(generator):
    X, y = generator.sample(10_000, random_state=1)
    risk = generator.bayes_error_at(X)
    spread = risk.std() / np.sqrt(risk.size)
    assert abs(risk.mean() - generator.bayes_error) <= 4.5 * spread + 1e-9
    wrong = generator.bayes_predict(X) != y
    assert abs(wrong.mean() - generator.bayes_error) <= 4.5 * wrong.std() / np.sqrt(y.size) + 1e-9


@pytest.mark.parametrize("generator", NUMBERS, ids=name_of)
def test_targets_deviate_from_their_mean_by_the_noise(generator):
    X, y = generator.sample(40_000, random_state=0)
    off = (y - generator.mean(X)) / generator.noise
    assert abs(off.mean()) < 4.5 / np.sqrt(y.size)
    assert abs((off**2).mean() - 1) < 4.5 * np.sqrt(2 / y.size)
    assert abs(np.corrcoef(off, generator.mean(X))[0, 1]) < 4.5 / np.sqrt(y.size)
    assert generator.bayes_error == generator.noise**2
    np.testing.assert_array_equal(generator.bayes_predict(X), generator.mean(X))


def test_bayes_errors_are_those_of_the_literature():
    assert Twonorm().bayes_error == norm.cdf(-2)
    assert Ringnorm().bayes_error == pytest.approx(0.013, abs=0.001)
    assert Threenorm().bayes_error == pytest.approx(0.105, abs=0.001)
    assert Waveform().bayes_error == pytest.approx(0.14, abs=0.01)


def test_the_bayes_error_of_the_moons_does_not_depend_on_the_grid():
    moons = Moons(0.25)
    step = 0.25 / 11
    across, upward = np.arange(-2.6, 3.6, step), np.arange(-2.1, 2.6, step)
    grid = np.array(np.meshgrid(across, upward)).reshape(2, -1).T
    density = np.exp(moons._log_densities(grid)) / (2 * np.pi * 0.25**2)
    np.testing.assert_allclose(density.sum(axis=0) * step**2, 1, rtol=1e-9)
    assert density.min(axis=1).sum() * step**2 / 2 == pytest.approx(moons.bayes_error, rel=1e-3)


def test_a_rotation_by_180_degrees_exchanges_the_moons():
    X, _ = Moons().sample(200, random_state=0)
    turned = np.array([1, 0.5]) - X
    np.testing.assert_allclose(Moons().probability(turned), Moons().probability(X)[:, ::-1])


def test_the_salary_frontier_is_where_both_classes_are_equally_likely():
    age = np.linspace(32, 58, 9)
    X = np.column_stack([age, Salaries().frontier(age)])
    np.testing.assert_allclose(Salaries().probability(X), 0.5)
    np.testing.assert_allclose(Salaries().probability([[45, 30], [20, 1]]), [[0, 1], [1, 0]])


def test_friedmans_means_are_those_of_scikit_learn():
    from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

    for make, generator in ((make_friedman1, Friedman1), (make_friedman2, Friedman2)):
        X, y = make(50, noise=0.0, random_state=0)
        np.testing.assert_allclose(generator().mean(X), y)
    X, y = make_friedman3(50, noise=0.0, random_state=0)
    np.testing.assert_allclose(Friedman3().mean(X), y)


@pytest.mark.parametrize("name", [n for n in datasets.__all__ if n.startswith("make_")])
def test_make_functions_return_x_and_y(name):
    X, y = getattr(datasets, name)(30, random_state=0)
    again, same = getattr(datasets, name)(30, random_state=0)
    assert X.ndim == 2
    assert X.shape[0] == y.size == 30
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)


def test_stumps_guess_at_random_on_xor_and_the_product_separates_it():
    X, y = Xor(0.2).sample(5000, random_state=0)
    for column in X.T:
        for cut in np.quantile(column, [0.1, 0.3, 0.5, 0.7, 0.9]):
            assert abs(((column > cut) == y).mean() - 0.5) < 0.03
    assert ((X[:, 0] * X[:, 1] < 0) == y).mean() > 0.999


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Moons(0), r"noise=0 is not valid"),
        (lambda: Twonorm(0), r"n_features=0 is not valid"),
        (lambda: Threenorm(1), r"n_features=1 is not valid"),
        (lambda: NestedSpheres(label_noise=0.5), r"label_noise=0.5 .* \[0, 0.5\)"),
        (lambda: Pieces((0.5, 0.4)), r"cuts=\(0.5, 0.4\) is not valid"),
        (lambda: Pieces(first=2), r"first=2 is not valid"),
        (lambda: Salaries(ages=(70, 20)), r"ages=\(70, 20\) is not valid"),
        (lambda: Polynomial(()), r"coefficients=\(\) is not valid"),
        (lambda: Friedman1(4), r"n_features=4 is not valid"),
        (lambda: datasets.make_three_pieces(10, cuts=(0.5,)), r"has length 1; pass two cuts"),
        (lambda: Twonorm().sample(0), r"n_samples=0 is not valid"),
        (lambda: Twonorm().sample(5, random_state="x"), r"random_state='x' is not a valid seed"),
        (
            lambda: Twonorm().probability([[1, 2]]),
            r"X has shape \(1, 2\), but Twonorm has 20 features; pass an array",
        ),
    ],
)
def test_invalid_arguments_raise_an_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()
