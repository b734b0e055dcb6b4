"""Data sets shared by the tests of calibration and coverage."""

import numpy as np
import pytest

from bosquet.datasets import Friedman1, Threenorm, Waveform


@pytest.fixture(scope="session")
def two_classes():
    return Threenorm().sample(1200, random_state=0)


@pytest.fixture(scope="session")
def two_classes_later():
    return Threenorm().sample(4000, random_state=1)


@pytest.fixture(scope="session")
def three_classes():
    return Waveform().sample(900, random_state=0)


@pytest.fixture(scope="session")
def numbers():
    return Friedman1().sample(500, random_state=0)


@pytest.fixture
def random():
    return np.random.default_rng(0)
