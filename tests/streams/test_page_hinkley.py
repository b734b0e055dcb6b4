"""PageHinkley: its alarms, and the time between them without a change."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bosquet.reference import streams as reference
from bosquet.streams import PageHinkley, change_points


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60),
    st.sampled_from([0.125, 0.5]),
    st.sampled_from([0.0625, 0.25]),
    st.floats(2, 1000),
)
@example([1.0, 0.5, 1.0, 1.0], 0.5, 0.25, 2.0)  # two sums are equally large
def test_alarms_are_those_of_the_reference(values, mean, tolerance, run_length):
    found = change_points(values, PageHinkley(mean, tolerance=tolerance, run_length=run_length))
    expected = reference.page_hinkley(values, mean, tolerance, run_length, 1.0)
    assert [(change.began, change.noticed) for change in found] == expected


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_falls_are_detected_as_rises_of_the_mirrored_stream(values):
    rises = change_points(values, PageHinkley(0.25, run_length=20))
    mirrored = [1 - value for value in values]
    falls = change_points(mirrored, PageHinkley(0.75, run_length=20, direction="fall"))
    assert [change.noticed for change in rises] == [change.noticed for change in falls]


@pytest.mark.parametrize(("mean", "tolerance"), [(0.5, 0.05), (0.5, 0.2), (0.1, 0.1)])
def test_without_a_change_the_mean_time_to_an_alarm_is_at_least_run_length(mean, tolerance):
    """E[T] ≥ A: the mean over many streams of 0s and 1s, less three of its standard errors, or cut off."""
    promised, longest = 60, 600
    rng = np.random.default_rng(0)
    times = []
    for _ in range(150):
        detector = PageHinkley(mean, tolerance=tolerance, run_length=promised)
        stream = rng.random(longest) < mean
        first = next((t + 1 for t, value in enumerate(stream) if detector.update(value)), longest)
        times.append(first)
    assert np.mean(times) + 3 * np.std(times) / np.sqrt(len(times)) >= promised


def test_the_exact_mean_time_to_a_false_alarm_is_at_least_run_length():
    """By the chain of the sum on a lattice: mean time to reach the threshold from 0, solved exactly."""
    mean, tolerance = 0.25, 0.25  # steps of +½ and -½ in units of ½
    for promised in (5.0, 50.0, 500.0):
        threshold = PageHinkley(mean, tolerance=tolerance, run_length=promised)
        threshold.update(0)
        top = int(np.ceil(threshold.threshold_ / 0.5))
        A = np.eye(top)
        for state in range(top):
            A[state, max(state - 1, 0)] -= 1 - mean
            if state + 1 < top:
                A[state, state + 1] -= mean
        assert np.linalg.solve(A, np.ones(top))[0] >= promised


def test_the_detection_delay_of_a_shift_is_about_the_predicted_one():
    values = [0.0] * 200 + [1.0] * 200
    detector = PageHinkley(0.1, tolerance=0.1, run_length=1000)
    found = change_points(values, detector)[0]
    steps = np.ceil(np.log(1000) / 0.8 / 0.8)
    assert (found.began, found.noticed) == (200, 200 + steps - 1)
    assert (found.before, found.after) == (0.1, 1.0)


def test_invalid_parameters_and_values_raise_errors():
    with pytest.raises(ValueError, match=r"mean must be in"):
        PageHinkley(1.5).update(0)
    with pytest.raises(ValueError, match="tolerance=0 is not valid"):
        PageHinkley(0.5, tolerance=0).update(0)
    with pytest.raises(ValueError, match="value 0 of the stream is 7"):
        PageHinkley(0.5).update(7)
