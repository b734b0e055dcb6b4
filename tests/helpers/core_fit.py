"""Run the native boosting loop without the estimators, and compare it with the reference implementation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bosquet import GradientBoostingRegressor, _core
from bosquet.reference.binning import BinnedTable
from bosquet.reference.gradient_trees import GradientNode, leaf_of

Array = NDArray[np.float64]


@dataclass
class CoreFit:
    """A fit of the core after some rounds."""

    fit: Any
    ensemble: Any

    @property
    def raw(self) -> Array:
        """Return the raw predictions of the training rows, (outputs, rows)."""
        return self.fit.raw()

    def tree_predictions(self, x: Array, tree: int) -> Array:
        """Return the value that one tree adds to each row."""
        both = self.ensemble.predict_raw(x, 0, tree + 1) - self.ensemble.predict_raw(x, 0, 0)
        before = self.ensemble.predict_raw(x, 0, tree) - self.ensemble.predict_raw(x, 0, 0)
        return (both - before).sum(axis=1)


def learn_test_bins(
    x: Any, categories: Sequence[int] = (), weight: Array | None = None, *, threads: int = 1
) -> Any:
    """Return the bins that the estimators use by default."""
    w = np.zeros(0) if weight is None else weight
    return _core.learn_bins(x, list(categories), w, 255, 200_000, 0, threads)


def fit_core(
    x: Array,
    y: Any,
    loss: str = "squared_error",
    rounds: int = 1,
    *,
    parameters: Sequence[float] = (),
    weight: Array | None = None,
    categories: Sequence[int] = (),
    start: Any = 0.0,
    outputs: int = 1,
    gradients: NDArray[np.float32] | None = None,
    vector_leaves: bool = False,
    isa: str = "auto",
    threads: int = 1,
    **options: Any,
) -> CoreFit:
    """Fit without a limit on leaves and without shrinkage, unless the options set them."""
    options = {"min_samples_leaf": 1, "learning_rate": 1.0, **options}
    w = np.zeros(0) if weight is None else weight
    target = np.atleast_2d(np.asarray(y, dtype=np.float64))
    bins = learn_test_bins(x, categories, w, threads=threads)
    matrix = _core.bin_table(x, bins, isa, threads)
    native_loss = _core.Loss(loss, outputs, len(target), list(parameters))
    fit = _core.BoostingFit(matrix, bins, target, w, native_loss, options, isa, threads)
    fit.start(np.zeros((outputs, len(x))) + start)
    ensemble = _core.Ensemble(x.shape[1], outputs, [0.0] * outputs, list(categories), vector_leaves)
    for _ in range(rounds):
        fit.round(ensemble, gradients)
    return CoreFit(fit, ensemble)


def round_stochastically(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fits of estimators round gradients as if they had very many rows."""
    original = GradientBoostingRegressor._core_options

    def options(*arguments: Any) -> dict[str, Any]:
        return {**original(*arguments), "stochastic_rounding_above": 0}

    monkeypatch.setattr(GradientBoostingRegressor, "_core_options", options)


def probe_rows(x: Array, rng: np.random.Generator, rows: int = 400) -> Array:
    """Return new rows: values permuted within columns, changed slightly, or missing."""
    probes = np.column_stack([rng.choice(column, rows) for column in x.T])
    whole = np.all(np.isnan(x) | (x == np.floor(x)), axis=0)
    nudges = rng.normal(scale=0.1, size=probes.shape)
    probes += np.where(whole, 0.0, nudges)
    probes[rng.random(probes.shape) < 0.1] = np.nan
    return probes


def assert_same_tree(
    core: CoreFit,
    number: int,
    reference: list[GradientNode],
    table: BinnedTable,
    x: Array,
    probes: Array,
    atol: float = 1e-11,
) -> None:
    """Check that two trees agree node by node, and send new rows to the same leaves.

    `atol` is the tolerance of the leaf values.
    """
    assert_same_nodes(core.ensemble.tree_arrays(number), reference, table, atol)
    values = np.array([node.value for node in reference])
    for rows in (x, probes):
        bins = [column.bins_of(v) for column, v in zip(table.columns, rows.T, strict=True)]
        expected = values[leaf_of(reference, np.stack(bins, axis=1))]
        actual = core.tree_predictions(rows, number)
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=atol)


def assert_same_nodes(
    arrays: dict[str, Any], reference: list[GradientNode], table: BinnedTable, atol: float
) -> None:
    """Compare the split, the children and the numbers of every node."""
    assert len(arrays["left"]) == len(reference)
    for node in reference:
        i = node.number
        assert arrays["cover"][i] == np.float32(node.cover)
        if node.is_leaf or node.split is None:
            assert arrays["left"][i] <= 0
            np.testing.assert_allclose(arrays["value"][i], node.value, rtol=1e-9, atol=atol)
            continue
        split = node.split
        assert arrays["left"][i] == node.left
        assert arrays["feature"][i] == split.feature
        assert arrays["missing_left"][i] == split.missing_left
        np.testing.assert_allclose(arrays["gain"][i], split.gain, rtol=1e-6)
        if not split.left_bins:
            edges = table.columns[split.feature].edges
            threshold = edges[split.bin - 1] if split.bin <= len(edges) else np.inf
            assert arrays["threshold"][i] == threshold
