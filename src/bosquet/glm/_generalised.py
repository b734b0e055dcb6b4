"""Generalised linear models: a family, a link, and what follows for both binomial and Poisson."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import stats

from bosquet._fitted import reads_one_fit
from bosquet._parameters import Check, check_value, choice
from bosquet._sklearn import check_is_fitted
from bosquet._sums import weighted_sum
from bosquet._warnings import warn_user
from bosquet._weights import LEAST_MEAN
from bosquet.glm._estimates import (
    Estimate,
    Response,
    deviance_at,
    estimate_glm,
    predictor_and_error,
)
from bosquet.glm._model import LEVEL, FormulaModel
from bosquet.glm._profile import profile_ends
from bosquet.glm._statsmodels import pandas_or_error, quietly
from bosquet.glm.separation import Separation, SeparationWarning

ON_SEPARATION: Check = choice("warn", "raise", "ignore")

# g⁻¹ of each link, in statsmodels' own operations: the same bits, and predictions that need no statsmodels.
INVERSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "logit": lambda predictor: 1.0 / (1.0 + np.exp(-predictor)),
    "probit": stats.norm.cdf,
    "cloglog": lambda predictor: 1 - np.exp(-np.exp(predictor)),
    "log": np.exp,
}


class GeneralisedModel(FormulaModel):
    """A model that statsmodels' GLM fits."""

    _CHECKS: ClassVar[Mapping[str, Check]] = {
        **FormulaModel._CHECKS,
        "on_separation": ON_SEPARATION,
    }

    def _family(self) -> Any:
        raise NotImplementedError

    def _separation(self) -> Separation | None:
        """Looks for separation where the fit leaves room for it."""
        raise NotImplementedError

    def _check_scale(self, response: Response) -> None:
        if response.weight is None or response.weight.mean() >= LEAST_MEAN:
            return
        rows, total = response.weight.size, response.weight.sum()
        warn_user(
            f"sample_weight counts rows, and sums to {total:.3g} for {rows} rows: standard errors, tests and"
            f" intervals are those of {total:.3g} rows; pass sample_weight / np.mean(sample_weight) if the"
            " weights are relative"
        )

    def _estimate(self, matrix: np.ndarray, response: Response) -> Estimate:
        if matrix.shape[1] == 0:
            return self._nothing_fitted(response)
        return estimate_glm(self._family(), matrix, response, max_iter=self.max_iter, tol=self.tol)

    def _nothing_fitted(self, response: Response) -> Estimate:
        """A linear predictor without a term: zero, or the offset."""
        predictor = np.zeros(len(response.values)) if response.offset is None else response.offset
        deviance = deviance_at(self._family(), response, predictor)
        # Relative to the fitted model's likelihood, so that AIC may be compared.
        best = self._fitted
        likelihood = best.log_likelihood - (deviance - best.deviance) / 2
        rows = best.df_residual + best.coefficients.size
        none = np.empty(0)
        return Estimate(None, none, none.reshape(0, 0), deviance, likelihood, rows, 0, True)

    def _after_fit(self) -> None:
        self._pearson = float(self._fitted.result.pearson_chi2)
        self.separation_ = self._separation()
        if self.separation_ is None:
            self._warn_unless_converged()
            return
        if self.on_separation == "raise":
            raise ValueError(f"{self.separation_}; leave a term out, or merge levels")
        if self.on_separation == "warn":
            warn_user(
                f"{self.separation_}. Their values, standard errors and Wald tests mean nothing;"
                " likelihood-ratio tests and probabilities of other rows do",
                SeparationWarning,
            )

    def _scores_of(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The linear predictor and its standard error."""
        return predictor_and_error(self._rows(X), self._fitted)

    @reads_one_fit
    def linear_predictor(self, X: Any) -> np.ndarray:
        """x'β for each row: the probability, or the mean, seen through the link."""
        rows = self._rows(X)
        return weighted_sum(self._fitted.coefficients, rows.T)

    def _link(self) -> str:
        """The name of the link, one of `INVERSES`."""
        raise NotImplementedError

    def _inverse(self, predictor: np.ndarray) -> np.ndarray:
        with quietly():
            return np.asarray(INVERSES[self._link()](predictor), dtype=float)

    def _band(self, predictor: np.ndarray, error: np.ndarray, level: float, X: Any) -> Any:
        check_value("level", level, LEVEL)
        reach = stats.norm.ppf((1 + level) / 2) * error
        columns = {"estimate": predictor, "low": predictor - reach, "high": predictor + reach}
        made = {name: self._inverse(values) for name, values in columns.items()}
        return pandas_or_error().DataFrame(made, index=self._index_of(X))

    def _profile(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        self._check_has_rows("a profile interval")
        rise = float(stats.chi2.ppf(level, 1))
        ends = [
            profile_ends(self._profile_deviance(place), at, self.deviance_, error, rise)
            for place, (at, error) in enumerate(
                zip(
                    self._fitted.coefficients.tolist(),
                    self._fitted.std_errors.tolist(),
                    strict=True,
                )
            )
        ]
        low, high = np.array(ends).reshape(-1, 2).T
        return low, high

    def _profile_deviance(self, place: int) -> Callable[[float], float]:
        """The least deviance as a function of one coefficient."""
        matrix, family, response = self._design.matrix, self._family(), self._response
        column, rest = matrix[:, place], np.delete(matrix, place, axis=1)
        start = np.delete(self._fitted.coefficients, place)
        settings = {"max_iter": self.max_iter, "tol": self.tol}

        def deviance(value: float) -> float:
            nonlocal start
            if rest.shape[1] == 0:
                shift = value * column + (0.0 if response.offset is None else response.offset)
                return deviance_at(family, response, shift)
            found = estimate_glm(
                family, rest, response, offset=value * column, start=start, **settings
            )
            if found.converged:
                start = found.coefficients  # the next value asked for is not far
            return found.deviance

        return deviance

    def _ratios(self, name: str, level: float, interval: str, units: Any) -> Any:
        """e^β with its interval, for an increment of one unit or of as many as `units` says."""
        table = self.coefficients(level, interval)
        table = table.drop(index="Intercept", errors="ignore")
        units = dict(units or {})
        strange = [key for key in units if key not in table.index]
        if strange:
            raise ValueError(
                f"units names {strange[0]!r}, which is no coefficient: {', '.join(table.index)}"
            )
        size = np.array([float(units.get(key, 1)) for key in table.index])
        with np.errstate(over="ignore"):
            ends = np.exp(table[["estimate", "low", "high"]].to_numpy() * size[:, None])
        ends[:, 1:] = np.sort(ends[:, 1:], axis=1)  # a negative unit turns the interval round
        columns = {name: ends[:, 0], "low": ends[:, 1], "high": ends[:, 2]}
        made = pandas_or_error().DataFrame(columns, index=table.index)
        made["p_value"] = table["p_value"]
        if units:
            made.insert(0, "unit", size)
        return made

    @reads_one_fit
    def diagnostics(self) -> Any:
        """Row by row: fitted value, residuals, leverage and Cook's distance.

        Returns
        -------
        pandas.DataFrame
            With `fitted`, `residual` (observed less fitted), `pearson`, `deviance`, `standardised`
            (Pearson's over the square root of 1 - leverage), `leverage`, `cook`.
        """
        self._check_has_rows("a look at each row")
        result = self._fitted.result
        with quietly():
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
        return pandas_or_error().DataFrame(columns)

    @reads_one_fit
    def goodness_of_fit(self) -> Any:
        """The deviance and Pearson's statistic against a model with a parameter for each row.

        Returns
        -------
        pandas.DataFrame
            With rows "deviance" and "pearson", columns `statistic`, `df`, `p_value`. The p-values are those
            of chi-squared, good where expected counts are above five or so.
        """
        check_is_fitted(self, "_fitted")
        self._check_counts_enough()
        df = self.df_residual_
        found = {"deviance": self.deviance_, "pearson": self._pearson}
        rows = {
            name: {
                "statistic": value,
                "df": df,
                "p_value": float(stats.chi2.sf(value, df)) if df > 0 else np.nan,
            }
            for name, value in found.items()
        }
        return pandas_or_error().DataFrame.from_dict(rows, orient="index")

    def _check_counts_enough(self) -> None:
        """Refuses where the statistics do not follow chi-squared."""

    def _null_deviance(self) -> float:
        """The deviance of a constant alone."""
        ones = np.ones((len(self._design.matrix), 1))
        return self._estimate(ones, self._response).deviance
