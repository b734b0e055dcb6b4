"""Errors for invalid input of stump searches, and conversions of stumps."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from stump_cases import mixed_table, search_of, signs

from bosquet import _core

X = np.arange(12.0).reshape(6, 2)
Y = np.array([-1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
W = np.ones(6)


@pytest.mark.parametrize(
    ("target", "weight", "message"),
    [
        (Y[:5], W, "targets has 5 entries, but there are 6 rows; pass one entry per row"),
        (Y, W[:4], "weights has 4 entries, but there are 6 rows; pass one entry per row"),
        (np.array([-1.0, 0, 1, 1, 1, 1]), W, "must be -1 or 1, but the target of row 1 is 0"),
        (
            np.array([-1.0, 1, np.nan, 1, 1, 1]),
            W,
            "must be -1 or 1, but the target of row 2 is nan",
        ),
        (Y, np.array([1.0, 1, 1, -2, 1, 1]), "the weight of row 3 is -2"),
        (Y, np.array([1.0, 1, 1, 1, np.nan, 1]), "the weight of row 4 is nan"),
        (Y, np.array([1.0, 1, 1, 1, np.inf, 1]), "finite"),
        (Y, np.zeros(6), "all weights are 0"),
    ],
)
def test_wrong_targets_and_weights_are_named(target: Any, weight: Any, message: str) -> None:
    search = search_of(X)
    with pytest.raises(ValueError, match=message):
        search.find_best(target, weight, "error")
    with pytest.raises(ValueError, match=message):
        _core.StumpBooster(search, target, weight, "discrete", 1.0)


def test_other_wrong_arguments_are_named() -> None:
    search = search_of(X)
    with pytest.raises(ValueError, match="criterion='gini' is unknown"):
        search.find_best(Y, W, "gini")
    with pytest.raises(ValueError, match="variant='brown' is unknown"):
        _core.StumpBooster(search, Y, W, "brown", 1.0)
    with pytest.raises(ValueError, match="learning_rate"):
        _core.StumpBooster(search, Y, W, "real", 0.0)
    with pytest.raises(ValueError, match="finite"):
        search.find_best(np.array([1.0, 2, np.inf, 0, 0, 0]), W, "squared")
    with pytest.raises(ValueError, match="class number 3 is out of range"):
        search.find_best_by_class(np.array([0, 1, 2, 3, 0, 1], dtype=np.uint32), 3, W)
    with pytest.raises(ValueError, match="both must have shape"):
        search.find_best_by_signs(np.ones((2, 6)), np.ones((3, 6)))
    with pytest.raises(ValueError, match="pass one entry per row"):
        search.find_best_by_signs(np.ones((2, 5)), np.ones((2, 5)))
    with pytest.raises(ValueError, match="categories has 1 entries, but there are 2 columns"):
        _core.StumpSearch(X, [0], None, "auto", 1)
    with pytest.raises(ValueError, match="no rows"):
        search_of(np.empty((0, 2)))
    other = _core.learn_bins(X[:, :1], [0], np.empty(0), 255, 1000, 0, 1)
    with pytest.raises(ValueError, match="bins has 1 entries, but there are 2 columns"):
        _core.StumpSearch(X, [0, 0], other, "auto", 1)


def test_an_ensemble_that_does_not_match_is_rejected_without_side_effects() -> None:
    fit = _core.StumpBooster(search_of(X), Y, W, "discrete", 1.0)
    with pytest.raises(ValueError, match="1 values per side, but a leaf of the model has 3"):
        fit.round(_core.Ensemble(2, 3, [0.0] * 3, [0, 0], vector_leaves=True))
    with pytest.raises(ValueError, match="is quantitative in the stump, but not in the model"):
        fit.round(_core.Ensemble(2, 1, [0.0], [3, 3]))
    np.testing.assert_array_equal(fit.margins(), np.zeros(6))
    stump = search_of(X).find_best(Y, W, "error")
    with pytest.raises(ValueError, match="finite"):
        stump.add_to(_core.Ensemble(2, 1, [0.0], [0, 0]), np.inf)


@pytest.mark.parametrize("criterion", ["error", "exponential", "squared"])
def test_on_rows_equals_the_predictions_of_the_tree(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X, levels = mixed_table(rng, 800)
    search = search_of(X, levels)
    seen = set()
    for f in range(5):
        y = np.where(np.nan_to_num(X[:, f], nan=1.0) > 0.5, 1.0, -1.0)
        stump = search.find_best(y, rng.random(800), criterion)
        ensemble = _core.Ensemble(5, 1, [0.0], [levels.get(f, 0) for f in range(5)])
        stump.add_to(ensemble, -2.5)
        predicted = ensemble.predict_raw(X, 0, 1)[:, 0]
        np.testing.assert_array_equal(-2.5 * stump.on_rows(search), predicted)
        np.testing.assert_array_equal(stump.on_values(X[:, stump.feature].copy()) * -2.5, predicted)
        seen.add(stump.feature)
    assert len(seen) == 5


def test_several_outputs_become_vector_leaves() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    search = search_of(X)
    Y = np.where(X.T > 0.3, 1.0, -1.0)
    stump = search.find_best_by_signs(Y, np.ones((2, 300)))
    ensemble = _core.Ensemble(2, 2, [0.0, 0.0], [0, 0], vector_leaves=True)
    stump.add_to(ensemble, 0.5)
    np.testing.assert_array_equal(ensemble.predict_raw(X, 0, 1).T, 0.5 * stump.on_rows(search))
    classes = search.find_best_by_class((Y[0] > 0).astype(np.uint32), 2, np.ones(300))
    classes.add_to(ensemble, 3.0, np.eye(2)[classes.values[:, 0].astype(int)])
    votes = ensemble.predict_raw(X, 1, 2)
    np.testing.assert_array_equal(votes.argmax(axis=1), classes.on_rows(search))
    assert set(votes.ravel()) == {0.0, 3.0}


def test_a_constant_is_a_tree_without_a_split() -> None:
    search = search_of(np.zeros((4, 1)))
    stump = search.find_best(np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4), "error")
    assert (stump.feature, stump.criterion_value, stump.gain) == (-1, 1.0, 0.0)
    ensemble = _core.Ensemble(1, 1, [0.0], [0])
    stump.add_to(ensemble, 2.0)
    assert ensemble.predict_raw(np.zeros((3, 1)), 0, 1).tolist() == [[2.0]] * 3
    assert stump.on_rows(search).tolist() == [1.0] * 4
    pickle.loads(pickle.dumps(ensemble))


def test_missing_values_not_seen_in_training_go_to_the_larger_side() -> None:
    X = np.arange(10.0)[:, None]
    few_left = search_of(X).find_best(np.where(X[:, 0] < 3, -1.0, 1.0), np.ones(10), "error")
    many_left = search_of(X).find_best(np.where(X[:, 0] < 7, -1.0, 1.0), np.ones(10), "error")
    assert not few_left.missing_left
    assert many_left.missing_left


def test_a_pickled_stump_is_restored() -> None:
    rng = np.random.default_rng(0)
    X, levels = mixed_table(rng, 100)
    search = search_of(X, levels)
    for criterion in ("error", "squared"):
        stump = search.find_best(np.where(X[:, 3] > 1, 1.0, -1.0), np.ones(100), criterion)
        again = pickle.loads(pickle.dumps(stump))
        assert again.left_categories == stump.left_categories
        np.testing.assert_array_equal(again.on_rows(search), stump.on_rows(search))


def test_the_search_keeps_its_columns_alive() -> None:
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=1000) for _ in range(3)]
    expected = columns[1].copy()
    search = _core.StumpSearch(columns, [0, 0, 0], None, "auto", 1)
    columns.clear()
    stump = search.find_best(np.where(expected > 0.1, 1.0, -1.0), np.ones(1000), "error")
    assert stump.feature == 1
    assert np.sum(expected <= stump.threshold) == np.sum(expected <= 0.1)


def test_two_threads_may_search_at_once() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    search = search_of(X, threads=2)
    targets = [signs(rng, 20_000) for _ in range(4)]
    expected = [search.find_best(y, np.ones(20_000), "error").threshold for y in targets]
    found: list[Any] = [None] * 4

    def run_search(i: int) -> None:
        found[i] = search.find_best(targets[i], np.ones(20_000), "error").threshold

    threads = [threading.Thread(target=run_search, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected
