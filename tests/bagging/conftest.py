"""Small data sets that the bagging tests share."""

import numpy as np
import pytest


@pytest.fixture
def two_classes():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + random.normal(size=200) > 0.8, "yes", "no")


@pytest.fixture
def three_classes():
    random = np.random.default_rng(1)
    X = random.normal(size=(150, 3))
    return X, np.digitize(X[:, 0] + 0.4 * random.normal(size=150), [-0.5, 0.5]) * 10


@pytest.fixture
def regression():
    random = np.random.default_rng(2)
    X = random.uniform(size=(150, 3))
    return X, np.sin(6 * X[:, 0]) + X[:, 1] + 0.2 * random.normal(size=150)
