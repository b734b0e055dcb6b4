r"""AdaBoost (Freund and Schapire 1997) and its variants.

Letters: m rows :math:`x_i` with labels :math:`y_i` and weights :math:`w_i`; :math:`h_t` is the hypothesis
(the fitted weak learner) of round t, :math:`\alpha_t` its weight in the vote, :math:`\nu` the learning rate.
`learn(X, y, w)` is any weak learner: it fits the weighted rows and returns a hypothesis, a function of X.
A model is a list of pairs :math:`(\alpha_t, h_t)`, and predicts

.. math:: f(x) = \sum_t \alpha_t h_t(x), \qquad H(x) = \operatorname{sign} f(x).

The coding of y and the values of h differ between the variants; each docstring states them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Hypothesis = Callable[[Array], Array]
Learner = Callable[[Array, Any, Array], Hypothesis]
Model = list[tuple[float, Hypothesis]]


def adaboost(X: Array, y: Array, learn: Learner, rounds: int, nu: float = 1.0) -> Model:
    """Fit discrete AdaBoost; y is -1 or +1, and h predicts a number in [-1, 1].

    The error of a hypothesis is ε = Σ w_i (1 - y_i h(x_i)) / 2, the weight of its mistakes if h is -1 or
    +1. Its weight in the vote is α = ½ ln((1 - ε) / ε). Row weights are multiplied by exp(-α y_i h(x_i))
    and divided by their sum Z. The rounds end when ε ≥ ½.

    >>> X, y = np.arange(4.0)[:, None], np.array([-1.0, 1, 1, -1])
    >>> def learn(X, y, w):
    ...     rules = [lambda X, a=a, s=s: np.where(X[:, 0] > a, s, -s) for a in (-1, .5, 2.5) for s in (1, -1)]
    ...     return min(rules, key=lambda h: w[h(X) != y].sum())
    >>> np.sign(vote(adaboost(X, y, learn, 3), X))
    array([-1.,  1.,  1., -1.])
    """
    m = len(y)
    w = np.full(m, 1 / m)
    model: Model = []
    for _ in range(rounds):
        h = learn(X, y, w)
        error = np.sum(w * (1 - y * h(X)) / 2)
        if error >= 1 / 2:
            break
        if error == 0:
            # α would be infinite. A finite α larger than the sum of the others decides alone.
            model.append((sum(alpha for alpha, _ in model) + np.log(9999) / 2, h))
            break
        alpha = nu * np.log((1 - error) / error) / 2
        w = w * np.exp(-alpha * y * h(X))
        w = w / w.sum()  # Z
        model.append((alpha, h))
    return model


def vote(model: Model, X: Array) -> Array:
    """Return f(x) = Σ α_t h_t(x) for each row of X."""
    return np.sum([alpha * h(X) for alpha, h in model], axis=0)


def half_log_odds(p: Array, m: int) -> Array:
    """Return ½ ln(p / (1 - p)), with p clipped to [1 / (2m + 2), 1 - 1 / (2m + 2)].

    The limits are the smoothed share of a class without rows: half a row is added to each of two classes.
    """
    p = np.clip(p, 1 / (2 * m + 2), 1 - 1 / (2 * m + 2))
    return np.log(p / (1 - p)) / 2


def real_adaboost(X: Array, y: Array, learn: Learner, rounds: int, nu: float = 1.0) -> Model:
    """Fit real AdaBoost; y is -1 or +1, and the weak learner estimates P(y = +1 | x).

    Each round adds half the estimated log-odds, so that more certain predictions count for more.
    """
    m = len(y)
    f = np.zeros(m)
    model: Model = []
    for _ in range(rounds):
        w = np.exp(-y * f)
        p = learn(X, y, w / w.sum())

        def h(X: Array, p: Hypothesis = p) -> Array:
            return half_log_odds(p(X), m)

        f = f + nu * h(X)
        model.append((nu, h))
    return model


def gentle_adaboost(X: Array, y: Array, learn: Learner, rounds: int, nu: float = 1.0) -> Model:
    """Fit gentle AdaBoost; y is -1 or +1, and the weak learner fits it by weighted least squares."""
    f = np.zeros(len(y))
    model: Model = []
    for _ in range(rounds):
        w = np.exp(-y * f)
        h = learn(X, y, w / w.sum())
        f = f + nu * h(X)
        model.append((nu, h))
    return model


def logitboost(X: Array, y: Array, learn: Learner, rounds: int, nu: float = 1.0) -> Model:
    """Fit LogitBoost; y is -1 or +1, and p = 1 / (1 + exp(-2f)) estimates P(y = +1 | x).

    The weak learner fits the working response z, Newton's step for the log loss, by weighted least squares.
    """
    f = np.zeros(len(y))
    model: Model = []
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-2 * f))
        w = np.maximum(p * (1 - p), 2.0**-51)
        z = np.clip(((y + 1) / 2 - p) / w, -4, 4)
        h = learn(X, z, w / w.sum())
        f = f + nu * h(X) / 2
        model.append((nu / 2, h))
    return model


def madaboost(X: Array, y: Array, learn: Learner, rounds: int, nu: float = 1.0) -> Model:
    """Fit MadaBoost: discrete AdaBoost with row weights min(1, exp(-y f)), before normalisation."""
    f = np.zeros(len(y))
    model: Model = []
    for _ in range(rounds):
        w = np.minimum(1, np.exp(-y * f))
        w = w / w.sum()
        h = learn(X, y, w)
        error = np.sum(w * (1 - y * h(X)) / 2)
        if error >= 1 / 2:
            break
        alpha = nu * np.log((1 - error) / error) / 2
        f = f + alpha * h(X)
        model.append((alpha, h))
    return model


def samme(
    X: Array, y: NDArray[np.int64], n_classes: int, learn: Learner, rounds: int, nu: float = 1.0
) -> Model:
    """Fit SAMME; y and the predictions of h are class numbers 0, ..., K - 1.

    The rounds end when the error reaches 1 - 1/K, the error of random guessing among K classes.
    """
    w = np.full(len(y), 1 / len(y))
    model: Model = []
    for _ in range(rounds):
        h = learn(X, y, w)
        wrong = h(X) != y
        error = w[wrong].sum()
        if error >= 1 - 1 / n_classes:
            break
        alpha = nu * (np.log((1 - error) / error) + np.log(n_classes - 1))
        w = w * np.exp(alpha * wrong)
        w = w / w.sum()
        model.append((alpha, h))
    return model


def class_votes(model: Model, X: Array, n_classes: int) -> Array:
    """Return the sum of the votes for each class, of shape (rows, classes)."""
    return np.sum([alpha * (h(X)[:, None] == np.arange(n_classes)) for alpha, h in model], axis=0)


def adaboost_mh(
    X: Array, y: NDArray[np.int64], n_classes: int, learn: Learner, rounds: int, nu: float = 1.0
) -> Model:
    """Fit AdaBoost.MH; y is a class number, and h predicts -1 or +1 for each class: (rows, classes).

    It is discrete AdaBoost on the pairs of a row and a class; Y is +1 for the class of the row, else -1.
    """
    Y = np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)
    w = np.full(Y.shape, 1 / Y.size)
    model: Model = []
    for _ in range(rounds):
        h = learn(X, Y, w)
        error = np.sum(w * (1 - Y * h(X)) / 2)
        if error >= 1 / 2:
            break
        alpha = nu * np.log((1 - error) / error) / 2
        w = w * np.exp(-alpha * Y * h(X))
        w = w / w.sum()
        model.append((alpha, h))
    return model
