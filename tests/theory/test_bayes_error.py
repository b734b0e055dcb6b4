"""The Bayes error of densities and of generators."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bosquet.datasets import ClassGenerator, Friedman1, Moons, Ringnorm, Twonorm
from bosquet.theory import bayes_error, cover_hart_bound


def rising(x):
    return np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0)


def level(x):
    return np.where((x >= 0.75) & (x <= 1.75), 1.0, 0)


@pytest.mark.parametrize("support", [(0, 2), (-1, 3), (0, 1.75), None])
def test_the_exercise_has_an_overlap_of_a_quarter_and_an_error_of_an_eighth(support):
    found = bayes_error([rising, level], support=support)
    tolerance = 1e-12 if support else 1e-9
    assert found.overlap == pytest.approx(1 / 4, abs=tolerance)
    assert found.value == pytest.approx(1 / 8, abs=tolerance)
    assert found.method == "integral"


def test_priors_weight_the_densities():
    # On [3/4, 1] both densities are positive: rising >= 1.59 > 1. With prior ½ or more, rising is larger.
    for prior in (0.5, 0.8):
        found = bayes_error([rising, level], priors=[prior, 1 - prior], support=(0, 2))
        assert found.value == pytest.approx((1 - prior) / 4, abs=1e-12)
        assert found.overlap == pytest.approx(1 / 4, abs=1e-12)
    # With prior 0.1 the constant density is larger: the mass of rising beyond 3/4 is misclassified.
    mass = 1 - (0.75**3 + 0.75**2) / 2
    found = bayes_error([rising, level], priors=[0.1, 0.9], support=(0, 2))
    assert found.value == pytest.approx(0.1 * mass, abs=1e-12)


@given(st.floats(-3, 3), st.floats(0.1, 5), st.floats(0.05, 0.95))
@settings(max_examples=30, deadline=None)
def test_two_normals_of_equal_spread_have_the_error_of_the_textbook(place, distance, prior):
    found = bayes_error(
        [stats.norm(place), stats.norm(place + distance)], priors=[prior, 1 - prior]
    )
    # On the boundary both classes are equally likely.
    frontier = distance / 2 + math.log(prior / (1 - prior)) / distance
    expected = prior * stats.norm.sf(frontier) + (1 - prior) * stats.norm.cdf(frontier - distance)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.overlap == pytest.approx(2 * stats.norm.cdf(-distance / 2), abs=1e-9)


@pytest.mark.parametrize("distance", [10, 14, 20])
def test_the_error_of_classes_far_apart_is_small_and_not_below_0(distance):
    exact = stats.norm.cdf(-distance / 2)
    two = bayes_error([stats.norm(), stats.norm(distance)])
    assert two.value == pytest.approx(exact, rel=1e-9, abs=0)
    assert two.overlap == pytest.approx(2 * exact, rel=1e-9, abs=0)
    three = bayes_error([stats.norm(), stats.norm(distance), stats.norm(2 * distance)])
    assert three.value == pytest.approx(4 / 3 * exact, rel=1e-6, abs=0)


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.floats(0.01, 10)), min_size=2, max_size=4),
    st.randoms(use_true_random=False),
)
@settings(max_examples=30, deadline=None)
def test_the_error_lies_between_0_and_that_of_the_most_probable_class(places, random):
    shares = np.array([random.random() + 0.01 for _ in places])
    shares /= shares.sum()
    found = bayes_error([stats.norm(*place) for place in places], priors=shares)
    assert 0 <= found.value <= 1 - shares.max()
    assert found.overlap is None or 0 <= found.overlap <= 1


def test_classes_very_far_apart_have_no_error():
    found = bayes_error([stats.norm(), stats.norm(1e6)])
    assert found.value == 0
    assert cover_hart_bound(found.value) == 0


def test_heavy_tails_are_integrated():
    found = bayes_error([stats.cauchy(), stats.cauchy(1e4)])
    assert found.overlap == pytest.approx(1 - 2 / math.pi * math.atan(5000), rel=1e-6)


def test_the_error_of_three_classes_is_one_minus_the_area_under_the_maximum():
    thirds = [stats.uniform(0, 1), stats.uniform(0.5, 1), stats.uniform(1, 1)]
    found = bayes_error(thirds, support=(0, 2))
    # Highest everywhere on [0, 2] with height 1: ∫ max = 2, of which a third counts.
    assert found.value == pytest.approx(1 / 3, abs=1e-12)
    assert found.overlap is None
    assert "max(π₁d₁, π₂d₂, π₃d₃)" in repr(found)


def test_half_lines_are_allowed_as_support():
    found = bayes_error([stats.expon(), stats.expon(scale=3)], support=(0, math.inf))
    frontier = 1.5 * math.log(3)
    expected = (math.exp(-frontier) + 1 - math.exp(-frontier / 3)) / 2
    assert found.value == pytest.approx(expected, abs=1e-9)
    mirrored = bayes_error(
        [lambda x: stats.expon.pdf(-x), lambda x: stats.expon(scale=3).pdf(-x)],
        support=(-math.inf, 0),
    )
    assert mirrored.value == pytest.approx(expected, abs=1e-9)


def test_the_error_of_a_generator_is_exact_or_simulated():
    exact = bayes_error(Ringnorm())
    assert exact.value == Ringnorm().bayes_error
    assert exact.method == "exact"
    simulated = bayes_error(Moons(0.3), method="simulation", n_samples=20_000)
    assert 0 < simulated.standard_error < 0.002
    assert abs(simulated.value - Moons(0.3).bayes_error) < 4.5 * simulated.standard_error
    assert float(bayes_error(Friedman1(noise=2.0))) == 4
    assert "standard error" in repr(simulated)


def test_a_custom_generator_needs_no_base_class():
    class Coin:
        classes = np.array(["heads", "tails"])

        def sample(self, n, random_state=None):
            random = np.random.RandomState(random_state)
            return random.rand(n, 1), np.where(random.rand(n) < 0.3, "heads", "tails")

        def probability(self, X):
            return np.tile([0.3, 0.7], (len(X), 1))

    found = bayes_error(Coin(), n_samples=100)
    assert found.value == pytest.approx(0.3)
    assert found.method == "simulation"
    assert not issubclass(Coin, ClassGenerator)


def test_a_generator_of_numbers_must_know_its_noise():
    class Line:
        def sample(self, n, random_state=None):
            return np.zeros((n, 1)), np.zeros(n)

        def mean(self, X):
            return np.zeros(len(X))

    with pytest.raises(TypeError, match="no bayes_error_at"):
        bayes_error(Line())


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        ([rising, level], {"priors": [0.5, 0.6]}, "priors="),
        ([rising, level], {"support": (2, 0)}, "support="),
        ([rising, level], {"support": (0, 1)}, r"densities\[1\] has the integral 0.25"),
        ([rising, lambda x: x - 1], {"support": (0, 2)}, "a density is -"),
        (Twonorm(), {"priors": [0.5, 0.5]}, "only allowed for densities"),
        (Twonorm(), {"method": "guess"}, "method='guess' is not valid"),
    ],
)
def test_invalid_arguments_raise_an_error(source, arguments, message):
    with pytest.raises(ValueError, match=message):
        bayes_error(source, **arguments)


def test_a_source_of_the_wrong_type_raises_an_error():
    for source in (rising, [rising], 3):
        with pytest.raises(TypeError, match="two or more densities"):
            bayes_error(source)


def test_a_density_for_numbers_is_called_point_by_point():
    found = bayes_error(
        [lambda x: 1.0 if 0 <= x <= 1 else 0.0, lambda x: 2 * x if 0 <= x <= 1 else 0],
        support=(0, 1),
    )
    assert found.overlap == pytest.approx(0.75)

    def bell(x):
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    assert float(bayes_error([bell, stats.norm(1, 1)])) == pytest.approx(stats.norm.cdf(-0.5))


def test_a_narrow_peak_far_out_is_found_by_its_quantiles():
    found = bayes_error([stats.norm(0, 1), stats.norm(1000, 1e-3)])
    assert float(found) == pytest.approx(0, abs=1e-9)
    near = bayes_error([stats.norm(1000, 1e-3), stats.norm(1000.002, 1e-3)])
    assert float(near) == pytest.approx(stats.norm.cdf(-1), abs=1e-8)


def test_a_narrow_peak_that_is_not_found_needs_its_support():
    def peak(x):
        return stats.norm.pdf(x, 1000, 1e-3)

    with pytest.raises(ValueError, match=r"densities\[1\] has the integral 0 .*pass support="):
        bayes_error([stats.norm(0, 1), peak])
    found = bayes_error([stats.norm(1000, 1e-3), peak], support=(999.9, 1000.1))
    assert float(found) == pytest.approx(0.5)


def test_an_exact_error_is_printed_as_exact():
    assert repr(bayes_error(Twonorm())).startswith("Bayes error, exact\n")
