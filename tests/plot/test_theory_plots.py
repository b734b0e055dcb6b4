"""Plots of the theory: numbers in the legends, curves, and comparison with stored images."""

import numpy as np
import pytest
from baseline_images import assert_looks_as_stored, plain_style
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeRegressor

import bosquet
from bosquet import plot
from bosquet.losses import MARGIN_LOSSES

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def plain():
    with plain_style():
        yield


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def rising(x):
    return np.where((x >= 0) & (x <= 1), 1.5 * x**2 + x, 0.0)


def box(x):
    return np.where((x >= 0.75) & (x <= 1.75), 1.0, 0.0)


def test_the_overlap_of_the_exercise_is_a_quarter_and_its_bayes_error_an_eighth():
    ax = plot.bayes_overlap(rising, box, (-0.2, 2.0))
    assert float(labels(ax)[0].split()[-1]) == pytest.approx(1 / 4, abs=2e-4)
    assert labels(ax)[0].startswith("overlap")
    ax = plot.bayes_overlap(rising, box, (-0.2, 2.0), priors=(0.5, 0.5), names=("first", "second"))
    assert float(labels(ax)[0].split()[-1]) == pytest.approx(1 / 8, abs=1e-4)
    assert labels(ax) == [labels(ax)[0], "first", "second"]


def test_a_dotted_line_marks_the_boundary_of_the_bayes_rule():
    def bell(mean):
        return lambda x: np.exp(-((x - mean) ** 2) / 2) / np.sqrt(2 * np.pi)

    ax = plot.bayes_overlap(bell(-1), bell(1), (-5, 5), priors=(0.5, 0.5))
    dotted = [line for line in ax.get_lines() if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in dotted] == [pytest.approx(0, abs=1e-3)]
    assert float(labels(ax)[0].split()[-1]) == pytest.approx(0.1587, abs=1e-4)


def test_invalid_priors_and_intervals_raise():
    with pytest.raises(ValueError, match="two probabilities that sum to 1"):
        plot.bayes_overlap(rising, box, (0, 2), priors=(0.5, 0.6))
    with pytest.raises(ValueError, match=r"a pair \(low, high\) with low < high"):
        plot.bayes_overlap(rising, box, (2, 0))


def sine_rows():
    generator = np.random.default_rng(0)
    x = np.sort(generator.uniform(0, 1, 60))
    return x[:, None], np.sin(6 * x) + generator.normal(0, 0.4, x.size)


def truth(x):
    return np.sin(6 * x)


@pytest.mark.parametrize("kind", [bosquet.BaggingRegressor, BaggingRegressor])
def test_the_mean_of_the_learners_has_a_smaller_error_than_single_learners(kind):
    X, y = sine_rows()
    model = kind(DecisionTreeRegressor(), n_estimators=30, random_state=0).fit(X, y)
    ax = plot.variance_reduction(model, X, y, truth)
    single, averaged, _ = labels(ax)
    assert averaged.startswith("mean of 30")
    assert float(averaged.split()[-1]) < 0.5 * float(single.split()[-1])
    thin = [line for line in ax.get_lines() if line.get_alpha() == 0.45]
    assert len(thin) == 10
    mean = next(line for line in ax.get_lines() if line.get_label() == averaged)
    np.testing.assert_allclose(mean.get_ydata(), model.predict(mean.get_xdata()[:, None]))


def test_variance_reduction_needs_one_feature_and_learners():
    X, y = sine_rows()
    model = bosquet.BaggingRegressor(n_estimators=3, random_state=0)
    with pytest.raises(ValueError, match="one column"):
        plot.variance_reduction(model.fit(np.c_[X, X], y), np.c_[X, X], y, truth)
    with pytest.raises(ValueError, match="no learners to show"):
        plot.variance_reduction(LinearRegression().fit(X, y), X, y, truth)


def test_losses_are_one_at_margin_zero_and_bound_the_0_1_loss():
    ax = plot.losses()
    curves = {line.get_label(): line for line in ax.get_lines() if line.get_label()[0] != "_"}
    assert len(curves) == 8
    zero_one = curves["0-1"].get_ydata()
    for name, line in curves.items():
        margin, values = line.get_data()
        assert values[np.argmin(np.abs(margin))] == pytest.approx(1, abs=1e-9), name
        if name not in ("doom2", "savage"):
            assert (values >= zero_one - 1e-12).all(), name
        assert (np.diff(values) <= 1e-12).all(), f"{name} increases"
    assert curves["doom2"].get_ydata()[0] < 2 < curves["exponential"].get_ydata()[0]


def test_the_default_losses_are_those_of_anyboost():
    curves = {line.get_label(): line for line in plot.losses().get_lines()}
    for name, kind in MARGIN_LOSSES.items():
        margin, values = curves[name.replace("_", " ")].get_data()
        loss = kind()
        np.testing.assert_allclose(values, loss.value(margin) / loss.value(np.zeros(1)))


def test_given_losses_are_drawn_without_scaling():
    ax = plot.losses({"squared": lambda m: (1 - m) ** 2}, interval=(-1, 1))
    line = ax.get_lines()[-1]
    np.testing.assert_allclose(line.get_ydata(), (1 - line.get_xdata()) ** 2)
    with pytest.raises(ValueError, match="the loss 'sum'"):
        plot.losses({"sum": np.sum})


def test_every_plot_uses_the_given_axes():
    X, y = sine_rows()
    model = bosquet.BaggingRegressor(n_estimators=3, random_state=0).fit(X, y)
    _, axes = plt.subplots(1, 3)
    assert plot.losses(ax=axes[0]) is axes[0]
    assert plot.bayes_overlap(rising, box, (0, 2), ax=axes[1]) is axes[1]
    assert plot.variance_reduction(model, X, y, truth, ax=axes[2]) is axes[2]


def test_plots_of_the_theory_look_as_stored():
    X, y = sine_rows()
    wild = make_pipeline(PolynomialFeatures(7), LinearRegression())
    model = bosquet.BaggingRegressor(wild, 30, random_state=0).fit(X, y)
    assert_looks_as_stored(plot.variance_reduction(model, X, y, truth).figure, "variance-reduction")
    ax = plot.bayes_overlap(rising, box, (-0.2, 2.0), priors=(0.5, 0.5))
    assert_looks_as_stored(ax.figure, "bayes-overlap")
    assert_looks_as_stored(plot.losses().figure, "losses")
