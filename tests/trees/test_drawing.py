"""Drawings of trees: no overlaps, notes for truncated trees, files."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from example_trees import CATEGORIES, from_sklearn, random_shape, random_tree
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from bosquet.trees import choose_by_folds, draw_pruning, draw_scree, draw_tree, weakest_link_path
from bosquet.trees._layout import tidy_layout

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def boxes(ax):
    kind = matplotlib.patches.FancyBboxPatch
    return [patch for patch in ax.patches if isinstance(patch, kind)]


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_in_a_layout_have_the_minimum_distance(seed):
    rng = np.random.default_rng(seed)
    left, right = random_shape(rng, 40, chain=seed == 0)
    children = {n: (left[n], right[n]) for n in np.flatnonzero(left >= 0).tolist()}
    widths = {n: float(w) for n, w in enumerate(rng.random(len(left)) + 0.2)}
    positions = tidy_layout(children, widths, gap=0.1)
    depth = np.zeros(len(left), dtype=int)
    for parent, pair in children.items():
        assert positions[parent] == pytest.approx((positions[pair[0]] + positions[pair[1]]) / 2)
        depth[list(pair)] = depth[parent] + 1
    for level in range(depth.max() + 1):
        nodes = sorted(np.flatnonzero(depth == level), key=positions.__getitem__)
        for a, b in itertools.pairwise(nodes):
            distance = positions[b] - positions[a] - (widths[a] + widths[b]) / 2
            assert distance >= 0.1 - 1e-9


def test_branches_of_the_same_shape_have_the_same_layout():
    children = {0: (1, 2), 1: (3, 4), 2: (5, 6)}
    x = tidy_layout(children, dict.fromkeys(range(7), 1.0), gap=0.5)
    assert x[4] - x[3] == x[6] - x[5] == 1.5
    assert x[0] == 0


def test_a_small_tree_is_drawn_with_all_nodes(tmp_path):
    iris = load_iris()
    model = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0).fit(iris.data, iris.target)
    tree = from_sklearn(model)
    ax = draw_tree(tree, iris.feature_names, iris.target_names)
    assert len(boxes(ax)) == tree.n_nodes
    shown = texts(ax)
    assert shown.count("yes") == shown.count("no") == 1
    for name in iris.target_names:
        assert name in shown
    assert sum(text.startswith("n = ") for text in shown) == tree.n_nodes
    for suffix in ("svg", "png"):
        ax.figure.savefig(tmp_path / f"tree.{suffix}")
        assert (tmp_path / f"tree.{suffix}").stat().st_size > 2000


@pytest.mark.parametrize("seed", range(4))
def test_text_fits_into_its_box_and_boxes_do_not_overlap(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_leaves=25, n_classes=3 if seed % 2 else 0)
    names = ["a", "a long name of a feature that goes on", "b", "c", "d"]
    ax = draw_tree(tree, names, categories=CATEGORIES, show_missing=seed > 1)
    renderer = ax.figure.canvas.get_renderer()
    frames = [box.get_window_extent(renderer) for box in boxes(ax)]
    for a, b in itertools.combinations(frames, 2):
        assert not a.overlaps(b)
    for text in ax.texts:
        extent = text.get_window_extent(renderer)
        middle = ((extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2)
        for frame in frames:
            if frame.contains(*middle):
                assert frame.x0 <= extent.x0
                assert extent.x1 <= frame.x1


def test_a_large_tree_is_truncated_with_a_note():
    tree = random_tree(np.random.default_rng(0), n_leaves=300)
    ax = draw_tree(tree)
    drawn = boxes(ax)
    assert len(drawn) < 80
    assert any(text.endswith(f"of {tree.depth}") and "of 300 leaves" in text for text in texts(ax))
    assert any(text.startswith("… ") for text in texts(ax))
    assert any(box.get_linestyle() == "--" for box in drawn)


def test_max_depth_limits_the_levels_drawn():
    tree = random_tree(np.random.default_rng(1), n_leaves=20)
    assert len(boxes(draw_tree(tree, max_depth=0))) == 1
    assert len(boxes(draw_tree(tree, max_depth=1))) == 3
    assert len(boxes(draw_tree(tree, max_depth=99))) == tree.n_nodes
    with pytest.raises(ValueError, match="max_depth=-1 is not valid"):
        draw_tree(tree, max_depth=-1)


def test_text_is_scaled_to_the_axes():
    tree = random_tree(np.random.default_rng(2), n_leaves=12)
    _, small = pyplot.subplots(figsize=(3, 2))
    ax = draw_tree(tree, ax=small)
    assert ax is small
    sizes = {text.get_fontsize() for text in ax.texts}
    assert max(sizes) < max(text.get_fontsize() for text in draw_tree(tree).texts)


def test_dollar_signs_in_names_are_not_parsed_as_formulas():
    tree = random_tree(np.random.default_rng(2), n_leaves=6)
    ax = draw_tree(tree, ["$a", "b$", "$c$", "_d", "e^"], ["$x", "y$", "z"])
    ax.figure.canvas.draw()


@pytest.mark.parametrize("steps", [1, 2, 12, 300])
@pytest.mark.parametrize("rule", ["min", "1se"])
def test_the_pruning_plot_marks_the_chosen_subtree(steps, rule):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, n_leaves=steps * 2, n_classes=0)
    path = weakest_link_path(tree, rng.random(tree.n_nodes) * 2.0**-tree.depths)
    table = choose_by_folds(path, rng.random((50, path.n_steps)), rule, loss="squares")
    ax = draw_pruning(table)
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "leaves"
    marked = [line for line in ax.lines if f"{table.chosen_leaves} lea" in str(line.get_label())]
    assert marked[0].get_xdata()[0] == table.chosen_leaves
    scree = draw_scree(table)
    assert scree.lines[0].get_ydata().tolist() == table.costs.tolist()
    draw_scree(path, ax=ax)


def test_without_matplotlib_the_error_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'bosquet\[plot\]'"):
        draw_tree(random_tree(np.random.default_rng(0)))


def test_matplotlib_is_not_imported_before_something_is_drawn():
    code = "import sys, bosquet.trees; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_tree_plot_accepts_a_fitted_estimator():
    import bosquet
    from bosquet import plot

    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    model = bosquet.DecisionTreeClassifier(min_samples_leaf=1).fit(X, y)
    texts = [text.get_text() for text in plot.tree(model).texts]
    assert any("1.5" in text for text in texts)
