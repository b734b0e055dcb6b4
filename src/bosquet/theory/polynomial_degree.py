"""Choice of the degree of a polynomial regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._parameters import check_value, choice, integer, number
from bosquet._sklearn import check_random_state
from bosquet.theory._tables import result_text, table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import RandomState


CRITERIA = ("aic", "bic", "cv", "validation", "bootstrap")


@dataclass(frozen=True, repr=False)
class DegreeChoice:
    """Scores of all degrees by all criteria, and the chosen degree.

    Attributes
    ----------
    degree : int
        The degree with the best score by the chosen criterion.
    criterion : str
        The chosen criterion.
    degrees : array of int
        All degrees that were compared.
    training : array
        Mean squared residual of each degree; it never increases with the degree.
    scores : dict of str to array
        "aic" and "bic", and the mean squared errors "cv", "validation" and "bootstrap". Infinite if a
        degree has more coefficients than there are training rows.
    best : dict of str to int
        The degree chosen by each criterion.
    coefficients : array of shape (degree + 1,)
        Coefficients of 1, x, x², ... in the polynomial of the chosen degree, fitted to all rows.
    """

    degree: int
    criterion: str
    degrees: np.ndarray
    training: np.ndarray
    scores: dict[str, np.ndarray]
    best: dict[str, int]
    coefficients: np.ndarray

    formula = "AIC = n ln(RSS/n) + 2k,  BIC = n ln(RSS/n) + k ln n,  k = degree + 2"

    def predict(self, x: ArrayLike) -> np.ndarray:
        """Return the values of the chosen polynomial at x."""
        return np.polynomial.polynomial.polyval(np.asarray(x, float).ravel(), self.coefficients)

    def __repr__(self) -> str:
        rows: list[tuple[object, ...]] = [
            (int(d), self.training[i], *(self.scores[name][i] for name in CRITERIA))
            for i, d in enumerate(self.degrees)
        ]
        rows.append(("best", None, *(self.best[name] for name in CRITERIA)))
        title = f"Degree {self.degree} by {self.criterion}"
        return result_text(title, self.formula, table(rows, ("degree", "training", *CRITERIA)))


def polynomial_degree(
    x: ArrayLike,
    y: ArrayLike,
    *,
    max_degree: int | None = None,
    criterion: str = "cv",
    cv: int | None = None,
    validation_size: float = 0.25,
    n_bootstrap: int = 50,
    random_state: RandomState = None,
) -> DegreeChoice:
    """Choose the degree of a polynomial regression, and compare five criteria.

    The training error decreases with every degree, so that it cannot choose one. AIC and BIC add a penalty
    per coefficient. Cross-validation, a validation set, and the out-of-bag rows of bootstrap samples
    measure the error on rows that were not used for fitting. The best degree increases with the number of
    rows, and with few rows it may be smaller than the true degree.

    Parameters
    ----------
    x, y : arrays of shape (n_samples,)
        x may also have shape (n_samples, 1), as X of `bosquet.datasets.Polynomial`.
    max_degree : int, optional
        Largest degree. Default: 10, but at most n_samples - 2.
    criterion : {"cv", "aic", "bic", "validation", "bootstrap"}, default="cv"
        Criterion that chooses the degree; all of them are computed.
    cv : int, optional
        Number of folds. Default: 10, but at most n_samples.
    validation_size : float, default=0.25
        Fraction of the rows in the validation set.
    n_bootstrap : int, default=50
        Number of bootstrap samples.
    random_state : int, RandomState or None
        Seed of the folds, of the validation set and of the bootstrap.

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
    points, values = _check_points(x, y)
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
        raise ValueError(
            f"max_degree={max_degree} is too large for {n} rows; pass a value <= n_samples - 2 = {n - 2}"
        )
    rng = check_random_state(random_state)
    basis = _legendre_basis(points, max_degree)
    degrees = np.arange(max_degree + 1)
    training = np.array([np.mean(_residuals(basis[:, : d + 1], values) ** 2) for d in degrees])
    scores = _information_criteria(training, degrees, n)
    scores["cv"] = _mean_error(basis, values, _fold_splits(n, cv or min(10, n), rng))
    held_out = rng.permutation(n)[: max(1, min(n - 1, round(validation_size * n)))]
    training_rows = np.setdiff1d(np.arange(n), held_out)
    scores["validation"] = _mean_error(basis, values, [(training_rows, held_out)])
    scores["bootstrap"] = _mean_error(basis, values, _bootstrap_splits(n, n_bootstrap, rng))
    best = {name: int(degrees[np.argmin(scores[name])]) for name in CRITERIA}
    chosen = best[criterion]
    fitted = np.polynomial.Polynomial.fit(points, values, chosen).convert().coef
    coefficients = np.zeros(chosen + 1)
    coefficients[: fitted.size] = fitted
    return DegreeChoice(chosen, criterion, degrees, training, scores, best, coefficients)


def _check_points(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    points, values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if points.ndim == 2 and points.shape[1] == 1:
        points = points[:, 0]
    if points.ndim != 1 or points.shape != values.shape:
        raise ValueError(
            f"x has shape {points.shape} and y has shape {values.shape}; pass two arrays of the same length"
        )
    for name, array in (("x", points), ("y", values)):
        if not np.isfinite(array).all():
            row = int(np.flatnonzero(~np.isfinite(array))[0])
            raise ValueError(f"{name}[{row}] is {array[row]}; x and y must be finite")
    if points.size < 3 or points.min() == points.max():
        raise ValueError(
            f"x has {points.size} rows and {np.unique(points).size} distinct values; at least three rows and"
            " two distinct values are needed"
        )
    return points, values


def _legendre_basis(points: np.ndarray, max_degree: int) -> np.ndarray:
    """Return the Legendre polynomials on the range of x; powers of x would be almost collinear."""
    low, high = points.min(), points.max()
    return np.polynomial.legendre.legvander(2 * (points - low) / (high - low) - 1, max_degree)


def _residuals(basis: np.ndarray, values: np.ndarray) -> np.ndarray:
    return values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]


def _information_criteria(
    training: np.ndarray, degrees: np.ndarray, n: int
) -> dict[str, np.ndarray]:
    # The logarithm of a perfect fit would be -inf; the smallest positive float replaces RSS = 0.
    fit = n * np.log(np.maximum(training, np.finfo(float).tiny))
    # Parameters: degree + 1 coefficients and the variance of the noise.
    k = degrees + 2
    return {"aic": fit + 2 * k, "bic": fit + k * np.log(n)}


Splits = list[tuple[np.ndarray, np.ndarray]]


def _mean_error(basis: np.ndarray, values: np.ndarray, splits: Splits) -> np.ndarray:
    """Return the mean squared error of each degree over all test rows of all splits."""
    fit: Callable[..., Any] = np.linalg.lstsq
    errors = []
    for d in range(basis.shape[1]):
        squares = []
        for train, test in splits:
            if np.unique(train).size <= d:
                # More coefficients than rows: the polynomial is not determined.
                squares.append(np.full(test.size, np.inf))
                continue
            coefficients = fit(basis[train, : d + 1], values[train], rcond=None)[0]
            squares.append((values[test] - basis[test, : d + 1] @ coefficients) ** 2)
        errors.append(np.concatenate(squares).mean())
    return np.array(errors)


def _fold_splits(n: int, folds: int, rng: np.random.RandomState) -> Splits:
    """Return training and test rows of the folds of a cross-validation."""
    tests = np.array_split(rng.permutation(n), folds)
    return [(np.setdiff1d(np.arange(n), test), test) for test in tests]


def _bootstrap_splits(n: int, number: int, rng: np.random.RandomState) -> Splits:
    """Return bootstrap samples with their out-of-bag rows; samples without such rows are drawn again."""
    splits: Splits = []
    while len(splits) < number:
        bag = rng.randint(n, size=n)
        out_of_bag = np.setdiff1d(np.arange(n), bag)
        if out_of_bag.size:
            splits.append((bag, out_of_bag))
    return splits
