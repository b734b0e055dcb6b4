"""k nearest neighbours on scaled inputs: the discriminant analysis that assumes no densities."""

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
from bosquet.study.methods.pipelines import prepared, row_blocks

# Rows asked at a time: distances to all training rows are held for so many.
ROWS_AT_A_TIME = 2000


def _make(kind: Any, k: int, seed: int) -> Any:
    return prepared(kind(n_neighbors=k), dtype="float32")


def neighbour_numbers(rows: int) -> list[int]:
    """The k to try: 1, 3, 5, ln n, and on to a tenth of the rows or 201, whichever is less."""
    most = max(1, min(rows // 10, 201))
    wanted = {1, 3, 5, round(math.log(max(rows, 2))), 11, 21, 45, 101, 201, most}
    return sorted(k for k in wanted if 1 <= k <= most)


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    kind = KNeighborsRegressor if shape.task == "regression" else KNeighborsClassifier
    log_n = round(math.log(max(shape.n_rows, 2)))
    return [
        Staged(
            complexity=k,
            label=f"k = {k}" + (" (ln n)" if k == log_n else ""),
            setting={"n_neighbors": k},
            make=partial(_make, kind, k),
            family="all",
            stages=_stages,
        )
        for k in neighbour_numbers(shape.n_rows)
    ]


def _stages(fitted: Any, X: Any, numbers: Sequence[float]) -> Iterator[np.ndarray]:
    """Answers for every k from one search: the nearest 5 are the first 5 of the nearest 50."""
    model, inputs = fitted[-1], fitted[:-1]
    wanted = [min(int(k), model.n_samples_fit_) for k in numbers]
    classes = getattr(model, "classes_", None)
    shape = (len(X),) if classes is None else (len(X), len(classes))
    answers = [np.empty(shape) for _ in wanted]
    last = 0
    for part in row_blocks(X, ROWS_AT_A_TIME):
        nearest = model.kneighbors(inputs.transform(part), max(wanted), return_distance=False)
        some = slice(last, last + len(nearest))
        last = some.stop
        said = model._y[nearest]
        for answer, k in zip(answers, wanted, strict=True):
            if classes is None:
                answer[some] = said[:, :k].mean(axis=1)
            else:
                shares = [(said[:, :k] == c).mean(axis=1) for c in range(len(classes))]
                answer[some] = np.column_stack(shares)
    yield from answers


def _details(fitted: Any) -> dict[str, Any]:
    model = fitted[-1]
    return {
        "neighbours": int(model.n_neighbors),
        "rows kept": int(model.n_samples_fit_),
        "columns": int(model.n_features_in_),
    }


METHODS = [
    Method(
        name="k-nearest-neighbours",
        title="k nearest neighbours",
        tasks=frozenset({"binary", "multiclass", "regression"}),
        parameter="neighbours k",
        log=True,
        candidates=_candidates,
        card={
            "readable": ("partly", "shows the nearest rows, no rule"),
            "score_or_interval": ("partly", "shares of votes, coarse for small k"),
            "consistent": ("partly", "if k grows and k/n vanishes; k fixed: at most twice Bayes"),
            "minimax": ("partly", "for Lipschitz targets with k of order n^(2/(d+2))"),
            "non_asymptotic": ("partly", "rates for smooth targets, poor in many dimensions"),
            "parameter_free": ("no", "k and the metric"),
            "online": ("yes", "a new row is stored"),
        },
        rows_affordable=FitCost(0.001, rows=2.0, columns=0.3, fixed=0.01),
        details=_details,
    )
]
