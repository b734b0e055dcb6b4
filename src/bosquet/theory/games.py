"""Zero-sum games, and boosting as one of them: the largest margin and the edge that proves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from bosquet.theory._learning import signs_of

# Strategies that a linear programme found are cut off below this: they are 0 to its accuracy.
SMALLEST_SHARE = 1e-12
# Guarantees of the two players that lie farther apart, relative to the payments, prove nothing.
FARTHEST_APART = 1e-5


@dataclass(frozen=True, repr=False)
class Game:
    r"""A zero-sum game, solved.

    Row player and column player each choose a line of the matrix, and the column player pays
    `matrix[i, j]`. A mixed strategy chooses by chance. However the column player plays, the
    strategy p earns at least :math:`\min_j (p^\top M)_j`; however the row player plays, q pays at most
    :math:`\max_i (M q)_i`. Where the two numbers meet they are the value of the game, and neither
    player can do better: so the two strategies are the proof, and anyone can check it.

    Attributes
    ----------
    value : float
        What the column player pays on average when both play their best.
    row_strategy, column_strategy : arrays
        Probabilities of the rows and of the columns.
    row_guarantee : float
        What the row strategy earns at least.
    column_guarantee : float
        What the column strategy pays at most.
    gap : float
        The difference of the two guarantees: 0 but for rounding.
    saddle_points : list of (row, column)
        Pairs of pure strategies that are best against each other; empty if there are none.
    pure_maximin, pure_minimax : float
        What the players can be sure of without chance. They are equal exactly if there is a
        saddle point.
    """

    value: float
    row_strategy: np.ndarray
    column_strategy: np.ndarray
    row_guarantee: float
    column_guarantee: float
    saddle_points: list[tuple[int, int]]
    pure_maximin: float
    pure_minimax: float

    @property
    def gap(self) -> float:
        return max(self.column_guarantee - self.row_guarantee, 0.0)

    @property
    def is_pure(self) -> bool:
        """Whether the players need no chance."""
        return bool(self.saddle_points)

    def __repr__(self) -> str:
        lines = [f"Game of {self.row_strategy.size} x {self.column_strategy.size}"]
        lines.append(f"  value            {_number(self.value)}")
        lines.append(f"  rows play        {_mixture(self.row_strategy)}")
        lines.append(f"  columns play     {_mixture(self.column_strategy)}")
        lines.append(
            f"  certificate      rows earn >= {_number(self.row_guarantee)},"
            f" columns pay <= {_number(self.column_guarantee)}"
        )
        if self.saddle_points:
            some = ", ".join(str(point) for point in self.saddle_points[:5])
            more = len(self.saddle_points) - 5
            lines.append(f"  saddle points    {some}" + (f" and {more} more" if more > 0 else ""))
        else:
            lines.append(
                f"  saddle points    none: without chance rows earn {_number(self.pure_maximin)},"
                f" columns pay {_number(self.pure_minimax)}"
            )
        return "\n".join(lines)


def game_value(matrix: Any) -> Game:
    r"""The value of a zero-sum game, with best strategies for both players.

    .. math:: v = \max_p \min_j (p^\top M)_j = \min_q \max_i (M q)_i

    The two sides are equal for every matrix (von Neumann 1928). Where a pair of pure strategies
    is a saddle point, smallest of its row and largest of its column, the players are given it;
    otherwise the strategies come from a linear programme and its dual.

    Parameters
    ----------
    matrix : array of shape (rows, columns)
        What the column player pays to the row player, who wants it large.

    Returns
    -------
    Game

    Examples
    --------
    Paper, scissors, rock:

    >>> from bosquet.theory import game_value
    >>> game_value([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    Game of 3 x 3
      value            0
      rows play        0: 0.333, 1: 0.333, 2: 0.333
      columns play     0: 0.333, 1: 0.333, 2: 0.333
      certificate      rows earn >= 0, columns pay <= 0
      saddle points    none: without chance rows earn -1, columns pay 1

    A game that needs no chance:

    >>> game_value([[3, 2], [1, 0]]).saddle_points
    [(0, 1)]

    References
    ----------
    von Neumann, "Zur Theorie der Gesellschaftsspiele", Mathematische Annalen 1928.
    Freund and Schapire, "Game theory, on-line prediction and boosting", COLT 1996.
    """
    payoff = _checked(matrix)
    worst_of_row, worst_of_column = payoff.min(axis=1), payoff.max(axis=0)
    at_both = (payoff == worst_of_row[:, None]) & (payoff == worst_of_column[None, :])
    saddles = [(int(i), int(j)) for i, j in np.argwhere(at_both)]
    if saddles:
        p, q = _pure(saddles[0][0], payoff.shape[0]), _pure(saddles[0][1], payoff.shape[1])
    else:
        p, q = _mixed_strategies(payoff)
    earned, paid = float((p @ payoff).min()), float((payoff @ q).max())
    if paid / 2 - earned / 2 > FARTHEST_APART * (payoff.max() / 2 - payoff.min() / 2):
        raise RuntimeError(
            f"the game was not solved: rows earn {earned:.6g} and columns pay {paid:.6g}, which should meet"
        )
    value = float(payoff[saddles[0]]) if saddles else earned / 2 + paid / 2
    return Game(
        value=value,
        row_strategy=p,
        column_strategy=q,
        row_guarantee=earned,
        column_guarantee=paid,
        saddle_points=saddles,
        pure_maximin=float(worst_of_row.max()),
        pure_minimax=float(worst_of_column.min()),
    )


def _checked(matrix: Any) -> np.ndarray:
    try:
        payoff = np.asarray(matrix, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a game is a matrix of numbers: {error}") from error
    if payoff.ndim != 2 or payoff.size == 0:
        raise ValueError(f"a game is a matrix with rows and columns, got shape {payoff.shape}")
    if not np.isfinite(payoff).all():
        i, j = np.argwhere(~np.isfinite(payoff))[0]
        raise ValueError(f"matrix[{i}, {j}] is {payoff[i, j]}; a game's payments must be finite")
    return payoff


def _mixed_strategies(payoff: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Best strategies of both players: a linear programme and the multipliers of its dual."""
    # A game stays the same when payments are shifted and scaled; the solver's tolerances do not.
    scaled = np.ldexp(payoff, -np.frexp(np.abs(payoff).max())[1])  # so that no difference overflows
    low, high = scaled.min(), scaled.max()
    scaled = (scaled - low) / (high - low)
    rows, columns = scaled.shape
    if rows > columns:  # fewer variables than conditions is the slower way round
        q, p = _mixed_strategies(-payoff.T)
        return p, q
    # max v with (p' M)_j >= v, written as min -v with v - (p' M)_j <= 0.
    found = linprog(
        np.concatenate([np.zeros(rows), [-1.0]]),
        np.hstack([-scaled.T, np.ones((columns, 1))]),
        np.zeros(columns),
        np.concatenate([np.ones(rows), [0.0]])[None, :],
        [1.0],
        [(0, None)] * rows + [(None, None)],
        method="highs",
    )
    if not found.success:
        raise RuntimeError(f"the linear programme of the game was not solved: {found.message}")
    return _distribution(found.x[:rows]), _distribution(-found.ineqlin.marginals)


def _distribution(shares: np.ndarray) -> np.ndarray:
    shares = np.where(shares > SMALLEST_SHARE, shares, 0.0)
    return shares / shares.sum()


def _pure(which: int, size: int) -> np.ndarray:
    strategy = np.zeros(size)
    strategy[which] = 1.0
    return strategy


def _number(value: float) -> str:
    """Six digits, and no trace of rounding where there should be 0."""
    return f"{round(value, 12) + 0.0:.6g}"


def _mixture(strategy: np.ndarray) -> str:
    """The choices a strategy makes and how often, the likeliest first."""
    order = np.argsort(-strategy.round(12), kind="stable")
    order = order[strategy[order] > 0]
    some = ", ".join(f"{i}: {strategy[i]:.3g}" for i in order[:6])
    return some + (f" and {order.size - 6} more" if order.size > 6 else "")


@dataclass(frozen=True, repr=False)
class MaximalMargin:
    r"""The largest margin of a vote of a learner's hypotheses, and what proves it to be so.

    A vote proves that margins reach `rho`, whatever the learner. That no vote has more is proved by
    a distribution of rows under which no hypothesis agrees better, and only a learner that finds
    its best hypothesis can know that: native stumps do. For any other learner `exact` is False and
    there is no upper bound, only what this learner came to.

    Attributes
    ----------
    rho : float
        The smallest margin :math:`\min_i y_i \sum_j a_j h_j(x_i)` of the vote,
        :math:`\sum_j a_j = 1`.
    gamma : float
        rho / 2: under every distribution of the rows some hypothesis of the vote has at least this
        edge :math:`\frac12 - \varepsilon`. If `exact`, none can do better under all of them.
    exact : bool
        Whether the learner is known to find its best hypothesis.
    upper_bound : float or None
        No vote has a margin above it; None unless `exact`.
    gap : float or None
        `upper_bound` - rho: how far the two are still apart.
    row_distribution : array of shape (n_samples,)
        If `exact` the proof of `upper_bound`, else the weights that are hardest for the vote.
    agreement : float
        :math:`\sum_i d_i y_i h(x_i) = 1 - 2 \varepsilon` under that distribution, of the hypothesis that the
        learner found for it.
    n_iterations : int
        Rounds of column generation.
    model : LPBoostClassifier or None
        The vote; None where the learner has no edge under equal weights.
    learner : str
        Its name.
    """

    rho: float
    agreement: float
    row_distribution: np.ndarray
    n_iterations: int
    model: Any
    exact: bool
    learner: str

    @property
    def gamma(self) -> float:
        return self.rho / 2

    @property
    def upper_bound(self) -> float | None:
        return self.agreement if self.exact else None

    @property
    def gap(self) -> float | None:
        return max(self.agreement - self.rho, 0.0) if self.exact else None

    def __repr__(self) -> str:
        return "\n".join(
            [*self._the_vote(), *(self._the_proof() if self.exact else self._no_proof())]
        )

    def _the_vote(self) -> list[str]:
        largest, is_ = ("Largest margin", "=") if self.exact else ("Margin", "≥")
        vote = "the learner has no edge under equal weights: there is none"
        if self.model is not None:
            votes = len(self.model.estimators_)
            vote = f"{votes} hypotheses; every row's margin is at least {_number(self.rho)}"
        return [
            f"{largest} of a vote: rho {is_} {_number(self.rho)},"
            f" so gamma {is_} {'rho / 2 = ' if self.exact else ''}{_number(self.gamma)}",
            f"  the vote         {vote}",
        ]

    def _the_proof(self) -> list[str]:
        least_error = (1 - self.agreement) / 2
        return [
            f"  the proof        a distribution on {self._support()} rows:",
            f"                   the best hypothesis errs {_number(least_error)}"
            f" = 1/2 - {_number(0.5 - least_error)} under it,",
            f"                   so that no vote has a margin above {_number(self.agreement)}",
            f"  gap              {self.gap:.1e} after {self.n_iterations} rounds",
        ]

    def _no_proof(self) -> list[str]:
        error = (1 - self.agreement) / 2
        return [
            f"  not proved       that none is larger. Under the weights on {self._support()} rows that are",
            f"                   hardest for it, {self.learner} found a hypothesis that errs"
            f" {_number(error)};",
            "                   but it need not find its best, so that this bounds nothing",
            f"  ended            after {self.n_iterations} rounds",
        ]

    def _support(self) -> str:
        return f"{int((self.row_distribution > 0).sum())} of {self.row_distribution.size}"


def maximal_margin(
    X: Any,
    y: Any,
    learner: Any = None,
    *,
    max_rounds: int = 1000,
    tol: float = 1e-6,
    random_state: Any = None,
) -> MaximalMargin:
    r"""The largest margin that a vote of a learner's hypotheses can have on these rows.

    Boosting is a game: one player distributes weight over the rows, the other chooses a hypothesis
    and is paid its weighted agreement :math:`\sum_i d_i y_i h(x_i)`. By the minimax theorem

    .. math:: \underbrace{\max_a \min_i \; y_i \sum_j a_j h_j(x_i)}_{\rho, \text{ the largest margin}}
              = \min_d \max_h \; \sum_i d_i y_i h(x_i) = 2 \gamma

    where :math:`\gamma = \frac12 - \varepsilon` is the edge that the learner has under every
    distribution: a learner is :math:`\gamma`-weak exactly if some vote has the margin
    :math:`2\gamma`. (Agreement is one minus twice the error: hence the 2.) The game has as many
    columns as there are hypotheses, so that it is solved by column generation: the learner
    itself finds the hypothesis that is missing.

    Parameters
    ----------
    X, y : rows of two classes
    learner : scikit-learn classifier, default=None
        What is voted on; None is the exact stump, for which the result is the optimum. Another
        learner need not find its best hypothesis: the margin is then one that a vote has, and a
        better one may exist that the learner did not lead to.
    max_rounds : int, default=1000
    tol : float, default=1e-6
        The gap to stop at.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    MaximalMargin

    Examples
    --------
    Three rows of which a stump gets two at a time:

    >>> from bosquet.theory import maximal_margin
    >>> found = maximal_margin([[0.0], [1.0], [2.0]], [1, -1, 1])
    >>> round(found.rho, 6), found.row_distribution.round(6)
    (0.333333, array([0.333333, 0.333333, 0.333333]))

    References
    ----------
    Freund and Schapire, "Game theory, on-line prediction and boosting", COLT 1996.
    Demiriz, Bennett and Shawe-Taylor, "Linear programming boosting via column generation",
    Machine Learning 2002.
    """
    from bosquet.boosting import LPBoostClassifier, WorseThanChance

    rows = signs_of(y, "a largest margin")[0].size
    name = "stumps" if learner is None else type(learner).__name__
    model = LPBoostClassifier(
        estimator=learner, n_estimators=max_rounds, nu=0.0, tol=tol, random_state=random_state
    )
    try:
        model.fit(X, y)
    except WorseThanChance as error:
        # If the learner finds its best, equal weights are the proof that no vote has a margin.
        even, is_exact = np.full(rows, 1 / rows), learner is None
        rho = 0.0 if is_exact else -1.0  # no margin is less
        return MaximalMargin(rho, 1 - 2 * error.error, even, 1, None, is_exact, name)
    return MaximalMargin(
        rho=model.rho_,
        agreement=model.agreement_,
        row_distribution=model.row_distribution_,
        n_iterations=model.n_iter_,
        model=model,
        exact=model.upper_bound_ is not None,
        learner=name,
    )
