"""Forests that are small enough for the tests."""


def make_forest(kind, **options):
    return kind(n_estimators=30, random_state=0, **options)
