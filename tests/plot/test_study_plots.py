"""Plots of a study show the values of its record."""

import numpy as np
import pytest
from baseline_images import plain_style

from bosquet import plot

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def plain():
    with plain_style():
        yield


def curve(scores, chosen, log=False, score="log loss"):
    """A tuning curve, with the most complex point first."""
    points = [
        {"complexity": 2.0**k, "score": value, "chosen": k == chosen}
        for k, value in enumerate(scores)
    ]
    return {"parameter": "leaves", "log": log, "score": score, "points": points[::-1]}


def method(name, scores, interval, of_curve=None):
    mean = float(np.mean(scores)) if scores else None
    return {"name": name, "title": name.title(), "scores": scores, "mean": mean,
            "interval": interval, "curve": of_curve}  # fmt: skip


def record(higher_is_better=False):
    """A record with three scored methods, one without scores, and the constant."""
    return {
        "metric": {"title": "log loss", "higher_is_better": higher_is_better},
        "methods": [
            method("tree", [0.5, 0.6], [0.4, 0.7], curve([0.9, 0.5, 0.6], 1, log=True)),
            method("forest", [0.3, 0.4], None, curve([0.4, 0.3], 1)),
            method("line", [0.45, 0.45], [0.4, 0.5], curve([210.0, 205.0], 0, score="AIC")),
            method("late", [], None),
            method("constant", [0.69, 0.7], None),
        ],
        "chosen": {
            "name": "forest",
            "importances": [
                {"feature": c, "value": v} for c, v in (("a", 100), ("b", 40), ("c", 3))
            ],
            "dependence": [
                {"feature": "a", "grid": [0.0, 1.0], "mean": [0.2, 0.8], "unit": "probability"},
                {"feature": "b", "grid": ["x", "y"], "mean": [0.4, 0.5], "unit": "probability"},
            ],
        },
    }


@pytest.mark.parametrize("higher", [False, True])
def test_scores_are_drawn_best_first_with_their_intervals(higher):
    ax = plot.study_scores(record(higher))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == (["Tree", "Line", "Forest"] if higher else ["Forest", "Line", "Tree"])
    dots = {
        names[round(line.get_ydata()[0])]: line
        for line in ax.get_lines()
        if line.get_marker() == "o"
    }
    assert {name: dot.get_xdata()[0] for name, dot in dots.items()} == pytest.approx(
        {"Forest": 0.35, "Line": 0.45, "Tree": 0.55}
    )
    assert dots["Forest"].get_color() != dots["Tree"].get_color() == dots["Line"].get_color()
    spans = sorted(list(line.get_xdata()) for line in ax.get_lines() if line.get_alpha() == 0.4)
    assert spans == [[0.4, 0.5], [0.4, 0.7]]
    assert ax.get_xlabel().startswith("log loss")
    assert len(plot.study_scores(record(), constant=True).get_yticks()) == 4


def test_curves_are_ordered_by_complexity_and_mark_the_selected_value():
    ax = plot.study_curves(record())
    tree, of_tree, forest, of_forest = ax.get_lines()  # the method "line" was tuned by AIC
    np.testing.assert_allclose(tree.get_xdata(), [0, 0.5, 1])  # in logarithms
    np.testing.assert_allclose(tree.get_ydata(), [0.9, 0.5, 0.6])
    assert (of_tree.get_xdata().tolist(), of_tree.get_ydata().tolist()) == ([0.5], [0.5])
    np.testing.assert_allclose(forest.get_ydata(), [0.4, 0.3])
    assert of_forest.get_ydata().tolist() == [0.3]
    assert tree.get_label() == "Tree: leaves"
    assert ax.get_ylabel() == "log loss in tuning"


def test_the_chosen_model_is_shown_by_importances_and_effects():
    axes = plot.study_chosen(record(), max_display=2)
    assert [bar.get_width() for bar in axes[0].patches] == [100, 40]
    assert list(axes[1].get_lines()[0].get_ydata()) == [0.2, 0.8]
    assert [bar.get_height() for bar in axes[2].patches] == [0.4, 0.5]
    assert [ax.get_xlabel() for ax in axes[1:]] == ["a", "b"]
    with pytest.raises(
        ValueError, match="axes has 1 axes, but 1 effects need 2; pass as many axes"
    ):
        plot.study_chosen(record(), effects=1, axes=plt.subplots()[1])
    silent = record()
    silent["chosen"]["importances"] = []
    with pytest.raises(ValueError, match="no explanation of its chosen model"):
        plot.study_chosen(silent)


@pytest.mark.parametrize("wrong", [{"name": "tree"}, "report.html", None])
def test_an_argument_that_is_not_a_study_raises(wrong):
    with pytest.raises(ValueError, match=f"study is a {type(wrong).__name__}"):
        plot.study_scores(wrong)
