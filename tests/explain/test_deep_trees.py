"""Explanations of trees with tens of thousands of levels, also in a thread with a small stack."""

import itertools
import math
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from bosquet import DecisionTreeClassifier, _core
from bosquet.explain import (
    accumulated_local_effects,
    importance,
    individual_conditional_expectation,
    partial_dependence,
    shape_functions,
)

LEVELS = 40_000
FEATURES = 3


def caterpillar(levels, features, leans_left=False):
    """An ensemble of one tree in which each split has a leaf as one child; the features alternate."""
    nodes = 2 * levels + 1
    inner = np.arange(0, 2 * levels, 2)
    if leans_left:
        inner[1:] -= 1
    feature, threshold = np.full(nodes, -1, np.int32), np.full(nodes, np.nan)
    left, value = np.full(nodes, -1, np.int32), np.random.default_rng(0).normal(size=nodes)
    feature[inner] = np.arange(levels) % features
    # Thresholds for which rows fall into many different leaves.
    threshold[inner] = np.arange(levels)[:: -1 if leans_left else 1] + 0.5
    left[inner] = 2 * np.arange(levels) + 1
    cover = np.ones(nodes)
    cover[inner] = levels + 1 - np.arange(levels)
    ensemble = _core.Ensemble(features, 1, [0.0], [])
    _core.add_tree(
        ensemble, feature, threshold, left, np.zeros(nodes, bool), [None] * nodes, value[:, None],
        np.zeros(nodes), cover,
    )  # fmt: skip
    return ensemble


@pytest.fixture(scope="module")
def deep():
    return caterpillar(LEVELS, FEATURES)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(1).uniform(0, LEVELS, size=(11, FEATURES))


def shapley(game):
    """Shapley values of a game {coalition: value} with FEATURES players."""
    players = range(FEATURES)
    share = [
        math.factorial(s) * math.factorial(FEATURES - 1 - s) / math.factorial(FEATURES)
        for s in range(FEATURES)
    ]
    values = np.zeros(FEATURES)
    for i in players:
        for coalition in game:
            if i not in coalition:
                values[i] += share[len(coalition)] * (game[coalition | {i}] - game[coalition])
    return values


def games(rows, value_of):
    """For each row, the value of every coalition of features."""
    coalitions = [
        frozenset(members)
        for size in range(FEATURES + 1)
        for members in itertools.combinations(range(FEATURES), size)
    ]
    values = {coalition: value_of(sorted(coalition)) for coalition in coalitions}
    return [{coalition: values[coalition][i] for coalition in coalitions} for i in range(len(rows))]


def test_values_of_a_deep_tree_match_the_definition(deep, rows):
    def value_of(known):
        points = np.ascontiguousarray(rows[:, known])
        return _core.expected_predictions(deep, known, points)[:, 0]

    values, base = _core.shap_values(deep, rows)
    expected = np.array([shapley(game) for game in games(rows, value_of)])
    np.testing.assert_allclose(values[:, :, 0], expected, atol=1e-9)
    pairs, _ = _core.shap_values(deep, rows, interactions=True)
    np.testing.assert_allclose(pairs.sum(axis=2), values, atol=1e-9)
    np.testing.assert_allclose(base + values.sum(axis=1), deep.predict_raw(rows, 0, 1), atol=1e-9)


@pytest.mark.parametrize("interactions", [False, True])
def test_values_of_a_deep_tree_with_a_background_match_the_definition(deep, rows, interactions):
    background = np.random.default_rng(2).uniform(0, LEVELS, size=(3, FEATURES))

    def value_of(known):
        unknown = [f for f in range(FEATURES) if f not in known]
        total = np.zeros(len(rows))
        for other in background:
            mixed = rows.copy()
            mixed[:, unknown] = other[unknown]
            total += deep.predict_raw(mixed, 0, 1)[:, 0]
        return total / len(background)

    values, _ = _core.shap_values(deep, rows, background, interactions)
    values = values.sum(axis=2) if interactions else values
    expected = np.array([shapley(game) for game in games(rows, value_of)])
    np.testing.assert_allclose(values[:, :, 0], expected, atol=1e-9)


def test_values_of_a_large_background_are_the_mean_over_its_parts(rows):
    tree = caterpillar(200, FEATURES)
    rows = rows / LEVELS * 200
    background = np.random.default_rng(3).uniform(0, 200, size=(3000, FEATURES))
    whole, _ = _core.shap_values(tree, rows, background)
    parts = [_core.shap_values(tree, rows, part)[0] for part in np.split(background, 3)]
    np.testing.assert_allclose(whole, np.mean(parts, axis=0), atol=1e-12)


def explain_many_features():
    tree = caterpillar(12_000, 600)
    rows = np.random.default_rng(1).uniform(0, 12_000, size=(8, 600))
    values, base = _core.shap_values(tree, rows)
    return np.abs(base + values.sum(axis=1) - tree.predict_raw(rows, 0, 1)).max()


def test_a_deep_tree_of_many_features_is_explained_in_little_memory():
    """300 quadrature points at 12,000 levels would need 1.3 GB, so they are processed in blocks."""
    program = (
        "import resource, test_deep_trees\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (500 << 20),) * 2)\n"
        "print(test_deep_trees.explain_many_features())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-9


def in_small_stack(work):
    """The result of `work()`, run in a thread with a stack of 256 KB."""
    results = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: results.append(work()))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert results, "the thread ended with an error"
    return results[0]


@pytest.mark.parametrize("leans_left", [False, True])
def test_conditional_predictions_of_a_deep_tree_are_exact_on_a_fine_grid(rows, leans_left):
    tree = caterpillar(30_000, FEATURES, leans_left)
    rows = rows / LEVELS * 30_000
    grid = np.linspace(0, 30_000, 12_000)
    found = in_small_stack(
        lambda: _core.conditional_predictions(tree, rows[:3], [1], [grid.tolist()])
    )
    for row, curve in zip(rows, found, strict=False):
        changed = np.repeat(row[None], grid.size, axis=0)
        changed[:, 1] = grid
        np.testing.assert_allclose(curve, tree.predict_raw(changed, 0, 1), atol=1e-9)
    mean = _core.mean_predictions(tree, rows[:3], [1], [grid.tolist()], np.full(3, 1 / 3))
    np.testing.assert_allclose(mean, found.mean(axis=0), atol=1e-9)


WORK = {
    "values": lambda tree, X, y: tree.explain(X),
    "interactions": lambda tree, X, y: tree.explain(X, interactions=True),
    "background": lambda tree, X, y: tree.explain(X[::100], X[::500]),
    "background pairs": lambda tree, X, y: tree.explain(X[:16], X[:2], interactions=True),
    "partial dependence": lambda tree, X, y: partial_dependence(tree, X[::10], 0),
    "recursion": lambda tree, X, y: partial_dependence(tree, X[::10], 0, method="recursion"),
    "ice": lambda tree, X, y: individual_conditional_expectation(tree, X[::10], 0),
    "local effects": lambda tree, X, y: accumulated_local_effects(tree, X, 0),
    "importance": lambda tree, X, y: importance(tree, X, y, kind="shap"),
    "shape functions": lambda tree, X, y: shape_functions(tree, X),
    "graphviz": lambda tree, X, y: tree.export_graphviz(),
    "sql": lambda tree, X, y: tree.export_sql(),
    "rules": lambda tree, X, y: tree.rules(),
    "drawing": lambda tree, X, y: tree.plot().figure.clear() is None,
}


@pytest.mark.parametrize("work", WORK)
def test_a_small_stack_suffices_for_a_tree_of_3000_levels(alternating, work):
    tree, X, y = alternating
    assert tree.get_depth() == 2999
    in_small_stack(lambda: WORK[work](tree, X, y))


@pytest.fixture(scope="module")
def alternating():
    X, y = np.arange(3000.0)[:, None], np.arange(3000) % 2
    return DecisionTreeClassifier(random_state=0).fit(X, y), X, y


def test_shape_functions_of_a_deep_tree_match_its_predictions(alternating):
    tree, X, _ = alternating
    shapes = shape_functions(tree)
    np.testing.assert_allclose(shapes.predict(X)[:, 0], tree.predict_proba(X)[:, 1], atol=1e-12)
