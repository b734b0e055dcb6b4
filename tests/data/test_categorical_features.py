import numpy as np
import pytest

from bosquet.data import TableEncoder

X = np.array([[1.0, 5.0, 0.5], [2.0, 6.0, 0.25]])
NAMES = ["a", "b", "c"]


def categorical(chosen):
    encoder, _ = TableEncoder.fit_encode(X, categorical_features=chosen, feature_names=NAMES)
    return [index for index, levels in enumerate(encoder.levels) if levels is not None]


@pytest.mark.parametrize("chosen", [
    [True, False, True], np.array([True, False, True]), [0, 2], np.array([2, 0, 2]), (0, 2),
    ["c", "a"], np.array(["a", "c"]), {0, 2},
])  # fmt: skip
def test_categorical_columns_are_selected_by_mask_index_or_name(chosen):
    assert categorical(chosen) == [0, 2]


@pytest.mark.parametrize("chosen", ["from_dtype", None, [], np.array([], dtype=int)])
def test_numeric_columns_are_categorical_only_if_selected(chosen):
    assert categorical(chosen) == []


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        ([True, False], ValueError, "mask with 2 entries, but X has 3 features"),
        ([3], ValueError, "index 3, but X has 3 features"),
        ([-1], ValueError, "index -1"),
        (["nobody"], ValueError, r"contains \['nobody'\], but X has no columns"),
        ([0, "a"], TypeError, "only booleans, only indices, or only names"),
        ([0.5], TypeError, "only booleans, only indices, or only names"),
        ("a", ValueError, "categorical_features='a' is not valid"),
        (7, TypeError, "categorical_features=7 is not valid"),
    ],
)
def test_an_invalid_selection_is_rejected(chosen, error, message):
    with pytest.raises(error, match=message):
        categorical(chosen)


def test_names_cannot_select_columns_of_a_table_without_names():
    with pytest.raises(ValueError, match="X has no feature names; pass indices"):
        TableEncoder.fit_encode(X, categorical_features=["a"])
