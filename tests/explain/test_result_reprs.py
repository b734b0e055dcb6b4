"""Reprs of results are short and have a caption; data frames contain all rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from bosquet.explain import (
    accumulated_local_effects,
    counterfactual,
    importance,
    individual_conditional_expectation,
    interaction_strength,
    partial_dependence,
    shape_functions,
    surrogate_tree,
)
from bosquet.trust import reliability_curve


@pytest.fixture(scope="module")
def model_and_cancer_table():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def stumps():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = GradientBoostingRegressor(n_estimators=20, max_leaf_nodes=2, random_state=0)
    return model.fit(X, y.astype(float)), X


def lines_of(result):
    text = repr(result)
    assert "array(" not in text
    lines = text.split("\n")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 120
    return lines


def test_importances_list_the_first_features_and_the_number_of_others(model_and_cancer_table):
    model, X, y = model_and_cancer_table
    for found in (importance(model), model.importance("permutation", X, y, per_row=True)):
        caption, head, first, *_, last = lines_of(found)
        assert caption.startswith("Importance by ")
        assert caption.endswith(" of 30 features")
        assert head.split() == ["feature", "scaled", "mean", "standard_error"]
        name, scaled = found.ranking()[0]
        assert first.startswith(f"  {name} ")
        assert f"{scaled:.4g}" in first.split()
        assert "and 22 more" in last
        frame = found.to_frame()
        assert list(frame["feature"]) == [name for name, _ in found.ranking()]
        np.testing.assert_array_equal(np.sort(frame["mean"]), np.sort(found.mean))


def test_feature_names_are_escaped_in_html(model_and_cancer_table):
    _, X, _ = model_and_cancer_table
    odd = X.rename(columns={"worst area": "<b>&"})
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(odd, X["worst area"] > 700)
    html = importance(forest)._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert "<b>" not in html
    assert html.count("<tr>") == 9


def test_interactions_list_the_strongest_pair_first(model_and_cancer_table):
    model, X, _ = model_and_cancer_table
    found = interaction_strength(model, X, list(X.columns[:3]), max_rows=20)
    caption, head, first, *_ = lines_of(found)
    assert caption == "Interaction strength (Friedman's H) of 3 pairs"
    assert found.to_frame()["H"].is_monotonic_decreasing
    assert head.split() == ["first", "second", "H"]
    assert first.startswith("  " + found.ranking()[0][0][0])


def test_a_dependence_has_a_repr_of_one_line_and_a_frame_of_its_points(stumps):
    model, X = stumps
    curve = partial_dependence(model, X, "mean area", grid=7)
    (line,) = lines_of(curve)
    assert line.startswith("Dependence of the response on mean area: 7 points, from ")
    np.testing.assert_array_equal(curve.to_frame()["response"], curve.average)
    rows = individual_conditional_expectation(model, X[:30], "mean area", grid=5)
    assert lines_of(rows)[0].endswith("curves of 30 rows")
    surface = partial_dependence(model, X, ("mean area", "mean texture"), grid=3)
    assert "on mean area and mean texture: 3 x 3 points" in lines_of(surface)[0]
    frame = surface.to_frame()
    assert frame.shape == (9, 3)
    at = (frame["mean area"] == surface.grid[0][2]) & (frame["mean texture"] == surface.grid[1][1])
    assert frame["response"][at].item() == surface.average[2, 1]
    lines_of(accumulated_local_effects(model, X, "mean area"))


def test_outputs_of_several_classes_are_columns():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["a", "b", "c"])[y]
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, names)
    curve = partial_dependence(model, X, "petal width (cm)", grid=4)
    assert lines_of(curve)[0].endswith("3 outputs")
    assert list(curve.to_frame()) == ["petal width (cm)", "response a", "response b", "response c"]


def test_shape_functions_list_the_largest_range_first(stumps):
    model, X = stumps
    shapes = shape_functions(model, X)
    caption, head, first, *_ = lines_of(shapes)
    assert caption.startswith(f"Shape functions of {len(shapes.single)} features, centred")
    assert head.split() == ["function", "range"]
    assert first.startswith("  " + next(iter(shapes.ranges())))
    assert dict(zip(*shapes.columns().values(), strict=True)) == shapes.ranges()


def test_reprs_of_a_surrogate_and_a_counterfactual_name_their_results(model_and_cancer_table):
    model, X, y = model_and_cancer_table
    found = surrogate_tree(model, X, y, max_leaf_nodes=3)
    (line,) = lines_of(found)
    assert f"fidelity {found.fidelity:.3f}" in line
    assert f"score {found.accuracy:.3f} (model: {found.model_accuracy:.3f})" in line
    assert str(found).startswith(line + "\n")
    assert lines_of(counterfactual(model, 0, X))[0] == "The prediction changes from 0 to 1 with"


def test_a_reliability_curve_is_a_table_of_its_bins():
    random = np.random.default_rng(0)
    scores = random.random(400)
    curve = reliability_curve(random.random(400) < scores, scores)
    caption, head, *bins = lines_of(curve)
    assert caption.startswith("Reliability of 400 scores in ")
    assert head.split() == ["count", "score", "observed", "low", "high"]
    assert len(bins) == curve.count.size
    assert isinstance(curve.to_frame(), pd.DataFrame)
