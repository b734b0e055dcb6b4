"""Plots of decision boundaries, streams and polynomial degrees."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bosquet import plot
from bosquet.datasets import Friedman1, Polynomial, Salaries, Twonorm
from bosquet.streams import AdaptiveWindow, change_points
from bosquet.theory import polynomial_degree, svm_margin

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def paths(contour):
    return np.vstack([path.vertices for path in contour.get_paths() if len(path.vertices)])


def test_the_boundary_of_the_bayes_rule_is_where_the_probability_is_one_half():
    ax = plot.decision_boundary(Salaries(), n_samples=0, names=("age", "studies"))
    line = ax.collections[-1]
    on_it = paths(line)
    probability = Salaries().probability(on_it)[:, 1]
    np.testing.assert_allclose(probability, 0.5, atol=0.02)
    assert ax.get_xlabel() == "age"


def test_the_legend_gives_how_often_a_model_differs_from_the_bayes_rule():
    generator = Twonorm(n_features=2)
    X, y = generator.sample(300, random_state=1)
    model = KNeighborsClassifier(15).fit(X, y)
    ax = plot.decision_boundary(generator, {"15 neighbours": model})
    drawn, _ = generator.sample(400, random_state=0)
    differs = np.mean(model.predict(drawn) != generator.bayes_predict(drawn))
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"15 neighbours, differs on {differs:.0%}" in texts
    assert "Bayes rule" in texts


def test_a_frontier_needs_two_classes_and_a_plane():
    with pytest.raises(ValueError, match="20 features and 2 classes"):
        plot.decision_boundary(Twonorm())
    with pytest.raises(AttributeError):
        plot.decision_boundary(Friedman1())


def test_the_lines_of_a_support_vector_machine_are_its_margin():
    X, y = make_blobs(60, centers=[[0, 0], [4, 0]], random_state=0)
    model = SVC(kernel="linear", C=1).fit(X, y)
    ax = plot.svm_margin(model, X, y)
    values = model.decision_function(paths(ax.collections[-1]))
    np.testing.assert_allclose(np.abs(values).round(), np.abs(values), atol=0.02)
    found = svm_margin(model, X, y)
    assert f"{found.margin:.3g}" in ax.get_title()
    rings = ax.collections[-2]
    assert len(rings.get_offsets()) == found.support.size
    sigmoid = SVC(kernel="sigmoid", gamma=1, coef0=-1).fit(X, y)
    assert plot.svm_margin(sigmoid, X, y).get_title().startswith("no margin")
    with pytest.raises(ValueError, match="two columns"):
        plot.svm_margin(model, np.ones((4, 3)), [0, 1, 0, 1])


def test_changes_are_drawn_at_their_start_and_detection():
    values = np.repeat([0.0, 1.0], [300, 100])
    found = change_points(values, AdaptiveWindow())
    ax = plot.changes(values, found, window=50)
    running = ax.lines[0].get_ydata()
    assert running[:300].max() == 0
    assert running[-1] == 1
    assert ax.lines[0].get_ydata()[324] == pytest.approx(0.5)
    positions = [line.get_xdata()[0] for line in ax.lines[1:]]
    assert positions == [found[0].began, found[0].noticed]
    with pytest.raises(ValueError, match="window=0"):
        plot.changes(values, found, window=0)


def test_the_training_error_decreases_and_chosen_degrees_are_marked():
    X, y = Polynomial([0, 2, -3, 1], noise=0.2).sample(40, random_state=0)
    choice = polynomial_degree(X, y, max_degree=8, random_state=0)
    ax = plot.degrees(choice)
    training = ax.lines[0].get_ydata()
    assert (np.diff(training) <= 1e-12).all()
    assert [line.get_xdata()[0] for line in ax.lines[2:]] == [
        choice.best["aic"], choice.best["bic"], choice.best["cv"]
    ]  # fmt: skip
    with pytest.raises(ValueError, match="criterion='aic'"):
        plot.degrees(choice, criterion="aic")
