"""Plots of boosting: panels, curves, labels, and comparison with stored images."""

import numpy as np
import pandas as pd
import pytest
from baseline_images import assert_looks_as_stored, plain_style
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import bosquet
from bosquet import plot
from bosquet.boosting.adaboost.certificate import Certificate
from bosquet.theory import certificate

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def plain():
    with plain_style():
        yield


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.25, random_state=3)


@pytest.fixture(scope="module")
def model(moons):
    return AdaBoostClassifier(n_estimators=60, random_state=0).fit(*moons)


@pytest.fixture(scope="module")
def rows_for_testing():
    return make_moons(500, noise=0.25, random_state=4)


def lines_by_label(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_nine_rounds_are_drawn_with_the_weights_of_the_rows(moons, model):
    axes = plot.decision_rounds(model, *moons, resolution=60)
    assert axes.shape == (3, 3)
    titles = [ax.get_title() for ax in axes.ravel()]
    assert titles[0].startswith("1 learner,")
    assert titles[-1].startswith("60 learners,")
    first, second = (ax.collections[-1] for ax in axes.ravel()[:2])
    assert len(set(first.get_sizes())) == 1, "all weights are equal in the first round"
    # In the second round, the misclassified rows share half of the weight equally.
    wrong = model.estimators_[0].predict(moons[0]) != moons[1]
    large = second.get_sizes() == second.get_sizes().max()
    assert large.sum() == wrong.sum()
    share = second.get_sizes()[large].sum() / second.get_sizes().sum()
    assert share == pytest.approx(0.5, abs=1e-6)


def point_areas(ax):
    return ax.collections[-1].get_sizes()


def test_areas_of_points_are_the_weights_of_the_method(moons):
    X, y = moons
    signs = 2 * y - 1
    brown = bosquet.BrownBoostClassifier(target_error=0.2).fit(X, y)
    panels = plot.decision_rounds(brown, X, y, at=(1, 4), resolution=30).ravel()
    left = brown.c_ - brown.times_[:3].sum()
    before = list(brown.staged_decision_function(X))[2]
    weight = np.exp(-((signs * before + left) ** 2) / brown.c_)
    expected = np.sort(np.clip(22 * weight / weight.mean(), 3, 420))
    np.testing.assert_allclose(np.sort(point_areas(panels[1])), expected)
    lp = bosquet.LPBoostClassifier(nu=0.1).fit(X, y)
    expected = np.sort(np.clip(22 * 120 * lp.row_distribution_, 3, 420))
    for ax in plot.decision_rounds(lp, X, y, at=(1, 3), resolution=30).ravel():
        np.testing.assert_allclose(np.sort(point_areas(ax)), expected)
    mada = bosquet.AdaBoostClassifier(n_estimators=6, variant="mada").fit(X, y)
    (ax,) = plot.decision_rounds(mada, X, y, at=(6,), resolution=30).ravel()
    before = list(mada.staged_decision_function(X))[4]
    weight = np.minimum(1, np.exp(-signs * before))
    np.testing.assert_allclose(
        np.sort(point_areas(ax)), np.sort(np.clip(22 * weight / weight.mean(), 3, 420))
    )


def test_legends_have_class_labels_and_array_columns_default_names(moons):
    X, y = moons
    model = bosquet.AdaBoostClassifier(n_estimators=4).fit(X, np.where(y > 0, "up", "down"))
    axes = plot.decision_rounds(model, X, np.where(y > 0, "up", "down"), resolution=30)
    (legend,) = axes[0, 0].figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["down", "up"]
    assert axes[-1, 0].get_xlabel() == "x0"
    assert axes[0, 0].get_ylabel() == "x1"
    _, own_axes = plt.subplots(1, 2)
    drawn = plot.decision_rounds(
        model, X, np.where(y > 0, "up", "down"), at=(1, 2), resolution=30, axes=own_axes
    )
    assert [text.get_text() for text in drawn[0].get_legend().get_texts()] == ["down", "up"]


def test_titles_give_the_error_after_each_round(moons, model):
    X, y = moons
    axes = plot.decision_rounds(model, X, y, at=(3, 20), resolution=40)
    staged = list(model.staged_predict(X))
    for ax, t in zip(axes.ravel(), (3, 20), strict=True):
        assert ax.get_title() == f"{t} learners, {np.mean(staged[t - 1] != y):.1%} wrong"


def test_column_names_of_a_data_frame_are_axis_labels(moons):
    X = pd.DataFrame(moons[0], columns=["width", "height"])
    model = AdaBoostClassifier(n_estimators=4, random_state=0).fit(X, moons[1])
    axes = plot.decision_rounds(model, X, moons[1], resolution=30)
    assert axes.size == 4 or axes.size == 6
    assert axes[-1, 0].get_xlabel() == "width"
    assert axes[0, 0].get_ylabel() == "height"
    assert [ax.get_visible() for ax in axes.ravel()].count(True) == 4


def test_invalid_input_of_decision_rounds_raises(moons, model):
    X, y = load_iris(return_X_y=True)
    three = AdaBoostClassifier(n_estimators=3).fit(X[:, :2], y)
    with pytest.raises(ValueError, match="two classes"):
        plot.decision_rounds(three, X[:, :2], y)
    with pytest.raises(ValueError, match="two columns"):
        plot.decision_rounds(three, X, y)
    with pytest.raises(ValueError, match=r"at must be rounds in \[1, 60\]"):
        plot.decision_rounds(model, *moons, at=(1, 61))
    with pytest.raises(ValueError, match="one axes per round"):
        plot.decision_rounds(model, *moons, at=(1, 2), axes=plt.subplots()[1])


def test_the_error_curve_is_the_staged_error_under_its_bounds(moons, model, rows_for_testing):
    ax = plot.error_curve(model, *moons, *rows_for_testing)
    lines = lines_by_label(ax)
    assert set(lines) == {"training", "test", "bound Π Z", "bound exp(-2 Σ γ²)"}
    for label, (X, y) in (("training", moons), ("test", rows_for_testing)):
        staged = [np.mean(predicted != y) for predicted in model.staged_predict(X)]
        np.testing.assert_allclose(lines[label].get_ydata(), staged)
    np.testing.assert_allclose(
        lines["bound Π Z"].get_ydata(), np.cumprod(certificate(model, *moons).normalisers)
    )


def test_the_error_curve_of_bagging_has_no_bound(moons, rows_for_testing):
    model = bosquet.BaggingClassifier(DecisionTreeClassifier(max_depth=3), 8, random_state=0)
    ax = plot.error_curve(model.fit(*moons), *moons, *rows_for_testing)
    assert set(lines_by_label(ax)) == {"training", "test"}


def test_the_error_of_a_regressor_is_its_root_mean_square(moons):
    X = np.c_[moons[0], moons[0][:, 0] ** 2]
    y = X[:, 0] + np.sin(3 * X[:, 1])
    model = bosquet.AdaBoostRegressor(n_estimators=8, random_state=0).fit(X[:80], y[:80])
    ax = plot.error_curve(model, X[:80], y[:80], X[80:], y[80:])
    lines = lines_by_label(ax)
    for label, rows in (("training", slice(80)), ("test", slice(80, None))):
        predictions = model.staged_predict(X[rows])
        staged = [np.sqrt(np.mean((predicted - y[rows]) ** 2)) for predicted in predictions]
        np.testing.assert_allclose(lines[label].get_ydata(), staged)
    assert ax.get_ylabel() == "root mean squared error"
    assert not any("%" in label.get_text() for label in ax.get_yticklabels())


def has_integer_ticks(ax):
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
    return bool(ticks) and all(float(tick).is_integer() for tick in ticks)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_ticks_of_few_rounds_are_integers(moons, rounds):
    model = bosquet.AdaBoostClassifier(n_estimators=rounds).fit(*moons)
    assert has_integer_ticks(plot.error_curve(model, *moons))
    panels = plot.certificate(model)
    assert has_integer_ticks(panels[0])
    assert has_integer_ticks(panels[1])


def test_a_bound_outside_the_axis_limits_is_not_in_the_legend(moons):
    few = bosquet.AdaBoostClassifier(n_estimators=4).fit(*moons)
    ax = plot.error_curve(few, *moons)
    assert few.certificate_.product.min() > ax.get_ylim()[1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["training"]


def test_invalid_input_of_error_curve_raises(moons, model):
    with pytest.raises(ValueError, match="no staged_predict"):
        plot.error_curve(LogisticRegression().fit(*moons), *moons)
    with pytest.raises(ValueError, match="no staged_predict"):
        plot.error_curve(BaggingClassifier(n_estimators=2).fit(*moons), *moons)
    with pytest.raises(ValueError, match="both X_test and y_test"):
        plot.error_curve(model, *moons, X_test=moons[0])


def test_margins_are_drawn_for_each_number_of_rounds_and_grow(moons):
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=80, random_state=0)
    model.fit(*moons)
    ax = plot.margins(model, *moons, at=(2, 20, 80))
    curves = [line for line in ax.get_lines() if "round" in line.get_label()]
    assert [line.get_label().split(":")[0] for line in curves] == [
        "2 rounds",
        "20 rounds",
        "80 rounds",
    ]
    last = np.sort(certificate(model, *moons).margins)
    np.testing.assert_allclose(curves[-1].get_xdata()[1:-1], last, atol=1e-12)
    smallest = [line.get_xdata()[1] for line in curves]
    assert smallest[0] < smallest[1] <= smallest[2] + 0.02
    with pytest.raises(ValueError, match=r"at must be rounds in \[1, 80\]"):
        plot.margins(model, *moons, at=(81,))


def test_margins_of_several_classes_are_drawn():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=12, random_state=0).fit(X, y)
    ax = plot.margins(model, X, y)
    assert len(ax.get_lines()) == 3  # zero, 5 rounds, and the last


def test_a_certificate_is_drawn_in_three_panels(moons, model):
    axes = plot.certificate(certificate(model, *moons))
    assert len(axes) == 3
    assert {"Π Z", "training error", "exp(-2 Σ γ²)", "exp(-2 γ² T)"} == set(lines_by_label(axes[1]))
    with pytest.raises(ValueError, match="axes has 1 elements, but a certificate needs 3"):
        plot.certificate(certificate(model, *moons), plt.subplots()[1])


def test_certificates_of_several_classes_have_no_chance_level_and_no_bound():
    X, y = load_iris(return_X_y=True)
    samme = bosquet.AdaBoostClassifier(n_estimators=10).fit(X[:, :2], y)
    edge, error, _ = plot.certificate(samme)
    assert edge.get_title(loc="left") == "Each learner's error"
    assert not edge.texts
    assert edge.get_legend() is None
    assert error.get_title(loc="left") == "Training error"
    mh = bosquet.AdaBoostClassifier(n_estimators=10, multiclass="mh").fit(X[:, :2], y)
    edge, error, _ = plot.certificate(mh)
    assert edge.texts[0].get_text() == "a coin"
    drawn = lines_by_label(error)["1.5 Π Z"].get_ydata()
    np.testing.assert_allclose(drawn, mh.certificate_.training_error_bound)


def test_the_title_does_not_mention_bounds_if_there_are_none(moons):
    brown = bosquet.BrownBoostClassifier(target_error=0.2).fit(*moons)
    assert plot.certificate(brown)[1].get_title(loc="left") == "Training error"


@pytest.mark.parametrize("rounds", [1, 200])
def test_labels_of_margins_stay_inside_and_the_legend_outside(moons, rounds):
    model = bosquet.AdaBoostClassifier(n_estimators=rounds).fit(*moons)
    ax = plot.certificate(model)[2]
    ax.figure.canvas.draw()
    frame = ax.get_window_extent()
    label = ax.texts[0].get_window_extent()
    assert frame.x0 <= label.x0 < label.x1 <= frame.x1
    assert ax.get_legend().get_window_extent().y1 <= frame.y0


def test_models_without_a_certificate_raise(moons):
    with pytest.raises(NotFittedError):
        plot.certificate(bosquet.AdaBoostClassifier())
    with pytest.raises(TypeError, match="LogisticRegression has no certificate_"):
        plot.certificate(LogisticRegression().fit(*moons))


def test_missing_parts_of_a_certificate_are_explained_in_their_panels():
    lacking = Certificate.from_rounds(
        variant="gentle", n_rows=3, errors=None, alphas=None, normalisers=None, margins=None,
        training_errors=[0.3, 0.1], missing={"errors": "gentle fits numbers"},
    )  # fmt: skip
    axes = lacking.plot()
    assert "gentle fits numbers" in axes[0].texts[0].get_text()
    assert set(lines_by_label(axes[1])) == {"training error"}
    assert "margins" in axes[2].texts[0].get_text()


def test_plots_of_boosting_look_as_stored(moons, model, rows_for_testing):
    assert_looks_as_stored(
        plot.decision_rounds(model, *moons, resolution=120)[0, 0].figure, "rounds"
    )
    assert_looks_as_stored(plot.error_curve(model, *moons, *rows_for_testing).figure, "error-curve")
    assert_looks_as_stored(plot.margins(model, *moons, at=(1, 10, 60)).figure, "margins")
    assert_looks_as_stored(plot.certificate(certificate(model, *moons))[0].figure, "certificate")


def test_a_changed_plot_is_detected(moons, model, rows_for_testing):
    ax = plot.error_curve(model, *moons, *rows_for_testing)
    lines_by_label(ax)["test"].set_color("#2f7d5b")
    with pytest.raises(AssertionError, match="error-curve differs"):
        assert_looks_as_stored(ax.figure, "error-curve")
