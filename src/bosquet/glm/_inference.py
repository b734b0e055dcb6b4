"""Tests of terms: Wald's, by the likelihood ratio, and tables of them term by term."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bosquet.glm._estimates import Estimate
from bosquet.glm._statsmodels import pandas_or_error
from bosquet.glm._terms import Term, containing


@dataclass(frozen=True)
class TermTest:
    """That some coefficients are zero: the statistic, its distribution under that, the p-value.

    Attributes
    ----------
    terms : tuple of str
    kind : "wald" or "lr"
    statistic : float
        Distributed as chi-squared with `df` degrees of freedom, or as F where `df_residual` is given.
    df : int
    df_residual : float or None
    p_value : float
    note : str
        What to keep in mind; mostly empty.
    """

    terms: tuple[str, ...]
    kind: str
    statistic: float
    df: int
    df_residual: float | None
    p_value: float
    note: str = ""

    def __str__(self) -> str:
        by = {"wald": "Wald", "lr": "likelihood ratio"}[self.kind]
        law = (
            f"chi2({self.df})"
            if self.df_residual is None
            else f"F({self.df}, {self.df_residual:g})"
        )
        told = f"{', '.join(self.terms)} = 0: {law} = {self.statistic:.4g}, p {told_p(self.p_value)} ({by})"
        return f"{told}\n{self.note}" if self.note else told

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "<p>" + html.escape(str(self)).replace("\n", "<br>") + "</p>"


def told_p(p: float) -> str:
    """A p-value after the letter p: "= 0.0123", "< 0.001"."""
    if np.isnan(p):
        return "undefined"
    return "< 0.001" if p < 0.001 else f"= {p:.3f}" if p >= 0.01 else f"= {p:.4f}"


def tail(statistic: float, df: float, df_residual: float | None) -> float:
    """The chance of a statistic as large; of an F statistic if there are residual degrees of freedom."""
    if df == 0 or (df_residual is not None and df_residual <= 0) or np.isnan(statistic):
        return float("nan")
    if df_residual is None:
        return float(stats.chi2.sf(statistic, df))
    return float(stats.f.sf(statistic, df, df_residual))


def wald_statistic(estimate: Estimate, places: np.ndarray) -> float:
    """b' V⁻¹ b of some coefficients b and their covariance V."""
    part = estimate.coefficients[places]
    block = estimate.covariance[np.ix_(places, places)]
    if not np.isfinite(block).all():  # as many coefficients as rows
        return float("nan")
    # A separated fit has a covariance that is next to singular.
    return float(part @ np.linalg.lstsq(block, part, rcond=None)[0])


def term_pairs(terms: Sequence[Term], kind: int) -> list[tuple[Term, set[str], set[str]]]:
    """For each term, what is left out of the larger model and of the smaller one that test it.

    Type 1 adds the terms one after another. Type 2 tests a term beside all others that do not contain it.
    """
    pairs = []
    tested = [term for term in terms if term.factors]
    for place, term in enumerate(tested):
        if kind == 1:
            left_out = {later.name for later in tested[place + 1 :]}
        else:
            left_out = {other.name for other in containing(term, tested)}
        pairs.append((term, left_out, left_out | {term.name}))
    return pairs


@dataclass(frozen=True)
class Step:
    """A term, what its leaving costs in deviance, and the model with it."""

    term: Term
    df: int
    deviance: float
    with_it: Estimate


def deviance_steps(
    terms: Sequence[Term],
    kind: int,
    fitted_without: Callable[[set[str]], Estimate],
    recoded: Callable[[], tuple[Estimate, Callable[[Term], Estimate]]],
) -> list[Step]:
    """Term by term, of type 1, 2 or 3."""
    steps = []
    if kind == 3:
        full, fitted_without_columns_of = recoded()
        for term in terms:
            if term.factors:
                steps.append(_step(term, full, fitted_without_columns_of(term)))
        return steps
    for term, larger, smaller in term_pairs(terms, kind):
        steps.append(_step(term, fitted_without(larger), fitted_without(smaller)))
    return steps


def _step(term: Term, larger: Estimate, smaller: Estimate) -> Step:
    df = larger.coefficients.size - smaller.coefficients.size
    return Step(term, df, max(smaller.deviance - larger.deviance, 0.0), larger)


def chi_squared_table(steps: Sequence[Step], kind: int, null: Estimate | None) -> Any:
    """Analysis of deviance; with type 1 the deviance that is left, from the constant on."""
    pandas = pandas_or_error()
    rows = {
        step.term.name: {
            "df": step.df,
            "deviance": step.deviance,
            "p_value": tail(step.deviance, step.df, None),
        }
        for step in steps
    }
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=["df", "deviance", "p_value"])
    if kind == 1 and null is not None:
        table.insert(2, "residual_df", [step.with_it.df_residual for step in steps])
        table.insert(3, "residual_deviance", [step.with_it.deviance for step in steps])
        first = {"residual_df": null.df_residual, "residual_deviance": null.deviance}
        table = pandas.concat(
            [pandas.DataFrame([first], index=["constant"], columns=table.columns), table]
        )
    return table.rename_axis("term")


def variance_table(steps: Sequence[Step], full: Estimate) -> Any:
    """Analysis of variance: sums of squares against the residual one of the whole model."""
    pandas = pandas_or_error()
    df_residual = full.df_residual
    noise = full.deviance / df_residual if df_residual > 0 else float("nan")
    rows = {}
    for step in steps:
        mean = step.deviance / step.df if step.df else float("nan")
        ratio = mean / noise if noise > 0 else float("nan")
        rows[step.term.name] = {
            "df": step.df, "sum_sq": step.deviance, "mean_sq": mean, "F": ratio,
            "p_value": tail(ratio, step.df, df_residual),
        }  # fmt: skip
    rows["residual"] = {"df": df_residual, "sum_sq": full.deviance, "mean_sq": noise}
    columns = ["df", "sum_sq", "mean_sq", "F", "p_value"]
    return pandas.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("term")


def check_nested(smaller: np.ndarray, larger: np.ndarray) -> None:
    """That every column of the smaller model's matrix is a combination of the larger one's."""
    share = np.linalg.lstsq(larger, smaller, rcond=None)[0]
    left_over = np.abs(larger @ share - smaller).max(initial=0)
    if left_over > 1e-6 * max(1.0, np.abs(smaller).max(initial=0)):
        raise ValueError(
            "the models are not nested: neither is the other with terms left out; compare their AIC"
        )
