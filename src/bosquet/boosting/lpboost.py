"""LPBoost: the vote with the largest soft margin, found by column generation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet._parameters import Check, number
from bosquet._warnings import warn_user
from bosquet.boosting._binary import CHECKS as COMMON
from bosquet.boosting._binary import BinaryVote, Rows
from bosquet.boosting._endings import all_rounds, by_callback
from bosquet.boosting._margin_programme import MarginProgramme, Solution
from bosquet.boosting._stagewise import no_edge
from bosquet.boosting._variants import CHANCE, weighted_error
from bosquet.boosting.certificate import Certificate

# The share of the weight that is dealt out evenly before a learner of another library sees it.
FOR_ALL = 1e-6

CHECKS: dict[str, Check] = {
    **COMMON,
    "nu": number(0, 1),
    "tol": number(0),
}


class LPBoostClassifier(BinaryVote):
    r"""LPBoost: the vote with the largest soft margin over all hypotheses of a learner.

    The weights :math:`a_j \ge 0`, :math:`\sum_j a_j = 1`, of the vote solve

    .. math:: \max_{a, \rho, \xi} \; \rho - \frac{1}{\nu m} \sum_i \xi_i
              \quad \text{where} \quad y_i \sum_j a_j h_j(x_i) \ge \rho - \xi_i, \quad \xi_i \ge 0.

    At most a share :math:`\nu` of the rows has a margin below :math:`\rho`, each at a price; with
    :math:`\nu = 0` none may (the hard margin). The dual is a distribution d of the rows, none above
    :math:`1 / (\nu m)`, under which the best hypothesis is as bad as can be:

    .. math:: \min_d \max_j \; \sum_i d_i y_i h_j(x_i).

    There are too many hypotheses to write the programme down. So it begins with none, and each
    round asks the learner for the best under d: if its weighted agreement
    :math:`\sum_i d_i y_i h(x_i) = 1 - 2 \varepsilon` is no larger than what the vote reaches already, no
    hypothesis is missing and the vote is optimal; otherwise it is added and the programme solved
    again (HiGHS). All weights change in every round, and many end at 0: the vote is short.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        What is voted on; None is a native stump, of which the core finds the best exactly. Another
        learner need not find its best: the rounds then end where it finds none better, which may be too
        soon, and nothing is proved about votes that it could not find.
    n_estimators : int, default=500
        Rounds at most. Where the gap is still open then, a warning says so.
    nu : float in [0, 1], default=0.1
        The share of rows that may fall short of the margin.
    tol : float, default=1e-6
        The gap to stop at.
    split : {"exact", "histogram"}, default="exact"
        Native learners: thresholds between any two values, or between bins of columns.
    max_bins : int, default=255
        Bins of a column for split="histogram".
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        For native learners.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo` (losses are errors); returning True stops.
    verbose : int, default=0
        1: a progress bar.
    n_jobs : int or None, default=None
        Threads; None is all. The model is the same for any number.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array of the two labels
    rho_ : float
        The margin.
    value_ : float
        :math:`\rho` less the price of the rows below it: what the programme makes largest.
    agreement_ : float
        The weighted agreement of the hypothesis that the learner answers `row_distribution_` with.
    upper_bound_ : float or None
        No vote of stumps has a larger value: for native stumps `agreement_` is the best there is under
        that distribution. None for another learner, which need not have found its best.
    gap_ : float or None
        `upper_bound_` - `value_`; at most `tol` where the rounds came to their end. None as above.
    row_distribution_ : array of shape (n_samples,)
        For native stumps the d that proves `upper_bound_`; for another learner the d of the last
        programme, under which no hypothesis that it has found agrees more than `value_`. A file that
        ``save`` writes does not hold it, since it belongs to the training rows; a pickle does.
    estimators_ : list
        The hypotheses with a weight above 0.
    estimator_weights_ : array
        Their weights, of sum 1.
    feature_importances_ : array of shape (n_features,)
        Mean over the hypotheses, by their weights.
    stopped_because_ : str
        Why the rounds came to an end: no better vote, or a warning tells.
    n_iter_ : int
        Rounds, the last of which only proved that nothing is missing.
    values_, agreements_ : arrays of shape (n_rounds,)
        The value after each round, and the agreement that its hypothesis had.
    certificate_ : Certificate
        Of the vote as it is: `alphas` are the weights, `errors` those of the hypotheses under the
        distributions that they were found under.

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
        estimator: Any = None,
        n_estimators: int = 500,
        *,
        nu: float = 0.1,
        tol: float = 1e-6,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        callbacks: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
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

    @property
    def predict_proba(self) -> Any:
        """There is none: the vote with the largest margin says nothing of probabilities."""
        raise AttributeError(
            f"{type(self).__name__} has no predict_proba: its vote makes the smallest margins large, which"
            " does not estimate how probable a class is; bosquet.CalibratedModel(model) estimates it on"
            " calibration rows"
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> LPBoostClassifier:
        rows = self._rows(X, y, sample_weight)
        search = ColumnGeneration(rows, float(self.nu), float(self.tol))
        if self.callbacks:  # the model that they are given can predict
            search.after_each = self._take_vote
        history = self._run(search)
        search.ask_once_more()
        self._take_vote(search)
        best = search.solution
        self.rho_, self.value_ = best.rho, best.value
        self._say_what_is_proved(search, rows)
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

    def _take_vote(self, search: ColumnGeneration) -> None:
        """The vote of the last programme in place of the one before."""
        self._vote.truncate(0)
        self.estimator_weights_ = search.solution.vote[search.used]
        for j in search.used:
            self._vote.add(search.hypotheses[j], float(search.solution.vote[j]))

    def _say_what_is_proved(self, search: ColumnGeneration, rows: Rows) -> None:
        """A bound on all votes needs a learner that finds its best; another proves nothing by failing."""
        is_exact = rows.learner.finds_the_best
        agreement, distribution = search.proof if is_exact else search.last
        self.agreement_ = agreement
        self.row_distribution_ = rows.spread(distribution)
        self.upper_bound_ = agreement if is_exact else None
        self.gap_ = max(0.0, agreement - search.solution.value) if is_exact else None

    def _warn_of_better_votes(self) -> None:
        from sklearn.exceptions import ConvergenceWarning

        if self.gap_ is not None:
            told = f"a better vote may still have {self.gap_:.2g} more than the {self.value_:.4g} of this"
        else:
            told = (
                f"the learner still finds hypotheses that better the {self.value_:.4g} of this vote"
            )
        warn_user(
            f"after {self.n_iter_} rounds {told}; raise n_estimators, or tol",
            ConvergenceWarning,
        )


class ColumnGeneration:
    """The rounds: ask for the best hypothesis under d, add it, solve again (see `_loop.run_rounds`)."""

    def __init__(self, rows: Rows, nu: float, tol: float):
        self.rows, self.tol = rows, tol
        # A row of share 1/m may weigh 1/(nu m); without nu as much as it likes.
        caps = rows.share / nu if nu > 0 else np.ones(rows.y.size)
        self.programme = MarginProgramme(np.minimum(caps, 1.0))
        self.hypotheses: list[Any] = []
        self.values: list[float] = []
        self.agreements: list[float] = []
        self.errors: list[float] = []
        # (agreement, distribution): the least that was answered, and the latest.
        self.proof = self.last = (np.inf, rows.share)
        self.is_closed = False
        self.solution: Solution
        self.distribution = rows.share
        self.after_each: Callable[[ColumnGeneration], None] | None = None
        self.terms = self  # what counts the rounds

    @property
    def n_rounds(self) -> int:
        return len(self.hypotheses)

    def step(self) -> bool:
        t, distribution = self.n_rounds, self.distribution
        h, said, agreement = self._best_under(distribution, t)
        self.agreements.append(agreement)
        if t == 0 and agreement <= CHANCE:
            raise no_edge((1 - agreement) / 2, 0.5)
        if t > 0 and agreement <= self.solution.value + self.tol:
            self.values.append(self.solution.value)
            self.is_closed = True
            return False
        self._take(h, said, distribution)
        self.distribution = self.solution.distribution
        if self.after_each is not None:
            self.after_each(self)
        return True

    def train_loss(self) -> float:
        margins = self.solution.vote @ np.stack(self.programme.worths)
        return float(self.rows.share[self._is_wrong(margins)].sum())

    def validation_loss(self) -> None:
        return None

    def _is_wrong(self, margins: np.ndarray) -> np.ndarray:
        # A vote of 0 is for the first class, which is right where y = -1.
        return (margins < 0) | ((margins == 0) & (self.rows.y > 0))

    def ask_once_more(self) -> None:
        """The last programme has not been asked about: its distribution may close the gap."""
        if self.is_closed:
            return
        self._best_under(self.distribution, self.n_rounds)
        least = self.proof if self.rows.learner.finds_the_best else self.last
        self.is_closed = least[0] <= self.solution.value + self.tol

    def _best_under(self, distribution: np.ndarray, t: int) -> tuple[Any, np.ndarray, float]:
        """The learner's hypothesis, what it says of the rows, and its weighted agreement with y."""
        learner, y = self.rows.learner, self.rows.y
        handed = distribution
        if not self.rows.is_native:
            # Most rows may weigh nothing, all of a class among them, which other learners take ill.
            handed = (1 - FOR_ALL) * distribution + FOR_ALL / y.size
        h = learner.fit(y, handed, t)
        said = learner.on_training_rows(h)
        agreement = float((distribution * y * said).sum())
        self.last = agreement, distribution
        self.proof = min(self.proof, self.last, key=lambda answer: answer[0])
        return h, said, agreement

    def _take(self, h: Any, said: np.ndarray, distribution: np.ndarray) -> None:
        y = self.rows.y
        self.hypotheses.append(h)
        self.errors.append(weighted_error(y * said, distribution))
        self.programme.add(y * said)
        self.solution = self.programme.solve()
        self.values.append(self.solution.value)

    @property
    def used(self) -> np.ndarray:
        """The hypotheses with a weight above 0, in the order in which they were found."""
        return np.flatnonzero(self.solution.vote > 0)

    def certificate(self) -> Certificate:
        """Of the vote as it ends: one voter after the other, with the weights that they have then."""
        share, used = self.rows.share, self.used
        margins, training_errors, says_signs = np.zeros(share.size), [], True
        for j in used:
            worth = self.programme.worths[j]
            margins += self.solution.vote[j] * worth
            training_errors.append(float(share[self._is_wrong(margins)].sum()))
            says_signs = says_signs and bool((np.abs(worth) == 1).all())
        told = "the weights are those of a linear programme, set together at the end"
        vc_dim, missing = self.rows.capacity(says_signs)
        return Certificate.from_rounds(
            variant="lpboost",
            n_rows=share.size,
            errors=np.asarray(self.errors)[used],
            alphas=self.solution.vote[used],
            normalisers=None,
            training_errors=training_errors,
            margins=margins,
            row_weight=share,
            vc_dim=vc_dim,
            missing={
                **missing,
                "normalisers": told,
                "exponential_bound": told,
                "smallest_edge_bound": told,
            },
        )
