"""Logistic regression with a range of ridge penalties."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.pipelines import model_of, with_numeric_inputs
from bosquet.study.metrics.metric import RARE

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
# With more coefficients, the Hessian of Newton's method costs more than the iterations of L-BFGS.
NEWTON_COEFFICIENTS = 300


def make_logistic(C: float, class_weight: Any, coefficients: int, seed: int) -> Any:
    """Return a pipeline of scaled inputs and logistic regression with penalty ‖β‖²/(2C)."""
    newton = coefficients <= NEWTON_COEFFICIENTS
    model = LogisticRegression(
        C=C,
        class_weight=class_weight,
        solver="newton-cholesky" if newton else "lbfgs",
        max_iter=100 if newton else 300,
    )
    return with_numeric_inputs(model, baseline=True, dense=False)


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    outputs = 1 if shape.n_classes == 2 else shape.n_classes
    coefficients = outputs * (min(shape.n_indicators, 2000) + 1)
    weights = (None, "balanced") if shape.rarest_share < RARE else (None,)
    return [
        Candidate(
            complexity=C,
            label=f"C = {C:g}" + (", balanced class weights" if weight else ""),
            setting={"C": C, "class_weight": weight},
            make=partial(make_logistic, C, weight, coefficients),
        )
        for C in PENALTIES
        for weight in weights
    ]


def largest_coefficients(fitted: Any, max_count: int = 20) -> dict[str, float]:
    """Return the largest coefficients by column name; with several classes, the largest of each column."""
    names = fitted[0].get_feature_names_out()
    values = np.atleast_2d(model_of(fitted).coef_)
    if values.shape[1] != len(names):
        return {}
    strongest = values[np.abs(values).argmax(axis=0), np.arange(values.shape[1])]
    order = np.argsort(-np.abs(strongest))[:max_count]
    return {str(names[i]): float(strongest[i]) for i in order}


def _details(fitted: Any) -> dict[str, Any]:
    model = model_of(fitted)
    return {
        "coefficients (of scaled columns)": largest_coefficients(fitted),
        "columns": int(model.coef_.shape[1]),
        "iterations": int(np.max(model.n_iter_)),
    }


METHODS = [
    Method(
        name="logistic",
        title="Logistic regression",
        tasks=frozenset({"binary", "multiclass"}),
        parameter="C, inverse of the ridge penalty",
        log_axis=True,
        candidates=_candidates,
        properties={
            "readable": ("yes", "exp(coefficient) is an odds ratio"),
            "score_or_interval": ("yes", "probabilities, usually well calibrated"),
            "consistent": ("no", "unless log-odds are linear"),
            "minimax": ("no", "within linear log-odds only"),
            "non_asymptotic": (
                "partly",
                "excess risk over the best penalised linear rule, rate 1/√n",
            ),
            "parameter_free": ("partly", "one penalty"),
            "online": ("yes", "by stochastic gradient"),
        },
        likelihood=True,
        rows_affordable=FitCost(1.2e-4, columns_exponent=1.3, classes_exponent=1.0, fixed=0.006),
        details=_details,
    )
]
