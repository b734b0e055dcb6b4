"""The core's target statistics are those of the reference implementation."""

import numpy as np
import pytest

from bosquet import _core
from bosquet.reference.target_statistics import (
    combined,
    held_out_gain,
    held_out_means,
    level_means,
    random_folds,
)

ROWS = 300
NO_WEIGHTS = np.empty(0)


@pytest.fixture
def columns():
    random = np.random.default_rng(0)
    city = random.integers(-1, 12, ROWS).astype(np.int32)  # -1 is missing
    job = random.integers(0, 40, ROWS).astype(np.int32)
    return [city, random.normal(size=ROWS), job]


@pytest.fixture
def target(columns):
    random = np.random.default_rng(1)
    return (columns[0] % 3 + random.normal(size=ROWS) > 1).astype(float)


GROUPS = {"one column": ([0], [12]), "two columns": ([0, 2], [12, 40])}


def levels_of(columns, group):
    return combined(*(columns[f].tolist() for f in group))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("group", GROUPS)
def test_statistics_and_gains_are_those_of_the_reference(columns, target, group, weighted):
    weight = np.random.default_rng(2).uniform(0.5, 2, ROWS) if weighted else NO_WEIGHTS
    weights = weight if weighted else np.ones(ROWS)
    chosen, sizes = GROUPS[group]
    numbers, keys = _core.number_levels(columns, chosen, sizes)
    given = ([numbers], [keys.size], target[None], weight, np.array([0.4]), 2.0, 4, 7, 1)
    found = _core.held_out_statistics(*given)
    fold = random_folds(ROWS, folds=4, seed=7, version=1)
    means, others = held_out_means(levels_of(columns, chosen), target, weights, 0.4, 2.0, fold)
    np.testing.assert_allclose(found[0], means, rtol=1e-6)
    np.testing.assert_allclose(found[1], others, rtol=1e-6, atol=1e-12)
    if not weighted:  # counts are exact
        np.testing.assert_array_equal(found, np.float32([means, others]))
    gain = held_out_gain(means, target, weights, 0.4)
    np.testing.assert_allclose(_core.held_out_gains(*given), [gain], rtol=1e-9)


@pytest.mark.parametrize("group", GROUPS)
def test_levels_are_numbered_in_the_order_of_their_keys(columns, group):
    chosen, sizes = GROUPS[group]
    numbers, keys = _core.number_levels(columns, chosen, sizes)
    levels = levels_of(columns, chosen)
    distinct = sorted(set(levels))
    assert [distinct[number] for number in numbers] == levels
    assert (np.diff(keys.astype(np.int64)) > 0).all()
    assert keys.size == len(distinct)


def test_new_rows_get_the_values_of_their_level_and_others_those_of_unknown_levels(columns, target):
    chosen, sizes = GROUPS["two columns"]
    numbers, keys = _core.number_levels(columns, chosen, sizes)
    levels = levels_of(columns, chosen)
    means = level_means(levels, target, np.ones(ROWS), prior=0.4, strength=2.0)
    by_number = {number: means[level] for number, level in zip(numbers, levels, strict=True)}
    values = np.array([[by_number[n]] for n in range(keys.size)], dtype=np.float32)
    tables = _core.TargetTables([chosen], [sizes], [keys], [values], [np.float32([[0.4]])])
    random = np.random.default_rng(3)
    new = [
        random.integers(-2, 13, 2_000),
        random.normal(size=2_000),
        random.integers(-2, 41, 2_000),
    ]
    expected = np.float32([means.get(level, 0.4) for level in levels_of(new, chosen)])
    for threads in (1, 2):
        np.testing.assert_array_equal(tables.derive(new, threads)[0], expected)
    as_numbers = [np.where(column == -1, np.nan, column) for column in new]
    np.testing.assert_array_equal(tables.derive(as_numbers)[0], expected)


def test_the_statistic_of_a_row_does_not_depend_on_its_own_target(columns, target):
    numbers, keys = _core.number_levels(columns, [0], [12])

    def statistics(y):
        given = ([numbers], [keys.size], y[None], NO_WEIGHTS, np.array([0.4]), 1.0, 5, 0, 0)
        return _core.held_out_statistics(*given)[0]

    before = statistics(target)
    for row in range(0, ROWS, 7):
        changed = target.copy()
        changed[row] = 1 - changed[row]
        assert statistics(changed)[row] == before[row]


def test_a_column_without_relation_to_the_target_has_no_gain():
    random = np.random.default_rng(0)
    codes, y = random.integers(0, 500, 5_000), random.integers(0, 2, 5_000).astype(float)
    numbers, keys = _core.number_levels([codes], [0], [500])
    given = ([numbers], [keys.size], y[None], NO_WEIGHTS, np.array([y.mean()]), 1.0, 10, 0, 0)
    assert _core.held_out_gains(*given)[0] < 9


def test_a_group_with_too_many_combinations_is_an_error(columns):
    with pytest.raises(ValueError, match="more than 2\\*\\*63 combinations"):
        _core.number_levels(columns, [0, 2, 2], [2**30, 2**30, 2**30])


@pytest.mark.parametrize("levels", [1, 2, 3, 1000])
def test_a_code_that_is_no_level_has_the_values_of_unknown_combinations(levels):
    keys = np.arange(1, levels + 1, dtype=np.uint64)
    values = np.arange(levels, dtype=np.float32)[:, None]
    tables = _core.TargetTables([[0]], [[levels]], [keys], [values], [np.float32([[-7]])])
    codes = np.array([[0.0], [levels - 1], [levels], [1e300], [-2.0]])
    assert tables.derive(codes).tolist() == [[0, levels - 1, -7, -7, -7]]
