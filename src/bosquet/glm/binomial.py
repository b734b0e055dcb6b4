"""BinomialRegression: the probability of one of two classes, and its odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bosquet._fitted import fits_aside, reads_one_fit
from bosquet._parameters import Check, choice
from bosquet._sklearn import ClassifierMixin, check_is_fitted
from bosquet._targets import check_labels, learn_classes
from bosquet.glm._estimates import Response, estimate_glm
from bosquet.glm._generalised import GeneralisedModel
from bosquet.glm._reading import Table
from bosquet.glm._statsmodels import from_statsmodels
from bosquet.glm.separation import Separation, certain_maximum, find_separation

# e to this is a number still, and so is e to minus this.
LARGEST_EXPONENT = 709.0
LINKS = {"logit": "Logit", "probit": "Probit", "cloglog": "CLogLog"}


class BinomialRegression(ClassifierMixin, GeneralisedModel):
    r"""Two classes, or counts of successes, explained through a link: logistic regression and its kin.

    The probability π of the second class (a "success") is modelled through a monotone map g of (0, 1) to the
    line, linear in the columns x:

    .. math:: g(\pi) = x'\beta, \qquad
        L(\beta) = \sum_i y_i \ln \pi_i + (n_i - y_i) \ln(1 - \pi_i),

    with n = 1 for single rows. β maximises L, found by Newton's method. With the logit, g(π) = ln(π / (1 -
    π)), the odds π / (1 - π) are e^{x'β}, and one unit more of x_j multiplies them by e^{β_j}: the odds
    ratio.

    Unlike scikit-learn's ``LogisticRegression`` nothing is penalised: estimates have standard errors, tests
    and intervals. statsmodels does the fitting; `result_` is its own result.

    Parameters
    ----------
    formula : str, list or None, default=None
        ``"chd ~ tobacco * famhist + age"``: the target, and main effects and interactions; a dot stands for
        all other columns. Without a left-hand side the target is the `y` given to `fit`. A list names the
        columns to use, None takes them all, each as a main effect.
    link : "logit", "probit" or "cloglog", default="logit"
        g(π): ln(π / (1 - π)); the quantile of the normal distribution; ln(-ln(1 - π)), called "log-log" in
        some lectures, which is not symmetric.
    fit_intercept : bool, default=True
        Whether there is a constant; a formula can also say so by a 0.
    missing : "raise" or "drop", default="raise"
        Whether a missing value is an error that names its column, or its row is left out (`n_dropped_`).
    on_separation : "warn", "raise" or "ignore", default="warn"
        What to do when the classes are separated, so that no estimate exists; `separation_` tells by what.
    max_iter : int, default=50
        Most steps of Newton's method.
    tol : float, default=1e-10
        Stop when the deviance changes by less.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; 0 and 1 for grouped data. Probabilities and odds are of the second.
    params_ : pandas.Series
        Coefficients by name.
    covariance_ : pandas.DataFrame
        Of the coefficients.
    deviance_, null_deviance_ : float
        Twice what the log-likelihood falls short of a parameter for each row: of the model, of a constant.
    log_likelihood_, aic_, bic_, df_residual_ : float
    separation_ : Separation or None
    formula_ : str
    terms_ : list of str
    selection_ : pandas.DataFrame
        The path, of a model that `backward` returned.
    result_ : statsmodels' GLMResults
        None in a model that was loaded from a model file.
    n_features_in_, feature_names_in_, n_rows_, n_dropped_, n_iter_, converged_

    Notes
    -----
    Weights count: a row of weight 2 is that row twice. For groups of n_i trials with y_i successes give
    ``fit(X, y, trials=n)``, or ``"dead + alive ~ dose"`` as a formula.

    ``save(path)`` writes the coefficients, their covariance and the design to a model file: predictions,
    intervals, odds, Wald tests and the summary survive to the bit, and need no statsmodels. The file holds no
    training rows and no code: likelihood-ratio tests, `anova`, `backward`, profile intervals and
    `diagnostics` need a fit, and a formula is held as expressions of columns (docs/glm.md tells
    which). A pickle holds the columns that were fitted to, and all of that with them.

    Examples
    --------
    Beetles and poison (Bliss, 1935): eight doses, how many beetles each, how many died.

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
        formula: Any = None,
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

    @fits_aside
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        formula: Any = None,
        trials: Any = None,
        sample_weight: Any = None,
    ) -> BinomialRegression:
        """Fit by maximum likelihood.

        Parameters
        ----------
        X : table of shape (rows, columns)
            An array or a data frame; with a formula, a frame. Columns of text and of category types get an
            indicator for each level but the first.
        y : array of shape (rows,) or (rows, 2), optional
            Class labels; with `trials`, numbers of successes; two columns are successes and failures. Not
            needed where a formula names the target.
        formula : optional
            In place of the parameter of that name.
        trials : array of shape (rows,) or str, optional
            How many trials each row stands for, or the column that says so.
        sample_weight : array of shape (rows,) or str, optional
            How many times each row counts: of weights that sum to 1, standard errors are those of one
            row.
        """
        beside = {"trials": trials, "sample_weight": sample_weight}
        return self._fit(X, y, formula, beside)

    def _read_target(self, table: Table) -> Response:
        weight = table.beside.get("sample_weight")
        values = np.asarray(table.y)
        trials = table.beside.get("trials")
        if trials is not None or (values.ndim == 2 and values.shape[1] == 2):
            self.classes_ = np.array([0, 1])
            self._grouped = True
            return Response(_counts(values, trials), weight)
        labels = check_labels(values)
        self.classes_ = learn_classes(labels)
        if self.classes_.size < 2:
            raise ValueError(
                f"y holds one class only, {self.classes_.tolist()[0]!r}: there is nothing to tell apart"
                f" (n_samples={labels.size})"
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

    def _separation(self) -> Separation | None:
        matrix, values = self._design.matrix, self._response.values
        if self._logit_has_maximum():
            return None
        if values.ndim == 1:
            success, failure = values == 1, values == 0
        else:
            success, failure = values[:, 1] == 0, values[:, 0] == 0
        asking = np.vstack([matrix[success], -matrix[failure]])
        level = matrix[~(success | failure)]
        return find_separation(asking, level, self._design.columns, self._design.terms)

    def _logit_has_maximum(self) -> bool:
        """Separation is a matter of the rows, the same for every link: the logit's fit can rule it out."""
        matrix, response = self._design.matrix, self._response
        fitted = self._fitted
        if self.link != "logit":
            family = from_statsmodels("genmod.families").Binomial()
            fitted = estimate_glm(family, matrix, response, max_iter=self.max_iter, tol=self.tol)
        done, trials = response.values, np.ones(len(matrix))
        if self._grouped:
            done, trials = response.values[:, 0], response.values.sum(axis=1)
        weight = 1.0 if response.weight is None else response.weight
        chance = expit(matrix @ fitted.coefficients)
        missed = weight * (done - trials * chance)
        return certain_maximum(matrix, missed, weight * trials * chance * (1 - chance))

    def _title(self) -> str:
        return f"BinomialRegression ({self.link})"

    def _facts(self) -> list[str]:
        null = f"{self.null_deviance_:.2f} of a constant"
        told = f"deviance {self.deviance_:.2f} on {self.df_residual_:g} degrees of freedom ({null})"
        return [f"{self.n_rows_:g} rows", told, f"AIC {self.aic_:.2f}"]

    def _notes(self) -> list[str]:
        notes = (
            []
            if self._grouped
            else [f"Probabilities are of the class {self.classes_.tolist()[1]!r}."]
        )
        return notes if self.separation_ is None else [*notes, self.separation_.sentence()]

    # ---- predicting -----------------------------------------------------------------------------

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes, in the order of `classes_`."""
        second = self._inverse(self.linear_predictor(X))
        return np.column_stack([1 - second, second])

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class with the larger probability."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    @reads_one_fit
    def decision_function(self, X: Any) -> np.ndarray:
        """The log odds of the second class: with the logit, the linear predictor itself."""
        predictor = self.linear_predictor(X)
        if self.link == "logit":
            return predictor
        from scipy.special import log_ndtr

        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            if self.link == "probit":
                return log_ndtr(predictor) - log_ndtr(-predictor)
            hazard = np.exp(np.minimum(predictor, LARGEST_EXPONENT))  # ln(1 - π) = -hazard
            small = np.log(np.expm1(np.minimum(hazard, 1)))
            # Next to 0 it is the predictor itself, also where the hazard is too small for a number.
            small = np.where(predictor < -LARGEST_EXPONENT, predictor, small)
            return np.where(hazard > 1, hazard + np.log1p(-np.exp(-hazard)), small)

    @reads_one_fit
    def odds(self, X: Any, j: Any = None, k: Any = None) -> np.ndarray:
        """The odds of class j against class k, π_j / π_k, for each row.

        Parameters
        ----------
        X : table
        j, k : labels, optional
            Two of `classes_`; the second against the first by default.
        """
        check_is_fitted(self, "_fitted")
        j = self.classes_[1] if j is None else _known(j, self.classes_)
        k = self.classes_[0] if k is None else _known(k, self.classes_)
        if j == k:
            return np.ones(len(self._rows(X)))
        sign = 1 if j == self.classes_[1] else -1
        with np.errstate(over="ignore"):
            return np.exp(sign * self.decision_function(X))

    @reads_one_fit
    def odds_ratios(self, level: float = 0.95, interval: str = "wald", units: Any = None) -> Any:
        """What one unit more of each column multiplies the odds of the second class by: e^β.

        Parameters
        ----------
        level : float, default=0.95
        interval : "wald" or "profile"
        units : dict, optional
            ``{"age": 10}``: for an increment of so many units.

        Returns
        -------
        pandas.DataFrame
            With `odds_ratio`, `low`, `high` and `p_value`.
        """
        check_is_fitted(self, "_fitted")
        if self.link != "logit":
            raise ValueError(
                f"odds ratios are constant with link='logit' alone, and this model has link={self.link!r}:"
                " compare model.odds(X) at rows of your choice"
            )
        return self._ratios("odds_ratio", level, interval, units)

    @reads_one_fit
    def confidence_band(self, X: Any, level: float = 0.95) -> Any:
        """The probability of the second class with its confidence interval, through the inverse link.

        The interval of the linear predictor, x'b ± z sqrt(x'Vx), is carried over by g⁻¹, and so stays in
        (0, 1).

        Returns
        -------
        pandas.DataFrame
            With `estimate`, `low` and `high`; a row for each of X.
        """
        return self._band(*self._scores_of(X), level, X)

    def _check_counts_enough(self) -> None:
        if not self._grouped:
            raise ValueError(
                "with one trial a row the deviance says nothing of the fit: it does not follow chi-squared;"
                " group the rows, or compare with a larger model by anova(other)"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _counts(values: np.ndarray, trials: np.ndarray | None) -> np.ndarray:
    """Successes and failures as two columns, checked."""
    try:
        values = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("with trials, y must hold numbers of successes") from None
    if trials is not None:
        if values.ndim != 1:
            raise ValueError("with trials, y must have one column: numbers of successes")
        values = np.column_stack([values, np.asarray(trials, dtype=float) - values])
    if not np.isfinite(values).all():
        raise ValueError("Input y contains NaN or infinity among its counts")
    if (values < 0).any():
        row = int(np.flatnonzero((values < 0).any(axis=1))[0])
        done, failed = values[row]
        told = (
            f"{done:g} successes of {done + failed:g} trials"
            if trials is not None
            else f"counts {done:g} and {failed:g}"
        )
        raise ValueError(
            f"row {row} has {told}: counts must not be negative, nor successes more than trials"
        )
    if not values.sum(axis=1).all():
        row = int(np.flatnonzero(values.sum(axis=1) == 0)[0])
        raise ValueError(f"row {row} has no trials: leave it out")
    if not values.sum(axis=0).all():
        raise ValueError(
            "y has successes only, or failures only: one class, and nothing to tell apart"
        )
    return values


def _known(label: Any, classes: np.ndarray) -> Any:
    if label not in classes.tolist():
        raise ValueError(f"{label!r} is not one of the classes {classes.tolist()}")
    return label
