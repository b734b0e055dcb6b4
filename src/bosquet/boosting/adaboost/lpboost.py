r"""LPBoost: the vote with the largest soft margin, by column generation.

The linear program on the hypotheses found so far is

.. math:: \min_{d, \beta} \beta \quad \text{where} \quad \sum_i d_i u_{ij} \le \beta \text{ for all } j,
          \quad \sum_i d_i = 1, \quad 0 \le d_i \le D_i

with :math:`u_{ij} = y_i h_j(x_i)`. Its multipliers are the weights a of the vote with the largest soft
margin. It is solved in this form because it has one constraint per hypothesis, not one per row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from bosquet._parameters import Check, number
from bosquet._warnings import warn_user
from bosquet.boosting.adaboost._base import CHECKS as COMMON
from bosquet.boosting.adaboost._base import SignedRows, VoteClassifier
from bosquet.boosting.adaboost.certificate import Certificate
from bosquet.boosting.adaboost.endings import all_rounds, by_callback
from bosquet.boosting.adaboost.stagewise import EDGE_TOLERANCE, no_edge_error, weighted_error
from bosquet.boosting.adaboost.votes import SignDecoder
from bosquet.boosting.rounds import LossHistory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import CategoricalFeatures, Estimator, RandomState, TableLike
    from bosquet.boosting.rounds import Callback


# The share of the weight that is divided evenly among all rows for a learner of another library.
UNIFORM_SHARE = 1e-6

CHECKS: dict[str, Check] = {
    **COMMON,
    "nu": number(0, 1),
    "tol": number(0),
}


class LPBoostClassifier(VoteClassifier):
    r"""LPBoost: the vote with the largest soft margin over all hypotheses of a weak learner.

    The weights :math:`a_j \ge 0`, :math:`\sum_j a_j = 1`, of the vote solve

    .. math:: \max_{a, \rho, \xi} \; \rho - \frac{1}{\nu m} \sum_i \xi_i
              \quad \text{where} \quad y_i \sum_j a_j h_j(x_i) \ge \rho - \xi_i, \quad \xi_i \ge 0.

    At most a share :math:`\nu` of the rows has a margin below :math:`\rho`, with a penalty; with
    :math:`\nu = 0` no row has (the hard margin). The dual is the distribution d of the rows, with weights of
    at most :math:`1 / (\nu m)`, under which the best hypothesis is worst:

    .. math:: \min_d \max_j \; \sum_i d_i y_i h_j(x_i).

    There are too many hypotheses to enumerate. So the program starts with none, and each round fits the
    weak learner under d. If the weighted agreement of its hypothesis,
    :math:`\sum_i d_i y_i h(x_i) = 1 - 2 \varepsilon`, is no larger than the value of the vote, no
    hypothesis is missing and the vote is optimal; otherwise it is added and the program is solved
    again (HiGHS). All weights change in every round, and many become 0: the vote is short.

    Guide: the page "Robust boosting" of the documentation

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The weak learner; None is a native stump, of which the core finds the best one exactly. Another weak
        learner may not find its best hypothesis: the rounds may then end too early, and no bound on the
        value of other votes is known.
    n_estimators : int, default=500
        Maximum number of rounds. There is a warning if the gap is then still larger than `tol`.
    nu : float in [0, 1], default=0.1
        The share of rows that may have a smaller margin.
    tol : float, default=1e-6
        The rounds end if the gap is at most `tol`.
    split : {"exact", "histogram"}, default="exact"
        Native weak learners: thresholds between any two values, or between bins of columns.
    max_bins : int, default=255
        Maximum number of bins of a column for split="histogram".
    categorical_features : "from_dtype", list of names or indices, mask, or None, default="from_dtype"
        For native weak learners: columns whose values are categories. "from_dtype": those of a category or
        string type.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo` (losses are error rates); a callback that returns True
        stops the fit.
    verbose : int, default=0
        0 prints nothing, 1 shows a progress bar.
    n_jobs : int or None, default=None
        Number of threads; None: all. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of random weak learners.

    Attributes
    ----------
    classes_ : array of the two labels
    rho_ : float
        The margin.
    value_ : float
        :math:`\rho` minus the penalty of the rows below it: the objective of the program.
    agreement_ : float
        The weighted agreement of the hypothesis fitted under `row_distribution_`.
    upper_bound_ : float or None
        An upper bound on the value of all votes of stumps: for native stumps `agreement_` is the largest
        agreement under that distribution. None for another weak learner, which may not find its best
        hypothesis.
    gap_ : float or None
        `upper_bound_` - `value_`; at most `tol` if the rounds converged. None if `upper_bound_` is.
    row_distribution_ : array of shape (n_samples,)
        For native stumps the d of `upper_bound_`; for another weak learner the d of the last program, under
        which the agreement of every hypothesis found is at most `value_`. ``save`` does not write it,
        because it belongs to the training rows; a pickle contains it.
    estimators_ : list
        The hypotheses with a weight above 0.
    estimator_weights_ : array
        Their weights, which sum to 1.
    feature_importances_ : array of shape (n_features,)
        Mean over the hypotheses, weighted by their votes.
    stopped_because_ : str
        Why the rounds ended. There is a warning if a better vote may exist.
    n_iter_ : int
        Number of rounds, including the last one, which found no better hypothesis.
    values_, agreements_ : arrays of shape (n_rounds,)
        The value after each round, and the agreement of its hypothesis.
    certificate_ : Certificate
        `alphas` are the final weights; `errors` are those of the hypotheses under the distributions to
        which they were fitted.

    See Also
    --------
    BrownBoostClassifier : Boosting that gives up on rows that stay misclassified.
    AdaBoostClassifier : Boosting by the exponential loss.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import LPBoostClassifier
    >>> X_train, X_test, y_train, y_test = train_test_split(
    ...     *load_breast_cancer(return_X_y=True), random_state=0)
    >>> model = LPBoostClassifier(nu=0.1).fit(X_train, y_train)
    >>> print(f"{model.score(X_test, y_test):.2f}, margin {model.rho_:.3f}, {model.gap_ < 1e-6}")
    0.95, margin 0.250, True

    References
    ----------
    Demiriz, Bennett and Shawe-Taylor, "Linear programming boosting via column generation",
    Machine Learning 2002.
    """

    _checks = CHECKS

    def __init__(
        self,
        estimator: Estimator | None = None,
        n_estimators: int = 500,
        *,
        nu: float = 0.1,
        tol: float = 1e-6,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.nu = nu
        self.tol = tol
        self.split = split
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def predict_proba(self) -> Any:
        """Not available: the vote with the largest margin does not estimate probabilities."""
        raise AttributeError(
            f"{type(self).__name__} has no predict_proba: it maximises margins and does not estimate"
            " probabilities; use bosquet.CalibratedModel(model)"
        )

    @property
    def _decoder(self) -> SignDecoder:
        return SignDecoder()

    def _fit(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> LPBoostClassifier:
        rows = self._signed_rows(X, y, sample_weight)
        search = ColumnGeneration(rows, float(self.nu), float(self.tol))
        if self.callbacks:  # which may predict with the model so far
            search.after_round = self._store_vote
        history = LossHistory()
        self._run(search, history)
        search.check_last_program()
        self._store_vote(search)
        best = search.solution
        self.rho_, self.value_ = best.rho, best.value
        self._store_bounds(search, rows)
        self.n_iter_ = len(search.agreements)
        self.values_ = np.asarray(search.values)
        self.agreements_ = np.asarray(search.agreements)
        self.certificate_ = search.certificate()
        if history.stopped_by == "callback":
            self.stopped_because_ = by_callback(search.n_rounds).reason
        elif search.is_closed:
            self.stopped_because_ = (
                "no vote is better" if self.gap_ is not None else "the learner finds no better vote"
            ) + f" by more than tol={self.tol:g}"
        else:
            self.stopped_because_ = all_rounds(search.n_rounds).reason
            self._warn_of_better_votes()
        return self

    def _store_vote(self, search: ColumnGeneration) -> None:
        """Replace the vote by that of the last program."""
        self._vote.truncate(0)
        self.estimator_weights_ = search.solution.vote[search.used_hypotheses]
        for j in search.used_hypotheses:
            self._vote.add(search.hypotheses[j], float(search.solution.vote[j]))

    def _store_bounds(self, search: ColumnGeneration, rows: SignedRows) -> None:
        """Store the bound on the value of all votes, if the learner finds its best hypothesis."""
        is_exact = rows.learner.finds_optimum
        agreement, distribution = search.smallest if is_exact else search.last
        self.agreement_ = agreement
        self.row_distribution_ = rows.to_all_rows(distribution)
        self.upper_bound_ = agreement if is_exact else None
        self.gap_ = max(0.0, agreement - search.solution.value) if is_exact else None

    def _warn_of_better_votes(self) -> None:
        if self.gap_ is not None:
            problem = f"the value of the vote is {self.value_:.4g}, up to {self.gap_:.2g} below the optimum"
        else:
            problem = (
                f"the learner still finds hypotheses that increase the value {self.value_:.4g}"
            )
        rounds = "1 round" if self.n_iter_ == 1 else f"{self.n_iter_} rounds"
        warn_user(
            f"LPBoost has not converged after {rounds}: {problem}; increase n_estimators or tol",
            ConvergenceWarning,
        )


class ColumnGeneration:
    """The rounds: fit a hypothesis under d, add it, solve again (see `rounds.run_rounds`)."""

    def __init__(self, rows: SignedRows, nu: float, tol: float):
        self.rows, self.tol = rows, tol
        # The weight of a row of share 1/m is at most 1/(nu m); with nu = 0 there is no limit.
        caps = rows.distribution / nu if nu > 0 else np.ones(rows.y.size)
        self.program = MarginProgram(np.minimum(caps, 1.0))
        self.hypotheses: list[Any] = []
        self.values: list[float] = []
        self.agreements: list[float] = []
        self.errors: list[float] = []
        # (agreement, distribution) of the smallest agreement so far, and of the last one.
        self.smallest = self.last = (np.inf, rows.distribution)
        self.is_closed = False
        self.solution: MarginSolution
        self.distribution = rows.distribution
        self.after_round: Callable[[ColumnGeneration], None] | None = None
        self.terms = self  # `run_rounds` reads the number of rounds from here

    @property
    def n_rounds(self) -> int:
        return len(self.hypotheses)

    def step(self) -> bool:
        t, distribution = self.n_rounds, self.distribution
        h, outputs, agreement = self._fit_under(distribution, t)
        self.agreements.append(agreement)
        if t == 0 and agreement <= EDGE_TOLERANCE:
            raise no_edge_error((1 - agreement) / 2, 0.5)
        if t > 0 and agreement <= self.solution.value + self.tol:
            self.values.append(self.solution.value)
            self.is_closed = True
            return False
        self._add_hypothesis(h, outputs, distribution)
        self.distribution = self.solution.distribution
        if self.after_round is not None:
            self.after_round(self)
        return True

    def train_loss(self) -> float:
        margins = self.solution.vote @ np.stack(self.program.agreements)
        return float(self.rows.distribution[self._is_wrong(margins)].sum())

    def validation_loss(self) -> None:
        return None

    def _is_wrong(self, margins: np.ndarray) -> np.ndarray:
        # A vote of 0 predicts the first class, y = -1.
        return (margins < 0) | ((margins == 0) & (self.rows.y > 0))

    def check_last_program(self) -> None:
        """Fit the weak learner under the distribution of the last program, which may close the gap."""
        if self.is_closed:
            return
        self._fit_under(self.distribution, self.n_rounds)
        bound = self.smallest if self.rows.learner.finds_optimum else self.last
        self.is_closed = bound[0] <= self.solution.value + self.tol

    def _fit_under(self, distribution: np.ndarray, t: int) -> tuple[Any, np.ndarray, float]:
        """Return the learner's hypothesis, its outputs on the rows, and its weighted agreement with y."""
        learner, y = self.rows.learner, self.rows.y
        weight = distribution
        if not self.rows.is_native:
            # Most weights may be 0, even all of one class, which many learners of other libraries reject.
            weight = (1 - UNIFORM_SHARE) * distribution + UNIFORM_SHARE / y.size
        h = learner.fit(y, weight, t)
        outputs = learner.predict_training_rows(h)
        agreement = float((distribution * y * outputs).sum())
        self.last = agreement, distribution
        self.smallest = min(self.smallest, self.last, key=lambda pair: pair[0])
        return h, outputs, agreement

    def _add_hypothesis(self, h: Any, outputs: np.ndarray, distribution: np.ndarray) -> None:
        agreement = self.rows.y * outputs
        self.hypotheses.append(h)
        self.errors.append(weighted_error(agreement, distribution))
        self.program.add(agreement)
        self.solution = self.program.solve()
        self.values.append(self.solution.value)

    @property
    def used_hypotheses(self) -> np.ndarray:
        """The hypotheses with a weight above 0, in the order in which they were found."""
        return np.flatnonzero(self.solution.vote > 0)

    def certificate(self) -> Certificate:
        """Return the certificate of the final vote.

        Round t of the certificate is the first t hypotheses with their final weights.
        """
        distribution, used_hypotheses = self.rows.distribution, self.used_hypotheses
        margins, training_errors, has_signs = np.zeros(distribution.size), [], True
        for j in used_hypotheses:
            agreement = self.program.agreements[j]
            margins += self.solution.vote[j] * agreement
            training_errors.append(float(distribution[self._is_wrong(margins)].sum()))
            has_signs = has_signs and bool((np.abs(agreement) == 1).all())
        reason = "the weights solve a linear program and are not set round by round"
        vc_dim, missing = self.rows.vc_dim(has_signs)
        return Certificate.from_rounds(
            variant="lpboost",
            n_rows=distribution.size,
            errors=np.asarray(self.errors)[used_hypotheses],
            alphas=self.solution.vote[used_hypotheses],
            normalisers=None,
            training_errors=training_errors,
            margins=margins,
            row_weight=distribution,
            vc_dim=vc_dim,
            missing={
                **missing,
                "normalisers": reason,
                "exponential_bound": reason,
                "smallest_edge_bound": reason,
            },
        )


@dataclass(frozen=True)
class MarginSolution:
    """The weights a of a vote and the distribution d of the rows; both sum to 1."""

    vote: np.ndarray
    distribution: np.ndarray
    rho: float  # the margin below which rows have a penalty
    value: float  # rho minus the penalty


class MarginProgram:
    """The program, to which each round adds a hypothesis; `caps` are the largest weights of the rows."""

    def __init__(self, caps: np.ndarray):
        self.caps = caps
        self.agreements: list[np.ndarray] = []

    def add(self, agreement: np.ndarray) -> None:
        """Add a hypothesis by its agreement y h(x) with each row."""
        self.agreements.append(agreement)

    def solve(self) -> MarginSolution:
        rows, columns = self.caps.size, len(self.agreements)
        agreements = np.stack(self.agreements)
        # As (1 + u) / 2: then about half of the entries are 0, which saves half of the work.
        shares = csr_array(np.hstack([(1 + agreements) / 2, np.full((columns, 1), -1.0)]))
        solution = linprog(
            np.concatenate([np.zeros(rows), [1.0]]),
            shares,
            np.zeros(columns),
            np.concatenate([np.ones(rows), [0.0]])[None, :],
            [1.0],
            np.column_stack([np.append(np.zeros(rows), -np.inf), np.append(self.caps, np.inf)]),
            method="highs",
            options={"presolve": False},  # finds nothing to simplify, and doubles the time
        )
        if not solution.success:
            raise RuntimeError(
                f"the linear program of {columns} hypotheses was not solved: {solution.message}"
            )
        vote = np.maximum(-solution.ineqlin.marginals, 0.0)
        vote /= vote.sum()
        distribution = np.clip(solution.x[:rows], 0.0, self.caps)
        rho, value = soft_margin(vote @ agreements, self.caps)
        return MarginSolution(vote, distribution / distribution.sum(), rho, value)


def soft_margin(margins: np.ndarray, caps: np.ndarray) -> tuple[float, float]:
    r"""Return the rho that maximises :math:`\rho - \sum_i D_i (\rho - \text{margin}_i)_+`, and the maximum.

    The derivative in rho is 1 minus the sum of the caps of the rows below it, so rho is the margin at which
    this sum reaches 1. It is computed from the vote, and so does not depend on the accuracy of the solver.
    """
    order = np.argsort(margins, kind="stable")
    cumulative_weight = np.cumsum(caps[order])
    rank = min(int(np.searchsorted(cumulative_weight, 1 - 1e-12)), margins.size - 1)
    rho = float(margins[order[rank]])
    return rho, rho - float(caps @ np.maximum(rho - margins, 0.0))
