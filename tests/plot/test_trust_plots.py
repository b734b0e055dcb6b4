"""Plots of calibration and coverage: curves, legends, and comparison with stored images."""

import numpy as np
import pytest
from baseline_images import assert_looks_as_stored, plain_style

from bosquet import plot
from bosquet.trust import calibration_error, reliability_curve

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def plain():
    with plain_style():
        yield


@pytest.fixture
def scores():
    random = np.random.default_rng(0)
    p = random.random(2000)
    return (random.random(2000) < p**2).astype(int), p


@pytest.fixture
def bands():
    random = np.random.default_rng(0)
    prediction = random.random(400) * 10
    y = prediction + random.normal(size=400)
    return y, np.column_stack([prediction - 1.645, prediction + 1.645]), prediction


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_reliability_diagram_shows_the_curve_and_the_calibration_error(scores):
    y, p = scores
    diagram, histogram = plot.reliability(y, {"raw": p, "squared": p**2})
    curve = reliability_curve(y, p)
    np.testing.assert_array_equal(diagram.get_lines()[1].get_xdata(), curve.score)
    np.testing.assert_array_equal(diagram.get_lines()[1].get_ydata(), curve.observed)
    assert f"{calibration_error(y, p, n_bootstrap=200).corrected:.3f}" in labels(diagram)[0]
    assert labels(diagram)[1].startswith("squared: calibration error 0.0")
    shares = histogram.patches[0].get_xy()[:, 1]
    assert 0.02 < shares.max() < 0.05  # 30 bars of a uniform score


def test_the_reliability_diagram_looks_as_stored(scores):
    y, p = scores
    axes = plot.reliability(y, {"raw": p, "squared": p**2})
    assert_looks_as_stored(axes[0].figure, "reliability")


def test_intervals_give_the_coverage_of_all_rows_and_draw_some(bands):
    y, bounds, prediction = bands
    ax = plot.intervals(y, bounds, prediction, max_display=50)
    inside = ((bounds[:, 0] <= y) & (y <= bounds[:, 1])).mean()
    assert labels(ax)[0] == "interval, 3.29 wide on average"
    assert labels(ax)[1] == f"target inside the interval: {inside:.1%} of 400 rows"
    drawn = sum(len(line.get_xdata()) for line in ax.get_lines()[:2])
    assert drawn == 50 == len(ax.collections[0].get_segments())


def test_intervals_look_as_stored(bands):
    assert_looks_as_stored(plot.intervals(*bands).figure, "intervals-along-prediction")


@pytest.mark.parametrize("number", [3, 300])
def test_coverage_of_few_and_of_many_groups_looks_as_stored(number):
    random = np.random.default_rng(0)
    groups = np.array([f"g{k:03}" for k in random.integers(number, size=6000)])
    inside = random.random(6000) < np.where(groups == "g001", 0.4, 0.9)
    ax = plot.coverage_by_group(inside, groups)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(names) == min(number, 25)
    assert any(name.startswith("g001 (") for name in names)
    assert ("25 of 300 farthest from nominal" in ax.get_ylabel()) == (number == 300)
    assert_looks_as_stored(ax.figure, f"coverage-of-{number}-groups")


def test_several_models_are_drawn_in_each_group():
    inside = {"a": [True, True, False, True], "b": [False, True, True, True]}
    ax = plot.coverage_by_group(inside, ["x", "x", "y", "y"], coverage=0.8)
    assert labels(ax) == ["nominal: 80%", "a", "b"]
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_array_equal(lines["a"].get_xdata(), [0.5, 1.0])  # the first group is on top
    np.testing.assert_array_equal(lines["b"].get_xdata(), [1.0, 0.5])


def test_invalid_input_raises(scores, bands):
    y, p = scores
    with pytest.raises(ValueError, match="1 to 5 models"):
        plot.reliability(y, {str(k): p for k in range(6)})
    with pytest.raises(ValueError, match="prediction has shape"):
        plot.intervals(*bands[:2], bands[2][:3])
    with pytest.raises(ValueError, match="inside has shape"):
        plot.coverage_by_group([True], ["a", "b"])
