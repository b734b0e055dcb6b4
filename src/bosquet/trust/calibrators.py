"""Maps from scores to probabilities: isotonic, Platt's sigmoid and the beta map.

The scores are log-odds, z = ln(p / (1 - p)), of a model that predicts probabilities, or the decision
function of one that does not. `fit` fits the map to scores and outcomes; calling the calibrator maps scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from scipy.special import expit, log_expit
from sklearn.isotonic import isotonic_regression

from bosquet._sums import weighted_sum

if TYPE_CHECKING:
    from bosquet._types import State


# Newton steps for at most three coefficients; about ten are needed.
_MAX_STEPS = 200
# Bound for numbers read from a file, so that the product of two is finite.
_MAX_NUMBER = 1e100


class Calibrator(Protocol):
    """A non-decreasing map from scores to probabilities."""

    method: ClassVar[str]

    def fit(self, score: np.ndarray, outcome: np.ndarray, weight: np.ndarray) -> Self: ...

    def __call__(self, score: np.ndarray) -> np.ndarray: ...

    def to_state(self) -> State: ...


class IsotonicCalibrator:
    """Isotonic regression: the non-decreasing function with the least squared error.

    It is found by pooling adjacent violators: neighbours whose means decrease are merged into one block.
    Between two blocks the map is linear. It can take any increasing shape, and needs about 1,000 rows or
    more not to overfit.

    Attributes
    ----------
    score_, probability_ : arrays
        The knots of the map.

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
        distinct, number = np.unique(score, return_inverse=True)
        total = np.bincount(number, weight)
        mean = np.bincount(number, weight * outcome) / np.where(total > 0, total, 1)
        distinct, total, mean = distinct[total > 0], total[total > 0], mean[total > 0]
        fitted = np.clip(isotonic_regression(mean, sample_weight=total), 0, 1)
        # Inside a block the map is constant, so only its two ends are knots.
        step = np.diff(fitted) > 0
        knot = np.r_[True, step] | np.r_[step, True]
        self.score_, self.probability_ = distinct[knot], fitted[knot]
        return self

    def __call__(self, score: np.ndarray) -> np.ndarray:
        return np.interp(score, self.score_, self.probability_)

    def to_state(self) -> State:
        return {"score": self.score_.tolist(), "probability": self.probability_.tolist()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> IsotonicCalibrator:
        calibrator = cls()
        calibrator.score_ = _read_numbers(state["score"])
        calibrator.probability_ = _read_numbers(state["probability"])
        increasing = (np.diff(calibrator.score_) > 0).all() and (
            np.diff(calibrator.probability_) >= 0
        ).all()
        inside = ((calibrator.probability_ >= 0) & (calibrator.probability_ <= 1)).all()
        if calibrator.score_.size == 0 or calibrator.score_.shape != calibrator.probability_.shape:
            raise ValueError(
                f"an isotonic map needs as many scores as probabilities and at least one, but has"
                f" {calibrator.score_.size} and {calibrator.probability_.size}"
            )
        if not increasing or not inside:
            raise ValueError(
                "an isotonic map needs scores in ascending order, and non-decreasing probabilities in [0, 1]"
            )
        return calibrator


class _LogisticCalibrator:
    """Logistic regression on functions of the score, fitted to Platt's smoothed outcomes."""

    coefficients_: np.ndarray
    intercept_: float

    def _regression_terms(self, score: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def __call__(self, score: np.ndarray) -> np.ndarray:
        return expit(
            weighted_sum(self.coefficients_, self._regression_terms(score).T) + self.intercept_
        )

    def to_state(self) -> State:
        return {"coefficients": self.coefficients_.tolist(), "intercept": float(self.intercept_)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        calibrator = cls()
        calibrator.coefficients_ = _read_numbers(state["coefficients"])
        calibrator.intercept_ = float(_read_numbers([state["intercept"]])[0])
        if calibrator.coefficients_.shape != calibrator._regression_terms(np.zeros(1)).shape[1:]:
            raise ValueError(
                f"{cls.__name__} needs {calibrator._regression_terms(np.zeros(1)).shape[1]} coefficient(s),"
                f" but the state has {calibrator.coefficients_.size}"
            )
        return calibrator


class PlattCalibrator(_LogisticCalibrator):
    r"""Platt's sigmoid, :math:`P(y = 1 \mid z) = 1 / (1 + e^{-(a z + b)})`.

    Fitted by maximum likelihood to smoothed outcomes, (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) instead of 1
    and 0, so that the sigmoid does not become a step function if the scores separate the classes. It has
    two coefficients, which suits few rows. scikit-learn calls it "sigmoid" and gives a and b the opposite
    sign.

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

    def _regression_terms(self, score: np.ndarray) -> np.ndarray:
        return score[:, None]

    def fit(self, score: np.ndarray, outcome: np.ndarray, weight: np.ndarray) -> PlattCalibrator:
        target = platt_targets(outcome, weight)
        self.coefficients_, self.intercept_ = logistic_fit(
            self._regression_terms(score), target, weight
        )
        return self


class BetaCalibrator(_LogisticCalibrator):
    r"""Beta calibration, :math:`\ln\frac{q}{1 - q} = a \ln p - b \ln(1 - p) + c` with a, b ≥ 0.

    This is the exact map if the predicted probabilities within each class follow a beta distribution.
    Unlike Platt's sigmoid, it can change the probabilities near 0 and near 1 independently, and it contains
    the identity (a = b = 1, c = 0), so that a calibrated model is not changed. Fitted as a logistic
    regression; a negative coefficient is set to 0 and the others are fitted again.

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

    def _regression_terms(self, score: np.ndarray) -> np.ndarray:
        return np.column_stack([log_expit(score), -log_expit(-score)])

    def fit(self, score: np.ndarray, outcome: np.ndarray, weight: np.ndarray) -> BetaCalibrator:
        terms, target = self._regression_terms(score), platt_targets(outcome, weight)
        term_indices = [0, 1]
        slopes, intercept = logistic_fit(terms, target, weight)
        while term_indices and slopes.min() < 0:
            term_indices.pop(int(slopes.argmin()))
            slopes, intercept = logistic_fit(terms[:, term_indices], target, weight)
        self.coefficients_, self.intercept_ = np.zeros(2), intercept
        self.coefficients_[term_indices] = slopes
        return self


CALIBRATORS: dict[str, Any] = {
    kind.method: kind for kind in (IsotonicCalibrator, PlattCalibrator, BetaCalibrator)
}


def platt_targets(outcome: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return Platt's targets: (N₊ + 1)/(N₊ + 2) for outcome 1, 1/(N₋ + 2) for outcome 0."""
    n_positive = float(weight @ outcome)
    n_negative = float(weight.sum()) - n_positive
    return np.where(outcome > 0.5, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def logistic_fit(
    terms: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return slopes and intercept of maximum likelihood, by Newton's method with step halving.

    `target` is one probability per row. Collinear terms share the slope, because each step is the
    minimum-norm solution. Terms are centred, so that a constant term gets slope 0.
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
    current = loss(beta)
    for _ in range(_MAX_STEPS):
        p = expit(design @ beta)
        gradient = design.T @ (weight * (p - target))
        hessian = (design * (weight * p * (1 - p))[:, None]).T @ design
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0]
        length = 1.0
        while (new := loss(beta - length * step)) > current and length > 1e-10:
            length /= 2
        if not new < current:
            break
        beta, current = beta - length * step, new
    slopes = beta[:-1] / scale
    return slopes, float(beta[-1] - slopes @ centre)


def _read_numbers(state: object) -> np.ndarray:
    if not isinstance(state, list) or any(type(value) not in (int, float) for value in state):
        raise ValueError("the state of a calibrator must hold lists of numbers")
    array = np.asarray(state, dtype=float)
    if not (np.abs(array) <= _MAX_NUMBER).all():
        raise ValueError(
            f"the state of a calibrator must hold finite numbers of size at most {_MAX_NUMBER:g}"
        )
    return array
