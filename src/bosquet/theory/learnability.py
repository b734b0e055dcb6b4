"""Weak learnability: how much better than a coin a learner is, whatever the weights of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, integer, number
from bosquet._sklearn import check_random_state, has_fit_parameter
from bosquet.theory._learning import (
    check_estimator_object,
    check_table,
    class_codes,
    is_generator,
    seeded,
    signs_of,
)
from bosquet.theory._stumps import Stumps
from bosquet.theory._tables import result_text, table
from bosquet.theory.sample_sizes import sample_size
from bosquet.theory.vc import vc_dim_of_stumps

# The share of the weight that is dealt out evenly before an estimator sees it.
FOR_ALL = 1e-6

# A learner: weights of sum 1 to the rules it offers, each as what it says of each row, -1 or +1. For
# stumps it offers one a feature: more rules a round make fewer rounds.
Oracle = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, repr=False)
class WeakLearnability:
    """By which edge γ a learner beats a coin under every distribution of the rows.

    Attributes
    ----------
    edge_low : float
        γ* of the learner's rules is at least this: whatever the weights, one of the rules that were found
        has such an edge. Proved for every learner.
    edge_high : float or None
        γ* is at most this, since under `weights` no rule has more; for stumps the two meet. None for a
        learner that need not find its best rule: that it found none better proves nothing.
    least_edge_shown : float
        The smallest edge that the learner's own rule had under the weights it was asked about. It is
        what this learner did, no bound on its rules.
    worst_error : float
        ½ - edge_low: under any weights some rule that was found errs no more.
    gamma : float
        keep · edge_low, the γ of a learner that takes the best rule on a sample of the distribution
        rather than under the distribution itself.
    n_rows : int or None
        Size of a sample from which this γ is reached with probability 1 - δ.
    is_weak : bool
        Whether edge_low is above 0.
    exact : bool
        Whether the learner is known to return the best rule of its class (stumps).
    weights : array of shape (n_samples,)
        The hardest distribution of rows that was found; if not `exact`, hardest for the rules found.
    rounds : int
        How many rules were asked for.
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
        support: tuple[str, Any] = (
            "rows the hardest weights rest on",
            int((self.weights > 1e-9).sum()),
        )
        if not self.exact:
            has = "have" if self.is_weak else "were not found to have"
            rows: list[tuple[str, Any]] = [
                ("γ* at least", self.edge_low),
                ("least edge the learner showed", self.least_edge_shown),
                support,
            ]
            note = "γ* has no upper bound here: the learner need not find its best rule"
            title = f"Rules of {self.learner} {has} an edge under all weights {on}"
            return result_text(title, self.formula, table(rows), note)
        rows = [
            ("γ* at least", self.edge_low),
            ("γ* at most", self.edge_high),
            ("largest error any weights force", self.worst_error),
            ("γ when learned from a sample", self.gamma),
            (f"rows for that with chance {1 - self.delta:g}", self.n_rows),
            support,
        ]
        says = "is a weak learner" if self.is_weak else "is not a weak learner"
        return result_text(f"{self.learner} {says} {on}", self.formula, table(rows))


def weak_learnability(
    learner: Any,
    data: Any,
    y: Any = None,
    *,
    n_samples: int = 300,
    keep: float = 0.5,
    delta: float = 0.05,
    vc_dim: int | None = None,
    tolerance: float = 1e-6,
    max_rounds: int = 300,
    random_state: Any = None,
) -> WeakLearnability:
    r"""Is a learner γ-weak on these rows, and for which γ?

    A γ-weak learner errs at most ½ - γ under every distribution D of the rows. The largest such γ is
    the value of a game between weights and rules,

    .. math:: 2\gamma^* = \min_D \max_h \sum_i D_i\, y_i\, h(x_i),

    and by von Neumann's theorem also the largest margin of a vote. Weights and rules answer each
    other in turn: a linear programme finds the weights hardest for the rules known so far, the
    learner adds its rule for those weights, until it can do no better than the programme's value. That
    takes a second for 300 rows, and minutes for thousands.

    A learner that sees a sample of D, not D itself, loses some of the edge. It keeps the share `keep`
    from `n_rows` rows on: the VC dimension bounds what the rest has to pay for. For functions of
    three pieces on a line and stumps γ* = 1/6, since the lightest piece weighs at most 1/3, and half
    of it is the γ = 1/12 of the lectures.

    Parameters
    ----------
    learner : "stumps" or a classifier
        "stumps" is the exact search over all stumps. A classifier must take `sample_weight`; since it
        need not find the best rule of its class, γ* is then bounded from below only.
    data : generator of two classes, or table of shape (n_samples, n_features)
    y : array of shape (n_samples,), optional
        Labels of two classes that go with a table.
    n_samples : int, default=300
        Rows to draw from a generator.
    keep : float, default=0.5
        Share of the edge that is to be left after learning from a sample.
    delta : float, default=0.05
        The chance with which a sample may mislead.
    vc_dim : int, optional
        VC dimension of the learner's rules, for `n_rows`; known for stumps.
    tolerance : float, default=1e-6
        The two bounds of γ* may stay this far apart; another learner is asked until its rules better
        those known by no more.
    max_rounds : int, default=300
    random_state : int, RandomState or None
        For rows drawn from a generator, and for learners that draw.

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
      γ* at least                        0.1667
      γ* at most                         0.1667
      largest error any weights force    0.3333
      γ when learned from a sample      0.08333
      rows for that with chance 0.95     138515
      rows the hardest weights rest on        3

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
    random = check_random_state(random_state)
    if is_generator(data):
        data, y = data.sample(n_samples, random)
    check_table(data, y, "target")
    signs, classes = signs_of(y)
    exact = isinstance(learner, str) and learner == "stumps"
    if exact:
        oracle = _offering(data, signs)
        vc_dim = int(vc_dim_of_stumps(np.shape(data)[1])) if vc_dim is None else vc_dim
    else:
        oracle = _asking(learner, data, np.asarray(y), classes, random)
    low, high, weights, rounds = _play(oracle, signs, tolerance, max_rounds, exact)
    edge = max(low, 0.0) / 2
    spare = (1 - keep) * edge
    rows = None
    if vc_dim is not None and spare > 1e-9 and delta < 1:
        rows = int(sample_size(spare, delta, vc_dim=vc_dim, realisable=False))
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


def _offering(data: Any, signs: np.ndarray) -> Oracle:
    """The best stump of each feature under any weights."""
    stumps, X = Stumps(data), np.asarray(data, dtype=float)

    def oracle(weights: np.ndarray) -> np.ndarray:
        return np.array([rule(X) for _, rule in stumps.best_of_each(weights * signs)])

    return oracle


def _asking(
    learner: Any, X: Any, y: np.ndarray, classes: np.ndarray, random: np.random.RandomState
) -> Oracle:
    if isinstance(learner, str):
        raise ValueError(f"learner={learner!r} is neither 'stumps' nor an estimator")
    check_estimator_object(learner, "learner")
    if not has_fit_parameter(learner, "sample_weight"):
        raise ValueError(
            f"{type(learner).__name__}.fit takes no sample_weight, so it cannot be asked about weights of"
            " the rows; use a learner that does"
        )
    asked = [0]

    def oracle(weights: np.ndarray) -> np.ndarray:
        asked[0] += 1
        try:
            # All rows of a class may weigh nothing, which some learners take ill. Of mean 1: learners
            # with a penalty would see it grow m times under a sum of 1.
            handed = (1 - FOR_ALL) * weights * weights.size + FOR_ALL
            fitted = seeded(learner, random).fit(X, y, sample_weight=handed)
            said = class_codes(fitted.predict(X), classes, "what it says of the rows")
        except Exception as error:
            name = type(learner).__name__
            raise ValueError(f"{name} failed at round {asked[0]}: {error}") from error
        return (2.0 * said - 1)[None, :]

    return oracle


def _play(
    oracle: Oracle, signs: np.ndarray, tolerance: float, max_rounds: int, exact: bool
) -> tuple[float, float, np.ndarray, int]:
    """What the rules reach, the least that was answered, the hardest weights, the number of rounds.

    The second bounds the first from above only if the oracle is `exact`: else a bad answer of long
    ago must not end the game.
    """
    weights = np.full(signs.size, 1 / signs.size)
    low, high, hardest = -1.0, np.inf, weights
    known: dict[bytes, np.ndarray] = {}
    rounds = 0
    while rounds < max_rounds:
        rounds += 1
        offered = signs * oracle(weights)
        edges = offered @ weights
        if edges.max() < high:
            high, hardest = float(edges.max()), weights
        new = {
            agreement.tobytes(): agreement
            for agreement, edge in zip(offered, edges, strict=True)
            if edge > low + tolerance
        }
        closed = exact and high - low <= 2 * tolerance
        if closed or new.keys() <= known.keys():
            break
        known |= new
        low, weights = _hardest_weights(np.array(list(known.values())))
    return (min(low, high), high, hardest, rounds) if exact else (low, high, weights, rounds)


def _hardest_weights(agreements: np.ndarray) -> tuple[float, np.ndarray]:
    """Weights under which the best of some rules is the worst, and its edge: a linear programme."""
    from scipy.optimize import linprog

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
        raise RuntimeError(f"the linear programme of the weights was not solved: {solved.message}")
    weights = np.maximum(solved.x[:-1], 0)
    return float(solved.x[-1]), weights / weights.sum()
