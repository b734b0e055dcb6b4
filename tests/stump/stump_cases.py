"""Tables, targets and comparisons shared by the tests of stumps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from bosquet import _core
from bosquet.reference import stumps as reference

Array = NDArray[np.float64]

CRITERIA = ["error", "exponential", "squared"]


def search_of(X: Array, levels: dict[int, int] | None = None, **options: Any) -> Any:
    """Return a prepared table; `levels` maps nominal columns to their numbers of levels."""
    levels = levels or {}
    categories = [levels.get(f, 0) for f in range(X.shape[1])]
    bins, isa, threads = (options.get(k) for k in ("bins", "isa", "threads"))
    return _core.StumpSearch(X, categories, bins, isa or "auto", threads or 1)


def signs(rng: np.random.Generator, rows: int) -> Array:
    y = rng.choice([-1.0, 1.0], size=rows)
    y[:2] = [-1.0, 1.0]
    return y


def mixed_table(rng: np.random.Generator, rows: int) -> tuple[Array, dict[int, int]]:
    """Return columns: continuous, tied, tied with missing values, and two nominal ones."""
    x = rng.normal(size=(rows, 5))
    x[:, 1] = np.round(2 * x[:, 1])
    x[:, 2] = np.round(rows / 3 * x[:, 2])
    x[:, 3] = np.minimum(rng.geometric(0.3, size=rows) - 1, 6)
    x[:, 4] = rng.integers(0, 4, size=rows)
    x[rng.random(x.shape) < [0, 0.1, 0.2, 0, 0.1]] = np.nan
    return x, {3: 7, 4: 4}


def assert_same_stump(found: Any, expected: reference.WeightedStump) -> None:
    assert found.feature == expected.feature
    assert found.missing_left == expected.missing_left
    if found.feature >= 0 and found.categorical:
        assert frozenset(found.left_categories) == expected.categories
    elif found.feature >= 0:
        assert found.threshold == expected.threshold
    np.testing.assert_allclose(found.values[:, 0], expected.values, rtol=1e-13, atol=1e-300)
    assert math.isclose(
        found.criterion_value, expected.criterion_value, rel_tol=1e-12, abs_tol=1e-10
    )


@st.composite
def small_problems(draw: st.DrawFn) -> tuple[Array, dict[int, int], Array, Array]:
    """Draw small tables with ties, missing values and levels, and weights that may be 0 or repeat."""
    rows = draw(st.integers(2, 14))
    n_ordered, n_nominal = draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    ordered = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0, 3.0, np.inf, np.nan])
    nominal = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])
    columns = [draw(st.lists(ordered, min_size=rows, max_size=rows)) for _ in range(n_ordered)]
    columns += [draw(st.lists(nominal, min_size=rows, max_size=rows)) for _ in range(n_nominal)]
    columns = columns or [[0.0] * rows]
    y = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=rows, max_size=rows))
    weight = st.sampled_from([0.0, 0.25, 1.0, 1.0, 3.0, 1e-9]) | st.floats(0.01, 10)
    w = draw(st.lists(weight, min_size=rows, max_size=rows).filter(lambda ws: sum(ws) > 0))
    levels = {n_ordered + j: 4 for j in range(n_nominal)}
    return np.array(columns).T.copy(), levels, np.array(y), np.array(w)
