"""Small data sets that the boosting tests share."""

import numpy as np
import pytest


@pytest.fixture
def two_classes():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 6))
    X[random.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2])
    y = (signal + random.logistic(size=600) * 0.5 > 0).astype(int)
    return X, y


@pytest.fixture
def three_classes():
    random = np.random.default_rng(1)
    X = random.normal(size=(600, 5))
    return X, np.digitize(X[:, 0] + 0.3 * random.normal(size=600), [-0.5, 0.5])


@pytest.fixture
def regression():
    random = np.random.default_rng(2)
    X = random.normal(size=(500, 5))
    return X, np.exp(0.5 * X[:, 0] + 0.2 * X[:, 1] ** 2 + 0.1 * random.normal(size=500))
