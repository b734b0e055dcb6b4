import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.data import TableEncoder


def fit_column(values, **options):
    encoder, columns = TableEncoder.fit_encode([[value] for value in values], **options)
    return encoder, columns[0]


def encode(encoder, values):
    return encoder.transform([[value] for value in values])[0].tolist()


def test_one_and_true_are_one_level_of_a_column_of_numbers():
    encoder, _ = fit_column([1, 0, 2], categorical_features=[0])
    assert encode(encoder, [1.0, 0.0, 2.0]) == [1, 0, 2]
    assert encode(encoder, [True, False]) == [1, 0]
    assert encoder.transform(np.array([[1], [2]], dtype=np.uint8))[0].tolist() == [1, 2]
    for values in ([1.0, 0.0, 2.0], [True, 0, 2]):
        again, _ = fit_column(values, categorical_features=[0])
        assert again.to_state() == encoder.to_state()
        assert [type(level) for level in again.levels[0]] == [int] * 3


def test_numbers_come_before_text_and_text_goes_by_code_point():
    encoder, codes = fit_column(["é", "z", 10, "Z", 9.5, None])
    assert encoder.levels == [[9.5, 10, "Z", "z", "é"]]
    assert codes.tolist() == [4, 3, 1, 2, 0, -1]


def test_an_unseen_level_is_treated_as_missing():
    encoder, _ = fit_column(["a", "b", None])
    assert encode(encoder, ["b", "new", None, "a", ""]) == [1, -1, -1, 0, -1]


def test_an_empty_string_is_a_level():
    encoder, codes = fit_column(["", "a", None])
    assert encoder.levels == [["", "a"]]
    assert codes.tolist() == [0, 1, -1]


def test_infinite_numbers_may_be_levels():
    encoder, codes = fit_column([np.inf, 0.5, -np.inf, np.nan], categorical_features=[0])
    assert encoder.levels == [[-np.inf, 0.5, np.inf]]
    assert codes.tolist() == [2, 1, 0, -1]


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=150))
def test_whole_numbers_of_any_size_are_coded_by_rank(values):
    encoder, columns = TableEncoder.fit_encode(np.array(values)[:, None], categorical_features=[0])
    expected, ranks = np.unique(values, return_inverse=True)
    assert encoder.levels[0] == expected.tolist()
    np.testing.assert_array_equal(columns[0], ranks)


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, np.nan, np.inf, 2.0**63]), min_size=1),
       st.sampled_from([1, 40]))  # fmt: skip
def test_fractions_are_coded_by_rank_in_short_and_long_columns(values, repeats):
    column = np.array(values * repeats)
    encoder, columns = TableEncoder.fit_encode(column[:, None], categorical_features=[0])
    present = column[~np.isnan(column)]
    assert encoder.levels[0] == np.unique(present).tolist()
    codes = columns[0]
    if len(present):
        np.testing.assert_array_equal(np.array(encoder.levels[0])[codes[codes >= 0]], present)
        assert codes.dtype == np.int32


def test_the_most_frequent_levels_keep_their_codes_and_the_rest_are_missing():
    values = ["b", "c", "c", "a", "d", "d", "e"]
    encoder, codes = fit_column(values, max_categories=3)
    # c and d occur twice; of a, b and e, which occur once, a comes first.
    assert encoder.levels == [["a", "c", "d"]]
    assert encoder.n_levels == [3]
    assert codes.tolist() == [-1, 1, 1, 0, 2, 2, -1]
    assert encode(encoder, ["b", "a", "new"]) == [-1, 0, -1]


def test_ties_at_the_limit_go_by_level_order_also_among_mixed_levels():
    encoder, _ = fit_column(["b", "a", 2, 10, "z", "z"], max_categories=3)
    assert encoder.levels == [[2, 10, "z"]]


@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_many_more_levels_than_max_categories_are_supported(kind):
    numbers = np.random.default_rng(0).permutation(200_000)
    if kind == "text":
        X = np.array([f"{number:07d}" for number in numbers], dtype=object)[:, None]
        encoder, columns = TableEncoder.fit_encode(X)
        assert encoder.levels[0] == [f"{number:07d}" for number in range(4095)]
    else:
        encoder, columns = TableEncoder.fit_encode(numbers[:, None], categorical_features=[0])
        assert encoder.levels[0] == list(range(4095))
    np.testing.assert_array_equal(columns[0], np.where(numbers < 4095, numbers, -1))


def test_max_categories_is_at_most_65535():
    for most in (0, 65_536):
        with pytest.raises(ValueError, match=r"max_categories must be in \[1, 65535\]"):
            fit_column(["a"], max_categories=most)
    for most in (2.5, True, "all"):
        with pytest.raises(TypeError, match=r"max_categories must be an integer"):
            fit_column(["a"], max_categories=most)
    encoder, _ = fit_column([str(number) for number in range(70_000)], max_categories=65_535)
    assert encoder.n_levels == [65_535]


def test_text_where_numbers_were_in_training_is_rejected_by_column():
    encoder, _ = TableEncoder.fit_encode([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(
        ValueError, match="column 1 was numeric in training, but contains text such as 'x'"
    ):
        encoder.transform([[1.0, "x"]])


def test_numbers_where_text_was_in_training_are_rejected_by_column():
    encoder, _ = TableEncoder.fit_encode(
        [["red", 1.0], ["blue", 2.0]], feature_names=["colour", "size"]
    )
    with pytest.raises(ValueError, match="column 'colour' had text such as 'blue' in training, but now has numbers such as 3"):  # fmt: skip # noqa: E501
        encoder.transform(np.array([[3.0, 1.0]]))
    columns = encoder.transform(np.array([[np.nan, 1.0]]))
    assert columns[0].tolist() == [-1]


def test_text_where_numeric_levels_were_in_training_is_rejected():
    encoder, _ = fit_column([1, 2], categorical_features=[0])
    with pytest.raises(
        ValueError, match="column 0 had numbers such as 1 in training, but now has text"
    ):
        encode(encoder, ["1"])


def test_text_in_a_column_not_named_categorical_is_rejected_in_training():
    for chosen in (None, [1]):
        with pytest.raises(
            ValueError, match="column 0 contains text such as 'a'; list it in categorical_"
        ):
            TableEncoder.fit_encode([["a", 1], ["b", 2]], categorical_features=chosen)


def test_a_missing_text_column_is_missing_numbers_to_a_quantitative_column():
    encoder, _ = TableEncoder.fit_encode([[1.0], [2.0]])
    assert np.isnan(encoder.transform(np.array([[None]], dtype=object))[0]).all()
