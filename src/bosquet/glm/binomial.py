"""Binomial regression: logistic, probit and complementary log-log models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit, log_ndtr

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import Check, choice
from bosquet._sklearn import ClassifierMixin, check_is_fitted
from bosquet._suggestions import first_names
from bosquet._targets import check_labels, unique_classes
from bosquet.glm._estimates import Response, estimate_glm
from bosquet.glm._generalised import GeneralisedModel
from bosquet.glm._reading import RegressionData
from bosquet.glm._statsmodels import from_statsmodels
from bosquet.glm.separation import Separation, find_separation, has_certain_maximum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    from bosquet._sklearn import Tags
    from bosquet._types import TableLike


# Neither exp(709) nor exp(-709) overflows or underflows to 0.
LARGEST_EXPONENT = 709.0
LINKS = {"logit": "Logit", "probit": "Probit", "cloglog": "CLogLog"}


class BinomialRegression(ClassifierMixin, GeneralisedModel):
    r"""Binomial regression of two classes or of counts of successes, with a logit, probit or cloglog link.

    A link function g of the probability π of the second class (a "success") is linear in the columns x:

    .. math:: g(\pi) = x'\beta, \qquad
        L(\beta) = \sum_i y_i \ln \pi_i + (n_i - y_i) \ln(1 - \pi_i),

    with n = 1 for single rows. β maximises L and is found by Newton's method. With the logit link,
    g(π) = ln(π / (1 - π)), the odds π / (1 - π) are e^{x'β}, and one unit more of x_j multiplies them by
    e^{β_j}, the odds ratio.

    Unlike scikit-learn's ``LogisticRegression``, nothing is penalised, so that estimates have standard
    errors, tests and confidence intervals. statsmodels fits the model; `result_` is its result object.

    Guide: the page "Generalised linear models" of the documentation

    Parameters
    ----------
    formula : str, list or None, default=None
        ``"chd ~ tobacco * famhist + age"``: the target, main effects and interactions; a dot means all
        other columns. Without a left-hand side the target is the `y` passed to `fit`. A list of columns
        uses these as main effects, None uses all columns.
    link : "logit", "probit" or "cloglog", default="logit"
        g(π) = ln(π / (1 - π)); the quantile function of the normal distribution; or ln(-ln(1 - π)), which
        is not symmetric and sometimes called "log-log".
    fit_intercept : bool, default=True
        Whether the model has an intercept. In a formula, 0 also removes it.
    missing : "raise" or "drop", default="raise"
        Whether a missing value raises an error that names its column, or its row is dropped
        (`n_dropped_` counts them).
    on_separation : "warn", "raise" or "ignore", default="warn"
        What to do if the classes are separated, so that the estimate does not exist. `separation_` holds
        the terms that separate them.
    max_iter : int, default=50
        Maximum number of iterations of Newton's method.
    tol : float, default=1e-10
        The iteration stops when the deviance changes by less than this.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; 0 and 1 for grouped data. Probabilities and odds refer to the second.
    params_ : pandas.Series
        Coefficients by name.
    covariance_ : pandas.DataFrame
        Covariance of the coefficients.
    deviance_, null_deviance_ : float
        Deviance of the model, and of the model with an intercept only: twice the difference of the
        log-likelihood to that of the saturated model.
    log_likelihood_, aic_, bic_, df_residual_ : float
    separation_ : Separation or None
        None if the classes are not separated.
    formula_ : str
        The formula of the fit.
    terms_ : list of str
        Names of the terms.
    selection_ : pandas.DataFrame
        Path of the selection, only for a model returned by `backward`.
    result_ : statsmodels' GLMResults
        None for a model loaded from a file.
    n_features_in_, feature_names_in_, n_rows_, n_dropped_, n_iter_, converged_

    Notes
    -----
    Weights are frequencies: a row of weight 2 counts twice. For groups of n_i trials with y_i successes call
    ``fit(X, y, trials=n)``, or use a formula such as ``"dead + alive ~ dose"``.

    ``save(path)`` writes the coefficients, their covariance and the design to a model file. A loaded model
    gives the same bits for predictions, intervals, odds, Wald tests and the summary, and does not need
    statsmodels. The file contains neither training rows nor code. Likelihood-ratio tests, `anova`,
    `backward`, profile intervals and `diagnostics` need the training rows, so they raise an error on a
    loaded model. A formula is stored as expressions of columns; the guide lists the supported functions.
    A pickle contains the training columns and supports all methods.

    See Also
    --------
    MultinomialRegression : Regression for more than two classes.
    PoissonRegression : Regression for counts.

    Examples
    --------
    Mortality of beetles (Bliss, 1935): eight doses of a poison, the number of beetles, and how many died.

    >>> import pandas as pd
    >>> from bosquet import BinomialRegression
    >>> beetles = pd.DataFrame({
    ...     "dose": [1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839],
    ...     "beetles": [59, 60, 62, 56, 63, 59, 62, 60],
    ...     "killed": [6, 13, 18, 28, 52, 53, 61, 60],
    ... })
    >>> for link in ("logit", "probit", "cloglog"):
    ...     model = BinomialRegression("killed ~ dose", link=link).fit(beetles, trials="beetles")
    ...     print(f"{link:8} deviance {model.deviance_:.2f}, AIC {model.aic_:.2f}")
    logit    deviance 11.23, AIC 41.43
    probit   deviance 10.12, AIC 40.32
    cloglog  deviance 3.45, AIC 33.64
    >>> print(model.test("dose"))
    dose = 0: chi2(1) = 280.8, p < 0.001 (likelihood ratio)
    >>> model.confidence_band(pd.DataFrame({"dose": [1.8]})).round(3)
       estimate    low   high
    0      0.67  0.612  0.726

    References
    ----------
    P. McCullagh, J. Nelder, Generalized Linear Models, 2nd edition, 1989.

    F. Bach, Self-concordant analysis for logistic regression, Electronic Journal of Statistics 4, 2010.

    K. Konis, Linear programming algorithms for detecting separated data in binary logistic regression models,
    DPhil thesis, Oxford, 2007.
    """

    _CHECKS: ClassVar[Mapping[str, Check]] = {**GeneralisedModel._CHECKS, "link": choice(*LINKS)}

    def __init__(
        self,
        formula: str | Sequence[str] | None = None,
        *,
        link: str = "logit",
        fit_intercept: bool = True,
        missing: str = "raise",
        on_separation: str = "warn",
        max_iter: int = 50,
        tol: float = 1e-10,
    ) -> None:
        self.formula = formula
        self.link = link
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
        trials: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> BinomialRegression:
        """Fit by maximum likelihood.

        Parameters
        ----------
        X : table of shape (rows, columns)
            An array or a data frame; with a formula, a data frame. Columns of text or of a categorical type
            are coded by an indicator for each level but the first.
        y : array of shape (rows,) or (rows, 2), optional
            Class labels; with `trials`, numbers of successes; with two columns, successes and failures. Not
            needed if a formula names the target.
        formula : optional
            Replaces the parameter `formula`.
        trials : array of shape (rows,) or str, optional
            Number of trials of each row, or the name of its column.
        sample_weight : array of shape (rows,) or str, optional
            Frequency of each row, or the name of its column. If the weights sum to 1, standard errors are
            those of a single row.
        """
        per_row = {"trials": trials, "sample_weight": sample_weight}
        return self._fit(X, y, formula, per_row)

    def _read_target(self, table: RegressionData) -> Response:
        weight = table.per_row.get("sample_weight")
        values = np.asarray(table.y)
        trials = table.per_row.get("trials")
        if trials is not None or (values.ndim == 2 and values.shape[1] == 2):
            self.classes_ = np.array([0, 1])
            self._grouped = True
            return Response(_check_counts(values, trials), weight)
        labels = check_labels(values)
        self.classes_ = unique_classes(labels)
        if self.classes_.size < 2:
            raise ValueError(
                f"y contains one class only, {self.classes_.tolist()[0]!r} (n_samples={labels.size}); at"
                " least two classes are required"
            )
        if self.classes_.size > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass:"
                f" y has {self.classes_.size} classes; use MultinomialRegression"
            )
        self._grouped = False
        return Response((labels == self.classes_[1]).astype(float), weight)

    def _link(self) -> str:
        return self.link

    def _family(self) -> Any:
        families = from_statsmodels("genmod.families")
        return families.Binomial(link=getattr(families.links, LINKS[self.link])())

    def _after_fit(self) -> None:
        super()._after_fit()
        self.null_deviance_ = self._null_deviance()

    def _find_separation(self) -> Separation | None:
        matrix, values = self._design.matrix, self._response.values
        if self._logit_has_maximum():
            return None
        if values.ndim == 1:
            success, failure = values == 1, values == 0
        else:
            success, failure = values[:, 1] == 0, values[:, 0] == 0
        signed_rows = np.vstack([matrix[success], -matrix[failure]])
        tied_rows = matrix[~(success | failure)]
        return find_separation(signed_rows, tied_rows, self._design.columns, self._design.terms)

    def _logit_has_maximum(self) -> bool:
        """Whether the fit of the logit model proves that the classes are not separated.

        Separation is a property of the rows and does not depend on the link.
        """
        matrix, response = self._design.matrix, self._response
        fitted = self._fitted
        if self.link != "logit":
            family = from_statsmodels("genmod.families").Binomial()
            fitted = estimate_glm(family, matrix, response, max_iter=self.max_iter, tol=self.tol)
        successes, trials = response.values, np.ones(len(matrix))
        if self._grouped:
            successes, trials = response.values[:, 0], response.values.sum(axis=1)
        weight = 1.0 if response.weight is None else response.weight
        probability = expit(matrix @ fitted.coefficients)
        residual = weight * (successes - trials * probability)
        return has_certain_maximum(
            matrix, residual, weight * trials * probability * (1 - probability)
        )

    def _summary_title(self) -> str:
        return f"BinomialRegression ({self.link})"

    def _summary_facts(self) -> list[str]:
        null = f"null deviance {self.null_deviance_:.2f}"
        deviance = (
            f"deviance {self.deviance_:.2f} on {self.df_residual_:g} degrees of freedom ({null})"
        )
        return [f"{self.n_rows_:g} rows", deviance, f"AIC {self.aic_:.2f}"]

    def _summary_notes(self) -> list[str]:
        notes = (
            []
            if self._grouped
            else [f"Probabilities refer to the class {self.classes_.tolist()[1]!r}."]
        )
        return notes if self.separation_ is None else [*notes, self.separation_.sentence()]

    # ---- predicting -----------------------------------------------------------------------------

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : table

        Returns
        -------
        array of shape (n_samples, 2)
            The columns are in the order of `classes_`.
        """
        second = self._inverse_link(self.linear_predictor(X))
        return np.column_stack([1 - second, second])

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X: the most probable class.

        Parameters
        ----------
        X : table

        Returns
        -------
        array of shape (n_samples,)
        """
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    @reads_fit_snapshot
    def decision_function(self, X: TableLike) -> np.ndarray:
        """Compute the log odds of the second class; with the logit link, the linear predictor.

        Parameters
        ----------
        X : table

        Returns
        -------
        array of shape (n_samples,)
        """
        predictor = self.linear_predictor(X)
        if self.link == "logit":
            return predictor

        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            if self.link == "probit":
                return log_ndtr(predictor) - log_ndtr(-predictor)
            hazard = np.exp(np.minimum(predictor, LARGEST_EXPONENT))  # ln(1 - π) = -hazard
            small = np.log(np.expm1(np.minimum(hazard, 1)))
            # For small hazards the log odds equal the predictor, also where the hazard underflows.
            small = np.where(predictor < -LARGEST_EXPONENT, predictor, small)
            return np.where(hazard > 1, hazard + np.log1p(-np.exp(-hazard)), small)

    @reads_fit_snapshot
    def odds(self, X: TableLike, j: object = None, k: object = None) -> np.ndarray:
        """Return the odds of class j against class k, π_j / π_k, for each row.

        Parameters
        ----------
        X : table
        j, k : labels, optional
            Two of `classes_`. Default: the second against the first.
        """
        check_is_fitted(self, "_fitted")
        j = self.classes_[1] if j is None else check_class(j, self.classes_)
        k = self.classes_[0] if k is None else check_class(k, self.classes_)
        if j == k:
            return np.ones(len(self._design_rows(X)))
        sign = 1 if j == self.classes_[1] else -1
        with np.errstate(over="ignore"):
            return np.exp(sign * self.decision_function(X))

    @reads_fit_snapshot
    def odds_ratios(
        self,
        confidence: float = 0.95,
        interval: str = "wald",
        units: Mapping[str, float] | None = None,
    ) -> DataFrame:
        """Return the odds ratios e^β, by which one unit more of a column multiplies the odds.

        Parameters
        ----------
        confidence : float, default=0.95
            Coverage of the intervals.
        interval : "wald" or "profile"
            As in `coefficients`.
        units : dict, optional
            ``{"age": 10}`` gives the odds ratio for an increment of 10 units.

        Returns
        -------
        pandas.DataFrame
            With `odds_ratio`, `low`, `high` and `p_value`.
        """
        check_is_fitted(self, "_fitted")
        if self.link != "logit":
            raise ValueError(
                f"odds ratios are only constant for link='logit', but this model has link={self.link!r};"
                " compare model.odds(X) at chosen rows instead"
            )
        return self._ratio_table("odds_ratio", confidence, interval, units)

    @reads_fit_snapshot
    def confidence_band(self, X: TableLike, confidence: float = 0.95) -> DataFrame:
        """Return the probability of the second class with its confidence interval.

        The interval x'b ± z sqrt(x'Vx) of the linear predictor is transformed by g⁻¹, so that it stays
        within (0, 1).

        Returns
        -------
        pandas.DataFrame
            With `estimate`, `low` and `high`, one row per row of X.
        """
        return self._confidence_band(*self._predictor_and_error(X), confidence, X)

    def _check_chi_squared_valid(self) -> None:
        if not self._grouped:
            raise ValueError(
                "with one trial per row the deviance does not follow a chi-squared distribution and does not"
                " measure the fit; group the rows, or compare with a larger model by anova(other)"
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _check_counts(values: np.ndarray, trials: np.ndarray | None) -> np.ndarray:
    """Return successes and failures as two columns; raise a ValueError for invalid counts."""
    try:
        values = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            "y contains values that are not numbers; with trials, pass the number of successes of each row"
        ) from None
    if trials is not None:
        if values.ndim != 1:
            raise ValueError(
                f"y has shape {values.shape}; with trials, pass the number of successes of each row, shape"
                " (n_samples,)"
            )
        values = np.column_stack([values, np.asarray(trials, dtype=float) - values])
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(
            f"Input y contains NaN or infinity in row {row}; counts must be finite, drop this row"
        )
    if (values < 0).any():
        row = int(np.flatnonzero((values < 0).any(axis=1))[0])
        successes, failures = values[row]
        counts = (
            f"{successes:g} successes of {successes + failures:g} trials"
            if trials is not None
            else f"counts {successes:g} and {failures:g}"
        )
        raise ValueError(
            f"row {row} has {counts}; counts must not be negative, and successes must not exceed trials"
        )
    if not values.sum(axis=1).all():
        row = int(np.flatnonzero(values.sum(axis=1) == 0)[0])
        raise ValueError(f"row {row} has 0 trials; remove this row")
    if not values.sum(axis=0).all():
        raise ValueError(
            "y contains successes only or failures only (one class), but both are required; pass rows of the"
            " other class too"
        )
    return values


def check_class(label: object, classes: np.ndarray) -> object:
    if label not in classes.tolist():
        raise ValueError(
            f"{label!r} is not one of the classes {first_names(classes)}; pass the label of a class of y"
        )
    return label
