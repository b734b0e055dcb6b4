"""Base class of the binomial and Poisson models: fits, confidence bands, profiles and diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import stats

from bosquet._fitted import reads_fit_snapshot
from bosquet._parameters import Check, check_value, choice
from bosquet._sklearn import check_is_fitted
from bosquet._sums import weighted_sum
from bosquet._warnings import warn_user
from bosquet._weights import MIN_MEAN
from bosquet.glm._estimates import (
    Estimate,
    Response,
    deviance_at,
    estimate_glm,
    predictor_and_error,
)
from bosquet.glm._model import CONFIDENCE, FormulaModel
from bosquet.glm._profile import profile_interval
from bosquet.glm._statsmodels import import_pandas, suppress_warnings
from bosquet.glm.separation import Separation, SeparationWarning

if TYPE_CHECKING:
    from pandas import DataFrame

    from bosquet._types import TableLike


ON_SEPARATION: Check = choice("warn", "raise", "ignore")

# g⁻¹ of each link, by the operations of statsmodels: predictions have the same bits and do not need it.
INVERSE_LINKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "logit": lambda predictor: 1.0 / (1.0 + np.exp(-predictor)),
    "probit": stats.norm.cdf,
    "cloglog": lambda predictor: 1 - np.exp(-np.exp(predictor)),
    "log": np.exp,
}


class GeneralisedModel(FormulaModel):
    """A generalised linear model, fitted by the class GLM of statsmodels."""

    _CHECKS: ClassVar[Mapping[str, Check]] = {
        **FormulaModel._CHECKS,
        "on_separation": ON_SEPARATION,
    }

    def _family(self) -> Any:
        raise NotImplementedError

    def _find_separation(self) -> Separation | None:
        """Return the separation, None if there is none."""
        raise NotImplementedError

    def _check_scale(self, response: Response) -> None:
        if response.weight is None or response.weight.mean() >= MIN_MEAN:
            return
        rows, total = response.weight.size, response.weight.sum()
        warn_user(
            f"sample_weight sums to {total:.3g} for {rows} rows. Weights are frequencies, so standard errors,"
            f" tests and intervals are those of {total:.3g} rows; if the weights are relative, pass"
            " sample_weight / np.mean(sample_weight)"
        )

    def _estimate(self, matrix: np.ndarray, response: Response) -> Estimate:
        if matrix.shape[1] == 0:
            return self._empty_estimate(response)
        return estimate_glm(self._family(), matrix, response, max_iter=self.max_iter, tol=self.tol)

    def _empty_estimate(self, response: Response) -> Estimate:
        """Return the estimate of a model without terms: the linear predictor is zero, or the offset."""
        predictor = np.zeros(len(response.values)) if response.offset is None else response.offset
        deviance = deviance_at(self._family(), response, predictor)
        # Computed from the likelihood of the fitted model, so that AIC can be compared.
        best = self._fitted
        likelihood = best.log_likelihood - (deviance - best.deviance) / 2
        rows = best.df_residual + best.coefficients.size
        none = np.empty(0)
        return Estimate(None, none, none.reshape(0, 0), deviance, likelihood, rows, 0, True)

    def _after_fit(self) -> None:
        self._pearson = float(self._fitted.result.pearson_chi2)
        self.separation_ = self._find_separation()
        if self.separation_ is None:
            self._warn_unless_converged()
            return
        if self.on_separation == "raise":
            raise ValueError(f"{self.separation_}; remove a term, or merge levels")
        if self.on_separation == "warn":
            warn_user(
                f"{self.separation_}. Do not use these coefficients, their standard errors or Wald tests; use"
                " likelihood-ratio tests and predictions instead, remove a term, or merge levels",
                SeparationWarning,
            )

    def _predictor_and_error(self, X: TableLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the linear predictor and its standard error."""
        return predictor_and_error(self._design_rows(X), self._fitted)

    @reads_fit_snapshot
    def linear_predictor(self, X: TableLike) -> np.ndarray:
        """Return x'β for each row: the link function of the predicted probability or mean."""
        rows = self._design_rows(X)
        return weighted_sum(self._fitted.coefficients, rows.T)

    def _link(self) -> str:
        """Return the name of the link, one of `INVERSE_LINKS`."""
        raise NotImplementedError

    def _inverse_link(self, predictor: np.ndarray) -> np.ndarray:
        with suppress_warnings():
            return np.asarray(INVERSE_LINKS[self._link()](predictor), dtype=float)

    def _confidence_band(
        self, predictor: np.ndarray, error: np.ndarray, confidence: float, X: TableLike
    ) -> DataFrame:
        check_value("confidence", confidence, CONFIDENCE)
        half_width = stats.norm.ppf((1 + confidence) / 2) * error
        ends = {
            "estimate": predictor,
            "low": predictor - half_width,
            "high": predictor + half_width,
        }
        columns = {name: self._inverse_link(values) for name, values in ends.items()}
        return import_pandas().DataFrame(columns, index=self._index_of(X))

    def _profile_limits(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        self._check_has_rows("a profile interval")
        rise = float(stats.chi2.ppf(confidence, 1))
        ends = [
            profile_interval(self._profile_deviance(index), at, self.deviance_, error, rise)
            for index, (at, error) in enumerate(
                zip(
                    self._fitted.coefficients.tolist(),
                    self._fitted.std_errors.tolist(),
                    strict=True,
                )
            )
        ]
        low, high = np.array(ends).reshape(-1, 2).T
        return low, high

    def _profile_deviance(self, index: int) -> Callable[[float], float]:
        """Return the profile deviance: the smallest deviance as a function of one coefficient."""
        matrix, family, response = self._design.matrix, self._family(), self._response
        column, other_columns = matrix[:, index], np.delete(matrix, index, axis=1)
        start = np.delete(self._fitted.coefficients, index)
        options = {"max_iter": self.max_iter, "tol": self.tol}

        def deviance(value: float) -> float:
            nonlocal start
            if other_columns.shape[1] == 0:
                shift = value * column + (0.0 if response.offset is None else response.offset)
                return deviance_at(family, response, shift)
            estimate = estimate_glm(
                family, other_columns, response, offset=value * column, start=start, **options
            )
            if estimate.converged:
                start = estimate.coefficients  # the next value is close to this one
            return estimate.deviance

        return deviance

    def _ratio_table(self, name: str, confidence: float, interval: str, units: Any) -> DataFrame:
        """Return e^β with its interval, for an increment of one unit or of the number in `units`."""
        table = self.coefficients(confidence, interval)
        table = table.drop(index="Intercept", errors="ignore")
        units = dict(units or {})
        unknown = [key for key in units if key not in table.index]
        if unknown:
            raise ValueError(
                f"units contains {unknown[0]!r}, which is not a coefficient; the coefficients are"
                f" {', '.join(table.index)}"
            )
        size = np.array([float(units.get(key, 1)) for key in table.index])
        with np.errstate(over="ignore"):
            ends = np.exp(table[["estimate", "low", "high"]].to_numpy() * size[:, None])
        ends[:, 1:] = np.sort(ends[:, 1:], axis=1)  # a negative unit swaps the ends
        columns = {name: ends[:, 0], "low": ends[:, 1], "high": ends[:, 2]}
        ratios = import_pandas().DataFrame(columns, index=table.index)
        ratios["p_value"] = table["p_value"]
        if units:
            ratios.insert(0, "unit", size)
        return ratios

    @reads_fit_snapshot
    def diagnostics(self) -> DataFrame:
        """Return the fitted value, residuals, leverage and Cook's distance of each row.

        Returns
        -------
        pandas.DataFrame
            With `fitted`, `residual` (observed minus fitted), `pearson`, `deviance`, `standardised`
            (the Pearson residual divided by √(1 - leverage)), `leverage` and `cook`.
        """
        self._check_has_rows("diagnostics")
        result = self._fitted.result
        with suppress_warnings():
            leverage = np.asarray(result.get_hat_matrix_diag(observed=False), dtype=float)
            pearson = np.asarray(result.resid_pearson, dtype=float)
            standardised = pearson / np.sqrt(1 - leverage)
            size = max(self._fitted.coefficients.size, 1)
            columns = {
                "fitted": np.asarray(result.fittedvalues, dtype=float),
                "residual": np.asarray(result.resid_response, dtype=float),
                "pearson": pearson,
                "deviance": np.asarray(result.resid_deviance, dtype=float),
                "standardised": standardised,
                "leverage": leverage,
                "cook": standardised**2 * leverage / (1 - leverage) / size,
            }
        return import_pandas().DataFrame(columns)

    @reads_fit_snapshot
    def goodness_of_fit(self) -> DataFrame:
        """Test the fit by the deviance and the Pearson statistic against the saturated model.

        Returns
        -------
        pandas.DataFrame
            With rows "deviance" and "pearson", columns `statistic`, `df`, `p_value`. The p-values use the
            chi-squared distribution, which is accurate if expected counts are at least about 5.
        """
        check_is_fitted(self, "_fitted")
        self._check_chi_squared_valid()
        df = self.df_residual_
        statistics = {"deviance": self.deviance_, "pearson": self._pearson}
        rows = {
            name: {
                "statistic": value,
                "df": df,
                "p_value": float(stats.chi2.sf(value, df)) if df > 0 else np.nan,
            }
            for name, value in statistics.items()
        }
        return import_pandas().DataFrame.from_dict(rows, orient="index")

    def _check_chi_squared_valid(self) -> None:
        """Raise a ValueError if the statistics do not follow a chi-squared distribution."""

    def _null_deviance(self) -> float:
        """Return the deviance of the model with an intercept only."""
        ones = np.ones((len(self._design.matrix), 1))
        return self._estimate(ones, self._response).deviance
