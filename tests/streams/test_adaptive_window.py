"""AdaptiveWindow: its detections, its memory, and the probability of false alarms."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from bosquet.reference import streams as reference
from bosquet.streams import AdaptiveWindow, change_points

# With such a large δ even short streams raise alarms; this test is about the arithmetic.
LOUD = 0.9


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 25)), min_size=1, max_size=4),
    st.integers(0, 2**16),
    st.integers(2, 6),
)
def test_changes_are_those_of_the_reference(stretches, seed, most):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.random(n) < mean for mean, n in stretches]).astype(float)
    found = change_points(3 * values - 1, AdaptiveWindow(LOUD, low=-1, high=2, max_buckets=most))
    expected = reference.adaptive_window(list(3 * values - 1), LOUD, -1, 2, most)
    assert [(change.began, change.noticed) for change in found] == expected


def updated_copy(detector, value):
    """Return a copy that has processed one more value, and whether it raised an alarm."""
    copied = copy.copy(detector)
    return copied, copied.update(value)


def test_the_exact_probability_of_a_false_alarm_is_at_most_delta():
    """All streams of 26 zeros and ones, those with the same buckets taken together, for nine means.

    Without the shares of δ for every cut and every time nearly all of them would raise an alarm.
    """
    delta, means = 0.99, np.linspace(0.1, 0.9, 9)
    first = AdaptiveWindow(delta, max_buckets=2)
    first.update(0)
    second = AdaptiveWindow(delta, max_buckets=2)
    second.update(1)
    alarmed = np.zeros(9)
    states = {0: (first, 1 - means), 1: (second, means)}
    for _ in range(25):
        following = {}
        for detector, chance in states.values():
            for value in (0, 1):
                seen, alarm = updated_copy(detector, value)
                reached = chance * (means if value else 1 - means)
                if alarm:
                    alarmed += reached
                    continue
                key = tuple(map(tuple, seen._buckets))
                known = following.get(key)
                following[key] = (seen, reached if known is None else known[1] + reached)
        states = following
    assert alarmed + sum(chance for _, chance in states.values()) == pytest.approx(np.ones(9))
    assert (alarmed > 0).all()  # otherwise the test would be vacuous
    assert (alarmed <= delta).all()


@pytest.mark.parametrize("mean", [0.05, 0.5])
def test_long_streams_without_a_change_raise_no_alarm(mean):
    streams = np.random.default_rng(0).random((15, 3000)) < mean
    assert sum(bool(change_points(values, AdaptiveWindow(0.05))) for values in streams) <= 2


def test_a_shift_is_detected_and_its_start_is_estimated():
    rng = np.random.default_rng(0)
    late, off = [], []
    for _ in range(20):
        values = rng.random(1400) < np.repeat([0.1, 0.4], [900, 500])
        found = change_points(values, AdaptiveWindow(0.01))
        assert len(found) == 1
        late.append(found[0].noticed - 900)
        off.append(abs(found[0].began - 900))
        assert found[0].before == pytest.approx(0.1, abs=0.05)
        assert found[0].after == pytest.approx(0.4, abs=0.2)
    assert min(late) >= 0
    assert np.mean(late) < 200
    assert np.median(off) < 40


def test_a_larger_shift_is_detected_sooner():
    rng = np.random.default_rng(1)
    draws = rng.random(1500)
    noticed = [
        change_points(draws < np.repeat([0.1, 0.1 + shift], [800, 700]), AdaptiveWindow())[
            0
        ].noticed
        for shift in (0.2, 0.4, 0.8)
    ]
    assert noticed == sorted(noticed, reverse=True)


def test_memory_grows_with_the_logarithm():
    detector = AdaptiveWindow()
    for value in np.random.default_rng(0).random(5000):
        detector.update(value)
    kept = sum(map(len, detector._buckets))
    assert detector.n_window_ == 5000
    assert kept <= 5 * math.ceil(math.log2(5000))
    assert detector.mean_ == pytest.approx(0.5, abs=0.02)


def test_a_detector_can_be_cloned_and_has_parameters():
    detector = AdaptiveWindow(0.02, high=3.0)
    detector.update(2.0)
    assert clone(detector).get_params() == detector.get_params()
    again = pickle.loads(pickle.dumps(detector))
    assert again.update(1.0) == detector.update(1.0)
    assert again.mean_ == 1.5


def test_values_out_of_range_raise_an_error_that_names_the_index():
    detector = AdaptiveWindow()
    detector.update(1)
    with pytest.raises(ValueError, match=r"value 1 of the stream is 1\.5, outside of"):
        detector.update(1.5)
    with pytest.raises(ValueError, match="value 1 of the stream is nan"):
        detector.update(np.nan)
    assert detector.n_seen_ == 1
    with pytest.raises(ValueError, match="delta=0 is not valid"):
        AdaptiveWindow(0).update(0.5)
    with pytest.raises(ValueError, match=r"low must be less than high=1\.0"):
        AdaptiveWindow(low=1.0).update(0.5)
