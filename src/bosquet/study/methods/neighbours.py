"""k nearest neighbours on scaled inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from bosquet.study.methods.candidates import Staged
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.pipelines import row_blocks, with_numeric_inputs

# Rows predicted at a time; their distances to all training rows are held in memory.
ROWS_AT_A_TIME = 2000


def _make_neighbours(kind: Any, k: int, seed: int) -> Any:
    return with_numeric_inputs(kind(n_neighbors=k), dtype="float32")


def neighbour_numbers(n_rows: int) -> list[int]:
    """Return the k to try: 1, 3, 5, ln n, ..., up to a tenth of the rows and at most 201."""
    largest = max(1, min(n_rows // 10, 201))
    numbers = {1, 3, 5, round(math.log(max(n_rows, 2))), 11, 21, 45, 101, 201, largest}
    return sorted(k for k in numbers if 1 <= k <= largest)


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    kind = KNeighborsRegressor if shape.task == "regression" else KNeighborsClassifier
    log_n = round(math.log(max(shape.n_rows, 2)))
    return [
        Staged(
            complexity=k,
            label=f"k = {k}" + (" (ln n)" if k == log_n else ""),
            setting={"n_neighbors": k},
            make=partial(_make_neighbours, kind, k),
            family="all",
            stages=_staged_predictions,
        )
        for k in neighbour_numbers(shape.n_rows)
    ]


def _staged_predictions(fitted: Any, X: Any, numbers: Sequence[float]) -> Iterator[np.ndarray]:
    """Yield the predictions for every k from one neighbour search, for the largest k."""
    model, inputs = fitted[-1], fitted[:-1]
    neighbours = [min(int(k), model.n_samples_fit_) for k in numbers]
    classes = getattr(model, "classes_", None)
    shape = (len(X),) if classes is None else (len(X), len(classes))
    predictions = [np.empty(shape) for _ in neighbours]
    last = 0
    for block in row_blocks(X, ROWS_AT_A_TIME):
        nearest = model.kneighbors(inputs.transform(block), max(neighbours), return_distance=False)
        rows_of_block = slice(last, last + len(nearest))
        last = rows_of_block.stop
        targets = model._y[nearest]
        for predicted, k in zip(predictions, neighbours, strict=True):
            if classes is None:
                predicted[rows_of_block] = targets[:, :k].mean(axis=1)
            else:
                shares = [(targets[:, :k] == c).mean(axis=1) for c in range(len(classes))]
                predicted[rows_of_block] = np.column_stack(shares)
    yield from predictions


def _details(fitted: Any) -> dict[str, Any]:
    model = fitted[-1]
    return {
        "neighbours": int(model.n_neighbors),
        "rows stored": int(model.n_samples_fit_),
        "columns": int(model.n_features_in_),
    }


METHODS = [
    Method(
        name="k-nearest-neighbours",
        title="k nearest neighbours",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="neighbours k",
        log_axis=True,
        candidates=_candidates,
        properties={
            "readable": ("partly", "shows the nearest rows, but no rule"),
            "score_or_interval": ("partly", "vote proportions, coarse for small k"),
            "consistent": (
                "partly",
                "if k grows and k/n vanishes; for fixed k at most twice the Bayes error",
            ),
            "minimax": ("partly", "for Lipschitz targets with k of order n^(2/(d+2))"),
            "non_asymptotic": ("partly", "rates for smooth targets, poor in many dimensions"),
            "parameter_free": ("no", "k and the metric"),
            "online": ("yes", "a new row is stored"),
        },
        rows_affordable=FitCost(0.001, rows_exponent=2.0, columns_exponent=0.3, fixed=0.01),
        details=_details,
    )
]
