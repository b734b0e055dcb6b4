"""A suggestion is made if a name is similar; otherwise known names are listed."""

import pytest

from bosquet._suggestions import hint, nearest

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
