"""Data sets shared by the tests of forests."""

import pytest
from sklearn.datasets import make_classification, make_friedman1


@pytest.fixture(scope="session")
def classes():
    return make_classification(1500, 10, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)


@pytest.fixture(scope="session")
def numbers():
    return make_friedman1(1000, noise=1.0, random_state=0)
