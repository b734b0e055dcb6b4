"""A study in a separate process that the test kills: `python killed_study.py checkpoint table.pickle`."""

import sys

import numpy as np
import pandas as pd
from stand_ins import constant, linear, method, tree

from bosquet import Study


def rows(n=120):
    random = np.random.default_rng(3)
    a, b = random.normal(size=n), random.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "y": a * b + random.normal(size=n)})


def slow_line(shape, value, seed):
    """A slow linear model, so that there is time to kill the process."""
    import time

    from sklearn.linear_model import Ridge

    class Unhurried(Ridge):
        def fit(self, X, y):
            time.sleep(0.02)
            return super().fit(X, y)

    return Unhurried(value)


def methods():
    return [constant(), linear(), method("unhurried", slow_line, (0.1, 1.0)), tree()]


def study(checkpoint, **more):
    settings = {"methods": methods(), "budget": None, "repeats": 3, "verbose": 0}
    return Study(checkpoint=checkpoint, **{**settings, **more})


if __name__ == "__main__":
    study(sys.argv[1]).fit(rows(), "y").table_.to_pickle(sys.argv[2])
