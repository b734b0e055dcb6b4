"""Polynomial regression: least squares on powers of the columns, the degree as complexity."""

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

from bosquet._fitted import fits_aside, reads_one_fit
from bosquet._parameters import boolean, check_parameters, integer
from bosquet._sklearn import BaseEstimator, check_is_fitted, validate_data
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.methods.pipelines import ROWS_AT_A_TIME, WeightedPipeline, model_of
from bosquet.study.table.numeric_inputs import NumericInputs

# Next to none: it keeps columns that hang together from blowing up.
PENALTY = 1e-9
# Products of columns are added while there are no more terms than this, and than a tenth of the rows.
MOST_TERMS = 500
ROWS_A_TERM = 4


class PolynomialTerms(TransformerMixin, BaseEstimator):
    """Powers of columns up to a degree, and with `products` all terms of that total degree.

    A column is brought to [-1, 1] by the least and greatest value seen, and enters by Legendre
    polynomials: they span what its powers span, and are nearly uncorrelated, where x⁹ and x⁷ are
    nearly the same. Beyond the values seen a column counts as at the end of them, as a polynomial runs
    off there. A column of two values has no powers but itself.

    Parameters
    ----------
    degree : int, default=2
    products : bool, default=False

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

    @fits_aside
    def fit(self, X: Any, y: Any = None) -> PolynomialTerms:
        """Learn the range of each column, and which ones have powers."""
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

    @reads_one_fit
    def transform(self, X: Any) -> np.ndarray:
        """The terms: columns, powers column by column, then products."""
        check_is_fitted(self, "curved_")
        X = validate_data(self, X, dtype=float, accept_sparse="csr", reset=False)
        X = X.toarray() if sparse.issparse(X) else X
        width = np.where(self.high_ > self.low_, self.high_ - self.low_, 1.0)
        at = np.clip(2 * (X - self.low_) / width - 1, -1, 1)
        powers = [at, *self._legendre(at)]
        terms = [at, *(power[:, self.curved_] for power in powers[1:])]
        if self.products:
            terms += [self._product(powers, term) for term in self._products()]
        return np.hstack(terms)

    @reads_one_fit
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "age", "age^2", "age*height"; `input_features` name the columns."""
        check_is_fitted(self, "curved_")
        given = input_features
        names = [f"x{i}" for i in range(self.n_features_in_)] if given is None else list(given)
        found = list(names)
        for power in range(2, self.degree + 1):
            found += [f"{names[i]}^{power}" for i in np.flatnonzero(self.curved_)]
        for term in self._products() if self.products else []:
            parts = [names[i] if p == 1 else f"{names[i]}^{p}" for i, p in term]
            found.append("*".join(parts))
        return np.asarray(found, dtype=object)

    def _legendre(self, at: np.ndarray) -> list[np.ndarray]:
        """P₂ to the degree, by (k + 1) P_{k+1} = (2k + 1) x P_k - k P_{k-1}."""
        before, now, found = np.ones_like(at), at, []
        for k in range(1, self.degree):
            before, now = now, ((2 * k + 1) * at * now - k * before) / (k + 1)
            found.append(now)
        return found

    def _products(self) -> list[tuple[tuple[int, int], ...]]:
        """Terms of two columns or more: each a list of (column, power)."""
        found: list[tuple[tuple[int, int], ...]] = []
        for size in range(2, self.degree + 1):
            for columns in combinations(range(self.n_features_in_), size):
                found += [
                    tuple(zip(columns, powers, strict=True))
                    for powers in _compositions(size, self.degree)
                    if all(p == 1 or self.curved_[i] for i, p in zip(columns, powers, strict=True))
                ]
        return found

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


def _compositions(size: int, most: int) -> list[tuple[int, ...]]:
    """All tuples of `size` powers from 1 on whose sum is at most `most`."""
    if size == 0:
        return [()]
    return [
        (first, *rest)
        for first in range(1, most - size + 2)
        for rest in _compositions(size - 1, most - first)
    ]


class TriangularRidge(Ridge):
    """scikit-learn's Ridge (solver "svd") of rows that come in parts, of which a triangle is kept.

    The triangle R of a QR decomposition of all rows [1, x, y] is that of the R of some rows on top of the
    others. It has the singular values of the centred columns below its first row, so that nothing is squared.

    References
    ----------
    Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU
    factorizations", SIAM Journal on Scientific Computing 2012.
    """

    def fit_parts(
        self, parts: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]
    ) -> TriangularRidge:
        """Fit to parts: columns, targets and weights of some rows each."""
        triangle: np.ndarray | None = None
        for columns, target, weight in parts:
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
    """Inputs, terms and least squares; terms are made for some rows at a time."""

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> PolynomialPipeline:
        """Fit all steps, the last one with the weights."""
        weight = params.pop(f"{self.steps[-1][0]}__sample_weight", sample_weight)
        inputs, terms, model = (step for _, step in self.steps)
        matrix = inputs.fit_transform(X, y)
        terms.fit(matrix)
        target = np.asarray(y, dtype=float)
        weight = np.ones(len(target)) if weight is None else np.asarray(weight, dtype=float)
        width = len(terms.get_feature_names_out())
        # Many rows beside the triangle that they are added to, or it would be factored again and again.
        step = max(ROWS_A_TERM * width, ROWS_AT_A_TIME)
        places = [slice(first, first + step) for first in range(0, len(target), step)]
        model.fit_parts((terms.transform(matrix[at]), target[at], weight[at]) for at in places)
        return self


def _make(degree: int, products: bool, seed: int) -> Any:
    return PolynomialPipeline(
        [
            ("inputs", NumericInputs(scale=None, baseline=True, dense=False)),
            ("terms", PolynomialTerms(degree, products=products)),
            ("model", TriangularRidge(alpha=PENALTY)),
        ]
    )


def _candidates(shape: TableShape) -> Sequence[Candidate]:
    found = []
    for degree in range(1, 11 if shape.n_numbers <= 2 else 6):
        if degree > 1 and shape.n_indicators + (degree - 1) * shape.n_numbers > shape.n_rows / 3:
            break
        terms = comb(shape.n_indicators + degree, degree) - 1
        kinds = [False]
        if degree > 1 and shape.n_indicators > 1 and terms <= min(MOST_TERMS, shape.n_rows / 10):
            kinds.append(True)
        found += [
            Candidate(
                complexity=degree,
                label=f"degree {degree}" + (" with products" if products else ""),
                setting={"degree": degree, "products": products},
                make=partial(_make, degree, products),
            )
            for products in kinds
        ]
    return found


def _suits(shape: TableShape) -> str:
    if shape.n_numbers == 0:
        return "there is no column of numbers to take powers of"
    if shape.n_indicators > MOST_TERMS:
        return f"powers of {shape.n_indicators} columns are too many"
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
        log=False,
        candidates=_candidates,
        card={
            "readable": ("partly", "curves by column while degrees are low"),
            "score_or_interval": ("partly", "intervals if errors are Gaussian"),
            "consistent": ("partly", "if the degree grows slowly with n, and products are in"),
            "minimax": ("partly", "for smooth truths with the right degree"),
            "non_asymptotic": ("yes", "bias and σ²d/n for any n, given the columns"),
            "parameter_free": ("no", "the degree"),
            "online": ("yes", "recursive least squares"),
        },
        likelihood=True,
        rows_affordable=FitCost(6e-4, columns=1.6, fixed=0.005),
        details=_details,
        suits=_suits,
    )
]
