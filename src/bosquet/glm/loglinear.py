"""Log-linear models of contingency tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._sklearn import check_is_fitted
from bosquet.glm._formulas import as_frame, columns_used, evaluate_target, expand_dot, split_formula
from bosquet.glm._statsmodels import import_pandas
from bosquet.glm.poisson import PoissonRegression

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    from bosquet._types import TableLike


COUNT = "count"


class LogLinearModel(PoissonRegression):
    r"""Log-linear model of a contingency table, for the (conditional) independence of its factors.

    The logarithm of the expected count of a cell is a sum of terms of levels and combinations of levels:

    .. math:: \ln \mu_{ijk} = \lambda + \lambda^A_i + \lambda^B_j + \lambda^C_k + \lambda^{AB}_{ij} + \dots

    With ``A + B + C`` all factors are independent. With ``A * C + B * C``, A and B are independent given C.
    ``A * B * C`` is the saturated model, which fits any table. `goodness_of_fit` tests a model against the
    saturated one by the deviance (G²) and Pearson's X²; `anova` compares two models. The model is fitted as a
    Poisson model of the counts, which gives the same estimates as a multinomial model with a fixed total.

    Guide: the page "Generalised linear models" of the documentation

    Parameters
    ----------
    formula : str or None, default=None
        ``"count ~ sex * class + survived"`` for a table with one row per cell. Without a left-hand side the
        table has one row per case, and the cases are counted first. None: pass a formula to `fit`.
    missing : "raise" or "drop", default="raise"
        Whether a missing value raises an error that names its column, or its row is dropped
        (`n_dropped_` counts them).
    on_separation : "warn", "raise" or "ignore", default="warn"
        What to do if the estimate does not exist because a margin of the table is zero
        (separation).
        `separation_` holds the terms.
    max_iter : int, default=50
        Maximum number of iterations of Newton's method.
    tol : float, default=1e-10
        The iteration stops when the deviance changes by less than this.

    Attributes
    ----------
    table_ : pandas.DataFrame
        The cells: factors, `count`, `expected`, `residual` (Pearson residual) and `adjusted` (with variance
        1 if the model is true; beyond ±2 or 3 the model does not fit the cell).
    factors_ : list of str
        Names of the factors.
    params_, deviance_, df_residual_, aic_, bic_, result_ and the others of `PoissonRegression`

    See Also
    --------
    PoissonRegression : Regression for counts.
    MultinomialRegression : Regression for more than two classes.

    Examples
    --------
    Admissions to six departments of Berkeley in 1973 (Bickel et al., 1975): given the department, are
    admission and sex independent?

    >>> import pandas as pd
    >>> from bosquet import LogLinearModel
    >>> counts = [512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391,
    ...           138, 279, 131, 244, 53, 138, 94, 299, 22, 351, 24, 317]
    >>> cells = pd.MultiIndex.from_product(
    ...     [list("ABCDEF"), ["man", "woman"], ["yes", "no"]], names=["department", "sex", "admitted"])
    >>> berkeley = pd.Series(counts, cells, name="count").reset_index()
    >>> model = LogLinearModel("count ~ department * admitted + department * sex").fit(berkeley)
    >>> model.goodness_of_fit().round(3)
              statistic   df  p_value
    deviance     21.736  6.0    0.001
    pearson      19.938  6.0    0.003
    >>> model.independences()
    ['sex and admitted are independent given department']
    >>> worst = model.table_.sort_values("adjusted").iloc[0]
    >>> print(worst.department, worst.sex, worst.admitted, f"{worst.adjusted:.2f}")
    A woman no -4.15

    References
    ----------
    P. Bickel, E. Hammel, J. O'Connell, Sex bias in graduate admissions, Science 187, 1975.
    """

    def __init__(
        self,
        formula: str | Sequence[str] | None = None,
        *,
        missing: str = "raise",
        on_separation: str = "warn",
        max_iter: int = 50,
        tol: float = 1e-10,
    ) -> None:
        super().__init__(
            formula, missing=missing, on_separation=on_separation, max_iter=max_iter, tol=tol
        )

    @publishes_fit_atomically
    def fit(  # type: ignore[override]
        self,
        X: TableLike,
        y: ArrayLike | None = None,
        *,
        formula: str | Sequence[str] | None = None,
    ) -> LogLinearModel:
        """Fit the table X.

        Parameters
        ----------
        X : data frame
            One row per cell with its count, or one row per case.
        y : array, optional
            Counts, if they are not a column of X.
        formula : optional
            Replaces the parameter `formula`.
        """
        formula = self.formula if formula is None else formula
        if not isinstance(formula, str):
            raise ValueError(
                f"formula={formula!r}: LogLinearModel needs a formula, such as 'count ~ a * b + c'"
            )
        frame = as_frame(X, type(self).__name__)
        left, right = split_formula(formula)
        counted = columns_used(left, frame.columns) if left is not None else []
        right = expand_dot(right, list(frame.columns), counted)
        factors = columns_used(right, frame.columns)
        if left is not None and y is None:
            counts = evaluate_target(left, frame)
        elif y is not None:
            counts = np.asarray(y)
        else:
            frame = contingency(frame, *factors)
            counts, left = frame[COUNT].to_numpy(), COUNT
        # Numerical columns are factors here, too.
        cells = frame[factors].astype(
            {name: object for name in factors if not _has_levels(frame[name])}
        )
        super().fit(cells, counts, formula=right)
        self._target = left or COUNT
        self.formula_ = f"{self._target} ~ {self._design.rhs}"
        self.factors_ = factors
        self._set_table(cells, counts)
        return self

    def _set_table(self, cells: Any, counts: np.ndarray) -> None:
        table = cells.copy()
        if self.n_dropped_:
            whole = ~import_pandas().isna(cells).any(axis=1).to_numpy() & ~import_pandas().isna(
                counts
            )
            table, counts = table[whole], np.asarray(counts)[whole]
        diagnostics = self.diagnostics()
        table[COUNT] = counts
        for name, source in (
            ("expected", "fitted"),
            ("residual", "pearson"),
            ("adjusted", "standardised"),
        ):
            table[name] = diagnostics[source].to_numpy()
        self.table_ = table

    @reads_fit_snapshot
    def backward(self, criterion: str = "aic", level: float = 0.05) -> Self:
        cells, counts = self.table_[self.factors_], self.table_[COUNT].to_numpy()
        chosen = super().backward(criterion, level)
        chosen._set_table(cells, counts)
        return chosen

    backward.__doc__ = PoissonRegression.backward.__doc__

    @reads_fit_snapshot
    def independences(self) -> list[str]:
        """Return the pairs of factors that are independent in the model, and given which others.

        Two factors that have no common term are independent given the factors on the paths between them.
        """
        check_is_fitted(self, "_fitted")
        neighbours: dict[str, set[str]] = {factor: set() for factor in self.factors_}
        for term in self._design.terms:
            together = columns_used(term.name, self.factors_)
            for one, other in combinations(together, 2):
                neighbours[one].add(other)
                neighbours[other].add(one)
        statements = []
        for one, other in combinations(self.factors_, 2):
            if other in neighbours[one]:
                continue
            separating = [
                factor
                for factor in self.factors_
                if factor in neighbours[one] and _is_connected(factor, other, neighbours, {one})
            ]
            statements.append(
                f"{one} and {other} are independent"
                + (f" given {' and '.join(separating)}" if separating else "")
            )
        return statements


def _is_connected(start: str, end: str, neighbours: dict[str, set[str]], visited: set[str]) -> bool:
    """Whether a path of common terms connects two factors without those in `visited`."""
    visited = visited | {start}
    return end in neighbours[start] or any(
        _is_connected(factor, end, neighbours, visited) for factor in neighbours[start] - visited
    )


def _has_levels(column: Any) -> bool:
    return column.dtype.name == "category" or column.dtype == object


def contingency(data: Any, *factors: str) -> DataFrame:
    """Count cases by the combinations of some factors, including empty cells.

    Parameters
    ----------
    data : data frame
        One row per case.
    *factors : str
        The columns to count by. Default: all columns.

    Returns
    -------
    pandas.DataFrame
        One row per cell: the factors and `count`.

    Examples
    --------
    >>> import pandas as pd
    >>> from bosquet.glm import contingency
    >>> contingency(pd.DataFrame({"a": list("xxy"), "b": list("uvu")}))
       a  b  count
    0  x  u      1
    1  x  v      1
    2  y  u      1
    3  y  v      0
    """
    pandas = import_pandas()
    frame = as_frame(data, "contingency")
    names = list(factors) or list(frame.columns)
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise ValueError(
            f"data has no column {unknown[0]!r}; its columns are {', '.join(frame.columns)}"
        )
    if not names:
        raise ValueError("data has no columns; name at least one factor to count by")
    levels = [_occurring_levels(frame[name]) for name in names]
    cells = pandas.MultiIndex.from_product(levels, names=names)
    counts = frame[names].dropna().value_counts().reindex(cells, fill_value=0)
    return counts.rename(COUNT).reset_index()


def _occurring_levels(column: Any) -> list[Any]:
    if column.dtype.name == "category":
        return [level for level in column.cat.categories if (column == level).any()]
    return sorted(column.dropna().unique().tolist())
