"""What the regression models share: reading, fitting, intervals, tests, tables, selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import stats

from bosquet._fitted import Saved, reads_one_fit
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
from bosquet._warnings import warn_user
from bosquet.glm._estimates import Estimate, Response
from bosquet.glm._inference import (
    TermTest,
    check_nested,
    chi_squared_table,
    deviance_steps,
    tail,
    wald_statistic,
)
from bosquet.glm._reading import Design, Table, check_formula, read_table
from bosquet.glm._selection import CRITERIA, select_backward
from bosquet.glm._statsmodels import from_statsmodels, pandas_or_error
from bosquet.glm._summary import Summary
from bosquet.glm._terms import Term, check_independent, containing, named

LEVEL = number(0, 1, open_low=True)


class FormulaModel(Saved, BaseEstimator):
    """A linear predictor, given by a formula or by the columns of a table, and a likelihood.

    A model of a kind says how a target is read (`_read_target`), how it is fitted (`_estimate`), and what
    its coefficients are called.
    """

    _CHECKS: ClassVar[Mapping[str, Check]] = {
        "fit_intercept": boolean(),
        "missing": choice("raise", "drop"),
        "max_iter": integer(1),
        "tol": number(0, open_low=True),
    }
    _STATISTIC = "z"

    # ---- what a kind of model has to say --------------------------------------------------------

    def _read_target(self, table: Table) -> Response:
        raise NotImplementedError

    def _estimate(self, matrix: np.ndarray, response: Response) -> Estimate:
        raise NotImplementedError

    def _check_scale(self, response: Response) -> None:
        """Warns of weights of a scale that changes what a fit tells."""

    def _after_fit(self) -> None:
        """Looks at a fit before it is handed over: separation, and the like."""

    def _places(self, columns: Any, width: int) -> np.ndarray:
        """Places among the coefficients of some columns of a matrix that is so wide."""
        return np.asarray(sorted(columns), dtype=int)

    def _coefficient_index(self) -> Any:
        return pandas_or_error().Index(self._design.columns, name="coefficient")

    def _title(self) -> str:
        return type(self).__name__

    # ---- fitting --------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, formula: Any, beside: Mapping[str, Any]) -> Any:
        check_parameters(self, self._CHECKS)
        from_statsmodels("base")  # said before anything else
        formula = self.formula if formula is None else formula
        check_formula(formula)
        table = read_table(
            X, y, formula, beside,
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
        self._settle(table.design, response)
        return self

    def _settle(self, design: Design, response: Response) -> None:
        """Fits a design, and keeps what comes of it."""
        check_independent(design.matrix, design.columns)
        self._design, self._response = design, response
        self._fitted = self._estimate(design.matrix, response)
        self._after_fit()
        self.n_rows_ = self._count_rows(response)
        self._tell_fit()

    def _count_rows(self, response: Response) -> float:
        weight = response.weight
        return float(len(response.values) if weight is None else weight.sum())

    def _tell_fit(self) -> None:
        """What follows from the design and the estimate: of a fit, and of a model file."""
        fitted = self._fitted
        self.result_ = fitted.result
        self.formula_ = f"{self._target or 'y'} ~ {self._design.rhs}"
        self.terms_ = [term.name for term in self._design.terms]
        self.deviance_, self.log_likelihood_ = fitted.deviance, fitted.log_likelihood
        self.aic_, self.bic_ = fitted.aic, fitted.bic(self.n_rows_)
        self.df_residual_ = fitted.df_residual
        self.converged_, self.n_iter_ = fitted.converged, fitted.iterations

    def _check_has_rows(self, what: str) -> None:
        """A model file holds no training rows: what fits again, or looks at them, cannot be had from it."""
        check_is_fitted(self, "_fitted")
        if self._response is None:
            raise ValueError(
                f"{what} needs the training rows, and this {type(self).__name__} was loaded from a model"
                " file, which holds none: fit it again, or keep the fitted model as a pickle"
            )

    def _warn_unless_converged(self) -> None:
        if not self._fitted.converged:
            from sklearn.exceptions import ConvergenceWarning

            warn_user(
                f"the likelihood was still rising after max_iter={self.max_iter} steps; allow more, or bring"
                " the columns to similar scales",
                ConvergenceWarning,
            )

    # ---- coefficients ---------------------------------------------------------------------------

    @property
    def params_(self) -> Any:
        """Coefficients by name, a pandas.Series."""
        self._check_attribute("params_")
        values = self._fitted.coefficients
        return pandas_or_error().Series(values, index=self._coefficient_index(), name="estimate")

    @property
    def covariance_(self) -> Any:
        """Covariance of the coefficients, a pandas.DataFrame."""
        self._check_attribute("covariance_")
        index = self._coefficient_index()
        return pandas_or_error().DataFrame(self._fitted.covariance, index=index, columns=index)

    def _check_attribute(self, name: str) -> None:
        if not hasattr(self, "_fitted"):
            raise AttributeError(
                f"{type(self).__name__} has no attribute {name!r}: it is not fitted"
            )

    @reads_one_fit
    def coefficients(self, level: float = 0.95, interval: str = "wald") -> Any:
        """Estimates, standard errors, tests that each is zero, and confidence intervals.

        Parameters
        ----------
        level : float, default=0.95
            Coverage of the intervals.
        interval : "wald" or "profile"
            Estimate plus and minus a quantile of standard errors, or where the likelihood with the
            coefficient held fixed has fallen significantly.

        Returns
        -------
        pandas.DataFrame
        """
        check_is_fitted(self, "_fitted")
        ends = self.confidence_intervals(level, interval)
        estimate, error = self._fitted.coefficients, self._fitted.std_errors
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = estimate / error
        columns = {
            "estimate": estimate,
            "std_error": error,
            self._STATISTIC: ratio,
            "p_value": 2 * self._reference().sf(np.abs(ratio)),
            "low": ends["low"].to_numpy(),
            "high": ends["high"].to_numpy(),
        }
        return pandas_or_error().DataFrame(columns, index=self._coefficient_index())

    @reads_one_fit
    def confidence_intervals(self, level: float = 0.95, kind: str = "wald") -> Any:
        """The ends of each coefficient's interval, as columns `low` and `high`."""
        check_is_fitted(self, "_fitted")
        check_value("level", level, LEVEL)
        check_value("kind", kind, choice("wald", "profile"))
        if kind == "profile":
            low, high = self._profile(level)
        else:
            reach = self._reference().ppf((1 + level) / 2) * self._fitted.std_errors
            low, high = self._fitted.coefficients - reach, self._fitted.coefficients + reach
        return pandas_or_error().DataFrame(
            {"low": low, "high": high}, index=self._coefficient_index()
        )

    def _profile(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        raise ValueError(f"{type(self).__name__} has no profile intervals; use kind='wald'")

    def _reference(self) -> Any:
        """The distribution of an estimate over its standard error."""
        return stats.norm

    # ---- tests ----------------------------------------------------------------------------------

    @reads_one_fit
    def test(self, terms: Any, kind: str = "lr") -> TermTest:
        """That terms have no effect, by Wald's test or by the likelihood ratio.

        Parameters
        ----------
        terms : str or list of str
            Names of terms (``"tobacco:famhist"``), tested together; or of single coefficients
            (``"famhist[T.Present]"``).
        kind : "lr" or "wald"
            The likelihood ratio compares the model with the one without these columns; Wald's looks at
            the estimates alone, and is misled where they are near infinite.

        Returns
        -------
        TermTest
            With `statistic`, `df` and `p_value`.
        """
        check_is_fitted(self, "_fitted")
        check_value("kind", kind, choice("lr", "wald"))
        design = self._design
        found, columns = named(terms, design.terms, design.columns)
        tested = tuple([terms] if isinstance(terms, str) else terms)
        places = self._places(columns, len(design.columns))
        if kind == "wald":
            statistic = wald_statistic(self._fitted, places)
        else:
            self._check_has_rows("a likelihood-ratio test")
            kept = [c for c in range(len(design.columns)) if c not in columns]
            statistic = self._rise(design.matrix[:, kept])
        df = places.size
        statistic, df_residual = self._scaled(statistic, df, self._fitted, kind)
        p_value = tail(statistic, df, df_residual)
        note = _note(found, columns, design.terms)
        return TermTest(tested, kind, statistic, df, df_residual, p_value, note)

    def _rise(self, matrix: np.ndarray) -> float:
        """What the deviance rises by when only these columns are left."""
        return max(self._estimate(matrix, self._response).deviance - self._fitted.deviance, 0.0)

    def _scaled(
        self, statistic: float, df: int, fitted: Estimate, kind: str
    ) -> tuple[float, float | None]:
        """A statistic of chi-squared as it is; of F, divided, and with its residual degrees of freedom."""
        return statistic, None

    @reads_one_fit
    def anova(self, other: Any = None, *, type: int = 2) -> Any:
        """The table of deviance term by term, or a comparison with another, nested model.

        Parameters
        ----------
        other : fitted model of the same kind, optional
            One whose terms are among this one's, or the reverse, fitted to the same rows.
        type : 1, 2 or 3
            1 adds the terms in their order. 2 tests a term beside all that do not contain it: a main effect
            without its interactions. 3 tests it beside all others, with factors coded to sum to zero.

        Returns
        -------
        pandas.DataFrame
        """
        check_is_fitted(self, "_fitted")
        check_value("type", type, choice(1, 2, 3))
        self._check_has_rows("anova")
        if other is not None:
            return self._compared(other)
        steps = deviance_steps(self._design.terms, type, self._without, self._recoded)
        return self._term_table(steps, type)

    def _term_table(self, steps: Any, type: int) -> Any:
        null = None
        if type == 1 and any(not term.factors for term in self._design.terms):
            null = self._without({term.name for term in self._design.terms if term.factors})
        return chi_squared_table(steps, type, null)

    def _without(self, removed: set[str]) -> Estimate:
        """The fit without some terms."""
        if not removed:
            return self._fitted
        return self._estimate(self._design.without(removed).matrix, self._response)

    def _recoded(self) -> tuple[Estimate, Any]:
        """The same fit with factors that sum to zero, and how to take a term's columns out of it."""
        matrix, places = self._design.sum_coded()

        def without(term: Term) -> Estimate:
            taken = places[list(self._design.terms).index(term)]
            kept = [column for column in range(matrix.shape[1]) if column not in taken]
            return self._estimate(matrix[:, kept], self._response)

        return self._fitted, without

    def _compared(self, other: Any) -> Any:
        if not (isinstance(other, type(self)) or isinstance(self, type(other))):
            raise TypeError(
                f"a {type(self).__name__} is compared with another one, not a {type(other).__name__}"
            )
        other._check_has_rows("anova")
        if not _same_target(self._response, other._response):
            raise ValueError(
                "the models were fitted to different targets, rows or weights: fit both to the same"
            )
        if getattr(self, "link", None) != getattr(other, "link", None):
            raise ValueError("models of different links are not nested; compare their AIC")
        small, large = sorted((self, other), key=lambda model: model._fitted.coefficients.size)
        check_nested(small._design.matrix, large._design.matrix)
        df = large._fitted.coefficients.size - small._fitted.coefficients.size
        rise = max(small.deviance_ - large.deviance_, 0.0)
        statistic, df_residual = large._scaled(rise, df, large._fitted, "lr")
        blank = float("nan")
        rows = {
            "residual_df": [small.df_residual_, large.df_residual_],
            "deviance": [small.deviance_, large.deviance_],
            "df": [blank, df],
            "difference": [blank, rise],
        }
        if df_residual is not None:
            rows["F"] = [blank, statistic]
        rows["p_value"] = [blank, tail(statistic, df, df_residual)]
        index = pandas_or_error().Index([small.formula_, large.formula_], name="model")
        return pandas_or_error().DataFrame(rows, index=index)

    # ---- selection ------------------------------------------------------------------------------

    @reads_one_fit
    def backward(self, criterion: str = "aic", level: float = 0.05) -> Any:
        """Leaves out one term at a time, the least useful first, and returns the model that remains.

        A main effect stays while an interaction of it does.

        Parameters
        ----------
        criterion : "aic", "bic", "lr" or "wald"
            Leave a term out while that lowers AIC or BIC; or while the least significant one has a p-value
            above `level`, by the likelihood ratio or by Wald's test.
        level : float, default=0.05
            For the tests.

        Returns
        -------
        A fitted model of the same kind. Its `selection_` is the path: what left at each step, the test of it,
        and deviance, AIC and BIC of the model without it. Standard errors and p-values of a model so chosen
        are those of a model fixed in advance: too good.
        """
        check_is_fitted(self, "_fitted")
        self._check_has_rows("backward elimination")
        check_value("criterion", criterion, choice(*CRITERIA))
        check_value("level", level, LEVEL)
        return select_backward(self, criterion, level)

    # ---- telling --------------------------------------------------------------------------------

    @reads_one_fit
    def summary(self, level: float = 0.95, interval: str = "wald") -> Summary:
        """The fit in a page: what was fitted, how well, each coefficient with its test and interval."""
        check_is_fitted(self, "_fitted")
        notes = list(self._notes())
        if self.n_dropped_:
            notes.insert(0, f"{self.n_dropped_} rows with missing values were left out.")
        if not self.converged_:
            notes.append("The iteration had not converged: the figures are not the maximum's.")
        return Summary(
            title=f"{self._title()}: {self.formula_}",
            facts=self._facts(),
            table=self.coefficients(level, interval),
            level=level,
            interval=interval,
            notes=notes,
        )

    def _facts(self) -> list[str]:
        return [
            f"{self.n_rows_:g} rows",
            f"deviance {self.deviance_:.4g} on {self.df_residual_:g} degrees of freedom",
            f"AIC {self.aic_:.2f}",
            f"BIC {self.bic_:.2f}",
        ]

    def _notes(self) -> list[str]:
        return []

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "_fitted")
        return self._design.rows(X, type(self).__name__)

    def _index_of(self, X: Any) -> Any:
        pandas = pandas_or_error()
        return X.index if isinstance(X, pandas.DataFrame) else None


def _note(found: list[Term], columns: set[int], terms: Any) -> str:
    """Says what a test of a main effect means while its interaction stays in the model."""
    for term in found:
        above = [
            other.name for other in containing(term, terms) if not columns.issuperset(other.columns)
        ]
        if above and term.factors:
            return (
                f"{term.name} stays in {', '.join(above)}: this tests its effect where the others are 0 or at"
                " their first level. To test whether it matters at all, name them together."
            )
    return ""


def _same_target(mine: Response, its: Response) -> bool:
    def same(a: Any, b: Any) -> bool:
        return (a is None and b is None) or (
            a is not None and b is not None and np.array_equal(a, b)
        )

    return (
        same(mine.values, its.values)
        and same(mine.weight, its.weight)
        and same(mine.offset, its.offset)
    )
