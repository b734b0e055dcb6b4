import datetime

import numpy as np
import pytest

from bosquet.data import TableEncoder

pl = pytest.importorskip("polars")


def read(values, dtype=None, **options):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    encoder, columns = TableEncoder.fit_encode(frame, **options)
    return encoder.levels[0], columns[0]


def test_numbers_without_nulls_are_not_copied():
    frame = pl.DataFrame({"x": np.arange(10.0)})
    assert np.shares_memory(TableEncoder.fit_encode(frame)[1][0], frame["x"].to_numpy())


@pytest.mark.parametrize("dtype", ["Int8", "Int64", "UInt32", "Float32", "Float64", "Boolean"])
def test_nulls_are_nan(dtype):
    levels, column = read(pl.Series([1, None, 0]).cast(getattr(pl, dtype)))
    assert levels is None
    np.testing.assert_array_equal(column, [1, np.nan, 0])


def test_types_that_numpy_lacks_become_the_nearest_doubles():
    np.testing.assert_array_equal(read([2**70, None], pl.Int128)[1], [2.0**70, np.nan])
    column = read(pl.Series(["0.10", None]).cast(pl.Decimal(10, 2)))[1]
    np.testing.assert_array_equal(column, [0.1, np.nan])


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_text_and_categories_give_the_same_levels_and_codes(dtype):
    levels, column = read(["z", None, "a", "z", "é"], dtype)
    assert levels == ["a", "z", "é"]
    assert column.tolist() == [1, -1, 0, 1, 2]


def test_categories_without_nulls_are_matched_to_their_text():
    read(["other", "columns", "come first"], pl.Categorical)
    levels, column = read(["b", "a", "b", "c"], pl.Categorical)
    assert levels == ["a", "b", "c"]
    assert column.tolist() == [1, 0, 1, 2]


def test_a_column_of_type_null_has_no_levels():
    levels, column = read([None, None])
    assert levels == []
    assert np.isnan(column).all()


def test_a_lazy_frame_must_be_collected_first():
    with pytest.raises(TypeError, match=r"pass X\.collect\(\)"):
        TableEncoder.fit_encode(pl.LazyFrame({"x": [1]}))


@pytest.mark.parametrize(
    "values", [[datetime.date(2020, 1, 1)], [datetime.timedelta(1)], [[1, 2]], [b"x"], [{"a": 1}]]
)
def test_other_types_are_rejected_by_name(values):
    with pytest.raises(TypeError, match="column 'x' has type"):
        read(values)


def test_a_narwhals_frame_is_read_as_the_frame_it_wraps():
    narwhals = pytest.importorskip("narwhals")
    encoder, columns = TableEncoder.fit_encode(
        narwhals.from_native(pl.DataFrame({"x": ["b", "a"]}))
    )
    assert encoder.feature_names == ["x"]
    assert columns[0].tolist() == [1, 0]
    with pytest.raises(TypeError, match="collect"):
        TableEncoder.fit_encode(narwhals.from_native(pl.LazyFrame({"x": [1]})))
