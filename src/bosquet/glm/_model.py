"""Base class of the regression models: fitting, intervals, tests, tables and selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from bosquet._fitted import SaveMixin, reads_fit_snapshot
from bosquet._parameters import (
    Check,
    boolean,
    check_parameters,
    check_value,
    choice,
    integer,
    number,
)
from bosquet._sklearn import BaseEstimator, check_is_fitted
from bosquet._suggestions import with_article
from bosquet._warnings import warn_user
from bosquet.glm._estimates import Estimate, Response
from bosquet.glm._inference import (
    TermTest,
    check_nested,
    chi_squared_table,
    term_deviances,
    upper_tail,
    wald_statistic,
)
from bosquet.glm._reading import Design, RegressionData, check_formula, read_data
from bosquet.glm._selection import CRITERIA, select_backward
from bosquet.glm._statsmodels import from_statsmodels, import_pandas
from bosquet.glm._summary import Summary
from bosquet.glm._terms import Term, check_independent, find_terms, terms_containing

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from bosquet._sklearn import Tags
    from bosquet._types import TableLike


CONFIDENCE = number(0, 1, open_low=True)
SIGNIFICANCE = number(0, 1, open_low=True)


class FormulaModel(SaveMixin, BaseEstimator):
    """Base class of models with a likelihood and a linear predictor of a formula or of columns.

    A subclass defines how the target is read (`_read_target`), how the model is fitted (`_estimate`), and the
    names of the coefficients (`_coefficient_index`).
    """

    _CHECKS: ClassVar[Mapping[str, Check]] = {
        "fit_intercept": boolean(),
        "missing": choice("raise", "drop"),
        "max_iter": integer(1),
        "tol": number(0, open_low=True),
    }
    _STATISTIC = "z"

    # ---- methods that subclasses define ---------------------------------------------------------

    def _read_target(self, table: RegressionData) -> Response:
        raise NotImplementedError

    def _estimate(self, matrix: np.ndarray, response: Response) -> Estimate:
        raise NotImplementedError

    def _check_scale(self, response: Response) -> None:
        """Warn if the scale of the weights makes standard errors misleading."""

    def _after_fit(self) -> None:
        """Compute attributes that need the training rows, and check for separation."""

    def _coefficient_indices(self, columns: Any, width: int) -> np.ndarray:
        """Return the indices of the coefficients of some columns of a matrix with `width` columns."""
        return np.asarray(sorted(columns), dtype=int)

    def _coefficient_index(self) -> Any:
        return import_pandas().Index(self._design.columns, name="coefficient")

    def _summary_title(self) -> str:
        return type(self).__name__

    # ---- fitting --------------------------------------------------------------------------------

    def _fit(
        self,
        X: Any,
        y: Any,
        formula: Any,
        per_row: Mapping[str, Any],
    ) -> Self:
        check_parameters(self, self._CHECKS)
        from_statsmodels("base")  # raise the ImportError before other errors
        formula = self.formula if formula is None else formula
        check_formula(formula)
        table = read_data(
            X, y, formula, per_row,
            owner=type(self).__name__, intercept=getattr(self, "fit_intercept", True),
            missing=self.missing,
        )  # fmt: skip
        response = self._read_target(table)
        self._check_scale(response)
        self.n_features_in_ = table.n_features
        if table.features is not None:
            self.feature_names_in_ = np.asarray(table.features, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_dropped_ = table.dropped
        self._target = table.target
        self.__dict__.pop("selection_", None)
        self._fit_design(table.design, response)
        return self

    def _fit_design(self, design: Design, response: Response) -> None:
        """Fit a design, and set the fitted attributes."""
        check_independent(design.matrix, design.columns)
        self._design, self._response = design, response
        self._fitted = self._estimate(design.matrix, response)
        self._after_fit()
        self.n_rows_ = self._count_rows(response)
        self._set_fitted_attributes()

    def _count_rows(self, response: Response) -> float:
        weight = response.weight
        return float(len(response.values) if weight is None else weight.sum())

    def _set_fitted_attributes(self) -> None:
        """Set the attributes that follow from the design and the estimate, after a fit or a load."""
        fitted = self._fitted
        self.result_ = fitted.result
        self.formula_ = f"{self._target or 'y'} ~ {self._design.rhs}"
        self.terms_ = [term.name for term in self._design.terms]
        self.deviance_, self.log_likelihood_ = fitted.deviance, fitted.log_likelihood
        self.aic_, self.bic_ = fitted.aic, fitted.bic(self.n_rows_)
        self.df_residual_ = fitted.df_residual
        self.converged_, self.n_iter_ = fitted.converged, fitted.iterations

    def _check_has_rows(self, what: str) -> None:
        """Raise a ValueError for a model loaded from a file, which does not contain the training rows."""
        check_is_fitted(self, "_fitted")
        if self._response is None:
            raise ValueError(
                f"{what} needs the training rows, but this {type(self).__name__} was loaded from a model"
                " file, which does not contain them; fit it again, or save it with pickle"
            )

    def _warn_unless_converged(self) -> None:
        if not self._fitted.converged:
            warn_user(
                f"the fit did not converge in max_iter={self.max_iter} iterations; increase max_iter, or"
                " scale the columns to similar ranges",
                ConvergenceWarning,
            )

    # ---- coefficients ---------------------------------------------------------------------------

    @property
    def params_(self) -> Series | DataFrame:
        """Coefficients by name, as a pandas.Series."""
        self._check_attribute("params_")
        values = self._fitted.coefficients
        return import_pandas().Series(values, index=self._coefficient_index(), name="estimate")

    @property
    def covariance_(self) -> DataFrame:
        """Covariance of the coefficients, as a pandas.DataFrame."""
        self._check_attribute("covariance_")
        index = self._coefficient_index()
        return import_pandas().DataFrame(self._fitted.covariance, index=index, columns=index)

    def _check_attribute(self, name: str) -> None:
        if not hasattr(self, "_fitted"):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}: it is not fitted; call fit first"
            )

    @reads_fit_snapshot
    def coefficients(self, confidence: float = 0.95, interval: str = "wald") -> DataFrame:
        """Return the estimates with standard errors, Wald tests and confidence intervals.

        Parameters
        ----------
        confidence : float, default=0.95
            Coverage of the intervals.
        interval : "wald" or "profile"
            "wald": the estimate ± a quantile times its standard error. "profile": the values that a
            likelihood-ratio test does not reject.

        Returns
        -------
        pandas.DataFrame
        """
        check_is_fitted(self, "_fitted")
        ends = self.confidence_intervals(confidence, interval)
        estimate, error = self._fitted.coefficients, self._fitted.std_errors
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = estimate / error
        columns = {
            "estimate": estimate,
            "std_error": error,
            self._STATISTIC: ratio,
            "p_value": 2 * self._reference_distribution().sf(np.abs(ratio)),
            "low": ends["low"].to_numpy(),
            "high": ends["high"].to_numpy(),
        }
        return import_pandas().DataFrame(columns, index=self._coefficient_index())

    @reads_fit_snapshot
    def confidence_intervals(self, confidence: float = 0.95, interval: str = "wald") -> DataFrame:
        """Return the confidence interval of each coefficient, as columns `low` and `high`."""
        check_is_fitted(self, "_fitted")
        check_value("confidence", confidence, CONFIDENCE)
        check_value("interval", interval, choice("wald", "profile"))
        if interval == "profile":
            low, high = self._profile_limits(confidence)
        else:
            quantile = self._reference_distribution().ppf((1 + confidence) / 2)
            half_width = quantile * self._fitted.std_errors
            coefficients = self._fitted.coefficients
            low, high = coefficients - half_width, coefficients + half_width
        return import_pandas().DataFrame(
            {"low": low, "high": high}, index=self._coefficient_index()
        )

    def _profile_limits(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        raise ValueError(f"{type(self).__name__} has no profile intervals; use interval='wald'")

    def _reference_distribution(self) -> Any:
        """Return the distribution of an estimate divided by its standard error."""
        return stats.norm

    # ---- tests ----------------------------------------------------------------------------------

    @reads_fit_snapshot
    def test(self, terms: str | Sequence[str], kind: str = "lr") -> TermTest:
        """Test that terms have no effect, by the likelihood ratio or the Wald test.

        Parameters
        ----------
        terms : str or list of str
            Names of terms (``"tobacco:famhist"``) or of single coefficients (``"famhist[T.Present]"``).
            Several are tested jointly.
        kind : "lr" or "wald"
            "lr" compares the model with the one without these terms. "wald" uses only the estimates and
            their covariance; it is unreliable for very large estimates.

        Returns
        -------
        TermTest
            With `statistic`, `df` and `p_value`.
        """
        check_is_fitted(self, "_fitted")
        check_value("kind", kind, choice("lr", "wald"))
        design = self._design
        tested_terms, columns = find_terms(terms, design.terms, design.columns)
        tested = tuple([terms] if isinstance(terms, str) else terms)
        indices = self._coefficient_indices(columns, len(design.columns))
        if kind == "wald":
            statistic = wald_statistic(self._fitted, indices)
        else:
            self._check_has_rows("a likelihood-ratio test")
            other_columns = [c for c in range(len(design.columns)) if c not in columns]
            statistic = self._deviance_increase(design.matrix[:, other_columns])
        df = indices.size
        statistic, df_residual = self._scale_statistic(statistic, df, self._fitted, kind)
        p_value = upper_tail(statistic, df, df_residual)
        note = _interaction_note(tested_terms, columns, design.terms)
        return TermTest(tested, kind, statistic, df, df_residual, p_value, note)

    def _deviance_increase(self, matrix: np.ndarray) -> float:
        """Return the increase in deviance if only these columns of the matrix are used."""
        return max(self._estimate(matrix, self._response).deviance - self._fitted.deviance, 0.0)

    def _scale_statistic(
        self, statistic: float, df: int, fitted: Estimate, kind: str
    ) -> tuple[float, float | None]:
        """Return the statistic and None (chi-squared), or the F statistic and its residual df."""
        return statistic, None

    @reads_fit_snapshot
    def anova(self, other: Any = None, *, type: int = 2) -> DataFrame:
        """Return the analysis of deviance by term, or the comparison with a nested model.

        Parameters
        ----------
        other : fitted model of the same kind, optional
            A model nested in this one, or the reverse, fitted to the same rows.
        type : 1, 2 or 3
            1: terms are added in their order. 2: each term is tested given all terms that do not contain it;
            a main effect is tested without its interactions. 3: each term is tested given all others, with
            factors coded to sum to zero.

        Returns
        -------
        pandas.DataFrame
        """
        check_is_fitted(self, "_fitted")
        check_value("type", type, choice(1, 2, 3))
        self._check_has_rows("anova")
        if other is not None:
            return self._compare(other)
        deviances = term_deviances(
            self._design.terms, type, self._fit_without, self._sum_coded_fits
        )
        return self._term_table(deviances, type)

    def _term_table(self, deviances: Any, type: int) -> DataFrame:
        null = None
        if type == 1 and any(not term.factors for term in self._design.terms):
            null = self._fit_without({term.name for term in self._design.terms if term.factors})
        return chi_squared_table(deviances, type, null)

    def _fit_without(self, removed: set[str]) -> Estimate:
        """Return the fit without some terms."""
        if not removed:
            return self._fitted
        return self._estimate(self._design.without(removed).matrix, self._response)

    def _sum_coded_fits(self) -> tuple[Estimate, Any]:
        """Return the full fit, and a function that fits sum-coded factors without the columns of a term."""
        matrix, indices = self._design.sum_coded()

        def without(term: Term) -> Estimate:
            removed = indices[list(self._design.terms).index(term)]
            remaining = [column for column in range(matrix.shape[1]) if column not in removed]
            return self._estimate(matrix[:, remaining], self._response)

        return self._fitted, without

    def _compare(self, other: Any) -> Any:
        if not (isinstance(other, type(self)) or isinstance(self, type(other))):
            raise TypeError(
                f"other is {with_article(type(other).__name__)}; {with_article(type(self).__name__)} can"
                " only be compared with a model of the same kind"
            )
        other._check_has_rows("anova")
        if not _same_target(self._response, other._response):
            raise ValueError(
                "the models were fitted to different targets, rows or weights; fit both to the same data"
            )
        if getattr(self, "link", None) != getattr(other, "link", None):
            raise ValueError("models with different links are not nested; compare their AIC")
        small, large = sorted((self, other), key=lambda model: model._fitted.coefficients.size)
        check_nested(small._design.matrix, large._design.matrix)
        df = large._fitted.coefficients.size - small._fitted.coefficients.size
        rise = max(small.deviance_ - large.deviance_, 0.0)
        statistic, df_residual = large._scale_statistic(rise, df, large._fitted, "lr")
        blank = float("nan")
        rows = {
            "residual_df": [small.df_residual_, large.df_residual_],
            "deviance": [small.deviance_, large.deviance_],
            "df": [blank, df],
            "difference": [blank, rise],
        }
        if df_residual is not None:
            rows["F"] = [blank, statistic]
        rows["p_value"] = [blank, upper_tail(statistic, df, df_residual)]
        index = import_pandas().Index([small.formula_, large.formula_], name="model")
        return import_pandas().DataFrame(rows, index=index)

    # ---- selection ------------------------------------------------------------------------------

    @reads_fit_snapshot
    def backward(self, criterion: str = "aic", level: float = 0.05) -> Self:
        """Remove one term at a time, the least useful first, and return the selected model.

        A main effect is not removed while the model has an interaction that contains it.

        Parameters
        ----------
        criterion : "aic", "bic", "lr" or "wald"
            "aic", "bic": remove terms while this decreases AIC or BIC. "lr", "wald": remove the term with the
            largest p-value while it exceeds `level`.
        level : float, default=0.05
            Significance level of the tests.

        Returns
        -------
        model
            A fitted model of the same kind. Its `selection_` is the path: the term removed at each step, its
            test, and deviance, AIC and BIC of the model without it. Standard errors and p-values ignore the
            selection and are too small.
        """
        check_is_fitted(self, "_fitted")
        self._check_has_rows("backward elimination")
        check_value("criterion", criterion, choice(*CRITERIA))
        check_value("level", level, SIGNIFICANCE)
        return select_backward(self, criterion, level)

    # ---- summary --------------------------------------------------------------------------------

    @reads_fit_snapshot
    def summary(self, confidence: float = 0.95, interval: str = "wald") -> Summary:
        """Return a summary: formula, goodness of fit, and coefficients with tests and intervals."""
        check_is_fitted(self, "_fitted")
        notes = list(self._summary_notes())
        if self.n_dropped_:
            notes.insert(0, f"{self.n_dropped_} rows with missing values were dropped.")
        if not self.converged_:
            notes.append(
                "The fit did not converge: the estimates are not at the maximum of the likelihood."
            )
        return Summary(
            title=f"{self._summary_title()}: {self.formula_}",
            facts=self._summary_facts(),
            table=self.coefficients(confidence, interval),
            confidence=confidence,
            interval=interval,
            notes=notes,
        )

    def _summary_facts(self) -> list[str]:
        return [
            f"{self.n_rows_:g} rows",
            f"deviance {self.deviance_:.4g} on {self.df_residual_:g} degrees of freedom",
            f"AIC {self.aic_:.2f}",
            f"BIC {self.bic_:.2f}",
        ]

    def _summary_notes(self) -> list[str]:
        return []

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    def _design_rows(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "_fitted")
        return self._design.rows(X, type(self).__name__)

    def _index_of(self, X: TableLike) -> Any:
        pandas = import_pandas()
        return X.index if isinstance(X, pandas.DataFrame) else None


def _interaction_note(tested: list[Term], columns: set[int], terms: Any) -> str:
    """Return a note on the test of a main effect whose interaction stays in the model, or an empty string."""
    for term in tested:
        interactions = [
            other.name
            for other in terms_containing(term, terms)
            if not columns.issuperset(other.columns)
        ]
        if interactions and term.factors:
            return (
                f"The model still contains {', '.join(interactions)}: this tests the effect of"
                f" {term.name} where the other factors are 0 or at their first level. To test"
                " whether it has any effect, test these terms jointly."
            )
    return ""


def _same_target(one: Response, other: Response) -> bool:
    def same(a: Any, b: Any) -> bool:
        return (a is None and b is None) or (
            a is not None and b is not None and np.array_equal(a, b)
        )

    return (
        same(one.values, other.values)
        and same(one.weight, other.weight)
        and same(one.offset, other.offset)
    )
