import datetime

import numpy as np
import pytest

from bosquet.data import TableEncoder

pd = pytest.importorskip("pandas")


def read(values, **options):
    encoder, columns = TableEncoder.fit_encode(pd.DataFrame({"x": values}), **options)
    column = columns[0] if isinstance(columns, list) else columns[:, 0]
    return encoder.levels[0], column


def test_columns_of_a_large_frame_are_not_copied():
    frame = pd.DataFrame(np.random.default_rng(0).random((60_000, 3)), columns=list("abc"))
    frame["d"] = np.arange(60_000, dtype=np.float32)
    _, columns = TableEncoder.fit_encode(frame)
    assert [column.dtype for column in columns] == [np.float64] * 3 + [np.float32]
    for name, column in zip(frame, columns, strict=True):
        assert np.shares_memory(column, frame[name].to_numpy())


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("Int8", np.float64),
        ("Int64", np.float64),
        ("UInt16", np.float64),
        ("boolean", np.float64),
        ("Float32", np.float32),
        ("Float64", np.float64),
        ("int64[pyarrow]", np.float64),
        ("float[pyarrow]", np.float32),
        ("bool[pyarrow]", np.float64),
    ],
)
def test_the_missing_values_of_nullable_numbers_are_nan(dtype, expected):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    levels, column = read(pd.array([1, None, 0], dtype=dtype))
    assert levels is None
    assert column.dtype == expected
    np.testing.assert_array_equal(column, [1, np.nan, 0])


def test_nullable_integers_without_missing_values_stay_integers():
    _, column = read(pd.array([1, 2], dtype="Int16"))
    assert column.dtype == np.int16


def test_a_sparse_column_is_read_with_its_fill_value():
    np.testing.assert_array_equal(read(pd.arrays.SparseArray([0.0, 2.0, 0.0]))[1], [0, 2, 0])


@pytest.mark.parametrize(
    "dtype", ["str", "string[python]", "string[pyarrow]", "object", "category"]
)
def test_every_kind_of_text_column_gives_the_same_levels_and_codes(dtype):
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    if dtype == "str" and int(pd.__version__.split(".")[0]) < 3:
        pytest.skip("before pandas 3, astype(str) makes the text 'None' of a missing value")
    levels, column = read(pd.Series(["z", None, "a", "z", "é"], dtype=object).astype(dtype))
    assert levels == ["a", "z", "é"]
    assert column.tolist() == [1, -1, 0, 1, 2]
    assert column.dtype == np.int32


def test_text_in_an_arrow_type_is_categorical():
    pa = pytest.importorskip("pyarrow")
    levels, column = read(pd.array(["b", None, "a"], dtype=pd.ArrowDtype(pa.string())))
    assert levels == ["a", "b"]
    assert column.tolist() == [1, -1, 0]


def test_categories_count_only_where_they_occur_and_in_the_order_of_their_values():
    levels, column = read(pd.Categorical(["z", "a"], categories=["z", "never", "a"]))
    assert levels == ["a", "z"]
    assert column.tolist() == [1, 0]


def test_categories_are_mapped_by_value_whatever_the_list_of_the_new_frame():
    encoder, _ = TableEncoder.fit_encode(pd.DataFrame({"x": pd.Categorical(["a", "b", "c"])}))
    other = pd.Categorical(["c", "new", "a", None], categories=["c", "new", "a"])
    assert encoder.transform(pd.DataFrame({"x": other}))[0].tolist() == [2, -1, 0, -1]
    assert encoder.transform(pd.DataFrame({"x": ["b", "new"]}))[0].tolist() == [1, -1]


def test_one_row_of_a_column_with_many_categories_is_mapped_too():
    values = [f"level {i}" for i in range(1000)]
    frame = pd.DataFrame({"x": pd.Categorical(values)})
    encoder, _ = TableEncoder.fit_encode(frame)
    code = encoder.transform(frame.iloc[[517]])[0].tolist()[0]
    assert encoder.levels[0][code] == "level 517"


def test_numeric_categories_are_levels_by_number():
    levels, column = read(pd.Categorical([2.0, 1.0, None, 2.0]))
    assert levels == [1, 2]
    assert column.tolist() == [1, 0, -1, 1]


def test_numeric_categories_are_quantities_when_nothing_is_to_be_categorical():
    levels, column = read(pd.Categorical([2.5, 1.0, None]), categorical_features=None)
    assert levels is None
    np.testing.assert_array_equal(column, [2.5, 1, np.nan])


def test_intervals_and_dates_of_a_category_column_are_known_by_their_text():
    assert read(pd.cut([1, 2, 9], [0, 5, 10]))[0] == ["(0, 5]", "(5, 10]"]
    assert read(pd.Categorical([datetime.date(2020, 1, 2), None]))[0] == ["2020-01-02"]


def test_objects_that_are_numbers_are_numbers():
    levels, column = read(np.array([1, None, pd.NA, 2.5], dtype=object))
    assert levels is None
    np.testing.assert_array_equal(column, [1, np.nan, np.nan, 2.5])


def test_every_mark_of_a_missing_value_is_missing_among_text():
    assert read(np.array(["a", None, pd.NA, np.nan, pd.NaT], dtype=object))[1].tolist() == [
        0, -1, -1, -1, -1
    ]  # fmt: skip


def test_an_object_column_without_values_accepts_all_later_values():
    frame = pd.DataFrame({"x": np.array([None, None], dtype=object), "y": [1.0, 2.0]})
    encoder, columns = TableEncoder.fit_encode(frame)
    assert encoder.levels == [[], None]
    assert np.isnan(columns[0]).all()
    for later in (["text", "text"], [1.0, 2.0]):
        assert np.isnan(encoder.transform(pd.DataFrame({"x": later, "y": 1.0}))[0]).all()


def test_integers_of_64_bits_are_distinct_levels_also_with_missing_values():
    levels, column = read(
        pd.array([2**60 + 1, 2**60, None], dtype="Int64"), categorical_features=["x"]
    )
    assert levels == [2**60, 2**60 + 1]
    assert column.tolist() == [1, 0, -1]


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01"]),
        pd.to_datetime(["2020-01-01"]).tz_localize("UTC"),
        pd.to_timedelta([1], unit="D"),
        pd.period_range("2020", periods=1),
        np.array([datetime.date(2020, 1, 1)], dtype=object),
    ],
)
def test_a_column_of_dates_is_rejected_by_name(values):
    with pytest.raises(TypeError, match=r"column 'x' has type .*convert dates"):
        read(values)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([1j], ValueError),
        (pd.interval_range(0, 1), TypeError),
        ([b"b"], TypeError),
        ([[1]], TypeError),
    ],
)
def test_a_column_that_is_neither_numbers_nor_text_is_rejected_by_name(values, error):
    with pytest.raises(error, match="column 'x'"):
        read(values)


def test_labels_that_are_not_strings_are_not_names_and_may_repeat():
    frame = pd.DataFrame([[1, "a"], [2, "b"]], columns=[7, 7])
    encoder, columns = TableEncoder.fit_encode(frame)
    assert encoder.feature_names is None
    assert [column.tolist() for column in columns] == [[1, 2], [0, 1]]


def test_a_small_frame_of_mixed_numbers_gives_the_same_numbers_as_a_large_one():
    small = pd.DataFrame({"i": [1, 2], "f": [0.1, np.nan], "g": np.array([1, 2], dtype="f4")})
    large = pd.concat([small] * 40_000, ignore_index=True)
    one, many = TableEncoder.fit_encode(small)[1], TableEncoder.fit_encode(large)[1]
    for index, column in enumerate(many):
        np.testing.assert_array_equal(one[:, index], column[:2])
    with_booleans = TableEncoder.fit_encode(small.assign(b=[True, False]))[1]
    assert with_booleans[3].tolist() == [1, 0]
