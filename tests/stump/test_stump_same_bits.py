"""Stumps have the same bits for any number of threads and any instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_fit import learn_test_bins
from instruction_sets import ISAS
from stump_cases import Array, mixed_table, search_of

from bosquet import _core

ROWS = 21_000


def make_table() -> tuple[Array, dict[int, int], Array, Array]:
    rng = np.random.default_rng(0)
    X, levels = mixed_table(rng, ROWS)
    y = np.where(np.nan_to_num(X[:, 0]) + rng.normal(size=ROWS) > 0, 1.0, -1.0)
    return X, levels, y, rng.random(ROWS)


def outcome(variant: str, binned: bool, isa: str, threads: int, weighted: bool) -> list[Any]:
    X, levels, y, w = make_table()
    categories = [levels.get(f, 0) for f in range(5)]
    bins = learn_test_bins(X, categories) if binned else None
    search = search_of(X, levels, bins=bins, isa=isa, threads=threads)
    fit = _core.StumpBooster(search, y, w if weighted else np.ones(ROWS), variant, 0.7)
    ensemble = _core.Ensemble(5, 1, [0.0], categories)
    seen: list[Any] = []
    for _ in range(6):
        report = fit.round(ensemble)
        stump = report.pop("stump")
        seen += [*report.values(), stump.feature, stump.threshold, tuple(stump.left_categories)]
        seen += [stump.missing_left, stump.values.tobytes(), stump.criterion_value]
    return [*seen, fit.margins().tobytes(), fit.weights().tobytes()]


@pytest.mark.parametrize("binned", [False, True])
@pytest.mark.parametrize("variant", ["discrete", "real", "gentle", "logit", "mada"])
def test_a_fit_does_not_depend_on_threads(variant: str, binned: bool) -> None:
    single = outcome(variant, binned, "auto", 1, weighted=binned)
    for threads in (2, 3, 8):
        assert outcome(variant, binned, "auto", threads, weighted=binned) == single


@pytest.mark.parametrize("binned", [False, True])
@pytest.mark.parametrize("variant", ["discrete", "real", "gentle", "logit", "mada"])
def test_a_fit_does_not_depend_on_the_instruction_set(variant: str, binned: bool) -> None:
    plain = outcome(variant, binned, "baseline", 2, weighted=not binned)
    for isa in ISAS[1:]:
        assert outcome(variant, binned, isa, 2, weighted=not binned) == plain


def test_searches_of_several_classes_do_not_depend_on_threads() -> None:
    X, levels, y, w = make_table()
    Y = np.vstack([y, -y, np.where(X[:, 1] > 0, y, 1.0)])
    found = []
    for threads in (1, 2, 3, 8):
        search = search_of(X, levels, threads=threads)
        classes = search.find_best_by_class((Y > 0).sum(axis=0).astype(np.uint32), 4, w)
        both = search.find_best_by_signs(Y, np.vstack([w, w, 1 - w]))
        found.append(
            [
                (s.feature, s.threshold, s.criterion_value, s.values.tolist())
                for s in (classes, both)
            ]
        )
    assert all(f == found[0] for f in found)
