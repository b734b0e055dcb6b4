"""Which degree a polynomial regression should have: too small, too large, and how to tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, choice, integer, number
from bosquet._sklearn import check_random_state
from bosquet.theory._tables import result_text, table

CRITERIA = ("aic", "bic", "cv", "validation", "bootstrap")


@dataclass(frozen=True, repr=False)
class DegreeChoice:
    """Every degree's score by every criterion.

    Attributes
    ----------
    degree : int
        The degree with the best score by the criterion asked for.
    criterion : str
    degrees : array of int
    training : array
        Mean squared residual, which only falls as the degree grows.
    scores : dict of str to array
        "aic" and "bic"; mean squared errors "cv", "validation" and "bootstrap". Infinite where a
        degree has too many coefficients for the rows.
    best : dict of str to int
        The degree that each criterion would choose.
    coefficients : array of shape (degree + 1,)
        Of 1, x, x², ... in the chosen polynomial, fitted to all rows.
    """

    degree: int
    criterion: str
    degrees: np.ndarray
    training: np.ndarray
    scores: dict[str, np.ndarray]
    best: dict[str, int]
    coefficients: np.ndarray

    formula = "AIC = n ln(RSS/n) + 2k,  BIC = n ln(RSS/n) + k ln n,  k = degree + 2"

    def predict(self, x: Any) -> np.ndarray:
        """The chosen polynomial at x."""
        return np.polynomial.polynomial.polyval(np.asarray(x, float).ravel(), self.coefficients)

    def __repr__(self) -> str:
        rows: list[tuple[Any, ...]] = [
            (int(d), self.training[i], *(self.scores[name][i] for name in CRITERIA))
            for i, d in enumerate(self.degrees)
        ]
        rows.append(("best", None, *(self.best[name] for name in CRITERIA)))
        title = f"Degree {self.degree} by {self.criterion}"
        return result_text(title, self.formula, table(rows, ("degree", "training", *CRITERIA)))


def polynomial_degree(
    x: Any,
    y: Any,
    *,
    max_degree: int | None = None,
    criterion: str = "cv",
    cv: int | None = None,
    validation_size: float = 0.25,
    n_bootstrap: int = 50,
    random_state: Any = None,
) -> DegreeChoice:
    """Choose the degree of a polynomial regression, by five criteria side by side.

    The training error falls with every degree and chooses nothing. AIC and BIC add a price a
    coefficient; cross-validation, a validation sample, and the rows that bootstrap samples leave out
    measure the error on rows that were not learned from. The best degree is not the largest, need
    not be that of the truth, and grows with the number of rows.

    Parameters
    ----------
    x, y : arrays of shape (n_samples,)
        x may have one column, as X of `bosquet.datasets.Polynomial` has.
    max_degree : int, optional
        By default 10, or as many as the rows bear: two fewer than there are.
    criterion : {"cv", "aic", "bic", "validation", "bootstrap"}, default="cv"
        By which to choose; all are computed.
    cv : int, optional
        Number of folds: by default 10, or one a row where there are fewer.
    validation_size : float, default=0.25
        Share of the rows that the validation sample takes.
    n_bootstrap : int, default=50
    random_state : int, RandomState or None

    Returns
    -------
    DegreeChoice

    Examples
    --------
    >>> from bosquet.datasets import Polynomial
    >>> from bosquet.theory import polynomial_degree
    >>> X, y = Polynomial(noise=0.3).sample(60, random_state=0)
    >>> choice = polynomial_degree(X, y, max_degree=6, random_state=0)
    >>> choice.best["bic"], int(choice.training.argmin())
    (3, 6)
    """
    points, values = _checked(x, y)
    n = points.size
    for name, value, check in (
        ("max_degree", max_degree, integer(0, none=True)),
        ("criterion", criterion, choice(*CRITERIA)),
        ("cv", cv, integer(2, n, none=True)),
        ("validation_size", validation_size, number(0, 1, open_low=True)),
        ("n_bootstrap", n_bootstrap, integer(1)),
    ):
        check_value(name, value, check)
    max_degree = min(10, n - 2) if max_degree is None else max_degree
    if max_degree > n - 2:
        raise ValueError(f"max_degree={max_degree} is too large: {n} rows bear {n - 2} at the most")
    random = check_random_state(random_state)
    basis = _basis(points, max_degree)
    degrees = np.arange(max_degree + 1)
    training = np.array([np.mean(_residuals(basis[:, : d + 1], values) ** 2) for d in degrees])
    scores = _penalised(training, degrees, n)
    scores["cv"] = _mean_error(basis, values, _folds(n, cv or min(10, n), random))
    held_out = random.permutation(n)[: max(1, min(n - 1, round(validation_size * n)))]
    kept = np.setdiff1d(np.arange(n), held_out)
    scores["validation"] = _mean_error(basis, values, [(kept, held_out)])
    scores["bootstrap"] = _mean_error(basis, values, _bags(n, n_bootstrap, random))
    best = {name: int(degrees[np.argmin(scores[name])]) for name in CRITERIA}
    chosen = best[criterion]
    fitted = np.polynomial.Polynomial.fit(points, values, chosen).convert().coef
    coefficients = np.zeros(chosen + 1)
    coefficients[: fitted.size] = fitted
    return DegreeChoice(chosen, criterion, degrees, training, scores, best, coefficients)


def _checked(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    points, values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if points.ndim == 2 and points.shape[1] == 1:
        points = points[:, 0]
    if points.ndim != 1 or points.shape != values.shape:
        raise ValueError(f"x and y must have as many numbers, got {points.shape}, {values.shape}")
    for name, array in (("x", points), ("y", values)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name}[{int(np.flatnonzero(~np.isfinite(array))[0])}] is not finite")
    if points.size < 3 or points.min() == points.max():
        raise ValueError("x must have at least three rows, and two different values")
    return points, values


def _basis(points: np.ndarray, max_degree: int) -> np.ndarray:
    """Legendre polynomials on the span of x: powers of x would be all but collinear."""
    low, high = points.min(), points.max()
    return np.polynomial.legendre.legvander(2 * (points - low) / (high - low) - 1, max_degree)


def _residuals(basis: np.ndarray, values: np.ndarray) -> np.ndarray:
    return values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]


def _penalised(training: np.ndarray, degrees: np.ndarray, n: int) -> dict[str, np.ndarray]:
    # A perfect fit has RSS 0 and a logarithm of -inf: the smallest number stands in for it.
    fit = n * np.log(np.maximum(training, np.finfo(float).tiny))
    # The coefficients, and the variance of the noise.
    k = degrees + 2
    return {"aic": fit + 2 * k, "bic": fit + k * np.log(n)}


Splits = list[tuple[np.ndarray, np.ndarray]]


def _mean_error(basis: np.ndarray, values: np.ndarray, splits: Splits) -> np.ndarray:
    """Mean squared error of each degree on the rows left out, over all of them."""
    fit: Callable[..., Any] = np.linalg.lstsq
    errors = []
    for d in range(basis.shape[1]):
        squares = []
        for learn, test in splits:
            if np.unique(learn).size <= d:
                # More coefficients than rows: any curve fits, and none is meant.
                squares.append(np.full(test.size, np.inf))
                continue
            coefficients = fit(basis[learn, : d + 1], values[learn], rcond=None)[0]
            squares.append((values[test] - basis[test, : d + 1] @ coefficients) ** 2)
        errors.append(np.concatenate(squares).mean())
    return np.array(errors)


def _folds(n: int, folds: int, random: np.random.RandomState) -> Splits:
    parts = np.array_split(random.permutation(n), folds)
    return [(np.setdiff1d(np.arange(n), part), part) for part in parts]


def _bags(n: int, number: int, random: np.random.RandomState) -> Splits:
    splits: Splits = []
    while len(splits) < number:
        bag = random.randint(n, size=n)
        left_out = np.setdiff1d(np.arange(n), bag)
        if left_out.size:
            splits.append((bag, left_out))
    return splits
