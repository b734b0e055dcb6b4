import numpy as np
import pytest
import scipy.sparse

from bosquet.data import TableEncoder

RNG = np.random.default_rng(0)


def encode_columns(X, **options):
    return TableEncoder.fit_encode(X, **options)[1]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_numeric_matrix_is_not_copied(dtype, order):
    X = np.array(RNG.integers(0, 2, (6, 3)), dtype=dtype, order=order)
    encoder, columns = TableEncoder.fit_encode(X)
    assert columns is X
    assert encoder.transform(X) is X
    assert encoder.levels == [None] * 3
    assert encoder.n_levels == [0, 0, 0]
    assert encoder.feature_names is None


def test_strided_and_reversed_views_are_not_copied():
    X = RNG.random((8, 6))
    for view in (X[::2], X[::-1, ::-2], X.T):
        assert np.shares_memory(encode_columns(view), X)


def test_a_read_only_array_is_accepted():
    X = RNG.random((4, 2))
    X.flags.writeable = False
    assert encode_columns(X) is X


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i4", "f2", "g"])
def test_other_number_types_are_converted_to_the_same_numbers(dtype):
    X = np.array([[1, 2], [3, 4]], dtype=dtype)
    columns = encode_columns(X)
    assert columns.dtype.isnative
    assert columns.dtype in (np.float32, np.float64, np.int32)
    np.testing.assert_array_equal(columns, X)


def test_subclasses_of_ndarray_are_read_as_plain_arrays():
    class Measured(np.ndarray):
        pass

    X = np.ones((2, 2)).view(Measured)
    assert type(encode_columns(X)) is np.ndarray
    assert np.shares_memory(encode_columns(X), X)


def test_masked_values_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(encode_columns(X), [[1, np.nan], [3, 4]])


def test_masked_text_is_missing():
    X = np.ma.array([["a"], ["b"]], mask=[[False], [True]])
    encoder, columns = TableEncoder.fit_encode(X)
    assert encoder.levels == [["a"]]
    assert columns[0].tolist() == [0, -1]


def test_objects_that_are_numbers_become_a_matrix_of_doubles():
    X = np.array([[1, None], [2.5, np.float32(3)], [True, np.nan]], dtype=object)
    columns = encode_columns(X)
    assert columns.dtype == np.float64
    np.testing.assert_array_equal(columns, [[1, np.nan], [2.5, 3], [1, np.nan]])


def test_infinite_values_are_ordinary():
    X = np.array([[np.inf], [-np.inf], [0.0]])
    assert encode_columns(X) is X


@pytest.mark.parametrize("text_type", ["U", "T", object])
def test_an_array_of_text_is_categorical(text_type):
    dtype = np.dtypes.StringDType() if text_type == "T" else text_type
    X = np.array([["b", "x"], ["a", "x"], ["b", "y"]], dtype=dtype)
    encoder, columns = TableEncoder.fit_encode(X)
    assert encoder.levels == [["a", "b"], ["x", "y"]]
    assert [column.tolist() for column in columns] == [[1, 0, 1], [0, 0, 1]]


def test_a_column_of_an_object_array_is_categorical_when_text_is_in_it():
    X = np.array([[1, "u", "v"], [2, None, 7]], dtype=object)
    encoder, columns = TableEncoder.fit_encode(X)
    assert encoder.levels == [None, ["u"], [7, "v"]]
    assert columns[0].tolist() == [1, 2]
    assert columns[1].tolist() == [0, -1]
    assert columns[2].tolist() == [1, 0]


def test_nested_lists_keep_the_kind_of_each_column():
    encoder, columns = TableEncoder.fit_encode([[1.5, "a"], [None, "b"]])
    assert encoder.levels == [None, ["a", "b"]]
    np.testing.assert_array_equal(columns[0], [1.5, np.nan])


def test_nested_lists_of_numbers_become_a_matrix():
    np.testing.assert_array_equal(encode_columns([[1, 2], [3, 4]]), [[1, 2], [3, 4]])


def test_other_columns_of_a_mixed_array_are_not_copied():
    X = RNG.random((5, 3))
    X[:, 1] = [4, 2, 4, np.nan, 2]
    encoder, columns = TableEncoder.fit_encode(X, categorical_features=[1])
    assert np.shares_memory(columns[0], X)
    assert encoder.levels == [None, [2, 4], None]
    assert columns[1].tolist() == [1, 0, 1, -1, 0]
    assert columns[1].dtype == np.int32


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_every_sparse_form_gives_the_numbers_of_its_dense_reference(form, kind):
    dense = np.where(RNG.random((7, 4)) < 0.4, RNG.random((7, 4)), 0.0)
    dense[2, 1] = np.nan
    X = getattr(scipy.sparse, f"csr_{kind}")(dense).asformat(form)
    np.testing.assert_array_equal(encode_columns(X), dense)


def test_sparse_counts_take_one_byte_each_and_doubles_stay_exact():
    counts = scipy.sparse.csr_array(np.array([[0.0, 1.0], [255.0, 0.0]]))
    assert encode_columns(counts).dtype == np.uint8
    exact = scipy.sparse.csr_array(np.array([[0.0, 0.1]]))
    assert encode_columns(exact).dtype == np.float64
    whole = scipy.sparse.csr_array(np.array([[0, 2**53 + 1]]))
    assert encode_columns(whole).tolist() == [[0, 2**53 + 1]]


def test_repeated_entries_of_a_sparse_matrix_add_up():
    X = scipy.sparse.coo_array((np.array([200.0, 100.0]), ([0, 0], [1, 1])), shape=(1, 2)).tocsr()
    unsummed = scipy.sparse.csc_array((np.array([200.0, 100.0]), [0, 0], [0, 0, 2]), shape=(1, 2))
    assert encode_columns(X).tolist() == [[0, 300]]
    assert encode_columns(unsummed).tolist() == [[0, 300]]


def test_a_column_of_a_sparse_matrix_may_be_categorical():
    X = scipy.sparse.csr_array(np.array([[0.0, 1.0], [3.0, 1.0]]))
    encoder, columns = TableEncoder.fit_encode(X, categorical_features=[0])
    assert encoder.levels == [[0, 3], None]
    assert columns[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.array([[1j]]), ValueError, "Complex data not supported"),
        (np.array([[1j]], dtype=object), ValueError, "Complex data not supported: column 0"),
        (scipy.sparse.csr_array(np.array([[1j]])), ValueError, "Complex data not supported"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), TypeError, "dates and durations"),
        (np.array([[b"a"]]), TypeError, "decode the bytes"),
        (np.zeros((2, 2), dtype=[("a", "f8")]), TypeError, r"structured array.*\['a'\]"),
        (np.array([[1, 2], [3, {}]], dtype=object), TypeError, "column 1 contains {} in row 1"),
        (np.array([[{}]], dtype=object), TypeError, "argument must be a string or a number"),
        ([[1, 2], [3]], ValueError, "all rows must have the same number"),
        ([[10**400]], ValueError, "column 0 contains a value that cannot be converted to float64"),
    ],
)
def test_an_array_that_is_neither_numbers_nor_text_is_rejected(X, error, message):
    with pytest.raises(error, match=message):
        TableEncoder.fit_encode(X)
