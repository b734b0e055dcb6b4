"""The tasks of the accuracy benchmark: 35 real tables, small samples of the large ones, and their splits.

A task is a table (`adult`) or a small training set of a large table (`adult-500`: 500 training rows). The
tables are divided into two halves. Defaults are chosen on the tasks of `CHOICE` and reported on those of
`REPORT`; all samples of a table are in the half of the table.

Columns that must not be features are listed here, with the reason: parts of the target (`casual` +
`registered` = `cnt`; national load and forecasts of it), leaks of the outcome (`duration` of the call, `boat`
and `body` of a passenger, delays that are known after departure), and the origin of a row (`origin`,
`dteday`, names).

Duplicate rows are a leak too if a split puts one copy on each side. higgs_small combines overlapping
samples: 4,098 events are in it twice, once rounded to three decimals, so no two rows are equal and a
search for equal rows finds none. 27 % of the test rows then have a copy in the training set, and the
library that overfits most is first. Only one row of each pair is kept. The equal rows of spambase (12 %)
are in the original table and are kept.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
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
    samples: tuple = ()  # numbers of training rows of the additional small tasks


# The delay of a flight is predicted before departure.
KNOWN_AFTER_DEPARTURE = (
    "dep_time", "dep_delay", "arr_time", "air_time", "time_hour", "tailnum", "flight",
)  # fmt: skip
REGIONAL_LOADS_AND_FORECASTS = (
    "Nouvelle_A", "Auvergne_R", "Bourgogne", "Occitanie", "Hauts_de_F", "Normandie", "Bretagne",
    "Centre_Val", "Ile_de_Fra", "Pays_de_la_Loire", "Provence_A", "Grand_Est",
    "Forecast_RTE_dayahead", "Forecast_RTE_intraday",
)  # fmt: skip
SAMPLES = (200, 500, 1_500, 5_000)

# By the number of rows, so that an interrupted run has complete tables.
SOURCES = {
    "sonar": Source("Class", "binary"),
    "glass": Source("Type", "multiclass"),
    "hitters": Source("Salary", "regression"),
    "ionosphere": Source("Class", "binary"),
    "ozone_la": Source("V4", "regression"),
    "sa_heart": Source("chd", "binary"),
    "boston": Source("medv", "regression"),
    "breast_cancer_original": Source("Class", "binary"),
    "opera_electric_load": Source("Load", "regression"),
    "pima": Source("diabetes", "binary"),
    "vehicle": Source("Class", "multiclass"),
    "german_credit": Source("class", "binary"),
    "uiuc_cars": Source("car", "binary"),
    "titanic": Source("survived", "binary", ("boat", "body", "name")),
    "opera_regional_load": Source("Load", "regression", REGIONAL_LOADS_AND_FORECASTS),
    "faces_vs_cars": Source("label", "binary", ("split",)),
    "abalone": Source("rings", "regression"),
    "spambase": Source("class", "binary", samples=(200, 500, 1_500)),
    "satellite": Source("classes", "multiclass", samples=(200, 500, 1_500)),
    "wine_quality": Source("quality", "regression", samples=(200, 500, 1_500)),
    "mushroom": Source("class", "binary", samples=(200, 500)),
    "creditcard_fraud_10k": Source("Class", "binary"),
    "mammography": Source("class", "binary", samples=(1_500, 5_000)),
    "bike_sharing_hour": Source(
        "cnt", "regression", ("dteday", "casual", "registered"), samples=SAMPLES
    ),
    "letter": Source("lettr", "multiclass", samples=(1_500, 5_000)),
    "california_housing": Source("median_house_value", "regression", samples=SAMPLES),
    "higgs_small": Source("label", "binary", ("origin",), twins_within=0.001, samples=SAMPLES),
    "cbcl_faces": Source("face", "binary"),
    "amazon_employee_access": Source("ACTION", "binary", samples=SAMPLES),
    "experts_srft_temperature": Source("observation", "regression", samples=SAMPLES),
    "bank_marketing": Source("y", "binary", ("duration",), samples=SAMPLES),
    "adult": Source("income", "binary", samples=SAMPLES),
    "diamonds": Source("price", "regression", samples=SAMPLES),
    "nycflights13": Source("arr_delay", "regression", KNOWN_AFTER_DEPARTURE, samples=SAMPLES),
    "covertype": Source("Cover_Type", "multiclass", samples=SAMPLES),
}

# The ten tables of docs/defaults.md.
TEN = (
    "abalone", "spambase", "bike_sharing_hour", "california_housing", "higgs_small", "diamonds",
    "bank_marketing", "adult", "amazon_employee_access", "covertype",
)  # fmt: skip

TEST_SHARE = 0.25
# Larger training sets are random samples of this size, so that a thousand rounds of the slowest peer stay
# affordable. The test set of a table is complete, that of a small task is limited.
MAX_TRAIN = 100_000
MAX_TEST_OF_SAMPLES = 20_000


# The tables that defaults are chosen on, fixed before the first run: about every other one by its number of
# rows, for classification with and without categorical columns and for regression.
CHOICE_TABLES = (
    "german_credit", "amazon_employee_access", "bank_marketing",
    "sonar", "ionosphere", "pima", "uiuc_cars", "spambase", "creditcard_fraud_10k", "letter", "covertype",
    "hitters", "boston", "opera_regional_load", "wine_quality", "california_housing", "diamonds",
)  # fmt: skip


def _tasks_of(tables):
    return [
        task
        for name in tables
        for task in [*(f"{name}-{rows}" for rows in SOURCES[name].samples), name]
    ]


CHOICE = _tasks_of(CHOICE_TABLES)
REPORT = _tasks_of(name for name in SOURCES if name not in CHOICE_TABLES)
TASKS = _tasks_of(SOURCES)
GROUPS = {"ten": list(TEN), "choice": CHOICE, "report": REPORT, "all": TASKS}


def task_names(given):
    """Return names of tasks, in the order of `TASKS`, from names of groups and of tasks."""
    names = set()
    for word in given:
        if word not in GROUPS and word not in TASKS:
            accepted = ", ".join([*GROUPS, *TASKS])
            raise SystemExit(f"--tasks {word}: there is no such task; accepted: {accepted}")
        names |= set(GROUPS.get(word, [word]))
    return [name for name in TASKS if name in names]


@dataclass
class Problem:
    """A prepared table: float64 numbers, categorical columns, a coded target."""

    name: str
    task: str
    X: pd.DataFrame
    y: np.ndarray
    train_rows: int | None = None  # of a small task

    @property
    def categorical(self):
        """Return the names of the categorical columns."""
        return [c for c in self.X.columns if isinstance(self.X[c].dtype, pd.CategoricalDtype)]


def load(root, name):
    """Read one task below `root` as a `Problem`."""
    table, _, rows = name.partition("-")
    problem = _read(root, table)
    return replace(problem, name=name, train_rows=int(rows)) if rows else problem


@lru_cache(maxsize=4)
def _read(root, name):
    source = SOURCES[name]
    frame = pd.read_parquet(Path(root) / name / "data.parquet").dropna(subset=[source.target])
    frame = frame.reset_index(drop=True)
    target = frame[source.target]
    X = frame.drop(columns=[source.target, *source.drop])
    for moment in X.select_dtypes("datetime").columns:
        X[moment] = (X[moment] - X[moment].min()) / pd.Timedelta(days=1)
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


def n_train(problem):
    """The number of training rows."""
    return problem.train_rows or min(MAX_TRAIN, int(len(problem.X) * (1 - TEST_SHARE)))


def split(problem, seed):
    """Split a problem into (X_train, X_test, y_train, y_test), stratified by class."""
    strata = None if problem.task == "regression" else problem.y
    sizes = {"test_size": TEST_SHARE}
    if problem.train_rows:
        rest = len(problem.X) - problem.train_rows
        sizes = {"train_size": problem.train_rows, "test_size": min(rest, MAX_TEST_OF_SAMPLES)}
    parts = train_test_split(problem.X, problem.y, random_state=seed, stratify=strata, **sizes)
    X_train, X_test, y_train, y_test = parts
    if len(X_train) > MAX_TRAIN:
        chosen = np.random.default_rng(seed).permutation(len(X_train))[:MAX_TRAIN]
        X_train, y_train = X_train.iloc[chosen], y_train[chosen]
    return X_train, X_test, y_train, y_test
