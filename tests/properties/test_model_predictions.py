"""Predictions of all estimators: of single rows and batches, after saving and loading, and explained."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_models import KINDS, OF_TREES, Case, cases, outputs
from drawn_tables import on_drawn_examples, rows_of
from hypothesis import strategies as st

import bosquet

# Predictions of regression models are matrix products, whose last digits depend on the blocks of BLAS.
BY_MATRICES = {
    "binomial regression",
    "multinomial regression",
    "Poisson regression",
    "linear model",
    "discriminant",
    "mixture",
}
# Sizes at which the core changes its method: one row, lines of 64 rows, blocks of 512 and of 8192.
SIZES = (1, 2, 15, 16, 17, 63, 64, 65, 129, 513, 1025)


def assert_equal_outputs(found: Any, expected: Any, exact: bool = True) -> None:
    assert found.keys() == expected.keys()
    for method, values in expected.items():
        if exact or values.dtype.kind not in "fc":
            np.testing.assert_array_equal(found[method], values, method)
        else:
            np.testing.assert_allclose(found[method], values, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", KINDS)
@on_drawn_examples(8, data=st.data())
def test_the_prediction_of_a_row_does_not_depend_on_its_batch(name: str, data: Any) -> None:
    case: Case = data.draw(cases(name))
    model, exact = case.fitted(), name not in BY_MATRICES
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    size = data.draw(st.sampled_from(SIZES))
    rows = random.integers(0, case.table.rows, size=size)
    expected = outputs(model, case.table.X)
    for threads in (1, 3):
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=threads)
        found = outputs(model, rows_of(case.table.X, rows))
        assert_equal_outputs(found, {m: values[rows] for m, values in expected.items()}, exact)
    first, last = np.sort(random.integers(0, case.table.rows + 1, size=2))
    if first < last:
        found = outputs(model, rows_of(case.table.X, slice(first, last)))
        assert_equal_outputs(found, {m: v[first:last] for m, v in expected.items()}, exact)


@pytest.mark.parametrize("name", [name for name in OF_TREES if "gradient" in name])
@on_drawn_examples(2, data=st.data())
def test_threads_do_not_change_predictions_of_large_batches(name: str, data: Any) -> None:
    """More rows than a block, so that several threads work."""
    case: Case = data.draw(cases(name))
    model = case.fitted()
    rows = np.random.default_rng(0).integers(0, case.table.rows, size=20_000)
    expected = outputs(model, case.table.X)
    for threads in (1, 2, 5):
        found = outputs(model.set_params(n_jobs=threads), rows_of(case.table.X, rows))
        assert_equal_outputs(found, {m: values[rows] for m, values in expected.items()})


@pytest.mark.parametrize("name", [name for name in KINDS if name != "discriminant"])  # has no files
@on_drawn_examples(6, data=st.data())
def test_saving_and_loading_changes_no_bit(name: str, data: Any) -> None:
    case: Case = data.draw(cases(name))
    model = case.fitted()
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "first.bosquet"), Path(folder, "second.bosquet")
        model.save(paths[0])
        loaded = bosquet.load(paths[0])
        loaded.save(paths[1])
        assert paths[0].read_bytes() == paths[1].read_bytes()
    for copy in (loaded, pickle.loads(pickle.dumps(model))):
        assert repr(copy) == repr(model)
        assert_equal_outputs(outputs(copy, case.table.X), outputs(model, case.table.X))
        if name in OF_TREES and is_explained(model):
            for options in explain_options(case):
                mine, theirs = (m.explain(case.table.X, **options) for m in (model, copy))
                np.testing.assert_array_equal(theirs.values, mine.values)
                np.testing.assert_array_equal(theirs.base, mine.base)


def explain_options(case: Case) -> list[dict[str, Any]]:
    return [{}, {"background": rows_of(case.table.X, slice(0, 3))}, {"interactions": True}]


def is_explained(model: Any) -> bool:
    """Missing values that follow surrogate splits are excluded: they have no exact SHAP values."""
    trees = [model, *getattr(model, "estimators_", [])] if hasattr(model, "votes") else [model]
    return not any(any(t.tree_.surrogates) for t in trees if hasattr(t, "tree_"))


def raw_prediction(model: Any, X: Any) -> np.ndarray:
    """Return the sum of SHAP values and base: the prediction on the scale on which trees are additive.

    For output codes these are the votes before decoding.
    """
    if getattr(model, "multiclass", "") == "one-vs-rest" and len(model.classes_) > 2:
        return model._vote.predict_raw(model._encode_table(X), 1)
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        return shares[:, 1] if shares.shape[1] == 2 else shares
    linked = getattr(model, "loss", None) in ("poisson", "gamma", "tweedie")
    return np.log(model.predict(X)) if linked else model.predict(X)


@pytest.mark.parametrize("name", OF_TREES)
@on_drawn_examples(8, data=st.data())
def test_explanations_add_up_to_the_raw_prediction(name: str, data: Any) -> None:
    case: Case = data.draw(cases(name))
    model = case.fitted()
    if not is_explained(model):
        return
    prediction = raw_prediction(model, case.table.X)
    scale = max(1.0, np.abs(prediction).max())
    for options in explain_options(case):
        found = model.explain(case.table.X, **options)
        np.testing.assert_allclose(found.prediction, prediction, rtol=1e-9, atol=1e-9 * scale)
        if "interactions" in options:
            pairs = found.values
            np.testing.assert_allclose(pairs, pairs.swapaxes(1, 2), atol=1e-9 * scale)
            single = model.explain(case.table.X).values
            np.testing.assert_allclose(found.main_values, single, atol=1e-9 * scale)
        if "background" in options:
            against = raw_prediction(model, options["background"]).mean(axis=0)
            np.testing.assert_allclose(found.base, against, rtol=1e-9, atol=1e-9 * scale)
