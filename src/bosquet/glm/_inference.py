"""Wald and likelihood-ratio tests of terms, and tables of deviance and variance."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from bosquet.glm._estimates import Estimate
from bosquet.glm._statsmodels import import_pandas
from bosquet.glm._terms import Term, terms_containing

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class TermTest:
    """Result of a test that some coefficients are zero.

    Attributes
    ----------
    terms : tuple of str
        The tested terms.
    kind : "wald" or "lr"
        Wald test or likelihood-ratio test.
    statistic : float
        Under the hypothesis it follows a chi-squared distribution with `df` degrees of freedom, or an F
        distribution with `df` and `df_residual` degrees of freedom.
    df : int
        Number of tested coefficients.
    df_residual : float or None
        Residual degrees of freedom of an F test; None for chi-squared.
    p_value : float
    note : str
        A remark on the interpretation; usually empty.
    """

    terms: tuple[str, ...]
    kind: str
    statistic: float
    df: int
    df_residual: float | None
    p_value: float
    note: str = ""

    def __str__(self) -> str:
        test = {"wald": "Wald", "lr": "likelihood ratio"}[self.kind]
        distribution = (
            f"chi2({self.df})"
            if self.df_residual is None
            else f"F({self.df}, {self.df_residual:g})"
        )
        value = f"{distribution} = {self.statistic:.4g}, p {format_p(self.p_value)}"
        text = f"{', '.join(self.terms)} = 0: {value} ({test})"
        return f"{text}\n{self.note}" if self.note else text

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "<p>" + html.escape(str(self)).replace("\n", "<br>") + "</p>"


def format_p(p: float) -> str:
    """Format a p-value for use after the letter p: "= 0.0123", "< 0.001"."""
    if np.isnan(p):
        return "undefined"
    return "< 0.001" if p < 0.001 else f"= {p:.3f}" if p >= 0.01 else f"= {p:.4f}"


def upper_tail(statistic: float, df: float, df_residual: float | None) -> float:
    """Return the p-value of a chi-squared statistic, or of an F statistic if `df_residual` is given."""
    if df == 0 or (df_residual is not None and df_residual <= 0) or np.isnan(statistic):
        return float("nan")
    if df_residual is None:
        return float(stats.chi2.sf(statistic, df))
    return float(stats.f.sf(statistic, df, df_residual))


def wald_statistic(estimate: Estimate, indices: np.ndarray) -> float:
    """Return b' V⁻¹ b for some coefficients b and their covariance V."""
    coefficients = estimate.coefficients[indices]
    block = estimate.covariance[np.ix_(indices, indices)]
    if not np.isfinite(block).all():  # as many coefficients as rows
        return float("nan")
    # After separation the covariance is nearly singular.
    return float(coefficients @ np.linalg.lstsq(block, coefficients, rcond=None)[0])


def term_pairs(terms: Sequence[Term], kind: int) -> list[tuple[Term, set[str], set[str]]]:
    """Return for each term the names left out of the larger and of the smaller model of its test.

    Type 1 adds the terms one after another. Type 2 tests a term given all others that do not contain it.
    """
    pairs = []
    tested_terms = [term for term in terms if term.factors]
    for index, term in enumerate(tested_terms):
        if kind == 1:
            left_out = {later.name for later in tested_terms[index + 1 :]}
        else:
            left_out = {other.name for other in terms_containing(term, tested_terms)}
        pairs.append((term, left_out, left_out | {term.name}))
    return pairs


@dataclass(frozen=True)
class TermDeviance:
    """A term, the increase in deviance if it is removed, and the fit that contains it."""

    term: Term
    df: int
    deviance: float
    larger_fit: Estimate


def term_deviances(
    terms: Sequence[Term],
    kind: int,
    fit_without: Callable[[set[str]], Estimate],
    sum_coded_fits: Callable[[], tuple[Estimate, Callable[[Term], Estimate]]],
) -> list[TermDeviance]:
    """Return the deviance of each term, of type 1, 2 or 3."""
    deviances = []
    if kind == 3:
        full, fit_without_term = sum_coded_fits()
        for term in terms:
            if term.factors:
                deviances.append(_term_deviance(term, full, fit_without_term(term)))
        return deviances
    for term, larger, smaller in term_pairs(terms, kind):
        deviances.append(_term_deviance(term, fit_without(larger), fit_without(smaller)))
    return deviances


def _term_deviance(term: Term, larger: Estimate, smaller: Estimate) -> TermDeviance:
    df = larger.coefficients.size - smaller.coefficients.size
    return TermDeviance(term, df, max(smaller.deviance - larger.deviance, 0.0), larger)


def chi_squared_table(
    deviances: Sequence[TermDeviance], kind: int, null: Estimate | None
) -> DataFrame:
    """Return the table of deviance; type 1 adds the residual deviance, starting with the intercept."""
    pandas = import_pandas()
    rows = {
        entry.term.name: {
            "df": entry.df,
            "deviance": entry.deviance,
            "p_value": upper_tail(entry.deviance, entry.df, None),
        }
        for entry in deviances
    }
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=["df", "deviance", "p_value"])
    if kind == 1 and null is not None:
        table.insert(2, "residual_df", [entry.larger_fit.df_residual for entry in deviances])
        table.insert(3, "residual_deviance", [entry.larger_fit.deviance for entry in deviances])
        first = {"residual_df": null.df_residual, "residual_deviance": null.deviance}
        table = pandas.concat(
            [pandas.DataFrame([first], index=["constant"], columns=table.columns), table]
        )
    return table.rename_axis("term")


def variance_table(deviances: Sequence[TermDeviance], full: Estimate) -> DataFrame:
    """Return the analysis of variance: sums of squares, and F tests with the residual of the full model."""
    pandas = import_pandas()
    df_residual = full.df_residual
    residual_mean_sq = full.deviance / df_residual if df_residual > 0 else float("nan")
    rows = {}
    for entry in deviances:
        mean = entry.deviance / entry.df if entry.df else float("nan")
        ratio = mean / residual_mean_sq if residual_mean_sq > 0 else float("nan")
        rows[entry.term.name] = {
            "df": entry.df, "sum_sq": entry.deviance, "mean_sq": mean, "F": ratio,
            "p_value": upper_tail(ratio, entry.df, df_residual),
        }  # fmt: skip
    rows["residual"] = {"df": df_residual, "sum_sq": full.deviance, "mean_sq": residual_mean_sq}
    columns = ["df", "sum_sq", "mean_sq", "F", "p_value"]
    return pandas.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("term")


def check_nested(smaller: np.ndarray, larger: np.ndarray) -> None:
    """Raise a ValueError unless the columns of the smaller matrix are combinations of those of the larger."""
    weights = np.linalg.lstsq(larger, smaller, rcond=None)[0]
    residual = np.abs(larger @ weights - smaller).max(initial=0)
    if residual > 1e-6 * max(1.0, np.abs(smaller).max(initial=0)):
        raise ValueError(
            "the models are not nested: the terms of one are not among those of the other; compare their AIC"
        )
