import numpy as np
import pytest

from bosquet.data import TableEncoder

X = np.array([[1.0, 5.0, 0.5], [2.0, 6.0, 0.25]])
NAMES = ["a", "b", "c"]


def categorical(chosen):
    encoder, _ = TableEncoder.fit(X, categorical_features=chosen, feature_names=NAMES)
    return [index for index, levels in enumerate(encoder.levels) if levels is not None]


@pytest.mark.parametrize("chosen", [
    [True, False, True], np.array([True, False, True]), [0, 2], np.array([2, 0, 2]), (0, 2),
    ["c", "a"], np.array(["a", "c"]), {0, 2},
])  # fmt: skip
def test_columns_are_chosen_by_mask_index_or_name(chosen):
    assert categorical(chosen) == [0, 2]


@pytest.mark.parametrize("chosen", ["from_dtype", None, [], np.array([], dtype=int)])
def test_no_column_of_numbers_is_categorical_unless_chosen(chosen):
    assert categorical(chosen) == []


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        ([True, False], ValueError, "mask of 2 entries, but X has 3 features"),
        ([3], ValueError, "index 3, but X has features 0 to 2"),
        ([-1], ValueError, "index -1"),
        (["nobody"], ValueError, r"names \['nobody'\], which X does not have"),
        ([0, "a"], TypeError, "all booleans, all indices, or all names"),
        ([0.5], TypeError, "all booleans, all indices, or all names"),
        ("a", ValueError, "categorical_features='a' is not understood"),
        (7, TypeError, "categorical_features=7 is not understood"),
    ],
)
def test_a_choice_that_names_no_column_is_refused(chosen, error, message):
    with pytest.raises(error, match=message):
        categorical(chosen)


def test_names_cannot_be_chosen_where_there_are_none():
    with pytest.raises(ValueError, match="X has no feature names: pass indices"):
        TableEncoder.fit(X, categorical_features=["a"])
