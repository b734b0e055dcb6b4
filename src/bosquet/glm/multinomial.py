"""Multinomial regression: the log odds of each class against the first are linear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import stats
from scipy.special import expit, log_softmax, softmax

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import Check, check_value
from bosquet._sklearn import ClassifierMixin, check_is_fitted
from bosquet._sums import weighted_sum
from bosquet._targets import check_labels, class_numbers, unique_classes
from bosquet._warnings import warn_user
from bosquet.glm._estimates import Estimate, Response, symmetric
from bosquet.glm._generalised import ON_SEPARATION
from bosquet.glm._model import CONFIDENCE, FormulaModel
from bosquet.glm._reading import RegressionData
from bosquet.glm._statsmodels import from_statsmodels, import_pandas, suppress_warnings
from bosquet.glm._terms import Term
from bosquet.glm.binomial import check_class
from bosquet.glm.separation import (
    Separation,
    SeparationWarning,
    find_separation,
    has_maximum,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    from bosquet._types import TableLike


# Limit of the scaled coefficients when an estimate is infinite.
MAX_COEFFICIENT = 30.0


class MultinomialRegression(ClassifierMixin, FormulaModel):
    r"""Multinomial logistic regression: the log odds of each class against the first are linear.

    .. math:: \ln \frac{\pi_j}{\pi_1} = x'\beta_j, \qquad
        \Omega_{jk} = \frac{\pi_j}{\pi_k} = e^{x'(\beta_j - \beta_k)} .

    The odds Ω of any class j against any class k follow from the differences of coefficients, and do not
    depend on which class is the first. With two classes it is `BinomialRegression` with the logit link.

    Guide: the page "Generalised linear models" of the documentation

    Parameters
    ----------
    formula : str, list or None, default=None
        ``"species ~ sepal_width + petal_width"``: the target, main effects and interactions; a dot means all
        other columns. Without a left-hand side the target is the `y` passed to `fit`. A list of columns
        uses these as main effects, None uses all columns.
    fit_intercept : bool, default=True
        Whether the model has an intercept. In a formula, 0 also removes it.
    missing : "raise" or "drop", default="raise"
        Whether a missing value raises an error that names its column, or its row is dropped
        (`n_dropped_` counts them).
    on_separation : "warn", "raise" or "ignore", default="warn"
        What to do if the estimate does not exist because classes are separated from one
        another.
        `separation_` holds the terms.
    max_iter : int, default=50
        Maximum number of iterations of Newton's method.
    tol : float, default=1e-10
        The iteration stops when the deviance changes by less than this.

    Attributes
    ----------
    classes_ : array
        The labels; the first is the reference class of the coefficients.
    params_ : pandas.Series
        Coefficients by class and name.
    covariance_, deviance_, log_likelihood_, aic_, bic_, df_residual_
        As in `BinomialRegression`.
    separation_, formula_, terms_, selection_, result_
        As in `BinomialRegression`; `result_` is statsmodels' MultinomialResults, fitted to columns scaled
        to a root mean square of one.

    See Also
    --------
    BinomialRegression : Regression for two classes.
    LogLinearModel : Models of contingency tables.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import MultinomialRegression
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    >>> model = MultinomialRegression("sepal_width").fit(X, y)
    >>> print(f"accuracy {model.score(X, y):.2f}")
    accuracy 0.55
    >>> model.odds_ratios(2, 1).round(2)
                 odds_ratio   low   high  p_value
    coefficient
    sepal_width        7.69  1.98  29.92      0.0

    References
    ----------
    A. Agresti, Categorical Data Analysis, 3rd edition, 2013, chapter 8.
    """

    _CHECKS: ClassVar[Mapping[str, Check]] = {
        **FormulaModel._CHECKS,
        "on_separation": ON_SEPARATION,
    }

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
    ) -> MultinomialRegression:
        """Fit by maximum likelihood; `X`, `y` and `formula` as in `BinomialRegression.fit`."""
        return self._fit(X, y, formula, {})

    def _read_target(self, table: RegressionData) -> Response:
        labels = check_labels(table.y)
        self.classes_ = unique_classes(labels)
        if self.classes_.size < 2:
            raise ValueError(
                f"y contains one class only, {self.classes_.tolist()[0]!r} (n_samples={labels.size}); at"
                " least two classes are required"
            )
        return Response(class_numbers(labels, self.classes_).astype(float))

    def _estimate(self, matrix: np.ndarray, response: Response) -> Estimate:
        classes = self.classes_.size
        if matrix.shape[1] == 0:
            n_rows = len(response.values)
            log_likelihood, none = -n_rows * float(np.log(classes)), np.empty(0)
            return Estimate(
                None,
                none,
                none.reshape(0, 0),
                -2 * log_likelihood,
                log_likelihood,
                n_rows * (classes - 1),
                0,
                True,
            )
        return _fit_mnlogit(matrix, response.values, classes, self.max_iter, self.tol)

    def _coefficient_indices(self, columns: Any, width: int) -> np.ndarray:
        blocks = [
            width * block + np.asarray(sorted(columns), dtype=int)
            for block in range(self.classes_.size - 1)
        ]
        return np.concatenate(blocks)

    def _coefficient_index(self) -> Any:
        classes = self.classes_.tolist()[1:]
        names = ("class", "coefficient")
        return import_pandas().MultiIndex.from_product([classes, self._design.columns], names=names)

    def _after_fit(self) -> None:
        self._class_counts = np.bincount(self._response.values.astype(int)).tolist()
        self.separation_ = self._find_separation()
        if self.separation_ is None:
            self._warn_unless_converged()
        elif self.on_separation == "raise":
            raise ValueError(f"{self.separation_}; remove a term, or merge levels")
        elif self.on_separation == "warn":
            warn_user(
                f"{self.separation_}. Do not use these coefficients, their standard errors or Wald tests;"
                " remove a term, or merge levels",
                SeparationWarning,
            )

    def _find_separation(self) -> Separation | None:
        matrix, truth = self._design.matrix, self._response.values.astype(int)
        if self._has_certain_maximum(matrix, truth):
            return None
        # Separation means that the score of the true class exceeds that of every other class in each row.
        width, classes = matrix.shape[1], self.classes_.size
        signed_rows = []
        for other in range(classes):
            rows = truth != other
            blocks = np.zeros((int(rows.sum()), classes, width))
            at = np.arange(len(blocks))
            blocks[at, truth[rows]] += matrix[rows]
            blocks[at, other] -= matrix[rows]
            signed_rows.append(blocks[:, 1:].reshape(len(blocks), -1))
        names = [
            f"{name} ({label})"
            for label in self.classes_.tolist()[1:]
            for name in self._design.columns
        ]
        terms = [
            Term(
                term.name,
                term.factors,
                tuple(self._coefficient_indices(term.columns, width).tolist()),
            )
            for term in self._design.terms
        ]
        return find_separation(np.vstack(signed_rows), np.empty((0, len(names))), names, terms)

    def _has_certain_maximum(self, matrix: np.ndarray, truth: np.ndarray) -> bool:
        """Whether the fit proves that the classes are not separated."""
        classes, width = self.classes_.size, matrix.shape[1]
        residual = np.eye(classes)[truth] - softmax(self._log_odds_to_first(matrix), axis=1)
        gradient = (residual[:, 1:, None] * matrix[:, None, :]).sum(axis=0).ravel()
        # Variances of the differences of scores of all pairs of classes; the score of the first class is 0.
        blocks = np.zeros((classes, classes, width, width))
        shape = (classes - 1, width, classes - 1, width)
        blocks[1:, 1:] = self._fitted.covariance.reshape(shape).transpose(0, 2, 1, 3)
        spread = [
            ((matrix @ (blocks[j, j] + blocks[k, k] - blocks[j, k] - blocks[k, j])) * matrix).sum(
                axis=1
            )
            for j in range(classes)
            for k in range(j)
        ]
        try:
            information = np.linalg.inv(self._fitted.covariance)
        except np.linalg.LinAlgError:
            return False
        return has_maximum(np.concatenate(spread), gradient, information)

    def _log_odds_to_first(self, matrix: np.ndarray) -> np.ndarray:
        """Return ln(π_j / π_1) for every class, 0 for the first."""
        weights = self._fitted.coefficients.reshape(self.classes_.size - 1, -1)
        return np.column_stack(
            [np.zeros(len(matrix)), weighted_sum(weights.T, matrix.T[:, :, None])]
        )

    def _summary_facts(self) -> list[str]:
        counts = zip(self.classes_.tolist(), self._class_counts, strict=True)
        by_class = ", ".join(f"{label!r} {n}" for label, n in counts)
        return [f"{self.n_rows_:g} rows ({by_class})", *super()._summary_facts()[1:3]]

    def _summary_notes(self) -> list[str]:
        notes = [
            f"Coefficients are log odds ratios against the class {self.classes_.tolist()[0]!r}."
        ]
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
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        return softmax(self._log_odds_to_first(self._design_rows(X)), axis=1)

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
        scores = self._log_odds_to_first(self._design_rows(X))
        return self.classes_[scores.argmax(axis=1)]

    @reads_fit_snapshot
    def decision_function(self, X: TableLike) -> np.ndarray:
        """Compute the log probabilities; for two classes, the log odds of the second.

        Parameters
        ----------
        X : table

        Returns
        -------
        array of shape (n_samples,) for two classes, (n_samples, n_classes) for more
        """
        scores = self._log_odds_to_first(self._design_rows(X))
        return scores[:, 1] if self.classes_.size == 2 else log_softmax(scores, axis=1)

    @reads_fit_snapshot
    def odds(self, X: TableLike, j: object, k: object) -> np.ndarray:
        """Return the odds of class j against class k, π_j / π_k, for each row."""
        scores = self._log_odds_to_first(self._design_rows(X))
        first, second = self._class_index(j), self._class_index(k)
        with np.errstate(over="ignore"):
            return np.exp(scores[:, first] - scores[:, second])

    @reads_fit_snapshot
    def odds_ratios(self, j: object, k: object, confidence: float = 0.95) -> DataFrame:
        """Return the odds ratios of class j against class k for one unit more of each column.

        Returns
        -------
        pandas.DataFrame
            With `odds_ratio`, `low`, `high` (Wald) and `p_value`.
        """
        check_is_fitted(self, "_fitted")
        check_value("confidence", confidence, CONFIDENCE)
        contrast, names = self._contrast_matrix(j, k)
        difference = contrast @ self._fitted.coefficients
        error = np.sqrt(
            np.maximum(((contrast @ self._fitted.covariance) * contrast).sum(axis=1), 0)
        )
        half_width = stats.norm.ppf((1 + confidence) / 2) * error
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            columns = {
                "odds_ratio": np.exp(difference),
                "low": np.exp(difference - half_width),
                "high": np.exp(difference + half_width),
                "p_value": 2 * stats.norm.sf(np.abs(difference / error)),
            }
        pandas = import_pandas()
        table = pandas.DataFrame(columns, index=pandas.Index(names, name="coefficient"))
        return table.drop(index="Intercept", errors="ignore")

    def _contrast_matrix(self, j: object, k: object) -> tuple[np.ndarray, list[str]]:
        """Return the matrix that maps the coefficients to β_j - β_k, and the names of its rows."""
        first, second = self._class_index(j), self._class_index(k)
        if first == second:
            raise ValueError(f"j and k are both {j!r}; pass two different classes")
        names = list(self._design.columns)
        contrast = np.zeros((len(names), self.classes_.size - 1, len(names)))
        for number, sign in ((first, 1.0), (second, -1.0)):
            if number > 0:
                contrast[:, number - 1, :] += sign * np.eye(len(names))
        return contrast.reshape(len(names), -1), names

    def _class_index(self, label: object) -> int:
        check_is_fitted(self, "_fitted")
        return self.classes_.tolist().index(check_class(label, self.classes_))

    @reads_fit_snapshot
    def confidence_band(self, X: TableLike, confidence: float = 0.95) -> dict[object, DataFrame]:
        """Return for each class its probability with a confidence interval.

        The interval of the log odds of the class against all others is transformed to probabilities, so
        that it stays within (0, 1).

        Returns
        -------
        dict of label to pandas.DataFrame
            With `estimate`, `low` and `high`, one row per row of X.
        """
        check_value("confidence", confidence, CONFIDENCE)
        matrix = self._design_rows(X)
        probabilities = softmax(self._log_odds_to_first(matrix), axis=1)
        quantile = stats.norm.ppf((1 + confidence) / 2)
        bands = {}
        for number, label in enumerate(self.classes_.tolist()):
            other_probability = np.maximum(1 - probabilities[:, number], np.finfo(float).tiny)
            # The derivative of ln(π / (1 - π)) by the score of another class is -π_other / (1 - π).
            slope = -probabilities / other_probability[:, None]
            slope[:, number] = 1.0
            gradient = (slope[:, 1:, None] * matrix[:, None, :]).reshape(len(matrix), -1)
            variance = ((gradient @ self._fitted.covariance) * gradient).sum(axis=1)
            half_width = quantile * np.sqrt(np.maximum(variance, 0))
            with np.errstate(divide="ignore"):
                centre = np.log(probabilities[:, number]) - np.log(other_probability)
            ends = {"estimate": centre, "low": centre - half_width, "high": centre + half_width}
            columns = {name: _expit(values) for name, values in ends.items()}
            bands[label] = import_pandas().DataFrame(columns, index=self._index_of(X))
        return bands


def _expit(values: np.ndarray) -> np.ndarray:
    return np.asarray(expit(values))


def _fit_mnlogit(
    matrix: np.ndarray, numbers: np.ndarray, classes: int, max_iter: int, tol: float
) -> Estimate:
    """Fit MNLogit of statsmodels to scaled columns, by L-BFGS if Newton's method fails."""
    MNLogit = from_statsmodels("discrete.discrete_model").MNLogit
    size = np.sqrt((matrix**2).mean(axis=0))
    size[size == 0] = 1.0
    with suppress_warnings():
        model = MNLogit(numbers, matrix / size)
        options = {"disp": False, "maxiter": max_iter, "warn_convergence": False}
        try:
            result = model.fit(method="newton", tol=tol, **options)
            if not np.isfinite(result.llf):
                raise np.linalg.LinAlgError
        except np.linalg.LinAlgError:
            # The classes are separated: bounds on the scaled coefficients stop the iteration.
            bounds = [(-MAX_COEFFICIENT, MAX_COEFFICIENT)] * (matrix.shape[1] * (classes - 1))
            result = model.fit(
                method="lbfgs", bounds=bounds, pgtol=1e-8, skip_hessian=True, **options
            )
        coefficients = np.asarray(result.params, dtype=float).ravel(order="F")
        covariance = _covariance(model, np.asarray(result.params, dtype=float))
    unscale = np.tile(1 / size, classes - 1)
    log_likelihood = float(result.llf)
    return Estimate(
        result=result,
        coefficients=coefficients * unscale,
        covariance=symmetric(covariance * np.outer(unscale, unscale)),
        deviance=-2 * log_likelihood,
        log_likelihood=log_likelihood,
        df_residual=float((len(matrix) - matrix.shape[1]) * (classes - 1)),
        iterations=max(int(result.mle_retvals.get("iterations", 1)), 1),
        converged=bool(result.mle_retvals.get("converged", True)),
    )


def _covariance(model: Any, params: np.ndarray) -> np.ndarray:
    """Return the pseudo-inverse of the observed information, which is nearly singular after separation."""
    information = -np.asarray(model.hessian(params), dtype=float)
    return np.linalg.pinv(information, hermitian=True)
