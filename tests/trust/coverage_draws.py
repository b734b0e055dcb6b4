"""Coverage and width of intervals and sets, averaged over many samples of the data.

    python tests/trust/coverage_draws.py

prints the table of docs/trust.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import (
    ConformalModel,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.datasets import Friedman1, Threenorm, Waveform

DRAWS, NEW_ROWS, COVERAGE = 50, 1000, 0.9


def friedman(n, random):
    return Friedman1().sample(n, random)


def skewed(n, random):
    """exp of Friedman's first function plus noise: the largest values are ten times the median."""
    X, y = Friedman1().sample(n, random)
    return X, np.exp(y / 6)


def uneven(n, random):
    """Noise whose standard deviation grows from 0.1 to 2 with the first column."""
    X = random.random((n, 4))
    spread = 0.1 + 1.9 * X[:, 0]
    return X, 3 * X[:, 1] + spread * random.standard_normal(n)


def waveform(n, random):
    return Waveform().sample(n, random)


def imbalanced(n, random):
    """Threenorm with one twelfth of the rows in class 1."""
    X, y = Threenorm().sample(12 * n, random)
    rare, common = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    n_rare = random.binomial(n, 1 / 12)
    rows = random.permutation(np.r_[rare[:n_rare], common[: n - n_rare]])
    return X[rows], y[rows]


NUMBERS = {"friedman": friedman, "skewed": skewed, "uneven": uneven}
CLASSES = {"waveform": waveform, "imbalanced": imbalanced}
SMALL = {"n_estimators": 40, "max_leaf_nodes": 6, "learning_rate": 0.15, "early_stopping": False}


def model_for(method: str, classes: bool, seed: int) -> Any:
    trees = {"n_estimators": 40, "min_samples_leaf": 3, "random_state": seed}
    if classes:
        inner = GradientBoostingClassifier(**SMALL, random_state=seed)
        if method == "oob":
            inner = RandomForestClassifier(**trees)
    elif method == "oob":
        inner = RandomForestRegressor(**trees)
    elif method == "cqr":
        inner = GradientBoostingRegressor(
            "quantile", quantile=[0.05, 0.95], **SMALL, random_state=seed
        )
    else:
        inner = GradientBoostingRegressor(**SMALL, random_state=seed)
    return ConformalModel(inner, method, calibration_size=0.4, cv=5, random_state=seed)


@dataclass
class Measured:
    """Means over the samples: coverage, and width of an interval or number of classes in a set."""

    coverage: float
    width: float
    error: float  # standard error of `coverage`


def measure(data: str, method: str, rows: int = 600, draws: int = DRAWS) -> Measured:
    covered, widths = [], []
    for seed in range(draws):
        random = np.random.default_rng([seed, 7])
        make = NUMBERS.get(data) or CLASSES[data]
        X, y = make(rows, random)
        X_new, y_new = make(NEW_ROWS, random)
        model = model_for(method, data in CLASSES, seed).fit(X, y)
        if data in CLASSES:
            within = model.predict_set(X_new, COVERAGE)
            covered.append(within[np.arange(NEW_ROWS), y_new].mean())
            widths.append(within.sum(axis=1).mean())
        else:
            low, high = model.predict_interval(X_new, COVERAGE).T
            covered.append(((low <= y_new) & (y_new <= high)).mean())
            widths.append((high - low).mean())
    return Measured(np.mean(covered), np.mean(widths), np.std(covered) / np.sqrt(draws))


def cases() -> list[tuple[str, str]]:
    numbers = [(data, m) for data in NUMBERS for m in ("split", "cqr", "cv+", "oob")]
    return numbers + [(data, m) for data in CLASSES for m in ("split", "cv+", "oob")]


if __name__ == "__main__":
    print("| data | method | covered | mean width or size |\n|---|---|---|---|")
    for data, method in cases():
        found = measure(data, method)
        print(
            f"| {data} | {method} | {found.coverage:.3f} ± {found.error:.3f} | {found.width:.2f} |",
            flush=True,
        )
