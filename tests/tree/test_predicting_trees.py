"""Every way to predict gives the same bits: one row or many, any threads, processor, container."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from handmade_models import Leaf, Node, Split, handmade

from bosquet import _core

EMPTY = np.zeros(0)
INSTRUCTION_SETS = sorted({"baseline", _core.best_isa()})


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
    """Trees of the native grower."""
    levels = categories or []
    bins = _core.learn_bins(X, levels, EMPTY, 255, 200_000, 0, 1)
    matrix = _core.bin_table(X, bins, "auto", 1)
    native = _core.Loss(loss, outputs, 1, [])
    options = {"max_leaf_nodes": 31, "min_samples_leaf": 2, "learning_rate": 0.3} | options
    fit = _core.Fit(matrix, bins, y[None], EMPTY, native, options, "auto", 1)
    base = native.best_constants(y[None], EMPTY)
    fit.start(np.repeat(base[:, None], len(X), axis=1))
    model = into or _core.Ensemble(X.shape[1], outputs, list(base), levels)
    for _ in range(rounds):
        fit.round(model)
    return model


def leaves_by_hand(model: Any, X: np.ndarray) -> np.ndarray:
    """A loop over nodes as the format's page tells it."""
    result = np.empty((len(X), model.n_trees), dtype=np.int32)
    levels = model.categories
    for t in range(model.n_trees):
        tree = model.tree_arrays(t)
        for i, row in enumerate(X.astype(float)):
            at = 0
            while tree["left"][at] >= 0:
                feature = tree["feature"][at]
                x, left = row[feature], tree["missing_left"][at]
                if tree["is_categorical"][at]:
                    if 0 <= x < levels[feature]:
                        left = int(x) in tree["left_categories"][at]
                elif not math.isnan(x):
                    left = x <= tree["threshold"][at]
                at = tree["left"][at] if left else tree["right"][at]
            result[i, t] = at
    return result


def sums_by_hand(model: Any, leaves: np.ndarray) -> np.ndarray:
    sums = np.tile(model.base, (len(leaves), 1))
    for t in range(model.n_trees):
        sums[:, t % model.n_outputs] += model.tree_arrays(t)["value"][leaves[:, t]]
    return sums


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
    """Few levels, 255 levels (the most a byte codes), 256 and 1000; and codes never seen."""
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
    X[::7, 0] = 3  # beyond the levels
    X[::11, 3] = 1e9
    X[::13, 1] = -1
    X[::17, 2] += 0.5
    return model, X


def many_levels_of_one_feature() -> tuple[Any, np.ndarray]:
    """More kinds of categories in a tree than a byte tells apart."""
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
    """Trees of 128, 256, 257 and more leaves: the last two are walked."""
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
    """Each fit cuts a feature elsewhere, so that together they have more thresholds than a byte."""
    model = None
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = numbers(rng, 4000, 2)
        model = boost(X, np.sin(9 * X[:, 0]) + X[:, 1], rounds=8, max_leaf_nodes=100, into=model)
    found = {t for i in range(model.n_trees) for t in model.tree_arrays(i)["threshold"]}
    assert len(found) > 600
    return model, X[:1500]


def many_thresholds_in_a_tree() -> tuple[Any, np.ndarray]:
    """254 thresholds on a feature fit into codes with their missing value, 255 do not."""

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
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.__name__)
def case(request: pytest.FixtureRequest) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model, rows enough for it to be compiled, and what the plain way says of them."""
    model, X = request.param()
    assert len(X) >= 1100
    return model, X, model.predict_plain(X)


def test_the_plain_way_is_the_loop_over_nodes(case: tuple[Any, np.ndarray, np.ndarray]) -> None:
    model, X, expected = case
    some = slice(0, len(X), max(1, len(X) // 60))
    leaves = leaves_by_hand(model, X[some])
    assert np.array_equal(sums_by_hand(model, leaves), expected[some])
    assert np.array_equal(model.apply(X[some]), leaves)


@pytest.mark.parametrize("isa", INSTRUCTION_SETS)
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_batches_have_the_same_bits(
    case: tuple[Any, np.ndarray, np.ndarray], threads: int, isa: str
) -> None:
    model, X, expected = case
    many = np.vstack([X] * 6)
    raw = model.predict_raw(many, 0, model.n_trees, threads, isa)
    assert np.array_equal(raw, np.vstack([expected] * 6))


def test_rows_have_the_same_bits_alone_and_in_batches_of_any_size(
    case: tuple[Any, np.ndarray, np.ndarray],
) -> None:
    model, X, expected = case
    for compiled in (False, True):
        fresh = model.copy()
        if compiled:
            fresh.predict_raw(X, 0, model.n_trees)
        for size in (1, 2, 7, 15, 16, 17, 31, 32, 63, 127, 128, 129, 513):
            raw = fresh.predict_raw(X[:size], 0, model.n_trees)
            assert np.array_equal(raw, expected[:size])
            raw = fresh.predict_rows(np.ascontiguousarray(X[:size]))
            assert np.array_equal(raw, expected[:size])
    for i in range(0, len(X), 97):
        assert np.array_equal(model.predict_rows(np.ascontiguousarray(X[i]))[0], expected[i])


def test_containers_have_the_same_bits(case: tuple[Any, np.ndarray, np.ndarray]) -> None:
    model, X, expected = case
    wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
    for data in (
        np.asfortranarray(X),
        wide[::2, ::3],
        X[::-1][::-1],
        [np.ascontiguousarray(column) for column in X.T],
        list(np.repeat(X, 2, axis=0)[::2].T),
    ):
        assert np.array_equal(model.predict_raw(data, 0, model.n_trees), expected)
    if X.dtype == np.float32:
        assert np.array_equal(model.predict_raw(X.astype(float), 0, model.n_trees), expected)
        assert np.array_equal(model.predict_rows(X.astype(float)), expected)
    else:
        with np.errstate(over="ignore"):
            narrow = X.astype(np.float32)
        assert np.array_equal(
            model.predict_raw(narrow, 0, model.n_trees), model.predict_plain(narrow.astype(float))
        )


def test_integer_columns_are_read_as_numbers() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(-100, 100, (2000, 3))
    model = boost(X.astype(float), (X[:, 0] * X[:, 1]).astype(float))
    expected = model.predict_plain(X.astype(float))
    for kind in (np.int8, np.int16, np.int32, np.int64):
        assert np.array_equal(model.predict_raw(X.astype(kind), 0, 12), expected)
    mixed = [X[:, 0].astype(np.int8), X[:, 1].astype(np.float32), X[:, 2].astype(np.int64)]
    assert np.array_equal(model.predict_raw(mixed, 0, 12), expected)


def test_trees_can_be_added_up_stage_by_stage(case: tuple[Any, np.ndarray, np.ndarray]) -> None:
    model, X, expected = case
    outputs, leaves = model.n_outputs, model.apply(X)
    values = [model.tree_arrays(t)["value"] for t in range(model.n_trees)]
    sums = model.predict_raw(X, 0, 0)
    assert np.array_equal(sums, np.tile(model.base, (len(X), 1)))
    for first in range(0, model.n_trees, outputs):
        stage = model.predict_raw(X, first, first + outputs)
        alone = np.column_stack([values[first + k][leaves[:, first + k]] for k in range(outputs)])
        if first > 0:
            # A sum of one number is that number.
            assert np.array_equal(stage, alone)
        sums += alone
    assert np.array_equal(sums, expected)
    middle = model.n_trees // 2 // outputs * outputs
    last = model.predict_raw(X, middle, model.n_trees) + model.predict_raw(X, 0, middle)
    np.testing.assert_allclose(last, expected, rtol=1e-12, atol=1e-9)


def test_no_rows_give_no_predictions() -> None:
    model, X = plain()
    assert model.predict_raw(X[:0], 0, model.n_trees).shape == (0, 1)
    assert model.predict_rows(X[:0]).shape == (0, 1)
    assert model.apply(X[:0]).shape == (0, model.n_trees)
    assert model.predict_raw([c[:0] for c in X.T], 0, model.n_trees, 8).shape == (0, 1)


def test_a_model_without_trees_or_features_predicts_its_base() -> None:
    model = _core.Ensemble(0, 2, [1.5, -2.0], [])
    for rows in (1, 40, 3000):
        assert np.array_equal(model.predict_raw(np.zeros((rows, 0)), 0, 0), [[1.5, -2.0]] * rows)
        assert np.array_equal(model.predict_rows(np.zeros((rows, 0))), [[1.5, -2.0]] * rows)
    stump = handmade([Leaf(2.0), Leaf(3.0)], 0)
    for rows in (1, 40, 3000):
        assert np.array_equal(stump.predict_raw(np.zeros((rows, 0)), 0, 2), [[5.0]] * rows)


def test_trees_added_or_removed_later_are_predicted_with() -> None:
    model, X = plain()
    model.predict_raw(X, 0, model.n_trees)  # compiles it
    boost(X, X[:, 3], rounds=2, into=model)
    assert np.array_equal(model.predict_raw(X, 0, 14), model.predict_plain(X))
    model.truncate(5)
    boost(X, X[:, 4], rounds=9, into=model)  # as many trees as before, but others
    assert np.array_equal(model.predict_raw(X, 0, 14), model.predict_plain(X))


def test_a_copy_goes_its_own_way() -> None:
    model, X = plain()
    expected = model.predict_raw(X, 0, model.n_trees)
    other = model.copy()
    model.truncate(3)
    assert (model.n_trees, other.n_trees) == (3, 12)
    assert np.array_equal(other.predict_raw(X, 0, 12), expected)


def test_many_threads_of_the_caller_can_share_a_model() -> None:
    model, X = plain()
    expected = model.predict_plain(X)
    with ThreadPoolExecutor(8) as pool:
        for size in (20, 200, len(X)):
            jobs = [pool.submit(model.predict_raw, X[:size], 0, 12, 2) for _ in range(40)]
            assert all(np.array_equal(job.result(), expected[:size]) for job in jobs)


def test_importance_sums_gains_and_counts_splits() -> None:
    model, _ = with_missing()
    gain, split = np.zeros(4), np.zeros(4)
    for t in range(model.n_trees):
        tree = model.tree_arrays(t)
        inner = tree["left"] >= 0
        np.add.at(split, tree["feature"][inner], 1)
        np.add.at(gain, tree["feature"][inner], tree["gain"][inner].astype(float))
    assert np.array_equal(model.importance("split"), split)
    np.testing.assert_allclose(model.importance("gain"), gain, rtol=1e-12)
    assert split.sum() > 0


def test_what_does_not_fit_is_refused_by_name() -> None:
    model, X = plain()
    with pytest.raises(_core.InputError, match="5 features, the data has 4"):
        model.predict_raw(X[:, :4], 0, 12)
    with pytest.raises(_core.InputError, match="5 features, the data has 6"):
        model.predict_rows(np.zeros(6))
    with pytest.raises(_core.InputError, match="5 features"):
        model.apply(X[:, :4])
    for first, last in ((0, 13), (5, 4)):
        with pytest.raises(_core.InputError, match=f"trees {first} to {last}"):
            model.predict_raw(X, first, last)
    with pytest.raises(_core.InputError, match="floats"):
        model.predict_rows(np.zeros(5, dtype=int))
    with pytest.raises(_core.InputError, match="row or a matrix"):
        model.predict_rows(np.zeros((1, 1, 5)))
    with pytest.raises(_core.InputError, match="instruction set"):
        model.predict_raw(X, 0, 12, 1, "mmx")
    with pytest.raises(_core.InputError, match="no such tree"):
        model.tree_arrays(12)
    with pytest.raises(_core.InputError, match="gain or split"):
        model.importance("weight")
    with pytest.raises(_core.InputError, match="cannot be cut to 13"):
        model.truncate(13)
    with pytest.raises(_core.InputError, match="cannot be cut to 4"):
        several_outputs()[0].truncate(4)
    with pytest.raises(_core.InputError, match="categories"):
        _core.Ensemble(2, 1, [0.0], [70_000, 0])
    with pytest.raises(_core.InputError, match="at least one output"):
        _core.Ensemble(2, 0, [], [])
