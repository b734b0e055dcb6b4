import numpy as np
import pytest

from bosquet.data import count_rows, take_rows
from bosquet.data.columns import ready_for_core


@pytest.mark.parametrize("order", ["C", "F"])
def test_take_rows_keeps_the_given_order_and_the_memory_layout(order):
    X = np.array(np.arange(20.0).reshape(5, 4), order=order)
    taken = take_rows(X, np.array([3, 0, 3]))
    np.testing.assert_array_equal(taken, X[[3, 0, 3]])
    assert taken.flags[f"{order}_CONTIGUOUS"]
    assert count_rows(taken) == 3


def test_take_rows_of_a_list_selects_from_each_column():
    columns = [np.arange(4), np.array([0, -1, 1, 0], dtype=np.int32)]
    taken = take_rows(columns, np.array([False, True, True, False]))
    assert [column.tolist() for column in taken] == [[1, 2], [-1, 1]]
    assert count_rows(taken) == 2
    assert taken[1].dtype == np.int32


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_slice_of_rows_is_not_copied(order):
    X = np.array(np.arange(20.0).reshape(5, 4), order=order)
    assert np.shares_memory(take_rows(X, slice(1, 3)), X)


def test_a_misaligned_field_is_copied():
    record = np.zeros(3, dtype=[("flag", "i1"), ("value", "f8")])
    record["value"] = [1, 2, 3]
    ready = ready_for_core(record["value"])
    assert ready.flags.aligned
    assert ready.tolist() == [1, 2, 3]


def test_a_long_double_too_large_for_float64_becomes_infinite_without_a_warning():
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long double is double here")
    huge = np.array([np.finfo(np.longdouble).max])
    assert ready_for_core(huge).tolist() == [np.inf]
