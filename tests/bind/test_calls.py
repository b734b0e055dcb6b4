"""No call of the native core crashes, hangs or raises an unclear error."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from call_fuzzer import finding_of
from good_calls import NO_WEIGHTS, GoodCalls, bound_names
from hostile_values import ChangesList, FreshArray

from bosquet import _core


@pytest.fixture(scope="module")
def good() -> GoodCalls:
    return GoodCalls()


def test_every_binding_has_a_good_call(good: GoodCalls) -> None:
    assert set(bound_names()) == {name for name, _ in good.calls}


@pytest.mark.parametrize("block", range(4))
def test_hostile_calls_raise_clear_errors(block: int) -> None:
    assert finding_of(seed=0, block=block, calls=1500) is None


# ------------------------------------------------ inputs that crashed or hung earlier versions


@pytest.mark.parametrize(
    ("rows", "draws"), [(0, 5), (0, 0), (3, 0), (3, 4), (2**32, 1), (5, 2**63)]
)
@pytest.mark.parametrize("replace", [True, False])
def test_a_bag_needs_rows_and_at_most_as_many_draws(rows: int, draws: int, replace: bool) -> None:
    with pytest.raises(ValueError, match=r"rows|draws"):
        _core.bag_counts(rows, draws, replace, 7)


def test_a_list_that_changes_while_it_is_read_is_read_as_it_was() -> None:
    entries: list[Any] = []
    entries.extend(ChangesList(entries) for _ in range(1000))
    ensemble = _core.Ensemble(1, 1000, entries, [])
    np.testing.assert_array_equal(ensemble.base, np.ones(1000))
    assert not entries


def test_the_table_keeps_its_columns_alive() -> None:
    values = np.random.default_rng(0).random(100_000)
    bins = _core.learn_bins([FreshArray(values)], [0], NO_WEIGHTS, 255, 10**6, 0, 1)
    expected = _core.learn_bins([values], [0], NO_WEIGHTS, 255, 10**6, 0, 1)
    np.testing.assert_array_equal(bins.edges(0), expected.edges(0))


def test_an_invalid_state_of_a_stump_is_rejected(good: GoodCalls) -> None:
    state = list(stump_state(good))
    state[4] = [60_000, 1]
    with pytest.raises(ValueError, match="ascending order"):
        _core.Stump.__new__(_core.Stump).__setstate__(tuple(state))
    state[4], state[5] = [1], []
    with pytest.raises(ValueError, match="as many values on the left side as on the right"):
        _core.Stump.__new__(_core.Stump).__setstate__(tuple(state))


def stump_state(good: GoodCalls) -> tuple[Any, ...]:
    search = _core.StumpSearch(good.X, good.categories, None, "auto", 1)
    return search.find_best(good.signs, good.weight, "error").__getstate__()


def test_a_fit_needs_the_bins_of_its_matrix(good: GoodCalls) -> None:
    other = _core.learn_bins(good.X, good.categories, NO_WEIGHTS, 4, 1000, 0, 1)
    with pytest.raises(ValueError, match="not made with these bins"):
        fit_of(good, bins=other)
    fit = fit_of(good)
    matrix = _core.bin_table(good.X, other, "auto", 1)
    with pytest.raises(ValueError, match="not made with these bins"):
        fit.set_validation(matrix, good.y[None], NO_WEIGHTS)


def fit_of(good: GoodCalls, bins: Any = None, **options: Any) -> Any:
    return _core.BoostingFit(
        good.matrix, bins or good.bins, good.y[None], NO_WEIGHTS, good.loss, options, "auto", 2
    )


def test_trees_are_only_added_to_an_ensemble_with_the_same_features(good: GoodCalls) -> None:
    narrow = _core.Ensemble(1, 1, [0.0], [0])
    without_categories = _core.Ensemble(3, 1, [0.0], [0, 0, 0])
    grower = _core.CartFit(
        good.coded, good.y[None], 1, NO_WEIGHTS, {"criterion": "squared_error"}, 1
    )
    tree = grower.grow_one(0)
    for ensemble in (narrow, without_categories):
        with pytest.raises(ValueError, match=r"features|categories"):
            fit_of(good).round(ensemble)
        with pytest.raises(ValueError, match="ensemble"):
            grower.grow(ensemble, [1], 5, True)
        with pytest.raises(ValueError, match="does not match the ensemble"):
            tree.add_to(ensemble)
        assert ensemble.n_trees == 0


def test_a_callback_cannot_use_the_fit_that_calls_it(good: GoodCalls) -> None:
    ensemble = _core.Ensemble(3, 1, [0.0], good.categories)
    fit = fit_of(good, newton=False)
    rejected = []

    def minimisers(leaf: np.ndarray, leaves: int, output: int) -> np.ndarray:
        for use in (
            lambda: fit.round(ensemble),
            fit.train_loss,
            lambda: fit.start_from(np.zeros(1)),
        ):
            with pytest.raises(ValueError, match="in use by another call"):
                use()
            rejected.append(use)
        return np.zeros(leaves)

    fit.round(ensemble, np.ones((1, len(good.y), 2), dtype=np.float32), minimisers)
    assert len(rejected) == 3
    assert ensemble.n_trees == 1


def test_a_round_that_fails_adds_no_tree(good: GoodCalls) -> None:
    ensemble = _core.Ensemble(3, 3, [0.0] * 3, good.categories)
    loss = _core.Loss("squared_error", 3, 3, [])
    fit = _core.BoostingFit(
        good.matrix,
        good.bins,
        np.stack([good.y] * 3),
        NO_WEIGHTS,
        loss,
        {"newton": False},
        "auto",
        1,
    )

    def minimisers(leaf: np.ndarray, leaves: int, output: int) -> np.ndarray:
        return np.full(leaves, np.nan if output == 2 else 0.0)

    with pytest.raises(ValueError, match="the result of minimisers must be finite"):
        fit.round(ensemble, np.ones((3, len(good.y), 2), dtype=np.float32), minimisers)
    assert ensemble.n_trees == 0


@pytest.mark.parametrize("sampling", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_invalid_gradients_are_rejected(good: GoodCalls, value: float, sampling: bool) -> None:
    pairs = np.ones((1, len(good.y), 2), dtype=np.float32)
    pairs[0, 3] = [1.0, value]
    fit = fit_of(good, subsample=0.5, gradient_sampling=sampling)
    with pytest.raises(ValueError, match="gradients must be finite and Hessians non-negative"):
        fit.round(_core.Ensemble(3, 1, [0.0], good.categories), pairs)


def test_the_caller_may_change_class_numbers_after_the_check(good: GoodCalls) -> None:
    labels = good.classes[None].astype(float)
    fit = _core.BoostingFit(good.matrix, good.bins, labels, NO_WEIGHTS, good.softmax, {}, "auto", 1)
    before = fit.train_loss()
    labels[:] = 1e9
    assert fit.train_loss() == before
    classes = good.classes.astype(np.uint32)
    grower = _core.CartFit(good.coded, classes, 3, NO_WEIGHTS, {}, 1)
    classes[:] = 2**31
    assert grower.grow_one(0).details()["value"].max() <= 1


def test_absent_classes_do_not_change_the_stump(good: GoodCalls) -> None:
    search = _core.StumpSearch(good.X, good.categories, None, "auto", 1)
    classes = good.classes.astype(np.uint32)
    few = search.find_best_by_class(classes, 3, good.weight)
    many = search.find_best_by_class(classes, 100_000, good.weight)
    assert few.__getstate__() == many.__getstate__()
    with pytest.raises(ValueError, match="classes, but at most 1048576 are supported"):
        search.find_best_by_class(classes, 2**31, good.weight)


def test_nan_targets_are_rejected() -> None:
    loss = _core.Loss("absolute_error", 1, 1, [])
    target = np.full((1, 100), np.nan)
    with pytest.raises(ValueError, match="targets must be finite, but entry 0 is nan"):
        loss.best_constants(target, NO_WEIGHTS)


def test_types_that_are_not_accepted_are_named(good: GoodCalls) -> None:
    with pytest.raises(TypeError, match=r"data must be an array of numbers.*, not list_iterator"):
        good.ensemble.predict_raw(iter([]), 0, 0)
    with pytest.raises(TypeError, match=r"column 1 must be an array of numbers.*, not str"):
        good.ensemble.predict_raw([good.columns[0], "a", good.columns[2]], 0, 0)
    with pytest.raises(
        TypeError,
        match=r"option max_depth must be a non-negative integer that fits in 32 bits.* -3",
    ):
        fit_of(good, max_depth=-3)
    with pytest.raises(ValueError, match=r"learning_rate must be .*finite, not nan"):
        fit_of(good, learning_rate=float("nan"))
    with pytest.raises(
        TypeError, match="the name of a field must be a str that can be encoded as UTF-8"
    ):
        _core.ExpertMixture("ewa", [0.5, 0.5], "square").restore({"\ud800": [1.0]})


@pytest.mark.parametrize("threads", [-(2**31), -1, 0, 1, 2**31 - 1])
def test_any_number_of_threads_gives_the_same_edges(good: GoodCalls, threads: int) -> None:
    X = np.repeat(good.X, 3000, axis=0)
    bins = _core.learn_bins(X, good.categories, NO_WEIGHTS, 255, 10**6, 0, threads)
    expected = _core.learn_bins(X, good.categories, NO_WEIGHTS, 255, 10**6, 0, 1)
    np.testing.assert_array_equal(bins.edges(0), expected.edges(0))


@pytest.fixture
def python_handles_sigint() -> Iterator[None]:
    """Make SIGINT raise KeyboardInterrupt, also if the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("python_handles_sigint")
def test_an_endless_iterable_of_blocks_can_be_interrupted() -> None:
    from _thread import interrupt_main

    def blocks() -> Any:
        for number in itertools.count():
            if number == 3:
                interrupt_main()
            yield 0, np.zeros((1, 2))

    with pytest.raises(KeyboardInterrupt):
        _core.find_best_of_blocks(blocks(), np.array([1.0, -1.0]), np.ones(2), "error")
