import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from example_tables import example_table, write_text  # noqa: E402

from bosquet.batches import check_column_names, open_batches, read_column, read_columns  # noqa: E402
from bosquet.data import TableEncoder  # noqa: E402

TABLE = example_table()


def pieces(column, rows=7):
    """Return a source whose batches have few rows."""
    table = pa.table({"x": column, "other": pa.nulls(len(column))})
    return open_batches(table.slice(start, rows) for start in range(0, len(table), rows))


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr("bosquet.batches.sizes.BATCH_ROWS", 16)


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "float32", "float64"])
def test_numbers_are_an_array_of_the_type_of_the_column(kind):
    values = np.arange(100).astype(kind)
    column = read_column(pieces(pa.array(values)), "x")
    assert column.dtype == kind
    np.testing.assert_array_equal(column, values)


def test_booleans_are_0_and_1():
    column = read_column(pieces(pa.array([True, False, True])), "x")
    np.testing.assert_array_equal(column, [1, 0, 1])


@pytest.mark.parametrize("values", [[1, None, 3] * 20, [0.5] * 40 + [None, 1.5]])
def test_missing_numbers_are_nan(values):
    column = read_column(pieces(pa.array(values)), "x")
    np.testing.assert_array_equal(column, np.array(values, dtype=float))


def test_integers_with_missing_values_keep_their_digits():
    values = [1] * 40 + [2**53 + 1, None]
    column = read_columns(pieces(pa.array(values)), ["x"])["x"]
    assert column.values[-2] == 2**53 + 1
    assert column.missing.tolist() == [False] * 41 + [True]


def test_text_is_codes_and_levels_in_the_order_of_first_appearance():
    values = ["b"] * 20 + [None, "a", "b", "ü"] * 20
    column = read_column(pieces(pa.array(values)), "x")
    assert column.codes.dtype == np.int32
    assert column.levels == ["b", "a", "ü"]
    assert [None if code < 0 else column.levels[code] for code in column.codes] == values


def test_categories_whose_batches_have_different_levels_share_codes():
    tables = [pa.table({"x": pa.array(values).dictionary_encode()}) for values in ("ab", "ca", "b")]
    column = read_column(open_batches(iter(tables)), "x")
    assert "".join(column.levels[code] for code in column.codes) == "abcab"
    assert not column.ordered


def test_ordered_categories_have_all_levels_in_their_order():
    levels = ["low", "mid", "high"]
    column = pa.DictionaryArray.from_arrays(pa.array([2, None, 0] * 10), levels, ordered=True)
    found = read_column(pieces(column), "x")
    assert (found.levels, found.ordered) == (levels, True)
    assert found.codes.tolist() == [2, -1, 0] * 10


def test_a_column_without_values_has_no_levels():
    column = read_column(pieces(pa.array([1, 2, 3])), "other")
    assert (column.codes.tolist(), column.levels) == ([-1, -1, -1], [])


def test_several_columns_are_read_in_one_pass(tmp_path):
    write_text(TABLE, tmp_path / "table.csv")
    source = open_batches(tmp_path / "table.csv")
    calls = []
    columns = read_columns(source, ["y", "text"], progress=lambda *done: calls.append(done))
    assert calls[-1] == (TABLE.num_rows, source.n_bytes)
    assert sum(1 for _, done in calls if done == source.n_bytes) <= 2
    np.testing.assert_array_equal(columns["y"].values, TABLE.column("y"))
    texts = columns["text"]
    assert [None if c < 0 else texts.levels[c] for c in texts.codes] == TABLE.column(
        "text"
    ).to_pylist()


def test_a_column_of_dates_is_an_error_that_names_it():
    with pytest.raises(TypeError, match=r"column 'x' has type date32.* convert dates"):
        read_column(pieces(pa.array([1], pa.date32())), "x")


def test_batches_are_encoded_as_the_table_in_memory():
    X = TABLE.drop_columns("y")
    encoder, expected = TableEncoder.fit_encode(X)
    with open_batches(TABLE.to_batches(max_chunksize=90)) as source:
        batches = [encoder.transform(batch) for batch in source.batches(X.column_names)]
    for index, column in enumerate(expected):
        np.testing.assert_array_equal(np.concatenate([b[index] for b in batches]), column)


def test_the_features_are_the_columns_that_no_argument_names():
    source = open_batches([TABLE])
    named = {"target": "y", "sample_weight": "whole", "offset": None}
    assert check_column_names(source, named) == ["number", "text", "truth"]


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        (
            {"target": "Y"},
            ValueError,
            "target='Y' is not a column of a list of 1 tables; did you mean 'y'",
        ),
        ({"target": "nope"}, ValueError, "target='nope' is not a column of .*; available: 'whole'"),
        (
            {"target": np.zeros(3)},
            TypeError,
            "target is an ndarray, but X is a list of 1 tables; target must be the name of a column",
        ),
        (
            {"target": "y", "sample_weight": "y"},
            ValueError,
            "target and sample_weight both name the column 'y'; each must have a column of its own",
        ),
    ],
)
def test_an_argument_that_names_no_column_of_its_own_is_an_error(named, error, message):
    with pytest.raises(error, match=message):
        check_column_names(open_batches([TABLE]), named)


def test_a_table_without_features_is_an_error():
    source = open_batches([TABLE.select(["y"])])
    with pytest.raises(ValueError, match=r"has no feature column besides \['y'\]; add"):
        check_column_names(source, {"target": "y"})
