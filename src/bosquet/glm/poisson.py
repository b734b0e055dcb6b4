"""Poisson regression of counts and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._sklearn import RegressorMixin
from bosquet.glm._estimates import Response, predictor_and_error
from bosquet.glm._generalised import GeneralisedModel
from bosquet.glm._reading import RegressionData, read_numeric_target
from bosquet.glm._statsmodels import from_statsmodels
from bosquet.glm.separation import Separation, find_separation, has_certain_maximum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    from bosquet._sklearn import Tags
    from bosquet._types import TableLike


class PoissonRegression(RegressorMixin, GeneralisedModel):
    r"""Poisson regression of counts with a log link.

    A count y has a Poisson distribution with mean μ,

    .. math:: \ln \mu = x'\beta + \ln t,

    where t is the exposure: the time, area or number at risk in which the events were counted. One unit more
    of x_j multiplies the rate by e^{β_j}. Unlike scikit-learn's ``PoissonRegressor``, nothing is penalised,
    and there are tests and confidence intervals. For contingency tables see `LogLinearModel`.

    Guide: the page "Generalised linear models" of the documentation

    Parameters
    ----------
    formula : str, list or None, default=None
        ``"claims ~ age * region + power"``: the target, main effects and interactions; a dot means all
        other columns. Without a left-hand side the target is the `y` passed to `fit`. A list of columns
        uses these as main effects, None uses all columns.
    fit_intercept : bool, default=True
        Whether the model has an intercept. In a formula, 0 also removes it.
    missing : "raise" or "drop", default="raise"
        Whether a missing value raises an error that names its column, or its row is dropped
        (`n_dropped_` counts them).
    on_separation : "warn", "raise" or "ignore", default="warn"
        What to do if the estimate does not exist because the terms can send the mean of
        some rows, whose counts are all zero, to zero (separation).
        `separation_` holds the terms.
    max_iter : int, default=50
        Maximum number of iterations of Newton's method.
    tol : float, default=1e-10
        The iteration stops when the deviance changes by less than this.

    Attributes
    ----------
    params_, covariance_, deviance_, null_deviance_, log_likelihood_, aic_, bic_, df_residual_
        As in `BinomialRegression`.
    separation_, formula_, terms_, selection_, result_
        As in `BinomialRegression`.

    See Also
    --------
    LogLinearModel : Models of contingency tables.
    BinomialRegression : Regression for two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet import PoissonRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = rng.poisson(np.exp(1 + 0.5 * X[:, 0]))
    >>> model = PoissonRegression().fit(X, y)
    >>> model.params_.round(2).to_dict()
    {'Intercept': 0.96, 'x0': 0.51, 'x1': -0.03}
    >>> print(f"R2 {model.score(X, y):.2f}")
    R2 0.47
    """

    def __init__(
        self,
        formula: str | Sequence[str] | None = None,
        *,
        fit_intercept: bool = True,
        missing: str = "raise",
        on_separation: str = "warn",
        max_iter: int = 50,
        tol: float = 1e-10,
    ) -> None:
        self.formula = formula
        self.fit_intercept = fit_intercept
        self.missing = missing
        self.on_separation = on_separation
        self.max_iter = max_iter
        self.tol = tol

    @publishes_fit_atomically
    def fit(
        self,
        X: TableLike,
        y: ArrayLike | None = None,
        *,
        formula: str | Sequence[str] | None = None,
        exposure: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> PoissonRegression:
        """Fit by maximum likelihood.

        Parameters
        ----------
        X, y, formula, sample_weight
            As in `BinomialRegression.fit`; y contains counts.
        exposure : array of shape (rows,) or str, optional
            Exposure of each count, or the name of its column.
        """
        return self._fit(X, y, formula, {"exposure": exposure, "sample_weight": sample_weight})

    def _read_target(self, table: RegressionData) -> Response:
        values = read_numeric_target(table.y)
        if (values < 0).any():
            row = int(np.flatnonzero(values < 0)[0])
            raise ValueError(f"y[{row}] is {values[row]:g}; counts must not be negative")
        if not values.any():
            raise ValueError("y is 0 in every row; at least one positive count is required")
        exposure = table.per_row.get("exposure")
        return Response(values, table.per_row.get("sample_weight"), _log_exposure(exposure))

    def _link(self) -> str:
        return "log"

    def _family(self) -> Any:
        return from_statsmodels("genmod.families").Poisson()

    def _after_fit(self) -> None:
        super()._after_fit()
        self.null_deviance_ = self._null_deviance()

    def _find_separation(self) -> Separation | None:
        matrix, values = self._design.matrix, self._response.values
        mean = np.asarray(self._fitted.result.fittedvalues, dtype=float)
        weight = 1.0 if self._response.weight is None else self._response.weight
        empty = values == 0
        # Only the means of rows with count zero can tend to zero.
        if not empty.any() or has_certain_maximum(matrix, weight * (values - mean), weight * mean):
            return None
        return find_separation(
            -matrix[empty], matrix[~empty], self._design.columns, self._design.terms
        )

    def _summary_facts(self) -> list[str]:
        deviance = f"deviance {self.deviance_:.2f} on {self.df_residual_:g} degrees of freedom"
        return [
            f"{self.n_rows_:g} rows",
            f"{deviance} (null deviance {self.null_deviance_:.2f})",
            f"AIC {self.aic_:.2f}",
        ]

    def _summary_notes(self) -> list[str]:
        notes = [] if self.separation_ is None else [self.separation_.sentence()]
        dispersion = self._pearson / self.df_residual_ if self.df_residual_ > 0 else 1.0
        if dispersion > 2:
            notes.append(
                f"The counts are overdispersed: their variance is {dispersion:.1f} times that of a Poisson"
                " distribution, so standard errors are too small by a factor of about"
                f" {np.sqrt(dispersion):.1f}."
            )
        return notes

    @reads_fit_snapshot
    def predict(self, X: TableLike, exposure: ArrayLike | str | None = None) -> np.ndarray:
        """Predict the mean count of each row of X.

        Parameters
        ----------
        X : table
        exposure : float or array of shape (n_samples,), optional
            Exposure of each row. None: an exposure of 1.

        Returns
        -------
        array of shape (n_samples,)
        """
        offset = _log_exposure(exposure)
        predictor = self.linear_predictor(X)
        return self._inverse_link(predictor if offset is None else predictor + offset)

    @reads_fit_snapshot
    def rate_ratios(
        self,
        confidence: float = 0.95,
        interval: str = "wald",
        units: Mapping[str, float] | None = None,
    ) -> DataFrame:
        """Return the rate ratios e^β; the parameters are those of `BinomialRegression.odds_ratios`."""
        return self._ratio_table("rate_ratio", confidence, interval, units)

    @reads_fit_snapshot
    def confidence_band(
        self, X: TableLike, confidence: float = 0.95, exposure: ArrayLike | str | None = None
    ) -> DataFrame:
        """Return the mean count with its confidence interval, as columns `estimate`, `low` and `high`."""
        return self._confidence_band(
            *predictor_and_error(self._design_rows(X), self._fitted, _log_exposure(exposure)),
            confidence,
            X,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def _log_exposure(exposure: ArrayLike | str | None) -> np.ndarray | None:
    if exposure is None:
        return None
    values = np.asarray(exposure, dtype=float)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if wrong.size:
        raise ValueError(
            f"exposure[{wrong[0]}] is {values.ravel()[wrong[0]]:g}; exposures must be finite and > 0"
        )
    return np.log(values)
