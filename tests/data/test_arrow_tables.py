import numpy as np
import pytest

from bosquet.data import TableEncoder
from bosquet.data.arrow_tables import read_arrow

pa = pytest.importorskip("pyarrow")


def read(values, **options):
    encoder, columns = TableEncoder.fit_encode(pa.table({"x": values}), **options)
    return encoder.levels[0], columns[0]


class Stream:
    """An object that only exports an Arrow stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_numbers_in_one_chunk_are_not_copied():
    values = np.arange(10.0)
    assert np.shares_memory(read(pa.array(values))[1], values)


class HalvesOfArrow16:
    """A float16 column whose missing values cannot be filled, as in pyarrow 16."""

    def __init__(self, column):
        self._column = column

    def __getattr__(self, name):
        return getattr(self._column, name)

    def fill_null(self, value):
        raise pa.ArrowNotImplementedError("no kernel matching input types (halffloat, halffloat)")


def test_float16_columns_with_nulls_are_read():
    column = pa.array([np.float16(1.5), None, np.float16(0)], pa.float16())
    for one in (column, pa.chunked_array([column])):
        found = read_arrow(HalvesOfArrow16(one), "column 0").as_quantities()
        np.testing.assert_array_equal(found, [1.5, np.nan, 0])


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint32", "float16", "float32", "float64"])
def test_nulls_are_nan(dtype):
    values = [np.float16(1), None, np.float16(0)] if dtype == "float16" else [1, None, 0]
    levels, column = read(pa.array(values, type=getattr(pa, dtype)()))
    assert levels is None
    np.testing.assert_array_equal(column, [1, np.nan, 0])


def test_booleans_and_decimals_are_numbers():
    np.testing.assert_array_equal(read(pa.array([True, None, False]))[1], [1, np.nan, 0])
    decimals = pa.array(["0.10", None]).cast(pa.decimal128(5, 2))
    np.testing.assert_array_equal(read(decimals)[1], [0.1, np.nan])


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_text_gives_the_same_levels_and_codes_in_every_type_and_any_chunks(kind):
    values = ["z", None, "a", "z", "é"]
    own = pa.string() if kind == "dictionary" else getattr(pa, kind)()
    whole = pa.array(values, own)
    parts = pa.chunked_array([values[:2], [], values[2:]], own)
    for column in (whole, parts):
        levels, codes = read(column.dictionary_encode() if kind == "dictionary" else column)
        assert levels == ["a", "z", "é"]
        assert codes.tolist() == [1, -1, 0, 1, 2]


def test_a_dictionary_may_hold_repeats_nulls_and_levels_that_do_not_occur():
    dictionary = pa.array(["b", "a", "b", None, "never"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None]), dictionary)
    levels, codes = read(column)
    assert levels == ["a", "b"]
    assert codes.tolist() == [1, 0, 1, -1, -1]


def test_the_chunks_of_a_dictionary_may_differ():
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["a", "c"]).dictionary_encode()]
    levels, codes = read(pa.chunked_array(chunks))
    assert levels == ["a", "b", "c"]
    assert codes.tolist() == [1, 0, 0, 2]


def test_run_end_encoded_columns_are_unrolled():
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["b", "a"])
    assert read(runs)[1].tolist() == [1, 1, 0]


def test_large_unsigned_levels_are_exact():
    levels, _ = read(pa.array([2**63 + 1, None], type=pa.uint64()), categorical_features=[0])
    assert levels == [2**63 + 1]


def test_record_batches_readers_and_streams_are_tables():
    table = pa.table({"x": [1.5, None], "y": ["b", "a"]})
    batch = table.to_batches()[0]
    for X in (table, batch, table.to_reader(), Stream(table)):
        encoder, columns = TableEncoder.fit_encode(X)
        assert encoder.feature_names == ["x", "y"]
        np.testing.assert_array_equal(columns[0], [1.5, np.nan])
        assert columns[1].tolist() == [1, 0]


def test_a_stream_that_is_not_a_table_is_rejected():
    with pytest.raises(ValueError, match="Expected 2D array"):
        TableEncoder.fit_encode(Stream(pa.chunked_array([[1, 2]])))


@pytest.mark.parametrize(
    "values",
    [pa.array([0], type=pa.timestamp("s")), pa.array([0], type=pa.date32()), [b"x"], [[1]]],
)
def test_other_types_are_rejected_by_name(values):
    with pytest.raises(TypeError, match="column 'x' has type"):
        read(values)


def test_a_missing_level_stays_missing_for_estimators_that_take_arrays():
    from bosquet import BaggingClassifier, SuperLearnerClassifier, VotingClassifier
    from bosquet.trees import DecisionTreeClassifier

    colours = pa.array(["red", None, "blue"] * 20).dictionary_encode()
    table = pa.table({"colour": colours, "noise": np.random.default_rng(0).random(60)})
    y = np.tile(["hot", "unknown", "cold"], 20)
    members = [("tree", DecisionTreeClassifier()), ("other", DecisionTreeClassifier(max_depth=3))]
    for model in (BaggingClassifier(), VotingClassifier(members), SuperLearnerClassifier(members)):
        assert (model.fit(table, y).predict(table) == y).all(), model
