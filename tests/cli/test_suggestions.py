"""A suggestion is made if a name is similar; otherwise known names are listed."""

import numpy as np
import pytest

from bosquet._suggestions import first_names, hint, nearest, with_article

METHODS = [
    "constant",
    "cart",
    "knn",
    "random-forest",
    "extra-trees",
    "gradient-boosting",
    "svm-linear",
]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("cartt", "cart"),
        ("Random Forest", "random-forest"),
        ("gradient_boosting", "gradient-boosting"),
        ("extratrees", "extra-trees"),
        ("forest", "random-forest"),
        ("KNN", "knn"),
        ("gb", "gradient-boosting"),
    ],
)
def test_typing_errors_are_corrected(given, meant):
    assert nearest(given, METHODS) == meant


@pytest.mark.parametrize("given", ["nope", "w", "", "magic", "r", "one"])
def test_dissimilar_names_are_not_suggested(given):
    assert nearest(given, ["slope", "x", "y", "price", "income", "open_account"]) is None


def test_without_a_suggestion_some_names_are_listed():
    assert hint("magic", ["a", "b"]) == "available: 'a', 'b'"
    assert (
        hint("magic", [f"v{i}" for i in range(20)], 3) == "available: 'v0', 'v1', 'v2' and 17 more"
    )


def test_a_message_lists_six_labels_and_the_number_of_the_others():
    assert first_names(np.array(["a", "b"])) == "'a', 'b'"
    assert first_names(np.arange(100)) == "0, 1, 2, 3, 4, 5 and 94 more"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("int", "an int"), ("dict", "a dict"), ("uint8", "a uint8"), ("ndarray", "an ndarray")],
)
def test_the_name_of_a_type_has_its_article(name, expected):
    assert with_article(name) == expected
