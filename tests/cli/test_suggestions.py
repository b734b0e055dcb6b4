"""A suggestion is made where one is likely, and otherwise the names are told."""

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
def test_slips_of_the_finger_are_understood(given, meant):
    assert nearest(given, METHODS) == meant


@pytest.mark.parametrize("given", ["nope", "w", "", "magic", "r", "one"])
def test_nothing_far_fetched_is_suggested(given):
    assert nearest(given, ["slope", "x", "y", "price", "income", "open_account"]) is None


def test_without_a_suggestion_the_names_are_told_but_not_all_of_many():
    assert hint("magic", ["a", "b"]) == "there are 'a', 'b'"
    assert (
        hint("magic", [f"v{i}" for i in range(20)], 3) == "there are 'v0', 'v1', 'v2' and 17 more"
    )
