"""The Gaussian linear model: least squares, analysis of variance and of covariance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import check_value
from bosquet._sklearn import RegressorMixin
from bosquet._sums import weighted_sum
from bosquet.glm._estimates import Estimate, Response, predictor_and_error, symmetric
from bosquet.glm._inference import variance_table
from bosquet.glm._model import CONFIDENCE, FormulaModel
from bosquet.glm._reading import RegressionData, read_numeric_target
from bosquet.glm._statsmodels import from_statsmodels, import_pandas, suppress_warnings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    from bosquet._types import TableLike


class LinearModel(RegressorMixin, FormulaModel):
    r"""The Gaussian linear model: regression, analysis of variance and of covariance.

    The target y is x'β plus noise of constant variance σ²; β is estimated by least squares. With factors only
    it is the analysis of variance, with factors and numerical columns the analysis of covariance. `anova`
    tests the terms by

    .. math:: F = \frac{(\mathrm{RSS}_0 - \mathrm{RSS}_1) / (p_1 - p_0)}{\mathrm{RSS} / (n - p)} .

    scikit-learn's ``LinearRegression`` gives the same predictions, without tests and intervals.

    Guide: the page "Generalised linear models" of the documentation

    Parameters
    ----------
    formula : str, list or None, default=None
        ``"growth ~ light * soil"``: the target, main effects and interactions; a dot means all
        other columns. Without a left-hand side the target is the `y` passed to `fit`. A list of columns
        uses these as main effects, None uses all columns.
    fit_intercept : bool, default=True
        Whether the model has an intercept. In a formula, 0 also removes it.
    missing : "raise" or "drop", default="raise"
        Whether a missing value raises an error that names its column, or its row is dropped
        (`n_dropped_` counts them).

    Attributes
    ----------
    params_ : pandas.Series
        Coefficients by name.
    covariance_ : pandas.DataFrame
        Covariance of the coefficients.
    deviance_ : float
        Residual sum of squares.
    sigma_ : float
        Estimated standard deviation of the noise.
    r2_, adjusted_r2_ : float
        Share of the variance that is explained, without and with a correction for the number of
        coefficients.
    log_likelihood_, aic_, bic_, df_residual_, formula_, terms_, selection_, result_
        As in `BinomialRegression`; `result_` is statsmodels' RegressionResults.

    See Also
    --------
    BinomialRegression : Regression for two classes.
    PoissonRegression : Regression for counts.

    Examples
    --------
    Growth of plants by light and soil: does soil have an effect given light, and does this effect depend on
    light?

    >>> import numpy as np, pandas as pd
    >>> from bosquet import LinearModel
    >>> rng = np.random.default_rng(0)
    >>> soils = np.repeat(["clay", "loam", "sand"], 30)
    >>> plants = pd.DataFrame({"light": rng.uniform(0, 10, 90), "soil": soils})
    >>> plants["growth"] = 0.5 * plants.light + (plants.soil == "loam") + rng.normal(0, 0.7, 90)
    >>> model = LinearModel("growth ~ light * soil").fit(plants)
    >>> model.anova().round(3)
                  df   sum_sq  mean_sq        F  p_value
    term
    light        1.0  178.021  178.021  370.267    0.000
    soil         2.0   21.985   10.992   22.863    0.000
    light:soil   2.0    0.232    0.116    0.241    0.786
    residual    84.0   40.386    0.481      NaN      NaN
    >>> smaller = model.backward("lr")
    >>> print(f"{smaller.formula}, R2 {smaller.r2_:.2f}")
    growth ~ light + soil, R2 0.82
    """

    _STATISTIC = "t"

    def __init__(
        self,
        formula: str | Sequence[str] | None = None,
        *,
        fit_intercept: bool = True,
        missing: str = "raise",
    ) -> None:
        self.formula = formula
        self.fit_intercept = fit_intercept
        self.missing = missing

    @publishes_fit_atomically
    def fit(
        self,
        X: TableLike,
        y: ArrayLike | None = None,
        *,
        formula: str | Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> LinearModel:
        """Fit by least squares.

        Parameters
        ----------
        X, y, formula
            As in `BinomialRegression.fit`; y contains numbers.
        sample_weight : array of shape (rows,) or str, optional
            Precisions: a row of weight w has noise of variance σ² / w. They are not frequencies: a row of
            weight 2 and two copies of the row give different standard errors.
        """
        return self._fit(X, y, formula, {"sample_weight": sample_weight})

    def _read_target(self, table: RegressionData) -> Response:
        values = read_numeric_target(table.y)
        if values.size == 1:
            raise ValueError("X has one row (n_samples=1); at least two rows are required")
        if (values == values[0]).all():
            raise ValueError(f"y is {values[0]:g} in every row; a target that varies is required")
        return Response(values, table.per_row.get("sample_weight"))

    def _estimate(self, matrix: np.ndarray, response: Response) -> Estimate:
        n_rows = len(response.values)
        weight = np.ones(n_rows) if response.weight is None else response.weight
        if matrix.shape[1] == 0:
            return _empty_estimate(response.values, weight)
        model = from_statsmodels("regression.linear_model")
        with suppress_warnings():
            result = model.WLS(response.values, matrix, weights=weight).fit(method="qr")
        return Estimate(
            result=result,
            coefficients=np.asarray(result.params, dtype=float),
            covariance=symmetric(result.cov_params()),
            deviance=float(result.ssr),
            log_likelihood=float(result.llf),
            df_residual=float(result.df_resid),
            iterations=1,
            converged=True,
        )

    def _after_fit(self) -> None:
        fitted, values = self._fitted, self._response.values
        weight = np.ones(len(values)) if self._response.weight is None else self._response.weight
        has_constant = any(not term.factors for term in self._design.terms)
        centre = np.average(values, weights=weight) if has_constant else 0.0
        total = float((weight * (values - centre) ** 2).sum())
        free = len(values) - has_constant
        self.sigma_ = (
            float(np.sqrt(fitted.deviance / fitted.df_residual))
            if fitted.df_residual > 0
            else np.nan
        )
        self.r2_ = 1 - fitted.deviance / total
        self.adjusted_r2_ = 1 - (self.sigma_**2) / (total / free) if free > 0 else np.nan

    def _count_rows(self, response: Response) -> float:
        return float(len(response.values))  # precisions are not frequencies

    def _set_fitted_attributes(self) -> None:
        super()._set_fitted_attributes()
        del self.n_iter_  # least squares does not iterate

    def _reference_distribution(self) -> Any:
        return stats.t(self.df_residual_) if self.df_residual_ > 0 else stats.norm(np.nan, np.nan)

    def _scale_statistic(
        self, statistic: float, df: int, fitted: Estimate, kind: str
    ) -> tuple[float, float | None]:
        if df == 0 or fitted.df_residual <= 0 or fitted.deviance <= 0:
            return float("nan"), fitted.df_residual
        noise = 1.0 if kind == "wald" else fitted.deviance / fitted.df_residual
        return statistic / df / noise, fitted.df_residual

    def _term_table(self, deviances: Any, type: int) -> DataFrame:
        return variance_table(deviances, self._fitted)

    def _summary_facts(self) -> list[str]:
        return [
            f"{self.n_rows_:g} rows",
            f"R2 {self.r2_:.4f} (adjusted {self.adjusted_r2_:.4f})",
            f"residual standard error {self.sigma_:.4g} on {self.df_residual_:g} degrees of freedom",
            f"AIC {self.aic_:.2f}",
        ]

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the mean of y for each row of X.

        Parameters
        ----------
        X : table

        Returns
        -------
        array of shape (n_samples,)
        """
        rows = self._design_rows(X)
        return weighted_sum(self._fitted.coefficients, rows.T)

    @reads_fit_snapshot
    def confidence_band(self, X: TableLike, confidence: float = 0.95) -> DataFrame:
        """Return the mean of y with its confidence interval, as columns `estimate`, `low` and `high`."""
        return self._interval(X, confidence, 0.0)

    @reads_fit_snapshot
    def predict_interval(self, X: TableLike, confidence: float = 0.95) -> DataFrame:
        """Predict an interval for a new observation, which includes the noise.

        Parameters
        ----------
        X : table
        confidence : float, default=0.95
            Probability that the interval contains the observation.

        Returns
        -------
        pandas.DataFrame
            With the columns `estimate`, `low` and `high`.
        """
        return self._interval(X, confidence, 1.0)

    def _interval(self, X: TableLike, confidence: float, noise: float) -> DataFrame:
        check_value("confidence", confidence, CONFIDENCE)
        predictor, error = predictor_and_error(self._design_rows(X), self._fitted)
        quantile = self._reference_distribution().ppf((1 + confidence) / 2)
        half_width = quantile * np.sqrt(error**2 + noise * self.sigma_**2)
        columns = {
            "estimate": predictor,
            "low": predictor - half_width,
            "high": predictor + half_width,
        }
        return import_pandas().DataFrame(columns, index=self._index_of(X))

    @reads_fit_snapshot
    def diagnostics(self) -> DataFrame:
        """Return the fitted value, residuals, leverage and Cook's distance of each row.

        Returns
        -------
        pandas.DataFrame
            With `fitted`, `residual`, `standardised` (residuals divided by their standard errors),
            `studentised` (the same with the noise estimated without the row), `leverage` and `cook`.
        """
        self._check_has_rows("diagnostics")
        with suppress_warnings():
            weighted = self._fitted.result.model
            OLS = from_statsmodels("regression.linear_model").OLS
            # Rows multiplied by the square root of their weight have noise of the same variance.
            influence = OLS(weighted.wendog, weighted.wexog).fit().get_influence()
            columns = {
                "fitted": np.asarray(self._fitted.result.fittedvalues, dtype=float),
                "residual": np.asarray(self._fitted.result.resid, dtype=float),
                "standardised": np.asarray(influence.resid_studentized_internal, dtype=float),
                "studentised": np.asarray(influence.resid_studentized_external, dtype=float),
                "leverage": np.asarray(influence.hat_matrix_diag, dtype=float),
                "cook": np.asarray(influence.cooks_distance[0], dtype=float),
            }
        return import_pandas().DataFrame(columns)

    @reads_fit_snapshot
    def checks(self) -> DataFrame:
        """Test three assumptions of the model on the residuals.

        Returns
        -------
        pandas.DataFrame
            Rows "constant variance" (Breusch-Pagan test), "normal noise" (Shapiro-Wilk test) and "no
            curvature" (Ramsey's RESET: squares and cubes of the fitted values have no effect); columns
            `statistic` and `p_value`. A small p-value is evidence against the assumption.
        """
        self._check_has_rows("checks")
        residuals = np.asarray(self._fitted.result.wresid, dtype=float)
        with suppress_warnings():
            # Of more rows the p-value is not to be trusted.
            normal = stats.shapiro(residuals[:5000])
            tests = {
                "constant variance": self._breusch_pagan(residuals),
                "normal noise": (float(normal.statistic), float(normal.pvalue)),
                "no curvature": self._ramsey_reset(),
            }
        rows = {
            name: dict(zip(("statistic", "p_value"), pair, strict=True))
            for name, pair in tests.items()
        }
        return import_pandas().DataFrame.from_dict(rows, orient="index").rename_axis("assumption")

    def _breusch_pagan(self, residuals: np.ndarray) -> tuple[float, float]:
        """Return statistic and p-value of the Breusch-Pagan test."""
        matrix = self._design.matrix
        if not any(not term.factors for term in self._design.terms):
            matrix = np.column_stack([np.ones(len(matrix)), matrix])
        if matrix.shape[1] < 2:
            return np.nan, np.nan
        statistic, p_value = from_statsmodels("stats.diagnostic").het_breuschpagan(
            residuals, matrix
        )[:2]
        return float(statistic), float(p_value)

    def _ramsey_reset(self) -> tuple[float, float]:
        """Return statistic and p-value of Ramsey's RESET, the F test of powers of the fitted values."""
        fitted = np.asarray(self._fitted.result.fittedvalues, dtype=float)
        scaled = (fitted - fitted.mean()) / (fitted.std() or 1.0)
        extended_matrix = np.column_stack([self._design.matrix, scaled**2, scaled**3])
        added = int(np.linalg.matrix_rank(extended_matrix)) - self._design.matrix.shape[1]
        extended = self._estimate(extended_matrix, self._response)
        free = len(extended_matrix) - self._design.matrix.shape[1] - added
        if added < 1 or free < 1 or extended.deviance <= 0:
            return np.nan, np.nan
        ratio = max(self.deviance_ - extended.deviance, 0.0) / added / (extended.deviance / free)
        return ratio, float(stats.f.sf(ratio, added, free))


def _empty_estimate(values: np.ndarray, weight: np.ndarray) -> Estimate:
    """Return the estimate of a model without terms, which predicts 0."""
    rows, none = len(values), np.empty(0)
    squares = float((weight * values**2).sum())
    likelihood = -rows / 2 * (np.log(2 * np.pi * squares / rows) + 1) + np.log(weight).sum() / 2
    return Estimate(None, none, none.reshape(0, 0), squares, float(likelihood), rows, 0, True)
