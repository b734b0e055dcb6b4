import numpy as np
import pytest

from bosquet.data import n_rows, take_rows
from bosquet.data.columns import ready_for_core


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_a_matrix_are_taken_in_the_order_asked_and_keep_the_memory_order(order):
    X = np.array(np.arange(20.0).reshape(5, 4), order=order)
    taken = take_rows(X, np.array([3, 0, 3]))
    np.testing.assert_array_equal(taken, X[[3, 0, 3]])
    assert taken.flags[f"{order}_CONTIGUOUS"]
    assert n_rows(taken) == 3


def test_rows_of_a_list_of_columns_are_taken_from_each():
    columns = [np.arange(4), np.array([0, -1, 1, 0], dtype=np.int32)]
    taken = take_rows(columns, np.array([False, True, True, False]))
    assert [column.tolist() for column in taken] == [[1, 2], [-1, 1]]
    assert n_rows(taken) == 2
    assert taken[1].dtype == np.int32


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_slice_of_rows_copies_nothing(order):
    X = np.array(np.arange(20.0).reshape(5, 4), order=order)
    assert np.shares_memory(take_rows(X, slice(1, 3)), X)


def test_a_field_of_a_packed_record_is_copied_to_where_the_core_can_read_it():
    record = np.zeros(3, dtype=[("flag", "i1"), ("value", "f8")])
    record["value"] = [1, 2, 3]
    ready = ready_for_core(record["value"])
    assert ready.flags.aligned
    assert ready.tolist() == [1, 2, 3]


def test_a_long_double_beyond_the_doubles_is_infinite_without_a_warning():
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long double is double here")
    huge = np.array([np.finfo(np.longdouble).max])
    assert ready_for_core(huge).tolist() == [np.inf]
