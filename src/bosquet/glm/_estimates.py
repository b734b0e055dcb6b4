"""Maximum likelihood estimates of generalised linear models, fitted by statsmodels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sums import weighted_sum
from bosquet.glm._statsmodels import from_statsmodels, suppress_warnings

# Largest difference between cov[i, j] and cov[j, i], relative to the standard errors.
ASYMMETRY = 1e-6


@dataclass(frozen=True)
class Response:
    """The target, weights and offset of a likelihood.

    `values` has one column, or two for grouped data: successes and failures. Weights are frequencies: a row
    of weight 2 counts twice. The offset is added to the linear predictor.
    """

    values: np.ndarray
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None


@dataclass(frozen=True)
class Estimate:
    """A maximum likelihood estimate; with several classes, their coefficients are concatenated."""

    result: Any  # the result object of statsmodels
    coefficients: np.ndarray
    covariance: np.ndarray
    deviance: float  # residual sum of squares in a linear model
    log_likelihood: float
    df_residual: float
    iterations: int
    converged: bool

    @property
    def aic(self) -> float:
        return 2 * self.coefficients.size - 2 * self.log_likelihood

    def bic(self, rows: float) -> float:
        return float(np.log(rows)) * self.coefficients.size - 2 * self.log_likelihood

    @property
    def std_errors(self) -> np.ndarray:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))


def is_symmetric(covariance: np.ndarray) -> bool:
    """Whether a covariance is symmetric up to rounding, relative to the variances."""
    scale = np.sqrt(np.abs(np.diag(covariance)))
    with np.errstate(invalid="ignore"):
        differs = np.abs(covariance - covariance.T) > ASYMMETRY * np.outer(scale, scale)
    missing = ~np.isfinite(covariance)
    return not (differs & ~missing).any() and bool((missing == missing.T).all())


def symmetric(covariance: Any) -> np.ndarray:
    """Return the covariance, or its symmetric part if it is not symmetric because of rounding.

    Rounding errors are large for nearly collinear columns.
    """
    values = np.asarray(covariance, dtype=float)
    return values if is_symmetric(values) else (values + values.T) / 2


def estimate_glm(
    family: Any,
    matrix: np.ndarray,
    response: Response,
    *,
    max_iter: int,
    tol: float,
    offset: np.ndarray | None = None,
    start: np.ndarray | None = None,
) -> Estimate:
    """Fit a generalised linear model by Newton's method with expected second derivatives (IRLS).

    `offset` is added to that of the response. With a large offset, pass a `start` near the maximum: steps
    are halved only if full steps increase the deviance (see `_step_halving`).
    """
    GLM = from_statsmodels("genmod.generalized_linear_model").GLM
    offsets = [values for values in (response.offset, offset) if values is not None]
    with suppress_warnings():
        model = GLM(
            response.values,
            matrix,
            family=family,
            freq_weights=response.weight,
            offset=sum(offsets) if offsets else None,
        )
        # A relative tolerance is needed too, because the last digits of a sum over many rows are noise. With
        # small weights the deviance is small, so the absolute tolerance is scaled by their mean.
        unit = 1.0 if response.weight is None else min(1.0, float(response.weight.mean()))
        result = model.fit(start_params=start, maxiter=max_iter, tol=unit * tol, rtol=1e-13)
        best = _best_earlier_coefficients(result, given_start=start is not None)
        if best is not None:
            near = _step_halving(model, best, max_iter)
            # "eim": covariance from the expected second derivatives, as in IRLS.
            again = model.fit(
                start_params=near, method="newton", cov_type="eim", max_start_irls=0, disp=0
            )
            # If weights differ by many orders of magnitude, the last digits of the deviance are noise, and
            # Newton's method may move away from the maximum.
            if not again.deviance > result.deviance and np.isfinite(again.params).all():
                result = again
                result.converged = bool(result.mle_retvals["converged"])
        return Estimate(
            result=result,
            coefficients=np.asarray(result.params, dtype=float),
            covariance=symmetric(result.cov_params()),
            deviance=float(result.deviance),
            log_likelihood=float(result.llf),
            df_residual=float(result.df_resid),
            iterations=int(result.fit_history["iteration"]),
            converged=bool(result.converged) and bool(np.isfinite(result.deviance)),
        )


def _best_earlier_coefficients(result: Any, given_start: bool) -> np.ndarray | None:
    """Return the coefficients of the iteration with the smallest deviance, None if that is the last one."""
    # The first entry is infinite; without a start the second one belongs to no coefficients.
    begin = 1 if given_start else 2
    past = np.asarray(result.fit_history["deviance"][begin:], dtype=float)
    if not past.size or np.isnan(past).all() or result.deviance <= np.nanmin(past) * (1 + 1e-8):
        return None
    return np.asarray(result.fit_history["params"][begin + int(np.nanargmin(past))], dtype=float)


def _step_halving(model: Any, coefficients: np.ndarray, max_iter: int) -> np.ndarray:
    """Return coefficients near the maximum, by steps that are halved until the deviance decreases.

    Full steps usually converge. With the complementary log-log link, whose expected second derivatives may
    be half of the observed ones, full steps can oscillate around the maximum with growing amplitude.
    """

    def deviance(candidate: np.ndarray) -> float:
        mean = model.family.fitted(model.exog @ candidate + model._offset_exposure)
        value = model.family.deviance(model.endog, mean, model.var_weights, model.freq_weights)
        return float(value) if np.isfinite(value) else np.inf

    current = deviance(coefficients)
    for _ in range(max_iter):
        full = np.asarray(model.fit(start_params=coefficients, maxiter=1).params, dtype=float)
        step = full - coefficients
        while not (reduced := deviance(coefficients + step)) < current:
            step = step / 2
            if not np.abs(step).max() > 1e-10 * (1 + np.abs(coefficients).max()):
                return coefficients
        coefficients, decrease, current = coefficients + step, current - reduced, reduced
        if decrease <= 1e-9 * (1 + current):
            break
    return coefficients


def deviance_at(family: Any, response: Response, predictor: np.ndarray) -> float:
    """Return the deviance of a given linear predictor, without fitting."""
    GLM = from_statsmodels("genmod.generalized_linear_model").GLM
    with suppress_warnings():
        model = GLM(
            response.values,
            np.ones((len(predictor), 1)),
            family=family,
            freq_weights=response.weight,
        )
        mean = family.fitted(predictor)
        return float(family.deviance(model.endog, mean, model.var_weights, model.freq_weights, 1.0))


def predictor_and_error(
    matrix: np.ndarray, estimate: Estimate, offset: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the linear predictor of rows, and its standard error sqrt(x' V x)."""
    predictor = weighted_sum(estimate.coefficients, matrix.T)
    variance = ((matrix @ estimate.covariance) * matrix).sum(axis=1)
    return predictor if offset is None else predictor + offset, np.sqrt(np.maximum(variance, 0))
