"""Models of all kinds with rows to predict, grown by the core or written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from core_fit import learn_test_bins
from handmade_models import Leaf, Node, Split, handmade, random_tree

from bosquet import _core

EMPTY = np.zeros(0)


def boost(
    X: np.ndarray,
    y: np.ndarray,
    rounds: int = 12,
    categories: list[int] | None = None,
    loss: str = "squared_error",
    outputs: int = 1,
    into: Any = None,
    **options: Any,
) -> Any:
    """Return an ensemble that is boosted by the core."""
    levels = categories or []
    bins = learn_test_bins(X, levels)
    matrix = _core.bin_table(X, bins, "auto", 1)
    native = _core.Loss(loss, outputs, 1, [])
    options = {"max_leaf_nodes": 31, "min_samples_leaf": 2, "learning_rate": 0.3} | options
    fit = _core.BoostingFit(matrix, bins, y[None], EMPTY, native, options, "auto", 1)
    base = native.best_constants(y[None], EMPTY)
    fit.start(np.repeat(base[:, None], len(X), axis=1))
    model = into or _core.Ensemble(X.shape[1], outputs, list(base), levels)
    for _ in range(rounds):
        fit.round(model)
    return model


def numbers(rng: np.random.Generator, rows: int, features: int, missing: float = 0.0) -> np.ndarray:
    X = rng.normal(size=(rows, features)).astype(np.float32)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def plain() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    X = numbers(rng, 3000, 5)
    return boost(X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2])), X


def with_missing() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(1)
    X = numbers(rng, 3000, 4, missing=0.2)
    return boost(X, np.nan_to_num(X[:, 0], nan=2.0) * np.nan_to_num(X[:, 1], nan=-1.0)), X


def missing_only_at_predict() -> tuple[Any, np.ndarray]:
    model, X = plain()
    X = X.copy()
    X[::3, 0] = np.nan
    X[1::3, 2] = np.inf
    X[2::3, 1] = -np.inf
    return model, X


def with_categories() -> tuple[Any, np.ndarray]:
    """Features with 3, 255 (the maximum for a byte), 256 and 1000 categories, and unknown codes."""
    rng = np.random.default_rng(2)
    levels = [3, 255, 256, 1000, 0]
    X = np.column_stack([rng.integers(0, max(k, 1), 8000) for k in levels]).astype(float)
    X[:, 4] = rng.normal(size=len(X))
    effect = [rng.normal(size=max(k, 1)) for k in levels]
    y = sum(effect[f][X[:, f].astype(int)] for f in range(4)) + X[:, 4]
    X[rng.random(X.shape) < 0.05] = np.nan
    model = boost(X, y, categories=levels, rounds=16, min_samples_category=1)
    assert np.all(model.importance("split") > 0)
    X = X[:2000]
    X[::7, 0] = 3  # unknown codes
    X[::11, 3] = 1e9
    X[::13, 1] = -1
    X[::17, 2] += 0.5
    return model, X


def many_levels_of_one_feature() -> tuple[Any, np.ndarray]:
    """A tree with more groups of categories than a byte can code."""
    rng = np.random.default_rng(3)
    trees = []
    for _ in range(3):
        node: Node = Leaf(rng.normal())
        for _ in range(20):
            left_set = set(rng.choice(3000, 1500, replace=False).tolist())
            node = Split(0, Leaf(rng.normal()), node, left_set=left_set)
            node.missing_left = rng.random() < 0.5
        trees.append(node)
    X = rng.integers(-1, 3010, (1500, 1)).astype(float)
    return handmade(trees, 1, categories={0: 3000}), X


def several_outputs() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(4)
    X = numbers(rng, 2000, 4)
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 1]).astype(float)
    return boost(X, y, loss="log_loss", outputs=3), X


def single_leaves() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(5)
    X = numbers(rng, 1200, 3)
    model = boost(X, X[:, 0], rounds=3)
    model = boost(X, X[:, 0], rounds=3, into=model, min_samples_leaf=2000)
    assert len(model.tree_arrays(5)["value"]) == 1
    return model, X


def many_leaves() -> tuple[Any, np.ndarray]:
    """Trees with 128, 256, 257 and more leaves; trees with more than 256 leaves use another method."""
    rng = np.random.default_rng(6)
    X = numbers(rng, 6000, 3)
    y = np.sin(5 * X[:, 0]) + np.cos(7 * X[:, 1]) + rng.normal(size=len(X))
    model = None
    for leaves in (128, 256, 257, 900, 255):
        model = boost(X, y, rounds=2, max_leaf_nodes=leaves, into=model)
    assert (len(model.tree_arrays(2)["value"]) + 1) // 2 == 256
    return model, X[:1500]


def deep_and_unbalanced() -> tuple[Any, np.ndarray]:
    trees = []
    for depth in (1, 2, 100, 255, 256, 1000):
        node: Node = Leaf(-1.0)
        for i in range(depth):
            node = Split(i % 3, Leaf(float(i)), node, threshold=0.01 * (depth - i))
            node.missing_left = i % 2 > 0
        trees.append(node)
    X = 12 * np.random.default_rng(7).random((1400, 3)) ** 4
    X[::9, 0] = np.nan
    return handmade(trees, 3), X


def many_thresholds() -> tuple[Any, np.ndarray]:
    """Fits to different data, which together have more thresholds than a byte can code."""
    model = None
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = numbers(rng, 4000, 2)
        model = boost(X, np.sin(9 * X[:, 0]) + X[:, 1], rounds=8, max_leaf_nodes=100, into=model)
    found = {t for i in range(model.n_trees) for t in model.tree_arrays(i)["threshold"]}
    assert len(found) > 600
    return model, X[:1500]


def many_thresholds_in_a_tree() -> tuple[Any, np.ndarray]:
    """A byte can code 254 thresholds and a missing value, but not 255 thresholds."""

    def balanced(low: int, high: int) -> Node:
        if low == high:
            return Leaf(float(low) / 3)
        middle = (low + high) // 2
        children = balanced(low, middle), balanced(middle + 1, high)
        return Split(0, *children, threshold=middle + 0.5, missing_left=low % 2 == 0)

    X = np.random.default_rng(8).uniform(-5, 1030, (1300, 1))
    X[::10] = np.nan
    X[1::10] = np.floor(X[1::10]) + 0.5
    return handmade([balanced(0, high) for high in (253, 254, 255, 1023, 7)], 1), X


def extreme_thresholds() -> tuple[Any, np.ndarray]:
    values = [-np.inf, -1e308, -3.4028234663852886e38, -1e-45, -0.0, 0.0, 1e-310, 0.1, 1e39, np.inf]
    trees: list[Node] = [
        Split(0, Leaf(1.0), Leaf(10.0 + i), threshold=t, missing_left=side)
        for i, t in enumerate(values)
        for side in (False, True)
    ]
    near = [np.nextafter(v, d) for v in values for d in (-np.inf, np.inf)]
    X = np.array([*values, *near, np.nan, np.float32(0.1), np.float32(1e-45)] * 60)[:, None]
    return handmade(trees, 1), X


def mixed_rows(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Two numeric features and features with 5 and 400 categories, all with missing values."""
    X = np.column_stack(
        [rng.normal(size=(rows, 2)), rng.integers(0, 5, rows), rng.integers(0, 400, rows)]
    )
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def vector_leaves() -> tuple[Any, np.ndarray]:
    """Trees with one leaf up to some hundred leaves; their number is no multiple of the outputs."""
    rng = np.random.default_rng(9)
    X, levels = mixed_rows(rng, 1500), {2: 5, 3: 400}

    def values() -> tuple[float, ...]:
        return tuple(rng.normal(size=3))

    trees = [random_tree(X[:n], rng, values, levels) for n in (1, 300, 2, 900, 40, 7, 80, 20, 9, 3)]
    return handmade(trees, 4, base=(0.5, -1.0, 2.0), categories=levels), X


def vector_leaves_of_one_output() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(10)
    X = mixed_rows(rng, 1200)[:, :2]
    trees = [random_tree(X[: n + 1], rng, lambda: (rng.normal(),)) for n in range(0, 300, 30)]
    return handmade(trees, 2, base=(-0.25,)), X


def forest() -> tuple[Any, np.ndarray]:
    """Full-depth trees for two classes."""
    rng = np.random.default_rng(11)
    X = numbers(rng, 4000, 6).astype(float)
    pure = [(1.0, 0.0), (0.0, 1.0)]
    trees = [random_tree(X[:1500], rng, lambda: pure[rng.integers(2)]) for _ in range(2)]
    return handmade(trees * 3, 6, base=(0.0, 0.0)), X


def large_trees(rng: np.random.Generator, X: np.ndarray, leaf_value: Any) -> list[Node]:
    """Large trees with few distinct thresholds, which are predicted on codes; one has too many."""
    grid = np.quantile(X[np.isfinite(X)], np.linspace(0, 1, 254))
    rows = X[:1500]
    grown = [random_tree(rows, rng, leaf_value, thresholds=grid) for _ in range(2)]
    trees: list[Node] = [*grown, *grown, grown[0]]
    trees.append(random_tree(rows, rng, leaf_value))
    for inner, side in zip(grown, (False, True), strict=True):
        above = Leaf(leaf_value())
        trees.append(Split(1, inner, above, threshold=np.inf, missing_left=side))
    assert len(trees) == 8
    return trees


def forest_on_codes() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(13)
    X = numbers(rng, 5000, 5, missing=0.1).astype(float)
    X[::50, 1] = np.inf
    trees = large_trees(rng, X, lambda: tuple(rng.normal(size=3)))
    return handmade(trees, 5, base=(0.5, 0.0, -1.0)), X


def large_trees_on_codes() -> tuple[Any, np.ndarray]:
    """Trees with scalar leaves, which add to two outputs in turn."""
    rng = np.random.default_rng(14)
    X = numbers(rng, 5000, 3, missing=0.1).astype(float)
    X[::50, 1] = -np.inf
    return handmade(large_trees(rng, X, rng.normal), 3, base=(0.5, 0.0)), X


def many_outputs() -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(12)
    X = numbers(rng, 1300, 2, missing=0.1)
    trees = [
        random_tree(X[:200].astype(float), rng, lambda: tuple(rng.normal(size=50)))
        for _ in range(4)
    ]
    return handmade(trees, 2, base=tuple(rng.normal(size=50))), X


CASES: list[Callable[[], tuple[Any, np.ndarray]]] = [
    plain,
    with_missing,
    missing_only_at_predict,
    with_categories,
    many_levels_of_one_feature,
    several_outputs,
    single_leaves,
    many_leaves,
    deep_and_unbalanced,
    many_thresholds,
    many_thresholds_in_a_tree,
    extreme_thresholds,
    vector_leaves,
    vector_leaves_of_one_output,
    forest,
    forest_on_codes,
    large_trees_on_codes,
    many_outputs,
]
