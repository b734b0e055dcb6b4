"""A fit as numbers: what statsmodels returns, in the form that tests, bands and selection read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sums import weighted_sum
from bosquet.glm._statsmodels import from_statsmodels, quietly

# Between two entries of a covariance that should be equal, relative to the standard errors.
ASYMMETRY = 1e-6


@dataclass(frozen=True)
class Response:
    """The target as a likelihood takes it.

    `values` has one column, or for grouped data two: successes and failures. A weight counts rows: 2 is
    the row twice. The offset is added to the linear predictor.
    """

    values: np.ndarray
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None


@dataclass(frozen=True)
class Estimate:
    """Maximum of a likelihood: coefficients (those of several classes one after another), and its height."""

    result: Any  # statsmodels' own
    coefficients: np.ndarray
    covariance: np.ndarray
    deviance: float  # a linear model's: the residual sum of squares
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
    """Whether a covariance is symmetric but for rounding, relative to the variances."""
    scale = np.sqrt(np.abs(np.diag(covariance)))
    with np.errstate(invalid="ignore"):
        apart = np.abs(covariance - covariance.T) > ASYMMETRY * np.outer(scale, scale)
    missing = ~np.isfinite(covariance)
    return not (apart & ~missing).any() and bool((missing == missing.T).all())


def symmetric(covariance: Any) -> np.ndarray:
    """The covariance as it is; its symmetric part where rounding shows, of columns all but collinear."""
    found = np.asarray(covariance, dtype=float)
    return found if is_symmetric(found) else (found + found.T) / 2


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
    """A generalised linear model by Newton's method with expected second derivatives (IRLS).

    `offset` comes on top of the response's own. A large one needs a `start` near the maximum: steps are
    shortened only where the whole ones have gone too far (see `_shortened`).
    """
    GLM = from_statsmodels("genmod.generalized_linear_model").GLM
    offsets = [part for part in (response.offset, offset) if part is not None]
    with quietly():
        model = GLM(
            response.values,
            matrix,
            family=family,
            freq_weights=response.weight,
            offset=sum(offsets) if offsets else None,
        )
        # The tolerance is relative too: the last digits of a sum over many rows are noise. A deviance of
        # small weights is small itself.
        unit = 1.0 if response.weight is None else min(1.0, float(response.weight.mean()))
        result = model.fit(start_params=start, maxiter=max_iter, tol=unit * tol, rtol=1e-13)
        best = _best_before(result, given_start=start is not None)
        if best is not None:
            near = _shortened(model, best, max_iter)
            # "eim": the covariance is that of the expected second derivatives, as everywhere else.
            again = model.fit(
                start_params=near, method="newton", cov_type="eim", max_start_irls=0, disp=0
            )
            # Where weights differ by many orders the deviance wavers in digits that are noise, and
            # Newton's method may leave a maximum that was found.
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


def _best_before(result: Any, given_start: bool) -> np.ndarray | None:
    """The coefficients of least deviance on the way, if the last ones are worse: steps went too far."""
    # Before any step there is no deviance, and without a start none that belongs to coefficients.
    begin = 1 if given_start else 2
    past = np.asarray(result.fit_history["deviance"][begin:], dtype=float)
    if not past.size or np.isnan(past).all() or result.deviance <= np.nanmin(past) * (1 + 1e-8):
        return None
    return np.asarray(result.fit_history["params"][begin + int(np.nanargmin(past))], dtype=float)


def _shortened(model: Any, coefficients: np.ndarray, max_iter: int) -> np.ndarray:
    """Coefficients near the maximum, by steps that are halved until the deviance falls.

    Whole steps mostly do. With the complementary log-log link, whose expected second derivatives may be
    half of the true ones, they can swing about the maximum further and further.
    """

    def deviance(at: np.ndarray) -> float:
        mean = model.family.fitted(model.exog @ at + model._offset_exposure)
        found = model.family.deviance(model.endog, mean, model.var_weights, model.freq_weights)
        return float(found) if np.isfinite(found) else np.inf

    now = deviance(coefficients)
    for _ in range(max_iter):
        whole = np.asarray(model.fit(start_params=coefficients, maxiter=1).params, dtype=float)
        step = whole - coefficients
        while not (then := deviance(coefficients + step)) < now:
            step = step / 2
            if not np.abs(step).max() > 1e-10 * (1 + np.abs(coefficients).max()):
                return coefficients
        coefficients, gained, now = coefficients + step, now - then, then
        if gained <= 1e-9 * (1 + now):
            break
    return coefficients


def deviance_at(family: Any, response: Response, predictor: np.ndarray) -> float:
    """The deviance of a linear predictor that nothing is fitted to."""
    GLM = from_statsmodels("genmod.generalized_linear_model").GLM
    with quietly():
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
    """The linear predictor of rows, and its standard error sqrt(x' V x)."""
    predictor = weighted_sum(estimate.coefficients, matrix.T)
    variance = ((matrix @ estimate.covariance) * matrix).sum(axis=1)
    return predictor if offset is None else predictor + offset, np.sqrt(np.maximum(variance, 0))
