"""The ten real tables of the accuracy study, and how each is split.

Columns that must not be features are listed here, with the reason: parts of the target (`casual` +
`registered` = `cnt`), leaks of the outcome (`duration` of the call), and the origin of a row (`origin`,
`dteday`).

Duplicate rows are a leak too if a split puts one copy on each side. higgs_small combines overlapping
samples: 4,098 events are in it twice, once rounded to three decimals, so no two rows are equal and a
search for equal rows finds none. 27 % of the test rows then have a copy in the training set, and the
library that overfits most is first. Only one row of each pair is kept. The equal rows of spambase (12 %)
are in the original table and are kept.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import KDTree
from sklearn.model_selection import train_test_split


@dataclass(frozen=True)
class Source:
    """The target column, and the columns that are not features."""

    target: str
    task: str
    drop: tuple = ()
    twins_within: float | None = None


# Smallest first, so that an interrupted study has complete tables.
SOURCES = {
    "abalone": Source("rings", "regression"),
    "spambase": Source("class", "binary"),
    "bike_sharing_hour": Source("cnt", "regression", ("dteday", "casual", "registered")),
    "california_housing": Source("median_house_value", "regression"),
    "higgs_small": Source("label", "binary", ("origin",), twins_within=0.001),
    "diamonds": Source("price", "regression"),
    "bank_marketing": Source("y", "binary", ("duration",)),
    "adult": Source("income", "binary"),
    "amazon_employee_access": Source("ACTION", "binary"),
    "covertype": Source("Cover_Type", "multiclass"),
}

TEST_SHARE = 0.25
# Only covertype (581,012 rows) is above this: its training part is a random 100,000 of the
# 75 %, so that a thousand rounds of the slowest peer stay affordable. The test part is whole.
MAX_TRAIN = 100_000


@dataclass
class Problem:
    """A prepared table: float64 numbers, categorical columns, a coded target."""

    name: str
    task: str
    X: pd.DataFrame
    y: np.ndarray

    @property
    def categorical(self):
        """Return the names of the categorical columns."""
        return [c for c in self.X.columns if isinstance(self.X[c].dtype, pd.CategoricalDtype)]


def load(root, name):
    """Read one table below `root` as a `Problem`."""
    source = SOURCES[name]
    frame = pd.read_parquet(Path(root) / name / "data.parquet")
    target = frame[source.target]
    X = frame.drop(columns=[source.target, *source.drop])
    # Stored integers are as small as they can be; every library gets the same float64.
    numbers = [c for c in X.columns if not isinstance(X[c].dtype, pd.CategoricalDtype)]
    X = X.astype(dict.fromkeys(numbers, np.float64))
    if source.task == "regression":
        y = target.to_numpy(dtype=np.float64)
    else:
        y = np.unique(target.astype(str).to_numpy(dtype=object), return_inverse=True)[1]
    if source.twins_within:
        keep = _without_references(X.to_numpy(), source.twins_within)
        X, y = X[keep].reset_index(drop=True), y[keep]
    return Problem(name, source.task, X, y)


def _without_references(values, distance):
    """Return a mask that keeps one of several rows that differ by at most `distance` in every column."""
    keep = np.ones(len(values), dtype=bool)
    pairs = KDTree(values).query_pairs(distance, p=np.inf, output_type="ndarray")
    keep[pairs.max(axis=1)] = False
    return keep


def split(problem, seed):
    """Split a problem into (X_train, X_test, y_train, y_test), stratified by class."""
    strata = None if problem.task == "regression" else problem.y
    parts = train_test_split(
        problem.X, problem.y, test_size=TEST_SHARE, random_state=seed, stratify=strata
    )
    X_train, X_test, y_train, y_test = parts
    if len(X_train) > MAX_TRAIN:
        chosen = np.random.default_rng(seed).permutation(len(X_train))[:MAX_TRAIN]
        X_train, y_train = X_train.iloc[chosen], y_train[chosen]
    return X_train, X_test, y_train, y_test
