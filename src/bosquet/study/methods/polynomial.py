"""Polynomial regression: least squares on powers of the columns; the degree is the complexity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import TransformerMixin
from sklearn.linear_model import Ridge

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import boolean, check_parameters, integer
from bosquet._sklearn import BaseEstimator, check_is_fitted, validate_data
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.pipelines import ROWS_AT_A_TIME, WeightedPipeline, model_of
from bosquet.study.table.numeric_inputs import NumericInputs

# Almost zero: it keeps the solution stable if columns are collinear.
PENALTY = 1e-9
# Products of columns are added if there are at most this many terms, and at most a tenth of the rows.
MAX_TERMS = 500
ROWS_PER_TERM = 4


class PolynomialTerms(TransformerMixin, BaseEstimator):
    """Transformer to powers of columns and, with `products`, to all terms up to a total degree.

    A column is scaled to [-1, 1] by its smallest and largest training value. Its powers are replaced by
    Legendre polynomials, which span the same functions but are nearly uncorrelated, while x⁹ and x⁷ are
    almost collinear. New values outside the training range are clipped, because polynomials diverge there. A
    column with two distinct values has no higher powers.

    Parameters
    ----------
    degree : int, default=2
        Maximum degree of a term.
    products : bool, default=False
        Whether to include products of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.study.methods.polynomial import PolynomialTerms
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> PolynomialTerms(degree=2).fit_transform(x)  # x, and (3x² - 1)/2 on [-1, 1]
    array([[-1. ,  1. ],
           [ 0. , -0.5],
           [ 1. ,  1. ]])
    """

    def __init__(self, degree: int = 2, *, products: bool = False):
        self.degree = degree
        self.products = products

    @publishes_fit_atomically
    def fit(self, X: Any, y: Any = None) -> PolynomialTerms:
        """Learn the range of each column, and which columns have higher powers."""
        check_parameters(self, {"degree": integer(1), "products": boolean()})
        X = validate_data(self, X, dtype=float, accept_sparse="csr")
        low, high = X.min(axis=0), X.max(axis=0)
        if not sparse.issparse(X):
            curved = ((low < X) & (high > X)).any(axis=0)
        else:
            low, high = low.toarray().ravel(), high.toarray().ravel()
            inner = (low[X.indices] < X.data) & (high[X.indices] > X.data)
            curved = np.bincount(X.indices[inner], minlength=len(low)) > 0
            stored = np.bincount(X.indices, minlength=len(low))
            curved |= (low < 0) & (high > 0) & (stored < X.shape[0])
        self.low_, self.high_, self.curved_ = low, high, curved
        return self

    @reads_fit_snapshot
    def transform(self, X: Any) -> np.ndarray:
        """Return the matrix of terms: columns, higher powers, then products."""
        check_is_fitted(self, "curved_")
        X = validate_data(self, X, dtype=float, accept_sparse="csr", reset=False)
        X = X.toarray() if sparse.issparse(X) else X
        width = np.where(self.high_ > self.low_, self.high_ - self.low_, 1.0)
        scaled = np.clip(2 * (X - self.low_) / width - 1, -1, 1)
        powers = [scaled, *self._legendre(scaled)]
        terms = [scaled, *(power[:, self.curved_] for power in powers[1:])]
        if self.products:
            terms += [self._product(powers, term) for term in self._products()]
        return np.hstack(terms)

    @reads_fit_snapshot
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names such as "age", "age^2", "age*height"; `input_features` are the column names."""
        check_is_fitted(self, "curved_")
        if input_features is None:
            input_features = [f"x{i}" for i in range(self.n_features_in_)]
        names = list(input_features)
        terms = list(names)
        for power in range(2, self.degree + 1):
            terms += [f"{names[i]}^{power}" for i in np.flatnonzero(self.curved_)]
        for term in self._products() if self.products else []:
            factors = [names[i] if p == 1 else f"{names[i]}^{p}" for i, p in term]
            terms.append("*".join(factors))
        return np.asarray(terms, dtype=object)

    def _legendre(self, x: np.ndarray) -> list[np.ndarray]:
        """Return P₂, P₃, ... by the recursion (k + 1) P_{k+1} = (2k + 1) x P_k - k P_{k-1}."""
        previous, current, polynomials = np.ones_like(x), x, []
        for k in range(1, self.degree):
            previous, current = current, ((2 * k + 1) * x * current - k * previous) / (k + 1)
            polynomials.append(current)
        return polynomials

    def _products(self) -> list[tuple[tuple[int, int], ...]]:
        """Return the terms of at least two columns, each as (column, power) pairs."""
        products: list[tuple[tuple[int, int], ...]] = []
        for size in range(2, self.degree + 1):
            for columns in combinations(range(self.n_features_in_), size):
                products += [
                    tuple(zip(columns, powers, strict=True))
                    for powers in _compositions(size, self.degree)
                    if all(p == 1 or self.curved_[i] for i, p in zip(columns, powers, strict=True))
                ]
        return products

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @staticmethod
    def _product(powers: list[np.ndarray], term: tuple[tuple[int, int], ...]) -> np.ndarray:
        result = np.ones(len(powers[0]))
        for column, power in term:
            result = result * powers[power - 1][:, column]
        return result[:, None]


def _compositions(size: int, max_sum: int) -> list[tuple[int, ...]]:
    """Return all tuples of `size` powers >= 1 whose sum is at most `max_sum`."""
    if size == 0:
        return [()]
    return [
        (first, *rest)
        for first in range(1, max_sum - size + 2)
        for rest in _compositions(size - 1, max_sum - first)
    ]


class QRRidge(Ridge):
    """Ridge of scikit-learn (solver "svd"), fitted to blocks of rows by QR decompositions.

    The factor R of all rows [1, x, y] is obtained block by block: it is the factor of the previous R stacked
    on the next block. Below its first row, R has the singular values of the centred columns. This avoids the
    normal equations, which square the condition number.

    References
    ----------
    Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU
    factorizations", SIAM Journal on Scientific Computing 2012.
    """

    def fit_blocks(self, blocks: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> QRRidge:
        """Fit to blocks of rows, each with its columns, targets and weights."""
        triangle: np.ndarray | None = None
        for columns, target, weight in blocks:
            rows = np.column_stack([np.ones(len(target)), columns, target])
            rows *= np.sqrt(weight)[:, None]
            rows = rows if triangle is None else np.vstack([triangle, rows])
            triangle = np.asarray(np.linalg.qr(rows, mode="r"))
        assert triangle is not None
        inner, right = triangle[1:, 1:-1], triangle[1:, -1]
        u, s, vt = linalg.svd(inner, full_matrices=False)
        self.coef_ = vt.T @ (s / (s**2 + self.alpha) * (u.T @ right))
        first = triangle[0]
        self.intercept_ = float((first[-1] - first[1:-1] @ self.coef_) / first[0])
        self.n_features_in_, self.n_iter_ = inner.shape[1], None
        return self


class PolynomialPipeline(WeightedPipeline):
    """Pipeline of inputs, terms and least squares, whose terms are computed in blocks of rows."""

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> PolynomialPipeline:
        """Fit all steps, the last one with the sample weights."""
        weight = params.pop(f"{self.steps[-1][0]}__sample_weight", sample_weight)
        inputs, terms, model = (step for _, step in self.steps)
        matrix = inputs.fit_transform(X, y)
        terms.fit(matrix)
        target = np.asarray(y, dtype=float)
        weight = np.ones(len(target)) if weight is None else np.asarray(weight, dtype=float)
        width = len(terms.get_feature_names_out())
        # Blocks have several times as many rows as R, so that factoring R again costs little.
        step = max(ROWS_PER_TERM * width, ROWS_AT_A_TIME)
        blocks = [slice(first, first + step) for first in range(0, len(target), step)]
        model.fit_blocks((terms.transform(matrix[at]), target[at], weight[at]) for at in blocks)
        return self


def _make_polynomial(degree: int, products: bool, seed: int) -> Any:
    return PolynomialPipeline(
        [
            ("inputs", NumericInputs(scale=None, baseline=True, dense=False)),
            ("terms", PolynomialTerms(degree, products=products)),
            ("model", QRRidge(alpha=PENALTY)),
        ]
    )


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    candidates = []
    for degree in range(1, 11 if shape.n_numbers <= 2 else 6):
        if degree > 1 and shape.n_indicators + (degree - 1) * shape.n_numbers > shape.n_rows / 3:
            break
        terms = comb(shape.n_indicators + degree, degree) - 1
        kinds = [False]
        if degree > 1 and shape.n_indicators > 1 and terms <= min(MAX_TERMS, shape.n_rows / 10):
            kinds.append(True)
        candidates += [
            Candidate(
                complexity=degree,
                label=f"degree {degree}" + (" with products" if products else ""),
                setting={"degree": degree, "products": products},
                make=partial(_make_polynomial, degree, products),
            )
            for products in kinds
        ]
    return candidates


def _why_unsuited(shape: TableShape) -> str:
    if shape.n_numbers == 0:
        return "the table has no numeric column"
    if shape.n_indicators > MAX_TERMS:
        return f"{shape.n_indicators} columns have too many powers"
    return ""


def _details(fitted: Any) -> dict[str, Any]:
    terms = fitted[1]
    names = terms.get_feature_names_out(fitted[0].get_feature_names_out())
    coefficients = np.ravel(model_of(fitted).coef_)
    order = np.argsort(-np.abs(coefficients))[:20]
    return {
        "degree": int(terms.degree),
        "terms": len(names),
        "coefficients (of terms on [-1, 1])": {
            str(names[i]): float(coefficients[i]) for i in order
        },
    }


METHODS = [
    Method(
        name="polynomial",
        title="Polynomial regression",
        tasks=frozenset({"regression"}),
        parameter="degree",
        log_axis=False,
        candidates=_candidates,
        properties={
            "readable": ("partly", "one curve per column for low degrees"),
            "score_or_interval": ("partly", "intervals if errors are Gaussian"),
            "consistent": ("partly", "if the degree grows slowly with n, with products"),
            "minimax": ("partly", "for smooth functions with the right degree"),
            "non_asymptotic": ("yes", "bias and σ²d/n for any n, given the columns"),
            "parameter_free": ("no", "the degree"),
            "online": ("yes", "recursive least squares"),
        },
        likelihood=True,
        rows_affordable=FitCost(6e-4, columns_exponent=1.6, fixed=0.005),
        details=_details,
        why_unsuited=_why_unsuited,
    )
]
