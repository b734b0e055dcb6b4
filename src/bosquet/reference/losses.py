r"""The losses of gradient boosting: value, derivatives, and the constants that minimise them.

A loss :math:`\ell(y, f)` compares a target y with a raw prediction f, row by row. Boosting needs its value;
the gradient :math:`g = \partial \ell / \partial f` and the Hessian
:math:`h = \partial^2 \ell / \partial f^2`; the initial constant,
:math:`\arg\min_c \sum_i w_i \ell(y_i, c)`; and the exact value of a leaf,
:math:`\arg\min_c \sum_i w_i \ell(y_i, f_i + c)`. :math:`w_i` is the weight of row i.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Limit of leaf values that are logarithms, log-odds or margins. The minimiser of a leaf with rows of one
# class is infinite; this value is used instead.
MAX_STEP = 32.0


def weighted_quantile(values: Array, weights: Array, level: float) -> float:
    """Return the weighted quantile of the given level, which minimises the pinball loss.

    If the weight up to a value is exactly the share `level`, every number between it and the next value is a
    minimiser, and their midpoint is returned.
    """
    order = np.lexsort((weights, values))
    values, cumulative = values[order], np.cumsum(weights[order])
    level_weight = level * cumulative[-1]
    i = min(int(np.searchsorted(cumulative, level_weight)), len(values) - 1)
    if cumulative[i] == level_weight and i + 1 < len(values):
        return float(values[i] / 2 + values[i + 1] / 2)
    return float(values[i])


def rearranged(predictions: Array, levels: Array) -> Array:
    r"""Return predictions of several levels, (rows, levels), that are in the order of their levels.

    The predictions of a row are sorted, and the smallest goes to the lowest level (Chernozhukov,
    Fernandez-Val and Galichon 2010). This never increases the sum of the losses of a row: with the pinball
    losses of levels p < q, :math:`\ell_q(y, f) - \ell_p(y, f) = (q - p)(y - f)`, so exchanging crossed
    predictions a of level p and b < a of level q decreases the sum by (q - p)(a - b). For expectiles the
    difference is :math:`\pm (q - p)(y - f)^2`, with the sign of y - f, which also decreases in f.

    >>> rearranged(np.array([[3.0, 1.0, 2.0]]), np.array([0.1, 0.9, 0.5]))
    array([[1., 3., 2.]])
    """
    result = np.empty_like(predictions)
    result[:, np.argsort(levels)] = np.sort(predictions, axis=1)
    return result


def nearest_root(function: Callable[[float], float], limit: float) -> float:
    """Return the root of a non-decreasing function closest to 0, by bisection.

    If there is no root within ±`limit`, the limit is returned.
    """
    side = -np.sign(function(0.0))
    if side == 0:
        return 0.0
    near, far = 0.0, float(side * limit)
    if function(far) * side < 0:
        return far
    while True:
        middle = near / 2 + far / 2
        if middle in (near, far):
            return far
        if function(middle) * side < 0:
            near = middle
        else:
            far = middle


class Loss:
    """Base class of the losses with one target and one raw prediction per row.

    `in_target_unit` is True if f has the unit of y, so that the best f lies between the smallest and the
    largest target. It is False if f is a logarithm, log-odds or a margin.
    """

    in_target_unit: bool

    def value(self, y: Array, f: Array) -> Array:
        """Return the loss of each row."""
        raise NotImplementedError

    def gradient(self, y: Array, f: Array) -> Array:
        """Return the first derivative with respect to f."""
        raise NotImplementedError

    def hessian(self, y: Array, f: Array) -> Array:
        """Return the second derivative with respect to f."""
        raise NotImplementedError

    def best_constant(self, y: Array, w: Array) -> float:
        """Return the constant raw prediction with the smallest weighted loss."""
        return self.minimiser(y, np.zeros_like(y), w)

    def best_shift(self, y: Array, offset: Array, w: Array) -> float:
        """Return the c with the smallest weighted loss of offset + c: the start with an offset."""
        return self.minimiser(y, offset, w)

    def minimiser(self, y: Array, f: Array, w: Array) -> float:
        """Return the c with the smallest weighted loss of f + c: the exact value of a leaf."""

        def slope(c: float) -> float:
            return float(np.sum(w * self.gradient(y, f + c)))

        limit = float(np.max(np.abs(y - f))) if self.in_target_unit else MAX_STEP
        return nearest_root(slope, limit)

    def response(self, f: Array) -> Array:
        """Return the prediction that f represents: a mean, a quantile, or the probability of class 1."""
        return f

    def start_round(self, y: Array, f: Array, w: Array) -> None:
        """Update parameters that depend on the residuals, at the start of a round."""

    def pairs(self, y: Array, f: Array, w: Array) -> NDArray[np.float32]:
        """Return the weighted gradient and Hessian of each row in single precision: shape (rows, 2)."""
        both = np.stack([self.gradient(y, f) * w, self.hessian(y, f) * w], axis=1)
        return both.astype(np.float32)


class SquaredError(Loss):
    r""":math:`(y - f)^2 / 2`. Its minimiser is the mean residual."""

    in_target_unit = True

    def value(self, y: Array, f: Array) -> Array:
        return (y - f) ** 2 / 2

    def gradient(self, y: Array, f: Array) -> Array:
        return f - y

    def hessian(self, y: Array, f: Array) -> Array:
        return np.ones_like(f)

    def minimiser(self, y: Array, f: Array, w: Array) -> float:
        return float(np.sum(w * (y - f)) / np.sum(w))


class Quantile(Loss):
    r"""The pinball loss :math:`q (y - f)_+ + (1 - q)(f - y)_+`, minimised by the q-quantile.

    The second derivative is 0 wherever it exists. The Hessian is set to 1, so that the tree is a
    least-squares fit of the gradients. Leaf values are then exact minimisers.
    """

    in_target_unit = True

    def __init__(self, level: float) -> None:
        self.level = level

    def value(self, y: Array, f: Array) -> Array:
        return np.where(f > y, (1 - self.level) * (f - y), self.level * (y - f))

    def gradient(self, y: Array, f: Array) -> Array:
        return np.where(f > y, 1 - self.level, np.where(f < y, -self.level, 0.0))

    def hessian(self, y: Array, f: Array) -> Array:
        return np.ones_like(f)

    def minimiser(self, y: Array, f: Array, w: Array) -> float:
        return weighted_quantile(y - f, w, self.level)


class AbsoluteError(Quantile):
    r""":math:`|y - f|`, twice the pinball loss of level 1/2, minimised by the median."""

    def __init__(self) -> None:
        super().__init__(0.5)

    def value(self, y: Array, f: Array) -> Array:
        return np.abs(y - f)

    def gradient(self, y: Array, f: Array) -> Array:
        return np.sign(f - y)


class Expectile(Loss):
    r"""Asymmetric least squares: :math:`q (y - f)_+^2 + (1 - q)(f - y)_+^2`.

    Minimised by the q-expectile e, where :math:`q \sum (y - e)_+ = (1 - q) \sum (e - y)_+` (Newey and
    Powell 1987). For q = 1/2 it is the mean.
    """

    in_target_unit = True

    def __init__(self, level: float) -> None:
        self.level = level

    def factor(self, y: Array, f: Array) -> Array:
        """Return the factor of the squared residual: q or 1 - q."""
        return np.where(f > y, 1 - self.level, self.level)

    def value(self, y: Array, f: Array) -> Array:
        return self.factor(y, f) * (y - f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return 2 * self.factor(y, f) * (f - y)

    def hessian(self, y: Array, f: Array) -> Array:
        return 2 * self.factor(y, f)


class Huber(Loss):
    r""":math:`r^2/2` for a residual :math:`|r| \le \delta`, :math:`\delta(|r| - \delta/2)` beyond.

    :math:`\delta` is the quantile of level `level` of the absolute residuals, computed in each round
    (Friedman 2001). Before the first round there are no residuals; boosting starts from the median.
    """

    in_target_unit = True

    def __init__(self, level: float, delta: float | None = None) -> None:
        self.level = level
        self.delta = level if delta is None else delta

    def start_round(self, y: Array, f: Array, w: Array) -> None:
        self.delta = max(weighted_quantile(np.abs(y - f), w, self.level), 1e-300)

    def value(self, y: Array, f: Array) -> Array:
        r = np.abs(y - f)
        return np.where(r <= self.delta, r**2 / 2, self.delta * (r - self.delta / 2))

    def gradient(self, y: Array, f: Array) -> Array:
        return np.clip(f - y, -self.delta, self.delta)

    def hessian(self, y: Array, f: Array) -> Array:
        return np.ones_like(f)

    def best_constant(self, y: Array, w: Array) -> float:
        return weighted_quantile(y, w, 0.5)

    def best_shift(self, y: Array, offset: Array, w: Array) -> float:
        return weighted_quantile(y - offset, w, 0.5)


class LogCosh(Loss):
    r""":math:`\log\cosh(f - y)`: about half the squared error near 0, and the absolute error far from 0.

    :math:`g = \tanh(f - y)`, :math:`h = 1 - g^2`. With :math:`r = |f - y|`,
    :math:`\log\cosh r = r + \log(1 + e^{-2r}) - \log 2` does not overflow.
    """

    in_target_unit = True

    def value(self, y: Array, f: Array) -> Array:
        r = np.abs(f - y)
        return r + np.log1p(np.exp(-2 * r)) - np.log(2)

    def gradient(self, y: Array, f: Array) -> Array:
        return np.tanh(f - y)

    def hessian(self, y: Array, f: Array) -> Array:
        return 1 - np.tanh(f - y) ** 2


class Tweedie(Loss):
    r"""Half the Tweedie deviance of power p, without its term in y; the mean is :math:`\mu = e^f`.

    :math:`\ell = \mu^{2-p} / (2-p) - y \mu^{1-p} / (1-p)`, so :math:`g = \mu^{2-p} - y \mu^{1-p}`
    and :math:`h = (2-p) \mu^{2-p} + (p-1) y \mu^{1-p}`. Setting the summed gradient at f + c to 0
    gives :math:`e^c = \sum w y e^{(1-p) f} / \sum w e^{(2-p) f}`.
    """

    in_target_unit = False

    def __init__(self, power: float) -> None:
        self.power = power

    def response(self, f: Array) -> Array:
        return np.exp(f)

    def value(self, y: Array, f: Array) -> Array:
        p = self.power
        return np.exp((2 - p) * f) / (2 - p) - y * np.exp((1 - p) * f) / (1 - p)

    def gradient(self, y: Array, f: Array) -> Array:
        return np.exp((2 - self.power) * f) - y * np.exp((1 - self.power) * f)

    def hessian(self, y: Array, f: Array) -> Array:
        p = self.power
        return (2 - p) * np.exp((2 - p) * f) + (p - 1) * y * np.exp((1 - p) * f)

    def best_constant(self, y: Array, w: Array) -> float:
        return float(np.log(max(np.sum(w * y) / np.sum(w), 1e-15)))

    def minimiser(self, y: Array, f: Array, w: Array) -> float:
        targets = np.sum(w * y * np.exp((1 - self.power) * f))
        means = np.sum(w * np.exp((2 - self.power) * f))
        ratio = np.clip(targets / means, np.exp(-MAX_STEP), np.exp(MAX_STEP))
        return float(np.log(ratio))


class Poisson(Tweedie):
    r""":math:`e^f - y f`, Tweedie at p = 1. :math:`g = e^f - y`, :math:`h = e^f`."""

    def __init__(self) -> None:
        super().__init__(1.0)

    def value(self, y: Array, f: Array) -> Array:
        return np.exp(f) - y * f


class Gamma(Tweedie):
    r""":math:`f + y e^{-f}`, Tweedie at p = 2. :math:`h = y e^{-f} = 1 - g`."""

    def __init__(self) -> None:
        super().__init__(2.0)

    def value(self, y: Array, f: Array) -> Array:
        return f + y * np.exp(-f)


def sigmoid(f: Array) -> Array:
    """Return 1 / (1 + e^-f) without overflow."""
    small = np.exp(-np.abs(f))
    return np.where(f >= 0, 1, small) / (1 + small)


class LogLoss(Loss):
    r"""Negative log-likelihood of a class y in {0, 1}, where :math:`p = 1 / (1 + e^{-f})` is P(y = 1).

    :math:`\ell = \log(1 + e^f) - y f`, :math:`g = p - y`, :math:`h = p (1 - p)`. The best constant
    is the log-odds of the weighted share of class 1.
    """

    in_target_unit = False

    def response(self, f: Array) -> Array:
        return sigmoid(f)

    def value(self, y: Array, f: Array) -> Array:
        return np.logaddexp(0, f) - y * f

    def gradient(self, y: Array, f: Array) -> Array:
        return sigmoid(f) - y

    def hessian(self, y: Array, f: Array) -> Array:
        return sigmoid(f) * sigmoid(-f)

    def best_constant(self, y: Array, w: Array) -> float:
        p = np.clip(np.sum(w * y) / np.sum(w), 1e-15, 1 - 1e-15)
        return float(np.log(p / (1 - p)))


class Exponential(Loss):
    r"""AdaBoost's :math:`e^{-s f}`, :math:`s = 2y - 1`; the best f is half the log-odds.

    A step c multiplies the loss of class 1 by :math:`e^{-c}` and the loss of class 0 by :math:`e^c`. With
    :math:`W_+` and :math:`W_-` the total losses of the two classes, the best step is
    :math:`\frac12 \log(W_+ / W_-)`, AdaBoost's :math:`\alpha`.
    """

    in_target_unit = False

    def response(self, f: Array) -> Array:
        return sigmoid(2 * f)

    def value(self, y: Array, f: Array) -> Array:
        return np.exp(-(2 * y - 1) * f)

    def gradient(self, y: Array, f: Array) -> Array:
        return -(2 * y - 1) * self.value(y, f)

    def hessian(self, y: Array, f: Array) -> Array:
        return self.value(y, f)

    def best_constant(self, y: Array, w: Array) -> float:
        return LogLoss().best_constant(y, w) / 2

    def minimiser(self, y: Array, f: Array, w: Array) -> float:
        losses = w * self.value(y, f)
        with np.errstate(divide="ignore"):
            alpha = (np.log(np.sum(losses[y == 1])) - np.log(np.sum(losses[y == 0]))) / 2
        return float(np.clip(alpha, -MAX_STEP, MAX_STEP))


class SquaredHinge(Loss):
    r""":math:`\max(0, 1 - s f)^2` with :math:`s = 2y - 1`; the best f is :math:`2 P(y = 1) - 1`.

    Margins of 1 and more have no loss. On rows of one class the minimiser closest to 0 is taken.
    """

    in_target_unit = False

    def gap(self, y: Array, f: Array) -> Array:
        """Return max(0, 1 - margin)."""
        return np.maximum(0, 1 - (2 * y - 1) * f)

    def response(self, f: Array) -> Array:
        return np.clip((f + 1) / 2, 0, 1)

    def value(self, y: Array, f: Array) -> Array:
        return self.gap(y, f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return -2 * (2 * y - 1) * self.gap(y, f)

    def hessian(self, y: Array, f: Array) -> Array:
        return np.where(self.gap(y, f) > 0, 2.0, 0.0)

    def best_constant(self, y: Array, w: Array) -> float:
        return float(2 * np.sum(w * y) / np.sum(w) - 1)


class Softmax:
    r"""The log loss of K classes: :math:`-\log p_y`, :math:`p_k = e^{f_k} / \sum_j e^{f_j}`.

    Raw predictions have the shape (K, rows). The gradient is :math:`g_k = p_k - 1_{y = k}`. The diagonal of
    the Hessian is multiplied by K / (K - 1): :math:`h_k = \frac{K}{K-1} p_k (1 - p_k)`. The factor accounts
    for the redundant class: adding a constant to all :math:`f_k` does not change the loss (Friedman 2001).
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def probability(self, f: Array) -> Array:
        """Return the class probabilities, of shape (K, rows)."""
        e = np.exp(f - f.max(axis=0))
        return e / e.sum(axis=0)

    def value(self, y: Array, f: Array) -> Array:
        return np.logaddexp.reduce(f, axis=0) - f[y.astype(int), np.arange(len(y))]

    def gradient(self, y: Array, f: Array) -> Array:
        return self.probability(f) - (y == np.arange(self.n_classes)[:, None])

    def hessian(self, y: Array, f: Array) -> Array:
        p = self.probability(f)
        return self.n_classes / (self.n_classes - 1) * p * (1 - p)

    def best_constants(self, y: Array, w: Array) -> Array:
        """Return the logarithms of the class shares, centred to mean 0."""
        class_weight = np.bincount(y.astype(int), weights=w, minlength=self.n_classes)
        logs = np.log(np.maximum(class_weight / class_weight.sum(), 1e-15))
        return logs - logs.mean()

    def best_shifts(self, y: Array, offset: Array, w: Array) -> Array:
        r"""Return the constants to add to the offsets, (K, rows), with the smallest loss, centred to mean 0.

        At the minimum the probabilities of each class add up to its weight. Iterative scaling adds the
        logarithm of the ratio of the two to the constant of the class until they are equal (Darroch and
        Ratcliff 1972).
        """
        class_weight = np.bincount(y.astype(int), weights=w, minlength=self.n_classes)
        constants = np.zeros(self.n_classes)
        for _ in range(1000):
            expected = self.probability(offset + constants[:, None]) @ w
            constants += np.log(class_weight / expected)
        return constants - constants.mean()

    def minimiser(self, y: Array, f: Array, w: Array, k: int) -> float:
        """Return the best step for f_k, with the raw predictions of the other classes fixed.

        It is the step of a two-class problem, class k against the others, with the raw prediction
        f_k - log Σ e^f_j over the other classes j.
        """
        log_sum = np.logaddexp.reduce(np.delete(f, k, axis=0), axis=0)
        return LogLoss().minimiser((y == k).astype(float), f[k] - log_sum, w)


def loss_named(name: str, parameter: float = 0.0) -> Loss:
    """Return the loss with the given name, as in the parameter `loss` of the estimators.

    >>> loss_named("tweedie", 1.5).gradient(np.array([1.0]), np.array([0.0]))
    array([0.])
    """
    with_parameter: dict[str, Callable[[float], Loss]] = {
        "huber": Huber,
        "quantile": Quantile,
        "expectile": Expectile,
        "tweedie": Tweedie,
    }
    plain: dict[str, Callable[[], Loss]] = {
        "squared_error": SquaredError,
        "absolute_error": AbsoluteError,
        "log_cosh": LogCosh,
        "poisson": Poisson,
        "gamma": Gamma,
        "log_loss": LogLoss,
        "exponential": Exponential,
        "squared_hinge": SquaredHinge,
    }
    return with_parameter[name](parameter) if name in with_parameter else plain[name]()
