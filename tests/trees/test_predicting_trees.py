"""All ways to predict give the same bits: single rows, batches, threads, processors, containers."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from handmade_models import Leaf, handmade, random_tree
from prediction_cases import CASES, boost, plain, several_outputs, vector_leaves, with_missing

from bosquet import _core

INSTRUCTION_SETS = sorted({"baseline", _core.best_isa()})


def leaves_by_hand(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the leaves by a loop over nodes, as described in docs/format.md."""
    result = np.empty((len(X), model.n_trees), dtype=np.int32)
    levels = model.categories
    rows = X.astype(float).tolist()
    for t in range(model.n_trees):
        tree = model.tree_arrays(t)
        left, right, feature = (tree[name].tolist() for name in ("left", "right", "feature"))
        threshold, missing = tree["threshold"].tolist(), tree["missing_left"].tolist()
        nominal = np.asarray(tree["is_categorical"]).tolist()
        for i, row in enumerate(rows):
            at = 0
            while left[at] >= 0:
                x, goes_left = row[feature[at]], missing[at]
                if nominal[at]:
                    if 0 <= x < levels[feature[at]]:
                        goes_left = int(x) in tree["left_categories"][at]
                elif not math.isnan(x):
                    goes_left = x <= threshold[at]
                at = left[at] if goes_left else right[at]
            result[i, t] = at
    return result


def sums_by_hand(model: Any, leaves: np.ndarray) -> np.ndarray:
    sums = np.tile(model.base, (len(leaves), 1))
    for t in range(model.n_trees):
        values = model.tree_arrays(t)["value"][leaves[:, t]]
        if model.vector_leaves:
            sums += values
        else:
            sums[:, t % model.n_outputs] += values
    return sums


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.__name__)
def case(request: pytest.FixtureRequest) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a model, enough rows to compile it, and the predictions of the plain method."""
    model, X = request.param()
    assert len(X) >= 1100
    return model, X, model.predict_plain(X)


def test_plain_predictions_agree_with_a_loop_over_nodes(
    case: tuple[Any, np.ndarray, np.ndarray],
) -> None:
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


@pytest.mark.parametrize("on_codes", [False, True])
def test_trees_larger_than_the_caches_have_the_same_bits(on_codes: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9001, 4))
    grid = np.linspace(-3, 3, 250) if on_codes else None
    trees = [random_tree(X[:1500], rng, lambda: (rng.normal(), 1.0), thresholds=grid)] * 60
    model = handmade(trees, 4, base=(0.5, 0.0))
    assert sum(len(model.tree_arrays(t)["left"]) for t in range(60)) > (2 << 20) / 16
    leaves = model.apply(X)
    assert np.array_equal(leaves[::100], leaves_by_hand(model, X[::100]))
    expected = sums_by_hand(model, leaves)
    for threads in (1, 2, 3):
        for rows in (9001, 4096, 600):
            raw = model.predict_raw(X[:rows], 0, 60, threads)
            assert np.array_equal(raw, expected[:rows])
            assert np.array_equal(model.apply(X[:rows], threads), leaves[:rows])


def test_single_rows_and_batches_of_any_size_have_the_same_bits(
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


def test_integer_columns_give_the_same_predictions() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(-100, 100, (2000, 3))
    model = boost(X.astype(float), (X[:, 0] * X[:, 1]).astype(float))
    expected = model.predict_plain(X.astype(float))
    for kind in (np.int8, np.int16, np.int32, np.int64):
        assert np.array_equal(model.predict_raw(X.astype(kind), 0, 12), expected)
    mixed = [X[:, 0].astype(np.int8), X[:, 1].astype(np.float32), X[:, 2].astype(np.int64)]
    assert np.array_equal(model.predict_raw(mixed, 0, 12), expected)


def test_predictions_can_be_added_stage_by_stage(case: tuple[Any, np.ndarray, np.ndarray]) -> None:
    model, X, expected = case
    together, leaves = model.n_trees // model.n_rounds, model.apply(X)
    values = [model.tree_arrays(t)["value"] for t in range(model.n_trees)]
    sums = model.predict_raw(X, 0, 0)
    assert np.array_equal(sums, np.tile(model.base, (len(X), 1)))
    for first in range(0, model.n_trees, together):
        stage = model.predict_raw(X, first, first + together)
        trees = range(first, first + together)
        alone = np.column_stack([values[t][leaves[:, t]] for t in trees])
        if first > 0:
            # The sum of a single tree is its value.
            assert np.array_equal(stage, alone)
        sums += alone
    assert np.array_equal(sums, expected)
    middle = model.n_rounds // 2 * together
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


def test_predictions_follow_added_and_removed_trees() -> None:
    model, X = plain()
    model.predict_raw(X, 0, model.n_trees)  # compiles it
    boost(X, X[:, 3], rounds=2, into=model)
    assert np.array_equal(model.predict_raw(X, 0, 14), model.predict_plain(X))
    model.truncate(5)
    boost(X, X[:, 4], rounds=9, into=model)  # the same number of trees, but other trees
    assert np.array_equal(model.predict_raw(X, 0, 14), model.predict_plain(X))


def test_a_copy_is_independent() -> None:
    model, X = plain()
    expected = model.predict_raw(X, 0, model.n_trees)
    other = model.copy()
    model.truncate(3)
    assert (model.n_trees, other.n_trees) == (3, 12)
    assert np.array_equal(other.predict_raw(X, 0, 12), expected)


def test_many_threads_can_share_a_model() -> None:
    model, X = plain()
    expected = model.predict_plain(X)
    with ThreadPoolExecutor(8) as pool:
        for size in (20, 200, len(X)):
            jobs = [pool.submit(model.predict_raw, X[:size], 0, 12, 2) for _ in range(40)]
            assert all(np.array_equal(job.result(), expected[:size]) for job in jobs)


def test_ensembles_with_vector_leaves_can_be_truncated_after_any_tree() -> None:
    model, X = vector_leaves()
    assert model.vector_leaves
    assert (model.n_trees, model.n_rounds, model.n_outputs) == (10, 10, 3)
    tree = model.tree_arrays(1)
    assert tree["value"].shape == (len(tree["left"]), 3)
    assert np.array_equal(np.isnan(tree["value"]), np.tile((tree["left"] >= 0)[:, None], 3))
    first_seven = model.predict_raw(X, 0, 7)
    other = model.copy()
    other.truncate(7)
    assert (other.vector_leaves, other.n_trees, model.n_trees) == (True, 7, 10)
    assert np.array_equal(other.predict_raw(X, 0, 7), first_seven)
    assert several_outputs()[0].n_rounds == 12
    assert not several_outputs()[0].vector_leaves


def test_boosting_of_one_output_cannot_add_to_an_ensemble_with_vector_leaves() -> None:
    model = _core.Ensemble(2, 1, [0.0], [], vector_leaves=True)
    assert model.vector_leaves
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(_core.InputError, match="needs several outputs"):
        boost(X, X[:, 0], into=model)
    assert model.n_trees == 0


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


def test_invalid_arguments_raise() -> None:
    model, X = plain()
    with pytest.raises(_core.InputError, match="5 features, but the data has 4 columns"):
        model.predict_raw(X[:, :4], 0, 12)
    with pytest.raises(_core.InputError, match="5 features, but the data has 6 columns"):
        model.predict_rows(np.zeros(6))
    with pytest.raises(_core.InputError, match="5 features"):
        model.apply(X[:, :4])
    for first, last in ((0, 13), (5, 4)):
        with pytest.raises(_core.InputError, match=rf"trees \[{first}, {last}\) are out of range"):
            model.predict_raw(X, first, last)
    with pytest.raises(_core.InputError, match="float32 or float64"):
        model.predict_rows(np.zeros(5, dtype=int))
    with pytest.raises(_core.InputError, match="pass one row"):
        model.predict_rows(np.zeros((1, 1, 5)))
    with pytest.raises(_core.InputError, match="isa='mmx' is unknown"):
        model.predict_raw(X, 0, 12, 1, "mmx")
    with pytest.raises(_core.InputError, match="tree 12 is out of range"):
        model.tree_arrays(12)
    with pytest.raises(_core.InputError, match="kind='weight' is unknown"):
        model.importance("weight")
    with pytest.raises(_core.InputError, match="n_trees=13 must be at most"):
        model.truncate(13)
    with pytest.raises(_core.InputError, match="n_trees=4 must be at most"):
        several_outputs()[0].truncate(4)
    with pytest.raises(_core.InputError, match="categories"):
        _core.Ensemble(2, 1, [0.0], [70_000, 0])
    with pytest.raises(_core.InputError, match="at least one output"):
        _core.Ensemble(2, 0, [], [])
