"""Values of zero-sum games, and the largest margin of a vote as the value of such a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linprog

from bosquet.boosting import LPBoostClassifier, WorseThanChance
from bosquet.theory._checks import signs_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, RandomState, TableLike


# Smaller probabilities in a strategy are set to 0; the linear program is not more accurate.
MIN_PROBABILITY = 1e-12
# Largest difference of the guarantees of the two players, relative to the range of the payments.
MAX_GAP = 1e-5


@dataclass(frozen=True, repr=False)
class Game:
    r"""The solution of a zero-sum game.

    The row player chooses a row i and the column player a column j of the matrix M; the column player pays
    `M[i, j]` to the row player. A mixed strategy is a probability distribution over rows (p) or columns
    (q). With the strategy p the row player earns at least :math:`\min_j (p^\top M)_j`; with the strategy q
    the column player pays at most :math:`\max_i (M q)_i`. If the two numbers are equal, they are the value
    of the game, and the two strategies prove that neither player can do better.

    Attributes
    ----------
    value : float
        Expected payment if both players use their best strategies.
    row_strategy, column_strategy : arrays
        Probabilities of the rows and of the columns.
    row_guarantee : float
        Smallest expected payment with the row strategy.
    column_guarantee : float
        Largest expected payment with the column strategy.
    gap : float
        Difference of the two guarantees: 0 except for rounding.
    saddle_points : list of (row, column)
        Pairs of pure strategies that are best responses to each other; empty if there are none.
    is_pure : bool
        Whether there is a saddle point, so that pure strategies are optimal.
    pure_maximin, pure_minimax : float
        Guarantees of the players with pure strategies. They are equal if and only if there is a saddle point.
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
        """Whether pure strategies are optimal."""
        return bool(self.saddle_points)

    def __repr__(self) -> str:
        lines = [f"Game of {self.row_strategy.size} x {self.column_strategy.size}"]
        lines.append(f"  value            {_format_number(self.value)}")
        lines.append(f"  rows play        {_strategy_text(self.row_strategy)}")
        lines.append(f"  columns play     {_strategy_text(self.column_strategy)}")
        lines.append(
            f"  certificate      rows earn >= {_format_number(self.row_guarantee)},"
            f" columns pay <= {_format_number(self.column_guarantee)}"
        )
        if self.saddle_points:
            shown = ", ".join(str(point) for point in self.saddle_points[:5])
            more = len(self.saddle_points) - 5
            lines.append(f"  saddle points    {shown}" + (f" and {more} more" if more > 0 else ""))
        else:
            lines.append(
                "  saddle points    none: with pure strategies rows earn"
                f" {_format_number(self.pure_maximin)},"
                f" columns pay {_format_number(self.pure_minimax)}"
            )
        return "\n".join(lines)


def game_value(matrix: ArrayLike) -> Game:
    r"""Compute the value of a zero-sum game and optimal strategies of both players.

    .. math:: v = \max_p \min_j (p^\top M)_j = \min_q \max_i (M q)_i

    The two sides are equal for every matrix M (von Neumann 1928). If the matrix has a saddle point, an
    entry that is the smallest of its row and the largest of its column, its row and column are the
    strategies. Otherwise the strategies are the solutions of a linear program and its dual.

    Parameters
    ----------
    matrix : array of shape (rows, columns)
        Payments of the column player to the row player, who maximises them.

    Returns
    -------
    Game

    Examples
    --------
    Rock, paper, scissors:

    >>> from bosquet.theory import game_value
    >>> game_value([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    Game of 3 x 3
      value            0
      rows play        0: 0.333, 1: 0.333, 2: 0.333
      columns play     0: 0.333, 1: 0.333, 2: 0.333
      certificate      rows earn >= 0, columns pay <= 0
      saddle points    none: with pure strategies rows earn -1, columns pay 1

    A game with optimal pure strategies:

    >>> game_value([[3, 2], [1, 0]]).saddle_points
    [(0, 1)]

    References
    ----------
    von Neumann, "Zur Theorie der Gesellschaftsspiele", Mathematische Annalen 1928.
    Freund and Schapire, "Game theory, on-line prediction and boosting", COLT 1996.
    """
    payoff = _check_payoff(matrix)
    row_minimum, column_maximum = payoff.min(axis=1), payoff.max(axis=0)
    is_saddle = (payoff == row_minimum[:, None]) & (payoff == column_maximum[None, :])
    saddles = [(int(i), int(j)) for i, j in np.argwhere(is_saddle)]
    if saddles:
        p, q = (
            _pure_strategy(saddles[0][0], payoff.shape[0]),
            _pure_strategy(saddles[0][1], payoff.shape[1]),
        )
    else:
        p, q = _mixed_strategies(payoff)
    earned, paid = float((p @ payoff).min()), float((payoff @ q).max())
    if paid / 2 - earned / 2 > MAX_GAP * (payoff.max() / 2 - payoff.min() / 2):
        raise RuntimeError(
            f"the game was not solved: rows earn {earned:.6g}, columns pay {paid:.6g}; both should be equal"
        )
    value = float(payoff[saddles[0]]) if saddles else earned / 2 + paid / 2
    return Game(
        value=value,
        row_strategy=p,
        column_strategy=q,
        row_guarantee=earned,
        column_guarantee=paid,
        saddle_points=saddles,
        pure_maximin=float(row_minimum.max()),
        pure_minimax=float(column_maximum.min()),
    )


def _check_payoff(matrix: ArrayLike) -> np.ndarray:
    """Return the matrix as an array of floats; raise a ValueError unless it is a finite, non-empty matrix."""
    try:
        payoff = np.asarray(matrix, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"matrix is not a matrix of numbers: {error}") from error
    if payoff.ndim != 2 or payoff.size == 0:
        raise ValueError(
            f"matrix has shape {payoff.shape}; pass a matrix with at least one row and one column"
        )
    if not np.isfinite(payoff).all():
        i, j = np.argwhere(~np.isfinite(payoff))[0]
        raise ValueError(f"matrix[{i}, {j}] is {payoff[i, j]}; payments must be finite")
    return payoff


def _mixed_strategies(payoff: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return optimal strategies of both players: the solutions of a linear program and of its dual."""
    # Shifting and scaling the payments does not change the strategies, but the solver has absolute
    # tolerances.
    scaled = np.ldexp(payoff, -np.frexp(np.abs(payoff).max())[1])  # avoids overflow of differences
    low, high = scaled.min(), scaled.max()
    scaled = (scaled - low) / (high - low)
    rows, columns = scaled.shape
    if rows > columns:  # the solver is faster with fewer variables than constraints
        q, p = _mixed_strategies(-payoff.T)
        return p, q
    # max v with (p' M)_j >= v, written as min -v with v - (p' M)_j <= 0.
    solution = linprog(
        np.concatenate([np.zeros(rows), [-1.0]]),
        np.hstack([-scaled.T, np.ones((columns, 1))]),
        np.zeros(columns),
        np.concatenate([np.ones(rows), [0.0]])[None, :],
        [1.0],
        [(0, None)] * rows + [(None, None)],
        method="highs",
    )
    if not solution.success:
        raise RuntimeError(f"the linear program of the game was not solved: {solution.message}")
    return _clean_distribution(solution.x[:rows]), _clean_distribution(-solution.ineqlin.marginals)


def _clean_distribution(shares: np.ndarray) -> np.ndarray:
    """Set negligible entries to 0 and normalise the sum to 1."""
    shares = np.where(shares > MIN_PROBABILITY, shares, 0.0)
    return shares / shares.sum()


def _pure_strategy(which: int, size: int) -> np.ndarray:
    """Return the pure strategy that always makes one choice."""
    strategy = np.zeros(size)
    strategy[which] = 1.0
    return strategy


def _format_number(value: float) -> str:
    """Return a number with six digits; rounding errors around 0 are removed."""
    return f"{round(value, 12) + 0.0:.6g}"


def _strategy_text(strategy: np.ndarray) -> str:
    """Return the choices of a strategy with their probabilities as text, the most probable first."""
    order = np.argsort(-strategy.round(12), kind="stable")
    order = order[strategy[order] > 0]
    shown = ", ".join(f"{i}: {strategy[i]:.3g}" for i in order[:6])
    return shown + (f" and {order.size - 6} more" if order.size > 6 else "")


@dataclass(frozen=True, repr=False)
class MaximalMargin:
    r"""The largest margin of a vote of hypotheses of a weak learner, with its proof.

    The vote itself proves that the margin `rho` can be reached. A distribution of the rows under which no
    hypothesis has a larger agreement proves that no vote has a larger margin. This needs a learner that
    always finds its best hypothesis, as the native stumps do. For other learners `exact` is False, and
    there is no upper bound.

    Attributes
    ----------
    rho : float
        The smallest margin :math:`\min_i y_i \sum_j a_j h_j(x_i)` of the vote,
        :math:`\sum_j a_j = 1`.
    gamma : float
        rho / 2. Under every distribution of the rows some hypothesis of the vote has at least the edge
        :math:`\frac12 - \varepsilon` = gamma. If `exact`, there is no larger gamma with this property.
    exact : bool
        Whether the learner always finds its best hypothesis.
    upper_bound : float or None
        Upper bound on the margin of every vote; None unless `exact`.
    gap : float or None
        `upper_bound` - rho; None unless `exact`.
    row_distribution : array of shape (n_samples,)
        If `exact`, the distribution that proves `upper_bound`; else the weights that are hardest for the
        vote.
    agreement : float
        :math:`\sum_i d_i y_i h(x_i) = 1 - 2 \varepsilon` of the hypothesis that the learner found for this
        distribution d.
    n_iterations : int
        Number of rounds of column generation.
    model : LPBoostClassifier or None
        The vote; None if the learner has no edge under equal weights.
    learner : str
        Name of the learner.
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
            [*self._vote_lines(), *(self._proof_lines() if self.exact else self._no_proof_lines())]
        )

    def _vote_lines(self) -> list[str]:
        largest, relation = ("Largest margin", "=") if self.exact else ("Margin", "≥")
        vote = "none: the learner has no edge under equal weights"
        if self.model is not None:
            votes = len(self.model.estimators_)
            vote = f"{votes} hypotheses; the smallest margin of a row is {_format_number(self.rho)}"
        return [
            f"{largest} of a vote: rho {relation} {_format_number(self.rho)},"
            f" so gamma {relation} {'rho / 2 = ' if self.exact else ''}{_format_number(self.gamma)}",
            f"  vote             {vote}",
        ]

    def _proof_lines(self) -> list[str]:
        least_error = (1 - self.agreement) / 2
        return [
            f"  proof            a distribution on {self._support_text()} rows under which the best"
            " hypothesis",
            f"                   has the error {_format_number(least_error)} = 1/2 -"
            f" {_format_number(0.5 - least_error)},",
            f"                   so that no vote has a margin above {_format_number(self.agreement)}",
            f"  gap              {self.gap:.1e} after {self.n_iterations} rounds",
        ]

    def _no_proof_lines(self) -> list[str]:
        error = (1 - self.agreement) / 2
        return [
            f"  no upper bound   under the weights on {self._support_text()} rows that are hardest"
            " for the vote,",
            f"                   {self.learner} found a hypothesis with the error {_format_number(error)},",
            "                   which need not be its best one",
            f"  stopped          after {self.n_iterations} rounds",
        ]

    def _support_text(self) -> str:
        return f"{int((self.row_distribution > 0).sum())} of {self.row_distribution.size}"


def maximal_margin(
    X: TableLike,
    y: ArrayLike,
    learner: Estimator | None = None,
    *,
    max_rounds: int = 1000,
    tol: float = 1e-6,
    random_state: RandomState = None,
) -> MaximalMargin:
    r"""Compute the largest margin of a vote of hypotheses of a weak learner.

    Boosting is a zero-sum game: one player chooses weights d of the rows, the other a hypothesis h, and the
    payment is the weighted agreement :math:`\sum_i d_i y_i h(x_i)`. By the minimax theorem

    .. math:: \underbrace{\max_a \min_i \; y_i \sum_j a_j h_j(x_i)}_{\rho, \text{ the largest margin}}
              = \min_d \max_h \; \sum_i d_i y_i h(x_i) = 2 \gamma

    where :math:`\gamma = \frac12 - \varepsilon` is the edge that the learner has under every distribution:
    a learner is :math:`\gamma`-weak if and only if some vote has the margin :math:`2\gamma`. (The factor 2
    is due to the agreement, which is one minus twice the error.) The game has one column per hypothesis. It
    is solved by column generation, in which the learner finds the next hypothesis.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Labels of two classes.
    learner : scikit-learn classifier, default=None
        Weak learner. None is the exact stump, for which the result is optimal. Other learners need not find
        their best hypothesis; a vote with a larger margin may exist then.
    max_rounds : int, default=1000
        Maximum number of rounds of column generation.
    tol : float, default=1e-6
        Column generation stops when the gap is at most this value.
    random_state : int, RandomState or None, default=None
        Seed of the weak learner.

    Returns
    -------
    MaximalMargin

    Examples
    --------
    Three rows of which every stump classifies at most two correctly:

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
    rows = signs_of(y, "the largest margin")[0].size
    name = "stumps" if learner is None else type(learner).__name__
    model = LPBoostClassifier(
        estimator=learner, n_estimators=max_rounds, nu=0.0, tol=tol, random_state=random_state
    )
    try:
        model.fit(X, y)
    except WorseThanChance as error:
        # For an exact learner, equal weights prove that no vote has a positive margin.
        equal, is_exact = np.full(rows, 1 / rows), learner is None
        rho = 0.0 if is_exact else -1.0  # -1 is the smallest possible margin
        return MaximalMargin(rho, 1 - 2 * error.error, equal, 1, None, is_exact, name)
    return MaximalMargin(
        rho=model.rho_,
        agreement=model.agreement_,
        row_distribution=model.row_distribution_,
        n_iterations=model.n_iter_,
        model=model,
        exact=model.upper_bound_ is not None,
        learner=name,
    )
