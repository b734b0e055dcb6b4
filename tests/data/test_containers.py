"""The same values give the same columns, in every container; other objects raise an error."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from core_fit import learn_test_bins
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.data import TableEncoder

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
NUMBERS = st.floats(allow_nan=False, width=64)


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 12))

    def column(values):
        return draw(st.lists(st.one_of(st.none(), values), min_size=rows, max_size=rows))

    kinds = draw(st.lists(st.sampled_from([NUMBERS, TEXT, st.booleans()]), min_size=1, max_size=4))
    return {f"column {index}": column(kind) for index, kind in enumerate(kinds)}


def holders(data):
    """Return the table in every container whose library is installed."""
    rows = [list(row) for row in zip(*data.values(), strict=True)]
    yield rows
    yield np.array(rows, dtype=object)
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        yield pd.DataFrame(data)
        yield pd.DataFrame(data).astype("category")
        with np.errstate(invalid="ignore"):  # pandas 2 casts 2**63 to an integer
            converted = pd.DataFrame(data).convert_dtypes()
        yield converted
    try:
        import polars as pl
    except ImportError:
        pass
    else:
        yield pl.DataFrame(data)
    try:
        import pyarrow as pa
    except ImportError:
        pass
    else:
        yield pa.table(data)


def as_lists(columns):
    columns = columns if isinstance(columns, list) else list(columns.T)
    return [["missing" if value != value else value for value in c.tolist()] for c in columns]


@settings(deadline=None, max_examples=40)
@given(tables())
def test_every_container_of_the_same_values_gives_equal_columns_and_levels(data):
    everything = list(range(len(data)))
    text = [i for i, c in enumerate(data.values()) if any(isinstance(v, str) for v in c)]
    for categorical in (text, everything):
        results = []
        for X in holders(data):
            encoder, columns = TableEncoder.fit_encode(X, categorical_features=categorical)
            results.append((as_lists(columns), json.dumps(encoder.to_state()["levels"])))
            assert as_lists(columns) == results[0][0], type(X)
            assert results[-1] == results[0], type(X)


@settings(deadline=None, max_examples=40)
@given(tables())
def test_encoding_the_training_table_again_gives_the_columns_of_training(data):
    for X in holders(data):
        encoder, columns = TableEncoder.fit_encode(X)
        assert as_lists(encoder.transform(X)) == as_lists(columns)
        restored = TableEncoder.from_state(json.loads(json.dumps(encoder.to_state())))
        assert as_lists(restored.transform(X)) == as_lists(columns)


@settings(deadline=None, max_examples=40)
@given(tables(), st.data())
def test_codes_do_not_depend_on_the_order_of_the_rows(data, more):
    order = more.draw(st.permutations(range(len(next(iter(data.values()))))))
    shuffled = {name: [column[row] for row in order] for name, column in data.items()}
    for X, Y in zip(holders(data), holders(shuffled), strict=True):
        encoder, columns = TableEncoder.fit_encode(X)
        other, shuffled_columns = TableEncoder.fit_encode(Y)
        assert other.to_state() == encoder.to_state()
        expected = [[column[row] for row in order] for column in as_lists(columns)]
        assert as_lists(shuffled_columns) == expected


@pytest.mark.parametrize("X", [np.arange(3.0), [1, 2, 3], ["a", "b"], []])
def test_one_dimensional_input_is_rejected(X):
    with pytest.raises(
        ValueError, match=r"Expected 2D array, got 1D array instead.*Reshape your data"
    ):
        TableEncoder.fit_encode(X)


def test_a_series_is_rejected():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"Expected 2D array.*Reshape your data.*to_frame"):
        TableEncoder.fit_encode(pd.Series([1.0, 2.0]))


def test_a_frame_of_an_unknown_library_is_rejected_with_advice():
    class Spreadsheet:
        columns = ("a", "b")

    with pytest.raises(TypeError, match=r"Spreadsheet, which Forest cannot read; pass"):
        TableEncoder.fit_encode(Spreadsheet(), owner="Forest")


@pytest.mark.parametrize("X", [None, 3.0, "table.csv", {"a": [1, 2]}, object()])
def test_an_object_that_is_not_a_table_is_rejected_with_advice(X):
    with pytest.raises(ValueError, match=r"Expected 2D array, got .*pass an array"):
        TableEncoder.fit_encode(X)


@pytest.mark.parametrize("path", ["new.parquet", Path("new.parquet")])
def test_a_path_is_rejected_with_what_accepts_paths(path):
    with pytest.raises(ValueError, match=r"got the path 'new.parquet'; .*open_batches"):
        TableEncoder.fit_encode(path)


def test_three_dimensional_input_is_rejected():
    with pytest.raises(ValueError, match=r"dim 3.* required by Forest"):
        TableEncoder.fit_encode(np.zeros((2, 2, 2)), owner="Forest")


def test_empty_tables_are_rejected_in_fit_and_transform():
    encoder, _ = TableEncoder.fit_encode(np.zeros((2, 3)))
    no_rows = (
        r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required; pass at least one"
    )
    no_features = r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required; pass"
    for use in (TableEncoder.fit_encode, encoder.transform):
        with pytest.raises(ValueError, match=no_rows):
            use(np.zeros((0, 3)))
        with pytest.raises(ValueError, match=no_features):
            use(np.zeros((12, 0)))


def test_the_error_for_a_wrong_number_of_features_names_the_estimator():
    encoder, _ = TableEncoder.fit_encode(np.zeros((2, 4)))
    with pytest.raises(
        ValueError, match=r"X has 3 features, but Forest is expecting 4 features as input"
    ):
        encoder.transform(np.zeros((2, 3)), owner="Forest")


def test_an_object_that_numpy_can_read_is_a_table():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0, 2.0]])

    np.testing.assert_array_equal(TableEncoder.fit_encode(Wrapped())[1], [[1, 2]])


def test_arrays_lists_and_sparse_matrices_import_no_data_frame_library():
    program = """
import sys, numpy as np, scipy.sparse
from bosquet.data import TableEncoder
for X in (np.eye(3), [[1, "a"]], np.array([["a", None]], dtype=object), scipy.sparse.eye_array(3)):
    TableEncoder.fit_encode(X)[0].transform(X)
heavy = {"pandas", "polars", "pyarrow", "narwhals", "sklearn"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_core_reads_all_outputs_of_the_encoder():
    rng = np.random.default_rng(0)
    rows = rng.random((50, 3))
    unwritable = rows.copy()
    unwritable.flags.writeable = False
    mixed = [[number, f"level {number:.1f}"] for number, *_ in rows]
    reversed_rows = rows[::-2, ::-1]
    others = [np.asfortranarray(rows), rows.astype(">f4"), rows > 0.5, reversed_rows, mixed]
    for X in [rows, unwritable, *others]:
        encoder, columns = TableEncoder.fit_encode(X)
        bins = learn_test_bins(columns, encoder.n_levels)
        assert bins.n_features == encoder.n_features
