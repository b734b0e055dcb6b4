"""Data with one feature: piecewise-constant labels, and a polynomial with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._parameters import check_value, choice, number
from bosquet.datasets.generator import LabelledInputs, RegressionGenerator, noisy_labels
from bosquet.datasets.spheres import check_label_noise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Seed


@dataclass(frozen=True)
class Pieces(LabelledInputs):
    """The interval [0, 1] cut into pieces whose labels alternate between +1 and -1; X is uniform.

    With two cuts these are the three-piece functions b, -b, b of the course. Stumps are a weak
    learner for them with γ = 1/12: under any distribution, one of the three pieces has a weight of at most
    1/3, and some stump is right on the other two (see `bosquet.theory.weak_learnability`).

    Parameters
    ----------
    cuts : sequence of float, default=(1/3, 2/3)
        Ends of the pieces in (0, 1), in increasing order. A value equal to a cut belongs to the piece
        before it.
    first : {1, -1}, default=1
        Label of the first piece.
    label_noise : float, default=0
        Probability that a label is flipped, below 1/2; it is the error of the Bayes rule.

    Examples
    --------
    >>> from bosquet.datasets import Pieces
    >>> Pieces().bayes_predict([[0.1], [0.5], [0.9]])
    array([ 1, -1,  1])
    """

    cuts: tuple[float, ...] = (1 / 3, 2 / 3)
    first: int = 1
    label_noise: float = 0.0

    n_features = 1

    def __post_init__(self) -> None:
        cuts = np.asarray(self.cuts, dtype=float)
        inside = cuts.ndim == 1 and ((cuts > 0) & (cuts < 1)).all() and (np.diff(cuts) > 0).all()
        if not inside:
            raise ValueError(
                f"cuts={self.cuts!r} is not valid: cuts must be numbers in (0, 1), in increasing order"
            )
        object.__setattr__(self, "cuts", tuple(float(cut) for cut in cuts))
        check_value("first", self.first, choice(1, -1))
        check_label_noise(self.label_noise, 2)

    @property
    def classes(self) -> np.ndarray:
        return np.array([-1, 1])

    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.random((n, 1))

    def probability(self, X: ArrayLike) -> np.ndarray:
        piece = np.searchsorted(np.array(self.cuts), self._check_rows(X)[:, 0], side="left")
        positive = (piece % 2 == 0) == (self.first == 1)
        return noisy_labels(positive.astype(int), 2, self.label_noise)

    @property
    def bayes_error(self) -> float:
        return float(self.label_noise)


@dataclass(frozen=True)
class Polynomial(RegressionGenerator):
    """y_i = f(i/n) + ε_i for i = 1, ..., n: a polynomial with noise at equally spaced points.

    The inputs are fixed; only the noise is random. `bosquet.theory.polynomial_degree` chooses the degree of a
    polynomial fitted to such data.

    Parameters
    ----------
    coefficients : sequence of float, default=(0, 10, -30, 20)
        Coefficients of 1, x, x², ... The default is f(x) = 10 x (1 - x)(1 - 2x), a cubic with one maximum and
        one minimum.
    noise : float, default=0.3
        Standard deviation of ε.

    Examples
    --------
    >>> from bosquet.datasets import Polynomial
    >>> X, y = Polynomial(noise=0).sample(4)
    >>> X.ravel(), y
    (array([0.25, 0.5 , 0.75, 1.  ]), array([ 0.9375,  0.    , -0.9375,  0.    ]))
    """

    coefficients: tuple[float, ...] = (0.0, 10.0, -30.0, 20.0)
    noise: float = 0.3

    n_features = 1

    def __post_init__(self) -> None:
        values = np.asarray(self.coefficients, dtype=float)
        if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
            raise ValueError(
                f"coefficients={self.coefficients!r} is not valid: coefficients must be one or more finite"
                " numbers"
            )
        object.__setattr__(self, "coefficients", tuple(float(value) for value in values))
        check_value("noise", self.noise, number(0))

    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.arange(1, n + 1)[:, None] / n

    def mean(self, X: ArrayLike) -> np.ndarray:
        return np.polynomial.polynomial.polyval(self._check_rows(X)[:, 0], self.coefficients)


def make_three_pieces(
    n_samples: int = 100,
    *,
    cuts: tuple[float, float] = (1 / 3, 2 / 3),
    label_noise: float = 0.0,
    random_state: Seed | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Pieces` with two cuts: the labels +1, -1, +1 along a line.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    cuts : sequence of float, default=(1/3, 2/3)
        Ends of the pieces in (0, 1), in increasing order.
    label_noise : float, default=0.0
        Probability that a label is changed.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    if len(cuts) != 2:
        raise ValueError(f"cuts={cuts!r} has length {len(cuts)}; pass two cuts, for three pieces")
    return Pieces(tuple(cuts), label_noise=label_noise).sample(n_samples, random_state)


def make_polynomial(
    n_samples: int = 100,
    *,
    coefficients: tuple[float, ...] = Polynomial.coefficients,
    noise: float = 0.3,
    random_state: Seed | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Polynomial`: y_i = f(i/n) + ε_i.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    coefficients : sequence of float, default=(0, 10, -30, 20)
        Coefficients of 1, x, x², ...
    noise : float, default=0.3
        Standard deviation of the noise.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Polynomial(coefficients, noise).sample(n_samples, random_state)
