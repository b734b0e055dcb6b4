"""Weak learnability: the edge over random guessing that a learner has under any weights of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linprog

from bosquet._parameters import check_estimator, check_value, integer, number
from bosquet._sklearn import check_random_state, has_fit_parameter
from bosquet.theory._checks import (
    check_table,
    class_codes,
    clone_with_seeds,
    is_generator,
    signs_of,
)
from bosquet.theory._stumps import Stumps
from bosquet.theory._tables import result_text, table
from bosquet.theory.sample_sizes import sample_size
from bosquet.theory.vc import vc_dim_of_stumps

if TYPE_CHECKING:
    from bosquet._types import Estimator, RandomState, TableLike


# Share of the weight that is distributed equally, so that no row passed to an estimator has weight 0.
UNIFORM_SHARE = 1e-6

# A learner as a function: row weights with sum 1 -> predictions (-1 or +1) of the rules that it returns, of
# shape (rules, rows). Stumps return one rule per feature, since more rules per round need fewer rounds.
Oracle = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, repr=False)
class WeakLearnability:
    """The edge γ over random guessing that a learner has under every distribution of the rows.

    Attributes
    ----------
    edge_low : float
        Lower bound on γ*, valid for every learner: under any weights, one of the rules that were found has
        at least this edge.
    edge_high : float or None
        Upper bound on γ*: under `weights` no rule has a larger edge. For stumps the two bounds are equal up
        to the tolerance. None for learners that need not find their best rule.
    least_edge_shown : float
        Smallest edge of a rule that the learner returned for the weights of a round. It is an observation,
        not a bound.
    worst_error : float
        ½ - edge_low: under any weights, some rule that was found has at most this error.
    gamma : float
        keep · edge_low: the edge of a learner that finds the best rule on a sample from the distribution,
        instead of on the distribution itself.
    n_rows : int or None
        Size of the sample with which the edge `gamma` is reached with probability 1 - δ.
    is_weak : bool
        Whether edge_low is positive.
    exact : bool
        Whether the learner always returns the best rule of its class, as stumps do.
    weights : array of shape (n_samples,)
        The hardest distribution of the rows that was found; if not `exact`, the hardest for the rules that
        were found.
    rounds : int
        Number of fits of the learner.
    learner : str
        Name of the learner.
    delta : float
        δ of `n_rows`.
    """

    edge_low: float
    edge_high: float | None
    least_edge_shown: float
    gamma: float
    n_rows: int | None
    exact: bool
    weights: np.ndarray
    rounds: int
    learner: str
    delta: float

    formula = "2γ* = min over weights D of max over rules h of Σ D_i y_i h(x_i)"

    @property
    def worst_error(self) -> float:
        return 0.5 - self.edge_low

    @property
    def is_weak(self) -> bool:
        return self.edge_low > 1e-9

    def __repr__(self) -> str:
        on = f"on these {self.weights.size} rows"
        support: tuple[str, object] = ("rows with D_i > 0", int((self.weights > 1e-9).sum()))
        if not self.exact:
            have = "have" if self.is_weak else "were not found to have"
            rows: list[tuple[str, object]] = [
                ("γ* at least", self.edge_low),
                ("smallest edge observed", self.least_edge_shown),
                support,
            ]
            note = "no upper bound on γ*: the learner need not find its best rule"
            title = f"Rules of {self.learner} {have} an edge under all weights {on}"
            return result_text(title, self.formula, table(rows), note)
        rows = [
            ("γ* at least", self.edge_low),
            ("γ* at most", self.edge_high),
            ("error under the hardest weights", self.worst_error),
            ("γ on a sample", self.gamma),
            (f"sample size for it, probability {1 - self.delta:g}", self.n_rows),
            support,
        ]
        verdict = "is a weak learner" if self.is_weak else "is not a weak learner"
        return result_text(f"{self.learner} {verdict} {on}", self.formula, table(rows))


def weak_learnability(
    learner: Estimator,
    data: Any,
    y: Any = None,
    *,
    n_samples: int = 300,
    keep: float = 0.5,
    delta: float = 0.05,
    vc_dim: int | None = None,
    tolerance: float = 1e-6,
    max_rounds: int = 300,
    random_state: RandomState = None,
) -> WeakLearnability:
    r"""Compute the largest γ for which a learner is γ-weak on given rows.

    A γ-weak learner has an error of at most ½ - γ under every distribution D of the rows. The largest such
    γ is determined by the value of a game between weights and rules,

    .. math:: 2\gamma^* = \min_D \max_h \sum_i D_i\, y_i\, h(x_i),

    which by von Neumann's theorem is also the largest margin of a vote. The game is solved by column
    generation: a linear program finds the weights that are hardest for the rules found so far, and the
    learner is fitted to these weights and adds its rule, until no better rule is found. This takes a second
    for 300 rows, and minutes for thousands.

    A learner that sees a sample from D instead of D loses a part of its edge. With `n_rows` rows it keeps
    the fraction `keep`, by the uniform convergence bound for its VC dimension. For stumps and functions of
    three pieces on a line γ* is 1/6, since the lightest piece has a weight of at most 1/3. Half of it is
    the γ = 1/12 of the course.

    Parameters
    ----------
    learner : "stumps" or a classifier
        "stumps" is the exact search over all stumps. A classifier must accept `sample_weight`. Since it
        need not find the best rule of its class, there is only a lower bound on γ* for it.
    data : generator of two classes, or table of shape (n_samples, n_features)
    y : array of shape (n_samples,), optional
        Labels of two classes, for a table.
    n_samples : int, default=300
        Number of rows to draw from a generator.
    keep : float, default=0.5
        Fraction of the edge that is left after learning from a sample.
    delta : float, default=0.05
        Probability that a sample is not representative, for `n_rows`.
    vc_dim : int, optional
        VC dimension of the rules of the learner, for `n_rows`. Default: that of stumps, None for classifiers.
    tolerance : float, default=1e-6
        The search stops when the two bounds of γ* differ by at most this value; for classifiers, when a new
        rule is not better than the known ones by more than this value.
    max_rounds : int, default=300
        Maximum number of fits.
    random_state : int, RandomState or None
        Seed of the rows drawn from a generator, and of randomised learners.

    Returns
    -------
    WeakLearnability

    Examples
    --------
    >>> from bosquet.datasets import Pieces
    >>> from bosquet.theory import weak_learnability
    >>> weak_learnability("stumps", Pieces(), random_state=0)
    stumps is a weak learner on these 300 rows
      2γ* = min over weights D of max over rules h of Σ D_i y_i h(x_i)
      γ* at least                            0.1667
      γ* at most                             0.1667
      error under the hardest weights        0.3333
      γ on a sample                         0.08333
      sample size for it, probability 0.95   138515
      rows with D_i > 0                           3

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, 2014, chapter 10. Freund and
    Schapire, "Game theory, on-line prediction and boosting", COLT 1996.
    """
    for name, value, check in (
        ("n_samples", n_samples, integer(2)),
        ("keep", keep, number(0, 1, open_low=True)),
        ("delta", delta, number(0, 1, open_low=True)),
        ("vc_dim", vc_dim, integer(1, none=True)),
        ("tolerance", tolerance, number(0)),
        ("max_rounds", max_rounds, integer(1)),
    ):
        check_value(name, value, check)
    rng = check_random_state(random_state)
    if is_generator(data):
        data, y = data.sample(n_samples, rng)
    check_table(data, y, "target")
    signs, classes = signs_of(y)
    exact = isinstance(learner, str) and learner == "stumps"
    if exact:
        oracle = _stump_oracle(data, signs)
        vc_dim = int(vc_dim_of_stumps(np.shape(data)[1])) if vc_dim is None else vc_dim
    else:
        oracle = _estimator_oracle(learner, data, np.asarray(y), classes, rng)
    low, high, weights, rounds = _column_generation(oracle, signs, tolerance, max_rounds, exact)
    edge = max(low, 0.0) / 2
    lost_edge = (1 - keep) * edge
    rows = None
    if vc_dim is not None and lost_edge > 1e-9 and delta < 1:
        rows = int(sample_size(lost_edge, delta, vc_dim=vc_dim, realisable=False))
    name = "stumps" if exact else type(learner).__name__
    return WeakLearnability(
        edge_low=edge,
        edge_high=max(high, 0.0) / 2 if exact else None,
        least_edge_shown=high / 2,
        gamma=keep * edge,
        n_rows=rows,
        exact=exact,
        weights=weights,
        rounds=rounds,
        learner=name,
        delta=delta,
    )


def _stump_oracle(data: Any, signs: np.ndarray) -> Oracle:
    """Return the function that finds the best stump of each feature for given weights."""
    stumps, X = Stumps(data), np.asarray(data, dtype=float)

    def oracle(weights: np.ndarray) -> np.ndarray:
        return np.array([rule(X) for _, rule in stumps.best_of_each(weights * signs)])

    return oracle


def _estimator_oracle(
    learner: Estimator,
    X: TableLike,
    y: np.ndarray,
    classes: np.ndarray,
    rng: np.random.RandomState,
) -> Oracle:
    """Return the function that fits a classifier to given weights and returns its predictions."""
    if isinstance(learner, str):
        raise ValueError(
            f"learner={learner!r} is not valid: learner must be 'stumps' or a classifier"
        )
    check_estimator(learner, "learner")
    if not has_fit_parameter(learner, "sample_weight"):
        raise ValueError(
            f"{type(learner).__name__}.fit does not accept sample_weight, which is needed for weighted rows;"
            " pass a classifier that does"
        )
    n_fits = [0]

    def oracle(weights: np.ndarray) -> np.ndarray:
        n_fits[0] += 1
        try:
            # Some learners fail if all rows of a class have weight 0. The weights have the mean 1, not the
            # sum 1, which would make the penalty of regularised learners m times as strong.
            sample_weight = (1 - UNIFORM_SHARE) * weights * weights.size + UNIFORM_SHARE
            fitted = clone_with_seeds(learner, rng).fit(X, y, sample_weight=sample_weight)
            codes = class_codes(fitted.predict(X), classes, "its prediction")
        except Exception as error:
            name = type(learner).__name__
            raise ValueError(f"{name} failed in round {n_fits[0]}: {error}") from error
        return (2.0 * codes - 1)[None, :]

    return oracle


def _column_generation(
    oracle: Oracle, signs: np.ndarray, tolerance: float, max_rounds: int, exact: bool
) -> tuple[float, float, np.ndarray, int]:
    """Return a lower bound on 2γ*, the smallest observed 2γ, the hardest weights, and the number of rounds.

    The second value is an upper bound only if the oracle is `exact`. Otherwise a bad rule of an earlier
    round must not end the search.
    """
    weights = np.full(signs.size, 1 / signs.size)
    low, high, hardest = -1.0, np.inf, weights
    hypotheses: dict[bytes, np.ndarray] = {}
    rounds = 0
    while rounds < max_rounds:
        rounds += 1
        agreements = signs * oracle(weights)
        edges = agreements @ weights
        if edges.max() < high:
            high, hardest = float(edges.max()), weights
        new = {
            agreement.tobytes(): agreement
            for agreement, edge in zip(agreements, edges, strict=True)
            if edge > low + tolerance
        }
        converged = exact and high - low <= 2 * tolerance
        if converged or new.keys() <= hypotheses.keys():
            break
        hypotheses |= new
        low, weights = _hardest_weights(np.array(list(hypotheses.values())))
    return (min(low, high), high, hardest, rounds) if exact else (low, high, weights, rounds)


def _hardest_weights(agreements: np.ndarray) -> tuple[float, np.ndarray]:
    """Return 2γ of the best rule under the weights that are hardest for the rules, and these weights."""
    rules, rows = agreements.shape
    solved = linprog(
        c=np.append(np.zeros(rows), 1.0),
        A_ub=np.column_stack([agreements, -np.ones(rules)]),
        b_ub=np.zeros(rules),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
    )
    if solved.x is None:
        raise RuntimeError(f"the linear program of the weights was not solved: {solved.message}")
    weights = np.maximum(solved.x[:-1], 0)
    return float(solved.x[-1]), weights / weights.sum()
