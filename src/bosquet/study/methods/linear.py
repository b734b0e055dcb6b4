"""Linear regression with a ridge penalty, and Poisson regression for counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import PoissonRegressor

from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.logistic import NEWTON_COEFFICIENTS, largest_coefficients
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.moments import MomentRidge
from bosquet.study.methods.offsets import rate_model, with_offset
from bosquet.study.methods.pipelines import model_of, with_numeric_inputs
from bosquet.study.table.offset import OffsetColumn

# Penalties per row, so that they have the same effect in samples of any size. The last is almost zero: it
# only keeps the solution stable if columns are collinear.
PENALTIES = (10.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001, 1e-8)


class CountRegression(PoissonRegressor):
    """PoissonRegressor of scikit-learn, restricted to counts 0, 1, 2, ..."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CountRegression:
        """Fit the model; raise ValueError if a target is not a count."""
        target = np.asarray(y, dtype=float)
        wrong = np.flatnonzero((target < 0) | (target != np.floor(target)))
        if wrong.size:
            raise ValueError(
                f"y[{wrong[0]}] is {target[wrong[0]]:g}; Poisson regression needs counts 0, 1, 2, ..."
            )
        return super().fit(X, y, sample_weight)


def make_ridge(penalty: float, n_rows: int, seed: int) -> Any:
    """Return a pipeline of scaled inputs and least squares with penalty rows · λ ‖β‖²."""
    return with_numeric_inputs(
        MomentRidge(alpha=penalty * n_rows, copy_X=False), baseline=True, dense=False
    )


def _ridge_candidates(shape: TableShape) -> Sequence[Candidate]:
    return [
        Candidate(
            complexity=1 / penalty,
            label=f"penalty {penalty:g} per row" if penalty > 1e-6 else "no penalty",
            setting={"penalty": penalty, "alpha": penalty * shape.n_rows},
            make=partial(make_ridge, penalty, shape.n_rows),
        )
        for penalty in PENALTIES
    ]


def _make_poisson(penalty: float, columns: int, offset: OffsetColumn | None, seed: int) -> Any:
    newton = columns <= NEWTON_COEFFICIENTS
    solver = "newton-cholesky" if newton else "lbfgs"
    # With an offset the target is a rate, which need not be an integer.
    kind: Any = CountRegression if offset is None else PoissonRegressor
    model = kind(alpha=penalty, solver=solver, max_iter=300)
    return with_offset(with_numeric_inputs(model, baseline=True, dense=False), offset)


def _poisson_candidates(shape: TableShape) -> Sequence[Candidate]:
    return [
        Candidate(
            complexity=1 / penalty,
            label=f"penalty {penalty:g} per row" if penalty > 1e-6 else "no penalty",
            setting={"alpha": penalty},
            make=partial(_make_poisson, penalty, shape.n_indicators, shape.offset),
        )
        for penalty in PENALTIES
    ]


def _why_unsuited_poisson(shape: TableShape) -> str:
    return "" if shape.target_is_count else "the target is not a count 0, 1, 2, ..."


def _details(fitted: Any) -> dict[str, Any]:
    model = model_of(fitted)
    return {
        "coefficients (of scaled columns)": largest_coefficients(rate_model(fitted)),
        "intercept": float(np.ravel(model.intercept_)[0]),
        "columns": int(np.size(model.coef_)),
    }


METHODS = [
    Method(
        name="linear",
        title="Linear regression (ridge)",
        tasks=frozenset({"regression"}),
        parameter="1 / penalty per row",
        log_axis=True,
        candidates=_ridge_candidates,
        properties={
            "readable": ("yes", "one slope per column"),
            "score_or_interval": ("partly", "intervals if errors are Gaussian"),
            "consistent": ("no", "unless the regression function is linear"),
            "minimax": ("partly", "σ²d/n is the optimal rate for linear functions"),
            "non_asymptotic": ("yes", "risk σ²d/n for any n, given the columns"),
            "parameter_free": ("partly", "one penalty; 0 is a good default"),
            "online": ("yes", "recursive least squares"),
        },
        likelihood=True,
        rows_affordable=FitCost(4e-4, columns_exponent=1.3, fixed=0.004),
        details=_details,
    ),
    Method(
        name="poisson",
        title="Poisson regression",
        tasks=frozenset({"regression"}),
        parameter="1 / penalty per row",
        log_axis=True,
        candidates=_poisson_candidates,
        properties={
            "readable": ("yes", "exp(coefficient) multiplies the mean"),
            "score_or_interval": ("partly", "intervals if counts are Poisson"),
            "consistent": ("no", "unless the log of the mean is linear"),
            "minimax": ("no", "within log-linear means only"),
            "non_asymptotic": ("no", "its tests and intervals are asymptotic"),
            "parameter_free": ("partly", "one penalty; 0 is a good default"),
            "online": ("yes", "by stochastic gradient"),
        },
        likelihood=True,
        rows_affordable=FitCost(0.005, columns_exponent=1.3, fixed=0.01),
        details=_details,
        why_unsuited=_why_unsuited_poisson,
        takes_offset=True,
    ),
]
