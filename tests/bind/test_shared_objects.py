"""Objects of the core used by several threads at once; `make sanitize` checks these tests for data races."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from good_calls import NO_WEIGHTS, GoodCalls

from bosquet import _core

THREADS, TIMES = 6, 8


def run_in_threads(*uses: Callable[[], Any]) -> list[Any]:
    """Run each function several times in threads that start together; return all results."""
    start = threading.Barrier(THREADS)
    results: list[Any] = []
    failures: list[BaseException] = []

    def work(use: Callable[[], Any]) -> None:
        start.wait()
        try:
            for _ in range(TIMES):
                results.append(use())
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(uses[i % len(uses)],)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results


@pytest.fixture(scope="module")
def good() -> GoodCalls:
    return GoodCalls(rows=2500, levels=300)


@pytest.mark.parametrize("name", ["ensemble", "several", "forest"])
def test_one_ensemble_predicts_the_same_in_many_threads(good: GoodCalls, name: str) -> None:
    fresh = getattr(good, name).copy()  # a copy is not compiled yet
    trees, expected = fresh.n_trees, fresh.predict_plain(good.X)
    for found in run_in_threads(
        lambda: fresh.predict_raw(good.X, 0, trees, 2), lambda: fresh.predict_rows(good.X)
    ):
        np.testing.assert_array_equal(found, expected)


def test_one_ensemble_is_explained_the_same_in_many_threads(good: GoodCalls) -> None:
    rows = good.X[:30]
    expected = _core.shap_values(good.several, rows)[0]
    for values, _ in run_in_threads(lambda: _core.shap_values(good.several, rows, None, False, 2)):
        np.testing.assert_array_equal(values, expected)


def test_many_threads_can_use_one_stump_search(good: GoodCalls) -> None:
    search = _core.StumpSearch(good.X, good.categories, None, "auto", 2)
    expected = search.find_best(good.signs, good.weight, "error").__getstate__()
    boost = _core.StumpBooster(search, good.signs, good.weight, "real", 1.0)
    model = _core.Ensemble(3, 1, [0.0], good.categories)
    found = run_in_threads(
        lambda: search.find_best(good.signs, good.weight, "error").__getstate__(),
        lambda: boost.margins() is not None and expected,
    )
    assert all(state == expected for state in found)
    assert boost.round(model)["taken"]


def test_many_threads_can_use_one_detector(good: GoodCalls) -> None:
    _, arguments = next(call for call in good.calls if call[0] == "Detector.detect")
    detector, image, *rest = arguments
    expected = detector.detect(image, *rest)[0]
    for found in run_in_threads(lambda: detector.detect(image, *rest)[0]):
        np.testing.assert_array_equal(found, expected)


def test_a_fit_and_a_mixture_accept_one_call_at_a_time(good: GoodCalls) -> None:
    fit = _core.BoostingFit(
        good.matrix, good.bins, good.y[None], NO_WEIGHTS, good.loss, {}, "auto", 2
    )
    mixture = _core.ExpertMixture("boa", [0.5, 0.5], "square", range=2.0)
    forecasts = np.stack([good.y, -good.y], axis=1)
    messages: list[str] = []

    def attempt(use: Callable[[], Any]) -> Callable[[], None]:
        def tried() -> None:
            try:
                use()
            except ValueError as error:
                messages.append(str(error))

        return tried

    models = [_core.Ensemble(3, 1, [0.0], good.categories) for _ in range(THREADS * TIMES)]
    run_in_threads(
        attempt(lambda: fit.round(models.pop())),
        attempt(fit.train_loss),
        attempt(lambda: mixture.run(forecasts, good.y, None, 1, False)),
        attempt(mixture.state),
    )
    assert all("is in use by another call" in message for message in messages)
