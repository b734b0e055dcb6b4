"""Data of the tests of regression models."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("statsmodels")


@pytest.fixture(scope="session")
def beetles():
    """Bliss 1935: log dose of carbon disulphide, number of beetles, number killed."""
    return pd.DataFrame(
        {
            "dose": [1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839],
            "beetles": [59, 60, 62, 56, 63, 59, 62, 60],
            "killed": [6, 13, 18, 28, 52, 53, 61, 60],
        }
    )


@pytest.fixture(scope="session")
def patients():
    """Simulated data of a known model: two numerical columns and two factors with an interaction."""
    rng = np.random.default_rng(7)
    n = 600
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 70, n).round(),
            "dose": rng.exponential(2.0, n).round(2),
            "sex": rng.choice(["f", "m"], n),
            "clinic": rng.choice(["east", "north", "west"], n),
            "noise": rng.normal(size=n),
        }
    )
    man = frame.sex == "m"
    line = (
        -2
        + 0.04 * frame.age
        + np.where(man, -0.6, 0.3) * frame.dose
        + 0.5 * (frame.clinic == "west")
    )
    frame["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(-line)), "yes", "no")
    frame["stay"] = 5 + 0.1 * frame.age + np.where(man, 1.0, 0) * frame.dose + rng.normal(0, 2, n)
    frame["visits"] = rng.poisson(np.exp(0.2 + 0.02 * frame.age))
    return frame


@pytest.fixture(scope="session")
def berkeley():
    """Bickel et al. 1975: admissions by department and sex."""
    counts = [
        512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391,
        138, 279, 131, 244, 53, 138, 94, 299, 22, 351, 24, 317,
    ]  # fmt: skip
    cells = pd.MultiIndex.from_product(
        [list("ABCDEF"), ["man", "woman"], ["yes", "no"]], names=["department", "sex", "admitted"]
    )
    return pd.Series(counts, cells, name="count").reset_index()
