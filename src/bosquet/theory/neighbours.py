"""Simple rules: random guessing, the constant rule, and nearest neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._parameters import check_value, integer, number
from bosquet._sklearn import check_random_state
from bosquet.theory._checks import Truth, has_classes
from bosquet.theory._tables import result_text, table

if TYPE_CHECKING:
    from bosquet._types import RandomState
    from bosquet.datasets.generator import Generator


def log_neighbours(n_samples: int) -> int:
    """Return an odd number near log n: a number k of neighbours for which the k-NN rule is consistent.

    k has to increase with n, so that the variance of the vote decreases, and more slowly than n, so that
    the neighbours come closer.

    >>> from bosquet.theory import log_neighbours
    >>> [log_neighbours(n) for n in (1, 100, 10_000, 1_000_000)]
    [1, 5, 9, 13]
    """
    check_value("n_samples", n_samples, integer(1))
    return 2 * int(math.log(n_samples) / 2) + 1


def cover_hart_bound(bayes_error: float, n_classes: int = 2) -> float:
    """Return R*(2 - K/(K-1) R*), an upper bound on the limit error of one nearest neighbour; at most 2R*.

    Parameters
    ----------
    bayes_error : float
        The Bayes error R*, at most 1 - 1/K.
    n_classes : int, default=2
        Number K of classes.

    Examples
    --------
    >>> from bosquet.theory import cover_hart_bound
    >>> print(f"{cover_hart_bound(0.1):.2f}")
    0.18

    References
    ----------
    Cover and Hart, "Nearest neighbor pattern classification", IEEE Transactions on Information
    Theory 13, 1967.
    """
    check_value("n_classes", n_classes, integer(2))
    check_value("bayes_error", bayes_error, number(0, 1 - 1 / n_classes))
    return bayes_error * (2 - n_classes / (n_classes - 1) * bayes_error)


@dataclass(frozen=True, repr=False)
class SimpleRules:
    """Errors of simple rules, compared with the Bayes error.

    Attributes
    ----------
    n_samples : tuple of int
        Sizes of the training sets.
    nearest, log_n : array of shape (len(n_samples),)
        Mean error of one neighbour and of k = log n neighbours, for each size.
    random, constant : float
        Error of random guessing, and of always predicting the most probable class.
    limit : float
        Limit of the error of one neighbour as n grows: E[1 - Σ p_k(X)²].
    bayes, bound : float
        The Bayes error R*, and the bound R*(2 - K/(K-1) R*) on `limit`.
    """

    n_samples: tuple[int, ...]
    nearest: np.ndarray
    log_n: np.ndarray
    random: float
    constant: float
    limit: float
    bayes: float
    bound: float

    formula = "R* ≤ lim R(1-NN) = E[1 - Σ p_k(X)²] ≤ R*(2 - K/(K-1) R*)"

    def __repr__(self) -> str:
        empty = [None] * len(self.n_samples)
        rows = [
            ("1 neighbour", *self.nearest, self.limit),
            ("k = log n", *self.log_n, self.bayes),
            ("bound of 1 neighbour", *empty, self.bound),
            ("constant rule", *empty, self.constant),
            ("random rule", *empty, self.random),
        ]
        head = ("rows", *(str(n) for n in self.n_samples), "limit")
        return result_text("Simple rules", self.formula, table(rows, head))


def simple_rules(
    generator: Generator,
    n_samples: Sequence[int] = (100, 1000, 10_000),
    *,
    n_test: int = 5000,
    n_draws: int = 5,
    random_state: RandomState = None,
) -> SimpleRules:
    """Compare random guessing, the constant rule, and one or log n nearest neighbours with the Bayes rule.

    As n grows, the label of the nearest neighbour becomes a second draw from the class probabilities p_k at
    x. The error of one neighbour tends to E[1 - Σ p_k²], which is at most twice the Bayes error. The error
    of k neighbours tends to the Bayes error if k grows more slowly than n, for example k = log n.

    Parameters
    ----------
    generator : generator of classes
        One of `bosquet.datasets`, or an object with ``sample(n, random_state)`` and ``probability(X)``.
    n_samples : sequence of int, default=(100, 1000, 10000)
        Sizes of the training sets.
    n_test : int, default=5000
        Number of test rows.
    n_draws : int, default=5
        Number of training sets of each size.
    random_state : int, RandomState or None
        Seed of the training sets and the test rows.

    Returns
    -------
    SimpleRules

    Examples
    --------
    >>> from bosquet.datasets import Moons
    >>> from bosquet.theory import simple_rules
    >>> rules = simple_rules(Moons(0.4), (100, 2000), random_state=0)
    >>> print(f"{rules.nearest[-1]:.2f} -> {rules.limit:.2f} <= {rules.bound:.2f}")
    0.20 -> 0.19 <= 0.23
    >>> print(f"{rules.log_n[0]:.3f}, {rules.log_n[1]:.3f} -> {rules.bayes:.3f}")
    0.164, 0.149 -> 0.134
    """
    from sklearn.neighbors import KNeighborsClassifier

    if not hasattr(generator, "sample") or not has_classes(generator):
        raise TypeError(
            f"generator={generator!r} does not generate classes; pass an object with sample(n, random_state)"
            " and probability(X)"
        )
    sizes = tuple(int(n) for n in n_samples)
    for n in sizes:
        check_value("n_samples", n, integer(1))
    check_value("n_test", n_test, integer(1))
    check_value("n_draws", n_draws, integer(1))
    rng = check_random_state(random_state)
    truth = Truth.of(generator, generator.sample(n_test, rng)[0])
    p = truth.probability
    assert p is not None
    bayes = float(truth.bayes.mean())
    errors = np.empty((2, len(sizes), n_draws))
    for size, n in enumerate(sizes):
        for draw in range(n_draws):
            X, y = generator.sample(n, rng)
            for rule, k in enumerate((1, log_neighbours(n))):
                predicted = KNeighborsClassifier(min(k, n)).fit(X, y).predict(truth.X)
                errors[rule, size, draw] = bayes + truth.excess(predicted).mean()
    nearest, log_n = errors.mean(axis=2)
    classes = p.shape[1]
    return SimpleRules(
        sizes,
        nearest,
        log_n,
        random=1 - 1 / classes,
        constant=max(0.0, 1 - float(p.mean(axis=0).max())),
        limit=max(bayes, 1 - float((p**2).sum(axis=1).mean())),
        bayes=bayes,
        bound=cover_hart_bound(min(bayes, 1 - 1 / classes), classes),
    )
