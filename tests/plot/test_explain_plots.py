"""Plots of explanations show the values, with 3 and with 300 features."""

import numpy as np
import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

import bosquet.plot as plots  # noqa: E402
from bosquet import GradientBoostingClassifier, GradientBoostingRegressor  # noqa: E402
from bosquet.explain import (  # noqa: E402
    accumulated_local_effects,
    individual_conditional_expectation,
    partial_dependence,
    shape_functions,
)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def explained(features, classes=None, rows=120):
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, features))
    X[random.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X) @ np.linspace(1, 0, features)
    if classes is None:
        return GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y).explain(X)
    y = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))
    return GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y).explain(X)


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.mark.parametrize("features", [3, 300])
def test_bars_are_mean_values_and_the_others_share_one_bar(features):
    found = explained(features)
    ax = found.plot.bar(max_display=10)
    widths = [bar.get_width() for bar in ax.patches]
    assert sum(widths) == pytest.approx(found.importance().sum())
    if features == 300:
        assert labels(ax.yaxis)[-1] == "290 others"
    assert labels(ax.yaxis)[0] == found.ranking()[0][0]
    ax.figure.canvas.draw()


def test_bars_of_classes_are_stacked():
    found = explained(4, classes=3)
    ax = found.plot.bar()
    assert len(ax.patches) == 12
    assert len(ax.get_legend().get_texts()) == 3
    assert len(found.plot.bar(output=1).patches) == 4


@pytest.mark.parametrize("features", [3, 300])
def test_a_swarm_has_a_point_for_each_row_and_feature(features):
    found = explained(features)
    ax = found.plot.beeswarm(max_display=8)
    points = sum(len(dots.get_offsets()) for dots in ax.collections)
    assert points == len(found) * min(features, 8)
    ax.figure.canvas.draw()


def test_a_swarm_needs_one_output():
    found = explained(4, classes=3)
    with pytest.raises(ValueError, match="outputs"):
        found.plot.beeswarm()
    found.plot.beeswarm(output=2)


@pytest.mark.parametrize("features", [3, 300])
def test_a_waterfall_ends_at_the_prediction(features):
    found = explained(features)
    ax = found.plot.waterfall(5, max_display=6)
    steps = [bar.get_width() for bar in ax.patches]
    assert len(steps) == min(features, 7)
    assert found.base + sum(steps) == pytest.approx(found.prediction[5])
    assert "prediction" in ax.get_title()
    with pytest.raises(ValueError, match="row=120"):
        found.plot.waterfall(120)


def test_dependence_is_drawn_for_numbers_levels_pairs_and_rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(150, 2)), columns=["a", "b"])
    X["kind"] = pd.Categorical(random.choice(["u", "v"], size=150))
    y = X.a + (X.kind == "u")
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    found = partial_dependence(model, X, ["a", "kind", ("a", "b"), ("a", "kind")], grid=6)
    curves = individual_conditional_expectation(model, X, "b", grid=6)
    effects = accumulated_local_effects(model, X, "a")
    axes = plots.dependence(*found, curves, effects)
    assert [ax.get_xlabel() for ax in axes] == ["a", "kind", "a", "a", "b", "a"]
    np.testing.assert_allclose(axes[0].lines[0].get_ydata(), found[0].average)
    assert len(axes[4].lines) == 101
    axes[0].figure.canvas.draw()
    with pytest.raises(ValueError, match="at least one"):
        plots.dependence()


def test_shape_functions_are_drawn_strongest_first():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    model = GradientBoostingRegressor(n_estimators=60, max_leaf_nodes=2, random_state=0)
    model.fit(X, 3 * X[:, 2] + X[:, 0])
    axes = plots.shapes(shape_functions(model, X), max_display=2)
    assert [ax.get_xlabel() for ax in axes] == ["x2", "x0"]
