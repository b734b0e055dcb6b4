r"""AdaBoost and its variants, as a lecture writes them.

`learn(X, y, w)` stands for any weak learner: it returns a function of X. What that function says, and
what y is, differ from variant to variant and are told in each place. A model is a list of pairs
:math:`(\alpha_t, h_t)`.

.. math:: f(x) = \sum_t \alpha_t h_t(x), \qquad H(x) = \operatorname{sign} f(x)
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
    """Discrete AdaBoost; y and what h says are -1 and +1, or h says anything between.

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
        if (
            error == 0
        ):  # nothing it gets wrong: it outvotes the others, and there is no more to learn
            model.append((sum(alpha for alpha, _ in model) + np.log(9999) / 2, h))
            break
        alpha = nu * np.log((1 - error) / error) / 2
        w = w * np.exp(-alpha * y * h(X))
        w = w / w.sum()  # Z
        model.append((alpha, h))
    return model


def vote(model: Model, X: Array) -> Array:
    """f(x)."""
    return np.sum([alpha * h(X) for alpha, h in model], axis=0)


def half_log_odds(p: Array, m: int) -> Array:
    """½ ln(p / (1 - p)), with p held off 0 and 1 as by half a row more of each class."""
    p = np.clip(p, 1 / (2 * m + 2), 1 - 1 / (2 * m + 2))
    return np.log(p / (1 - p)) / 2


def real_adaboost(X: Array, y: Array, learn: Learner, rounds: int, nu: float = 1.0) -> Model:
    """Real AdaBoost; learners say P(y = +1 | x), and how sure they are is how much they add."""
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
    """Gentle AdaBoost; learners fit y by least squares."""
    f = np.zeros(len(y))
    model: Model = []
    for _ in range(rounds):
        w = np.exp(-y * f)
        h = learn(X, y, w / w.sum())
        f = f + nu * h(X)
        model.append((nu, h))
    return model


def logitboost(X: Array, y: Array, learn: Learner, rounds: int, nu: float = 1.0) -> Model:
    """LogitBoost; learners fit the working response by least squares; p = 1 / (1 + exp(-2f))."""
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
    """MadaBoost: AdaBoost's step under weights that never exceed 1."""
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
    X: Array, y: NDArray[np.int64], classes: int, learn: Learner, rounds: int, nu: float = 1.0
) -> Model:
    """SAMME; y and what h says are class numbers, and a learner must beat a guess among K."""
    w = np.full(len(y), 1 / len(y))
    model: Model = []
    for _ in range(rounds):
        h = learn(X, y, w)
        missed = h(X) != y
        error = w[missed].sum()
        if error >= 1 - 1 / classes:
            break
        alpha = nu * (np.log((1 - error) / error) + np.log(classes - 1))
        w = w * np.exp(alpha * missed)
        w = w / w.sum()
        model.append((alpha, h))
    return model


def class_votes(model: Model, X: Array, classes: int) -> Array:
    """(rows, classes): the sum of the votes for each class."""
    return np.sum([alpha * (h(X)[:, None] == np.arange(classes)) for alpha, h in model], axis=0)


def adaboost_mh(
    X: Array, y: NDArray[np.int64], classes: int, learn: Learner, rounds: int, nu: float = 1.0
) -> Model:
    """AdaBoost.MH; h says -1 or +1 of each class, (rows, classes); w is over rows and classes."""
    Y = np.where(y[:, None] == np.arange(classes), 1.0, -1.0)
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
