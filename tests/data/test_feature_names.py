import re
import warnings

import numpy as np
import pytest

from bosquet.data import TableEncoder

pd = pytest.importorskip("pandas")

ODD = ["with space", '{"json": [1]}', "ünïcode", "🌲", "a\nb", "", "<b>"]


def make_frame(names):
    return pd.DataFrame(np.arange(2.0 * len(names)).reshape(2, -1), columns=list(names))


def test_names_of_any_characters_are_kept_and_survive_the_state():
    encoder, _ = TableEncoder.fit_encode(make_frame(ODD))
    assert encoder.feature_names == ODD
    assert TableEncoder.from_state(encoder.to_state()).feature_names == ODD
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(make_frame(ODD))


@pytest.mark.parametrize(
    ("given", "difference"),
    [
        ("cba", "Feature names must be in the same order as they were in fit."),
        ("abx", "Feature names unseen at fit time:\n- x\n"
                "Feature names seen at fit time, yet now missing:\n- c\n"),
        ("ab", "Feature names seen at fit time, yet now missing:\n- c\n"),
        ("abcuvwxyz", "Feature names unseen at fit time:\n- u\n- v\n- w\n- x\n- y\n- ...\n"),
    ],
)  # fmt: skip
def test_different_names_are_rejected_and_listed(given, difference):
    encoder, _ = TableEncoder.fit_encode(make_frame("abc"))
    message = "The feature names should match those that were passed during fit.\n" + difference
    with pytest.raises(ValueError, match=re.escape(message)):
        encoder.transform(make_frame(given))


def test_names_in_only_one_of_two_tables_give_a_warning():
    named, _ = TableEncoder.fit_encode(make_frame("abc"))
    unnamed, _ = TableEncoder.fit_encode(np.zeros((2, 3)))
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but Forest was fitted with"
    ):
        named.transform(np.zeros((2, 3)), owner="Forest")
    with pytest.warns(
        UserWarning, match="X has feature names, but TableEncoder was fitted without"
    ):
        unnamed.transform(make_frame("abc"))


def test_given_names_are_checked_but_arrays_need_no_names():
    encoder, _ = TableEncoder.fit_encode(np.zeros((2, 3)), feature_names=["a", "b", "c"])
    encoder = TableEncoder.from_state(encoder.to_state())
    assert encoder.feature_names == ["a", "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(np.zeros((2, 3)))
        encoder.transform([[1, 2, 3]])
        encoder.transform(make_frame("abc"))
    with pytest.raises(ValueError, match="same order"):
        encoder.transform(make_frame("acb"))


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a", "b"], ValueError, "has 2 names, but X has 3 features"),
        (["a", "b", "a"], ValueError, "contains 'a' 2 times"),
        (["a", "b", 3], TypeError, "sequence of strings"),
        ("abc", TypeError, "sequence of strings"),
    ],
)
def test_invalid_given_names_are_rejected(names, error, message):
    with pytest.raises(error, match=message):
        TableEncoder.fit_encode(np.zeros((2, 3)), feature_names=names)


def test_given_names_must_agree_with_the_column_names():
    with pytest.raises(ValueError, match="differs from the column names"):
        TableEncoder.fit_encode(make_frame("abc"), feature_names=["x", "y", "z"])
    assert TableEncoder.fit_encode(make_frame("ab"), feature_names=["a", "b"])[0].feature_names == [
        "a",
        "b",
    ]


def test_duplicate_names_are_rejected():
    with pytest.raises(ValueError, match=r"duplicates: \['a'\]"):
        TableEncoder.fit_encode(make_frame("aba"))


def test_names_of_mixed_types_are_rejected():
    with pytest.raises(TypeError, match=r"types \['int', 'str'\]"):
        TableEncoder.fit_encode(make_frame(["a", 1]))


def test_names_are_compared_before_the_number_of_features():
    encoder, _ = TableEncoder.fit_encode(make_frame("abcd"))
    with pytest.raises(ValueError, match="yet now missing:\n- d"):
        encoder.transform(make_frame("abc"))
