"""From a score to a probability: isotonic, Platt's sigmoid and the beta map.

A calibrator takes scores as log-odds: z = ln p / (1 - p) of a model that says probabilities, or the
decision function of one that does not. `fit` learns from scores and outcomes, a call maps scores.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.special import expit, log_expit
from sklearn.isotonic import isotonic_regression

from bosquet._sums import weighted_sum

# Newton's steps of a logistic regression of at most three coefficients: it takes about ten.
_MOST_STEPS = 200
# No score or coefficient is as large; a product of two is finite.
_LARGEST = 1e100


class Calibrator(Protocol):
    """A non-falling map from scores to probabilities."""

    method: ClassVar[str]

    def fit(self, score: np.ndarray, outcome: np.ndarray, weight: np.ndarray) -> Any: ...

    def __call__(self, score: np.ndarray) -> np.ndarray: ...

    def to_state(self) -> dict[str, Any]: ...


class IsotonicCalibrator:
    """The non-falling step function nearest to the outcomes in squared distance.

    Pooling adjacent violators finds it: neighbours whose means fall are made one block. Between two
    blocks the map goes straight. It can be any rising shape, and needs many rows (about 1,000) not to
    follow chance.

    Attributes
    ----------
    score_, probability_ : arrays
        The corners of the map.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.trust import IsotonicCalibrator
    >>> score, outcome = np.array([-2.0, -1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    >>> print(IsotonicCalibrator().fit(score, outcome, np.ones(4))(score))
    [0.  0.5 0.5 1. ]

    References
    ----------
    Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability estimates",
    KDD 2002.
    """

    method = "isotonic"

    def fit(self, score: np.ndarray, outcome: np.ndarray, weight: np.ndarray) -> IsotonicCalibrator:
        places, number = np.unique(score, return_inverse=True)
        mass = np.bincount(number, weight)
        mean = np.bincount(number, weight * outcome) / np.where(mass > 0, mass, 1)
        places, mass, mean = places[mass > 0], mass[mass > 0], mean[mass > 0]
        fitted = np.clip(isotonic_regression(mean, sample_weight=mass), 0, 1)
        # Of a block only its ends are corners.
        step = np.diff(fitted) > 0
        corner = np.r_[True, step] | np.r_[step, True]
        self.score_, self.probability_ = places[corner], fitted[corner]
        return self

    def __call__(self, score: np.ndarray) -> np.ndarray:
        return np.interp(score, self.score_, self.probability_)

    def to_state(self) -> dict[str, Any]:
        return {"score": self.score_.tolist(), "probability": self.probability_.tolist()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> IsotonicCalibrator:
        made = cls()
        made.score_ = _numbers(state["score"])
        made.probability_ = _numbers(state["probability"])
        rising = (np.diff(made.score_) > 0).all() and (np.diff(made.probability_) >= 0).all()
        inside = ((made.probability_ >= 0) & (made.probability_ <= 1)).all()
        if made.score_.size == 0 or made.score_.shape != made.probability_.shape:
            raise ValueError("the corners of an isotonic map do not fit each other")
        if not rising or not inside:
            raise ValueError("the corners of an isotonic map must rise and be probabilities")
        return made


class _LogisticCalibrator:
    """A logistic regression on terms of the score, fitted to Platt's softened outcomes."""

    coefficients_: np.ndarray
    intercept_: float

    def _terms(self, score: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def __call__(self, score: np.ndarray) -> np.ndarray:
        return expit(weighted_sum(self.coefficients_, self._terms(score).T) + self.intercept_)

    def to_state(self) -> dict[str, Any]:
        return {"coefficients": self.coefficients_.tolist(), "intercept": float(self.intercept_)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Any:
        made = cls()
        made.coefficients_ = _numbers(state["coefficients"])
        made.intercept_ = float(_numbers([state["intercept"]])[0])
        if made.coefficients_.shape != made._terms(np.zeros(1)).shape[1:]:
            raise ValueError("the coefficients do not fit the calibration")
        return made


class PlattCalibrator(_LogisticCalibrator):
    r"""Platt's sigmoid, :math:`P(y = 1 \mid z) = 1 / (1 + e^{-(a z + b)})`.

    Fitted by maximum likelihood to softened outcomes, (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) in place of 1
    and 0, so that scores which part the classes wholly do not make it a step. Two numbers: right where
    there are few rows. scikit-learn calls it "sigmoid" (and its a and b have the other sign).

    Attributes
    ----------
    coefficients_ : array of one number, a
    intercept_ : float, b

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.trust import PlattCalibrator
    >>> score, outcome = np.array([-2.0, -1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    >>> print(PlattCalibrator().fit(score, outcome, np.ones(4))(score).round(2))
    [0.35 0.45 0.55 0.65]

    References
    ----------
    Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin Classifiers, 1999.
    """

    method = "platt"

    def _terms(self, score: np.ndarray) -> np.ndarray:
        return score[:, None]

    def fit(self, score: np.ndarray, outcome: np.ndarray, weight: np.ndarray) -> PlattCalibrator:
        target = softened(outcome, weight)
        self.coefficients_, self.intercept_ = logistic_fit(self._terms(score), target, weight)
        return self


class BetaCalibrator(_LogisticCalibrator):
    r"""Beta calibration, :math:`\ln\frac{q}{1 - q} = a \ln p - b \ln(1 - p) + c` with a, b ≥ 0.

    The right map if the probabilities p of each class follow a beta distribution. Unlike Platt's
    sigmoid it bends each end by itself, and with a = b = 1, c = 0 it leaves a calibrated model alone.
    Fitted as a logistic regression; a coefficient that comes out negative is set to 0 and the rest
    fitted again.

    Attributes
    ----------
    coefficients_ : array of two numbers, a and b
    intercept_ : float, c

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.trust import BetaCalibrator
    >>> score, outcome = np.array([-2.0, -1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    >>> print(BetaCalibrator().fit(score, outcome, np.ones(4))(score).round(2))
    [0.36 0.44 0.54 0.66]

    References
    ----------
    Kull, Silva Filho and Flach, "Beta calibration: a well-founded and easily implemented improvement on
    logistic calibration for binary classifiers", AISTATS 2017.
    """

    method = "beta"

    def _terms(self, score: np.ndarray) -> np.ndarray:
        return np.column_stack([log_expit(score), -log_expit(-score)])

    def fit(self, score: np.ndarray, outcome: np.ndarray, weight: np.ndarray) -> BetaCalibrator:
        terms, target = self._terms(score), softened(outcome, weight)
        kept = [0, 1]
        slopes, intercept = logistic_fit(terms, target, weight)
        while kept and slopes.min() < 0:
            kept.pop(int(slopes.argmin()))
            slopes, intercept = logistic_fit(terms[:, kept], target, weight)
        self.coefficients_, self.intercept_ = np.zeros(2), intercept
        self.coefficients_[kept] = slopes
        return self


CALIBRATORS: dict[str, Any] = {
    kind.method: kind for kind in (IsotonicCalibrator, PlattCalibrator, BetaCalibrator)
}


def softened(outcome: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Platt's targets: the outcomes, as if one more row of each kind were expected."""
    happened = float(weight @ outcome)
    not_happened = float(weight.sum()) - happened
    return np.where(outcome > 0.5, (happened + 1) / (happened + 2), 1 / (not_happened + 2))


def logistic_fit(
    terms: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, float]:
    """Slopes and intercept of most likelihood, by Newton's method with halved steps.

    `target` is a probability a row. Terms that cannot be told apart share the slope: of all solutions
    the shortest step is taken. Terms are taken from their mean, so that one that is the same in every
    row has the slope 0, and all is left to the intercept.
    """
    centre = weight @ terms / weight.sum()
    scale = np.abs(terms - centre).max(axis=0, initial=0.0)
    noise = 1e-12 * np.abs(terms).max(axis=0, initial=0.0)
    design = np.column_stack([np.where(scale > noise, terms - centre, 0.0), np.ones(len(terms))])
    scale = np.where(scale > noise, scale, 1.0)
    design[:, :-1] /= scale

    def loss(at: np.ndarray) -> float:
        linear = design @ at
        return float(weight @ (np.logaddexp(0, linear) - target * linear))

    beta = np.zeros(design.shape[1])
    now = loss(beta)
    for _ in range(_MOST_STEPS):
        share = expit(design @ beta)
        gradient = design.T @ (weight * (share - target))
        curvature = (design * (weight * share * (1 - share))[:, None]).T @ design
        step = np.linalg.lstsq(curvature, gradient, rcond=1e-12)[0]
        length = 1.0
        while (then := loss(beta - length * step)) > now and length > 1e-10:
            length /= 2
        if not then < now:
            break
        beta, now = beta - length * step, then
    slopes = beta[:-1] / scale
    return slopes, float(beta[-1] - slopes @ centre)


def _numbers(state: Any) -> np.ndarray:
    if not isinstance(state, list) or any(type(value) not in (int, float) for value in state):
        raise ValueError("a calibration is made of numbers")
    array = np.asarray(state, dtype=float)
    if not (np.abs(array) <= _LARGEST).all():
        raise ValueError("a calibration is made of finite numbers")
    return array
