"""Boosting on stumps in the core: the rounds of the reference implementation, and known identities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stump_cases import Array, assert_same_stump, mixed_table, search_of, signs, small_problems

from bosquet import _core
from bosquet.reference.stump_boosting import boost

VARIANTS = ["discrete", "real", "gentle", "logit", "mada"]


def ensemble_for(X: Array, levels: dict[int, int] | None = None) -> Any:
    levels = levels or {}
    return _core.Ensemble(X.shape[1], 1, [0.0], [levels.get(f, 0) for f in range(X.shape[1])])


def noisy(X: Array, rng: np.random.Generator) -> Array:
    f = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1], nan=1.0) ** 2 - np.nan_to_num(X[:, 3]) / 2
    return np.where(f + rng.normal(size=len(X)) > 0, 1.0, -1.0)


def run_rounds(
    X: Array, y: Array, w: Array, variant: str, rounds: int, rate: float = 1.0, **options: Any
) -> tuple[Any, Any, list[dict[str, Any]]]:
    levels = options.pop("levels", {})
    fit = _core.StumpBooster(search_of(X, levels, **options), y, w, variant, rate)
    ensemble = ensemble_for(X, levels)
    return fit, ensemble, [fit.round(ensemble) for _ in range(rounds)]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_equal_those_of_the_reference(variant: str, rate: float, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X, levels = mixed_table(rng, 600)
    y = noisy(X, rng)
    w = rng.choice([0.5, 1.0, 4.0], size=600) if weighted else np.full(600, 3.0)
    fit, ensemble, rounds = run_rounds(X, y, w, variant, 12, rate, levels=levels)
    expected, margins = boost(X, y, w, variant, 12, rate, tuple(levels))
    assert ensemble.n_trees == 12
    for found, reference in zip(rounds, expected, strict=True):
        assert found["taken"]
        assert reference.taken
        stump = found["stump"]
        reference.stump.criterion_value = stump.criterion_value  # the weights may have another sum
        assert_same_stump_roughly(stump, reference.stump)
        for name in ("error", "alpha", "z", "training_error"):
            assert math.isclose(found[name], getattr(reference, name), rel_tol=1e-9), name
    np.testing.assert_allclose(fit.margins(), margins, rtol=1e-9, atol=1e-9)


def assert_same_stump_roughly(found: Any, expected: Any) -> None:
    """Check that the splits are equal, and the values up to rounding errors of the weights."""
    np.testing.assert_allclose(found.values[:, 0], expected.values, rtol=1e-9)
    expected.values = tuple(found.values[:, 0])
    assert_same_stump(found, expected)


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=30, deadline=None)
@given(problem=small_problems(), rate=st.sampled_from([1.0, 0.1]))
def test_the_identities_hold_in_every_round(variant: str, problem: Any, rate: float) -> None:
    X, levels, y, w = problem
    prior = w / w.sum()
    fit = _core.StumpBooster(search_of(X, levels), y, w, variant, rate)
    ensemble, product = ensemble_for(X, levels), 1.0
    for _ in range(6):
        before = fit.weights()
        report = fit.round(ensemble)
        h = report["stump"].on_values(X[:, max(report["stump"].feature, 0)])
        assert math.isclose(
            report["error"], np.sum(before[(h > 0) != (y > 0)]), rel_tol=1e-9, abs_tol=1e-12
        )
        if not report["taken"]:
            assert report["error"] == 0 or report["error"] >= 0.5 - 1e-12
            return
        product *= report["z"]
        potential = np.sum(prior * np.exp(-fit.margins()))
        assert math.isclose(product, potential, rel_tol=1e-9)
        assert report["training_error"] <= product * (1 + 1e-9)
        assert math.isclose(fit.weights().sum(), 1.0)
        if variant in ("discrete", "real", "gentle"):
            np.testing.assert_allclose(
                fit.weights(), prior * np.exp(-fit.margins()) / product, rtol=1e-9, atol=1e-300
            )
        if variant == "discrete" and rate == 1.0:
            assert math.isclose(np.sum(fit.weights()[h != y]), 0.5, rel_tol=1e-6)
            minimum = 2 * math.sqrt(report["error"] * (1 - report["error"]))
            assert math.isclose(report["z"], minimum, rel_tol=1e-9)
        raw = ensemble.predict_raw(X, 0, ensemble.n_trees)[:, 0]
        np.testing.assert_allclose(raw * y, fit.margins(), rtol=1e-9, atol=1e-12)
        assert math.isclose(
            report["training_error"], np.sum(prior[(raw > 0) != (y > 0)]), abs_tol=1e-12
        )


def test_a_stump_without_error_is_returned_but_not_added() -> None:
    X = np.arange(10.0)[:, None]
    y = np.where(X[:, 0] < 4, -1.0, 1.0)
    for variant in ("discrete", "mada"):
        fit, ensemble, (report,) = run_rounds(X, y, np.ones(10), variant, 1)
        assert (report["error"], report["z"], report["taken"]) == (0.0, 0.0, False)
        assert report["alpha"] == math.inf
        assert report["stump"].threshold == 3.5
        assert ensemble.n_trees == 0
        report["stump"].add_to(ensemble, 1.0)
        np.testing.assert_array_equal(ensemble.predict_raw(X, 0, 1)[:, 0], y)
        np.testing.assert_array_equal(fit.margins(), np.zeros(10))


def test_a_stump_no_better_than_chance_is_returned_but_not_added() -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([-1.0, 1.0, 1.0, -1.0])
    _, ensemble, (report,) = run_rounds(X, y, np.ones(4), "discrete", 1)
    assert (report["error"], report["alpha"], report["z"]) == (0.5, 0.0, 1.0)
    assert not report["taken"]
    assert report["stump"].feature == -1
    assert ensemble.n_trees == 0


def test_a_row_with_a_tiny_weight_still_counts_as_wrong() -> None:
    """Its weight is less than half a unit, but the stump is not perfect."""
    X = np.arange(6.0)[:, None]
    y = np.array([-1.0, -1.0, 1.0, -1.0, 1.0, 1.0])
    w = np.array([1.0, 1.0, 1e-25, 1.0, 1.0, 1.0])
    _, ensemble, (report,) = run_rounds(X, y, w, "discrete", 1)
    assert report["taken"]
    assert 0 < report["error"] < 1e-24
    assert ensemble.n_trees == 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_row_of_weight_two_counts_as_two_rows(variant: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    y = noisy(X, rng)
    times = rng.integers(0, 3, size=400)
    _, _, weighted = run_rounds(X, y, times.astype(float), variant, 8)
    _, _, repeated = run_rounds(
        np.repeat(X, times, axis=0), np.repeat(y, times), np.ones(times.sum()), variant, 8
    )
    for a, b in zip(weighted, repeated, strict=True):
        assert a["stump"].feature == b["stump"].feature
        assert math.isclose(a["z"], b["z"], rel_tol=1e-2)
        if variant in (
            "gentle",
            "discrete",
            "mada",
            "logit",
        ):  # real smooths with the number of rows
            assert math.isclose(a["z"], b["z"], rel_tol=1e-9)
            assert math.isclose(a["training_error"], b["training_error"], rel_tol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_bound_holds_after_many_rounds(variant: str) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(500, 10))
    y = np.where(np.sum(X**2, axis=1) > 9.34, 1.0, -1.0)
    fit, _, rounds = run_rounds(X, y, np.ones(500), variant, 200)
    product = math.prod(report["z"] for report in rounds)
    assert math.isclose(product, np.mean(np.exp(-fit.margins())), rel_tol=1e-9)
    assert rounds[-1]["training_error"] <= product
    assert rounds[-1]["training_error"] < 0.1


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_weights_stay_accurate_after_a_thousand_multiplications(variant: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, 1.0, -1.0)
    fit, _, rounds = run_rounds(X, y, np.ones(300), variant, 1000)
    product = math.exp(sum(math.log(report["z"]) for report in rounds))
    expected = np.exp(-fit.margins()) / 300
    assert math.isclose(product, expected.sum(), rel_tol=1e-8)
    np.testing.assert_allclose(fit.weights(), expected / expected.sum(), rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize("variant", VARIANTS)
def test_steps_may_be_longer_than_optimal(variant: str) -> None:
    """With a tiny error and a learning rate of 2, the weights exceed the range of the units."""
    X = np.arange(8.0)[:, None]
    y = np.array([-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
    w = np.array([1.0, 1.0, 1e-12, 1.0, 1.0, 1.0, 1.0, 1.0])
    fit, _, rounds = run_rounds(X, y, w, variant, 4, 2.0)
    taken = [report["z"] for report in rounds if report["taken"]]
    potential = np.sum(w / w.sum() * np.exp(-fit.margins()))
    assert taken
    assert math.isclose(math.prod(taken), potential, rel_tol=1e-9)


def test_a_search_can_be_shared_between_rounds() -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(600, 3))
    y = noisy(np.column_stack([X, X]), rng)
    search, w = search_of(X), np.ones(600)
    single, shared = ensemble_for(X), ensemble_for(X)
    fit = _core.StumpBooster(search, y, w, "discrete", 1.0)
    for _ in range(5):
        fit.round(single)
    first, second = (_core.StumpBooster(search, y, w, v, 1.0) for v in ("discrete", "real"))
    for _ in range(5):
        first.round(shared)
        second.round(ensemble_for(X))
        search.find_best(signs(rng, 600), rng.random(600), "exponential")
    np.testing.assert_array_equal(fit.margins(), first.margins())
