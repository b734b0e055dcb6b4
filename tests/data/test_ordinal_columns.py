"""Columns of an ordered category type are quantities: the ranks of their levels."""

import json

import numpy as np
import pytest

from bosquet.data import TableEncoder

pd = pytest.importorskip("pandas")

SIZES = ["small", "medium", "large"]


def sizes(values, categories=tuple(SIZES)):
    return pd.DataFrame({"size": pd.Categorical(values, list(categories), ordered=True)})


def test_the_order_of_the_type_is_that_of_the_numbers():
    encoder, columns = TableEncoder.fit_encode(sizes(["large", "small", None, "large"]))
    np.testing.assert_array_equal(columns[0], [2, 0, np.nan, 2])
    assert encoder.levels == [SIZES]
    assert encoder.n_levels == [0]


def test_unseen_levels_of_the_type_have_a_rank_and_other_values_are_missing():
    encoder, _ = TableEncoder.fit_encode(sizes(["large", "small"]))
    later = pd.DataFrame({"size": ["medium", "huge", None, "large"]})
    np.testing.assert_array_equal(encoder.transform(later)[0], [1, np.nan, np.nan, 2])
    # The order of the levels in a later frame does not matter.
    turned = sizes(["large", "small"], ["large", "medium", "small"])
    np.testing.assert_array_equal(encoder.transform(turned)[0], [2, 0])


def test_numbers_may_be_ordered_otherwise_than_by_size():
    frame = pd.DataFrame({"grade": pd.Categorical([1, 6, 3], [6, 3, 1], ordered=True)})
    encoder, columns = TableEncoder.fit_encode(frame)
    np.testing.assert_array_equal(columns[0], [2, 0, 1])
    np.testing.assert_array_equal(
        encoder.transform(pd.DataFrame({"grade": [3.0, 2.0]}))[0], [1, np.nan]
    )
    with pytest.raises(ValueError, match="had numbers such as 6 in training, but now has text"):
        encoder.transform(pd.DataFrame({"grade": ["good"]}))


def test_named_in_categorical_features_it_is_nominal():
    frame = sizes(["large", "small", "medium"])
    encoder, columns = TableEncoder.fit_encode(frame, categorical_features=["size"])
    assert encoder.levels == [["large", "medium", "small"]]
    assert encoder.n_levels == [3]
    assert columns[0].dtype == np.int32
    for none in (None, [False]):
        encoder, columns = TableEncoder.fit_encode(frame, categorical_features=none)
        np.testing.assert_array_equal(columns[0], [2, 0, 1])


def test_every_container_with_ordered_types_gives_the_same_numbers():
    values = ["large", "small", None, "large"]
    frame = sizes(values)
    expected = TableEncoder.fit_encode(frame)[1][0]
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    enum = pl.DataFrame({"size": pl.Series(values, dtype=pl.Enum(SIZES))})
    arrow = pa.Table.from_pandas(frame)
    assert arrow.schema.field("size").type.ordered
    inside = pd.DataFrame({"size": pd.arrays.ArrowExtensionArray(arrow.column("size"))})
    for table in (enum, arrow, inside):
        encoder, columns = TableEncoder.fit_encode(table)
        np.testing.assert_array_equal(columns[0], expected)
        assert encoder.levels == [SIZES]
        np.testing.assert_array_equal(encoder.transform(frame)[0], expected)


def test_chunks_that_order_levels_differently_are_rejected():
    pa = pytest.importorskip("pyarrow")

    def chunk(levels):
        return pa.DictionaryArray.from_arrays([0, 1], levels, ordered=True)

    same = pa.table({"x": pa.chunked_array([chunk(["low", "high"]), chunk(["low", "high"])])})
    np.testing.assert_array_equal(TableEncoder.fit_encode(same)[1][0], [0, 1, 0, 1])
    torn = pa.table({"x": pa.chunked_array([chunk(["low", "high"]), chunk(["high", "low"])])})
    with pytest.raises(ValueError, match="column 'x' has ordered categories, but its chunks"):
        TableEncoder.fit_encode(torn)


def test_the_state_keeps_the_order():
    frame = pd.DataFrame(
        {"x": pd.Categorical(["b", 2, "a"], ["b", 2, np.inf, "a", -0.5], ordered=True)}
    )
    encoder, columns = TableEncoder.fit_encode(frame)
    state = json.loads(json.dumps(encoder.to_state(), allow_nan=False))
    again = TableEncoder.from_state(state)
    assert again.to_state() == encoder.to_state()
    assert again.levels == encoder.levels == [["b", 2, np.inf, "a", -0.5]]
    np.testing.assert_array_equal(again.transform(frame)[0], columns[0])


@pytest.mark.parametrize(
    "order", [None, [], [0], [0, 0], [0, 2], [1.0, 0], [True, False], ["a", "b"], [-1, 0]]
)
def test_an_invalid_order_is_rejected(order):
    state = {
        "feature_names": None,
        "named_by_hand": False,
        "levels": [{"numbers": [], "texts": ["a", "b"], "order": order}],
    }
    with pytest.raises(ValueError, match="levels of column 0"):
        TableEncoder.from_state(state)
