"""A fit whose rows are divided into parts has the bits of a fit with all rows in one place.

Each part is a thread with its own rows, and the threads combine their integers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from core_fit import learn_test_bins

from bosquet import _core
from bosquet.losses import NativeLoss
from bosquet.losses.native import REGRESSION, TRAITS

N_ROWS, N_LEVELS = 6_000, 40
# The runs of consecutive rows of each part.
WHOLE = [[(0, N_ROWS)]]
PARTS = {
    "2 parts": [[(0, 2_000)], [(2_000, N_ROWS)]],
    "5 parts, one of a single row": [
        [(0, 1)], [(1, 2_000)], [(2_000, 2_100)], [(2_100, 5_000)], [(5_000, N_ROWS)]],
    "2 parts of several runs": [
        [(0, 2_000), (2_100, 2_101), (5_000, N_ROWS)], [(2_000, 2_100), (2_101, 5_000)]],
}  # fmt: skip
CATEGORIES = [0, 0, 0, 0, N_LEVELS]
OPTIONS: dict[str, Any] = {
    "max_leaf_nodes": 15, "min_samples_leaf": 20, "l2_regularization": 1.0, "learning_rate": 0.1,
    "features_by_node": 0.6, "min_samples_category": 30, "category_l2": 10.0,
    "category_smoothing": 10.0, "seed": 5,
}  # fmt: skip


class ThreadSums:
    """Combines the arrays of several threads, which call it in the same order."""

    def __init__(self, n_parts: int):
        self.barrier = threading.Barrier(n_parts)
        self.arrays: list[Any] = [None] * n_parts

    def functions_of(self, part: int) -> list[Callable[[np.ndarray], None]]:
        def combine(function: Any) -> Callable[[np.ndarray], None]:
            def in_place(array: np.ndarray) -> None:
                self.arrays[part] = array.copy()
                self.barrier.wait(60)
                result = function(np.stack(self.arrays), axis=0)
                self.barrier.wait(60)
                array[:] = result

            return in_place

        return [combine(np.sum), combine(np.max)]


def boosted(
    loss: NativeLoss, X: Any, target: Any, weight: Any, parts: Any = WHOLE, **options: Any
) -> Any:
    """Predictions and training losses of a few rounds on rows that are divided into parts."""
    vector_leaves = options.pop("vector_leaves", False)
    bins = learn_test_bins(X, CATEGORIES)
    sums, results, errors = ThreadSums(len(parts)), [None] * len(parts), []

    def fit_part(number: int) -> None:
        rows = np.concatenate([np.arange(*run) for run in parts[number]])
        part = None
        if parts is not WHOLE:
            runs = [(start, stop - start) for start, stop in parts[number]]
            part = _core.Part(*sums.functions_of(number), len(X), runs)
        y, w = np.ascontiguousarray(target[:, rows]), weight[rows] if weight.size else weight
        matrix = _core.bin_table(np.ascontiguousarray(X[rows]), bins, "auto", 1)
        core = _core.Loss(loss.name, loss.outputs, loss.targets, loss.parameters)
        fit = _core.BoostingFit(matrix, bins, y, w, core, {**OPTIONS, **options}, "auto", 1, part)
        base = core.best_constants(y, w, None, part)
        trees = _core.Ensemble(5, loss.outputs, base.tolist(), CATEGORIES, vector_leaves)
        fit.start_from(base)
        losses = []
        for _ in range(3):
            fit.round(trees)
            losses.append(fit.train_loss())
        results[number] = (trees.predict_raw(X, 0, trees.n_trees, 1), losses)

    def run(number: int) -> None:
        try:
            fit_part(number)
        except BaseException as error:
            errors.append(error)
            sums.barrier.abort()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    for result in results[1:]:
        np.testing.assert_array_equal(result[0], results[0][0])
        assert result[1] == results[0][1]
    return results[0]


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(N_ROWS, 4)), rng.integers(0, N_LEVELS, N_ROWS)])
    X[rng.random(N_ROWS) < 0.1, 2] = np.nan
    signal = X[:, 0] * X[:, 1] + np.nan_to_num(X[:, 2]) + np.sin(X[:, 4])
    return {
        "X": X,
        "positive": np.exp(0.3 * signal + 0.3 * rng.normal(size=N_ROWS))[None],
        "classes": np.digitize(signal, [0.5, 1.5]).astype(float)[None],
        "weight": rng.random(N_ROWS) * 3,
    }


@pytest.mark.parametrize("division", PARTS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REGRESSION)
def test_every_loss_has_the_bits_of_one_part(data, name, weighted, division):
    traits = TRAITS[name]
    loss = NativeLoss(name, parameters=[0.7] if name in ("huber", "quantile", "expectile") else (
        [1.5] if name == "tweedie" else []))  # fmt: skip
    weight = data["weight"] if weighted else np.zeros(0)
    for step in ("newton", "exact"):
        newton = step == "newton" and traits["uses_newton_steps"]
        whole, parts = (
            boosted(loss, data["X"], data["positive"], weight, rows, newton=newton)
            for rows in (WHOLE, PARTS[division])
        )
        np.testing.assert_array_equal(parts[0], whole[0])
        assert parts[1] == whole[1]


@pytest.mark.parametrize(
    "options",
    [
        {"subsample": 0.5},
        {"subsample": 0.5, "gradient_sampling": True},
        {"subsample": 0.0001},
        {"depth_wise": True, "max_depth": 3},
        {"split_noise": 1.0, "features_by_node": 0.1},
        {"monotone": [1, -1, 0, 0, 0]},
        {"monotone": [1, -1, 0, 0, 0], "newton": False},
        {"max_delta_step": 0.1, "min_child_weight": 30.0, "max_leaf_nodes": 3},
    ],
)
def test_every_way_to_grow_has_the_bits_of_one_part(data, options):
    loss = NativeLoss("poisson")
    options = {"newton": True, **options}
    whole, parts = (
        boosted(loss, data["X"], data["positive"], data["weight"], rows, **options)
        for rows in (WHOLE, PARTS["5 parts, one of a single row"])
    )
    np.testing.assert_array_equal(parts[0], whole[0])
    assert parts[1] == whole[1]


@pytest.mark.parametrize("vector_leaves", [False, True])
def test_several_classes_have_the_bits_of_one_part(data, vector_leaves):
    loss = NativeLoss("log_loss", outputs=3)
    whole, parts = (
        boosted(
            loss, data["X"], data["classes"], np.zeros(0), rows, newton=True, vector_leaves=vector_leaves
        )
        for rows in (WHOLE, PARTS["2 parts"])
    )  # fmt: skip
    np.testing.assert_array_equal(parts[0], whole[0])
    assert parts[1] == whole[1]


@pytest.mark.parametrize("division", PARTS)
@pytest.mark.parametrize("options", [{}, {"subsample": 0.5}, {"vector_leaves": True}])
def test_stochastic_rounding_has_the_bits_of_one_part(data, division, options):
    """A heavy row of each class makes the unit of rounding so coarse that it decides splits."""
    weight = np.ones(N_ROWS)
    weight[np.unique(data["classes"], return_index=True)[1]] = 2.0**29
    given = NativeLoss("log_loss", outputs=3), data["X"], data["classes"], weight
    options = {"newton": True, "stochastic_rounding_above": 0, **options}
    whole, parts = (boosted(*given, rows, **options) for rows in (WHOLE, PARTS[division]))
    np.testing.assert_array_equal(parts[0], whole[0])
    assert parts[1] == whole[1]
    nearest = boosted(*given, **options | {"stochastic_rounding_above": N_ROWS})
    assert (nearest[0] != whole[0]).any()


def test_an_error_in_a_message_ends_the_round(data):
    def fail(numbers):
        raise ConnectionError("lost the other part")

    loss = NativeLoss("squared_error")
    X, y = data["X"][:100], np.ascontiguousarray(data["positive"][:, :100])
    bins = learn_test_bins(X, CATEGORIES)
    matrix = _core.bin_table(X, bins, "auto", 1)
    part = _core.Part(fail, fail, 200, [(0, 100)])
    fit = _core.BoostingFit(
        matrix, bins, y, np.zeros(0), loss.core, {**OPTIONS, "newton": True}, "auto", 1, part
    )
    trees = _core.Ensemble(5, 1, [0.0], CATEGORIES, False)
    fit.start_from(np.zeros(1))
    with pytest.raises(ConnectionError, match="lost the other part"):
        fit.round(trees)
    assert trees.n_trees == 0


@pytest.mark.parametrize(
    ("runs", "message"),
    [([(150, 100)], "run of rows ends after the last row"), ([(0, 50)], "part")],
)
def test_a_part_that_does_not_fit_its_rows_is_an_error(data, runs, message):
    X, y = data["X"][:100], np.ascontiguousarray(data["positive"][:, :100])
    bins = learn_test_bins(X, CATEGORIES)
    loss = NativeLoss("squared_error").core
    matrix = _core.bin_table(X, bins, "auto", 1)

    def fit_part():
        part = _core.Part(print, print, 200, runs)
        _core.BoostingFit(matrix, bins, y, np.zeros(0), loss, OPTIONS, "auto", 1, part)

    with pytest.raises(ValueError, match=message):
        fit_part()
