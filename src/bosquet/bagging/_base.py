"""What the bagging classifier and regressor share: the loop over bags, and asking the learners."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from bosquet._bags import Bags, OutOfBag, has_settled, jackknife_variance
from bosquet._explained import Explained
from bosquet._fitted import Saved, fits_aside, reads_one_fit
from bosquet._parameters import (
    Check,
    boolean,
    check_parameters,
    choice,
    count_or_share,
    integer,
    number_of_features,
    or_auto,
)
from bosquet._sklearn import (
    BaseEstimator,
    check_is_fitted,
    has_fit_parameter,
    in_parallel,
    seed_from,
    tags_of,
)
from bosquet._targets import check_same_length, check_sample_weight
from bosquet.bagging._learners import Plan, Vote, check_learner, default_estimator, some_columns
from bosquet.bagging._sampling import Sampler, how_many, plain_sampler
from bosquet.bagging._tables import copy_input_tags, table_for

# n_estimators="auto": learners come in batches until the out-of-bag error settles, its mean over a
# window no further below that over the window before than this share of its standard error.
AUTO_BATCH, AUTO_WINDOW, AUTO_CLOSE, AUTO_MOST = 10, 20, 0.1, 500
# With out-of-bag votes to count, no more learners than this are fitted before they are counted.
JUDGED_AT_A_TIME = 64
# Votes are added up in runs of this many learners, whatever n_jobs is: the same bits for any.
ADDED_AT_A_TIME = 16

KINDS: dict[str, Check] = {
    "n_estimators": or_auto(integer(1)),
    "max_samples": count_or_share(1, "rows"),
    "max_features": number_of_features(),
    "bootstrap": boolean(),
    "bootstrap_features": boolean(),
    "voting": choice("soft", "hard"),
    "balanced": boolean(),
    "oob_score": boolean(),
    "warm_start": boolean(),
    "verbose": integer(0),
}


class BaseBagging(Saved, Explained, BaseEstimator):
    """Fitting on bags, and what is known from the rows out of them."""

    _classifier: bool  # said by the subclasses
    _sampler: Sampler
    _vote: Vote

    # ------------------------------------------------------------------ fitting
    @fits_aside
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit a learner on each bag.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            pandas and polars frames reach the learners as frames, anything else as an array.
        y : array of shape (n_samples,); for regression also (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            A learner that takes weights is given the times a row was drawn times its weight; for
            one that does not, rows are drawn in proportion to their weights instead.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, KINDS)
        template = self._chosen_estimator()
        check_learner(template, "estimator")
        continuing = self.warm_start and hasattr(self, "estimators_")
        X = table_for(
            self, X, [template], reset=not continuing, keep_frame=not self.bootstrap_features
        )
        n_rows = X.shape[0]
        given, target = self._check_target(y, continuing)
        check_same_length(len(target), n_rows)
        weight = check_sample_weight(sample_weight, n_rows, scale_matters=True)
        if not continuing:
            self._start(target, weight, template)
        elif n_rows != self._sampler.n_rows:
            raise ValueError(
                f"warm_start=True adds learners on the same rows: X has {n_rows}, but the model was fitted"
                f" on {self._sampler.n_rows}"
            )
        judge = self.oob_score or self.n_estimators == "auto"
        self._check_rows_are_left_out(judge)
        plan = Plan(
            template,
            self._sampler,
            self.n_features_in_,
            how_many(self.max_features, self.n_features_in_, "max_features", "features of X"),
            bool(self.bootstrap_features),
            self._vote,
            judge,
        )
        account = self._open_account(plan, X, target, weight) if judge else None
        self._add_learners(plan, account, X, given, weight)
        self._publish(account)
        return self

    def _start(self, target: np.ndarray, weight: np.ndarray, template: Any) -> None:
        """Forget an earlier fit, and lay down how bags are drawn."""
        for name in [name for name in self.__dict__ if name.startswith(("oob_", "_account"))]:
            if name != "oob_score":
                del self.__dict__[name]
        by_weight = bool(weight.size) and not has_fit_parameter(template, "sample_weight")
        if by_weight and not self.bootstrap:
            raise ValueError(
                f"{type(template).__name__} takes no sample_weight, and with bootstrap=False rows are not"
                " drawn by weight either; set bootstrap=True or leave sample_weight out"
            )
        self.estimator_ = template
        self._sampler = self._make_sampler(seed_from(self.random_state), target, weight, by_weight)
        self.estimators_: list[Any] = []
        self._features: list[np.ndarray | None] = []

    def _make_sampler(
        self, seed: int, target: np.ndarray, weight: np.ndarray, by_weight: bool
    ) -> Sampler:
        return plain_sampler(
            seed,
            len(target),
            weight,
            by_weight=by_weight,
            max_samples=self.max_samples,
            replace=bool(self.bootstrap),
        )

    def _check_rows_are_left_out(self, judge: bool) -> None:
        if self.n_estimators == "auto" and not self.bootstrap:
            raise ValueError(
                "n_estimators='auto' watches the out-of-bag error of bootstrap samples; set bootstrap=True"
            )
        if judge and not self._sampler.leaves_rows_out:
            raise ValueError(
                "oob_score=True needs rows that a learner did not draw, but bootstrap=False with"
                f" max_samples={self.max_samples!r} draws them all; set bootstrap=True or lower max_samples"
            )

    def _open_account(self, plan: Plan, X: Any, target: np.ndarray, weight: np.ndarray) -> OutOfBag:
        """The out-of-bag account of the learners there are: kept, or reckoned up anew."""
        # A copy, so that a fit that fails leaves the fitted model's account alone.
        account = deepcopy(getattr(self, "_account", None))
        account = account or OutOfBag(target, weight, self._vote.losses)
        missing = range(account.n_learners, len(self.estimators_))
        calls = [(t, self.estimators_[t], self._features[t], X) for t in missing]
        votes = in_parallel(plan.votes_left_out, calls, n_jobs=self.n_jobs, verbose=self.verbose)
        for t, some in zip(missing, votes, strict=True):
            account.add(self._sampler.left_out(t), some)
        return account

    def _add_learners(
        self, plan: Plan, account: OutOfBag | None, X: Any, y: np.ndarray, weight: np.ndarray
    ) -> None:
        have = len(self.estimators_)
        if self.n_estimators != "auto" and self.n_estimators < have:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {have} learners that the model has; with"
                " warm_start=True it can only grow"
            )
        # A copy, so that a fit that fails leaves the fitted model alone.
        self.estimators_, self._features = list(self.estimators_), list(self._features)
        while batch := self._next_batch(account):
            numbers = range(len(self.estimators_), len(self.estimators_) + batch)
            calls = [(t, X, y, weight) for t in numbers]
            done = in_parallel(plan.fit, calls, n_jobs=self.n_jobs, verbose=self.verbose)
            for t, bagged in zip(numbers, done, strict=True):
                self.estimators_.append(bagged.learner)
                self._features.append(bagged.features)
                if account is not None:
                    account.add(self._sampler.left_out(t), bagged.left_out_votes)

    def _next_batch(self, account: OutOfBag | None) -> int:
        """How many learners to fit next, 0 when there are enough."""
        have = len(self.estimators_)
        if self.n_estimators != "auto":
            left = int(self.n_estimators) - have
            return left if account is None else min(left, JUDGED_AT_A_TIME)
        if account is None:
            return 0
        if account.curve and has_settled(
            account.curve, AUTO_WINDOW, AUTO_CLOSE * account.standard_error
        ):
            return 0
        return min(AUTO_BATCH, max(0, AUTO_MOST - have))

    def _publish(self, account: OutOfBag | None) -> None:
        if account is None:
            return
        self.oob_error_ = account.error
        self.oob_learner_error_ = account.learner_error
        self.oob_curve_ = np.asarray(account.curve)
        self._publish_votes(account)
        account.warn_of_rows_in_every_bag()
        if self.warm_start:
            self._account = account

    # --------------------------------------------------------------- the learner
    def _chosen_estimator(self) -> Any:
        return default_estimator(self._classifier) if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = self._chosen_estimator()
        copy_input_tags(tags, [learner])
        if not self._classifier:
            tags.target_tags.multi_output = tags_of(learner).target_tags.multi_output
        return tags

    # ------------------------------------------------------------------- asking
    @property
    def n_estimators_(self) -> int:
        """Number of learners in the model."""
        check_is_fitted(self, "estimators_")
        return len(self.estimators_)

    @property
    @reads_one_fit
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows each learner drew, one entry a draw; drawn anew from the seed when asked for."""
        check_is_fitted(self, "estimators_")
        return [self._sampler.rows(t) for t in range(len(self.estimators_))]

    @property
    @reads_one_fit
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns each learner was given."""
        check_is_fitted(self, "estimators_")
        every = np.arange(self.n_features_in_)
        return [every if some is None else some for some in self._features]

    def _table(self, X: Any) -> Any:
        check_is_fitted(self, "estimators_")
        return table_for(
            self, X, [self.estimator_], reset=False, keep_frame=not self.bootstrap_features
        )

    def _ask(self, number: int, X: Any, vote: Vote | None = None) -> np.ndarray:
        vote = vote or self._vote
        return vote(self.estimators_[number], some_columns(X, self._features[number]))

    def _sum_of_votes(self, first: int, last: int, X: Any) -> np.ndarray:
        total = self._ask(first, X).copy()
        for number in range(first + 1, last):
            total += self._ask(number, X)
        return total

    def _mean_votes(self, X: Any) -> np.ndarray:
        """Mean of the learners' votes, (rows, columns)."""
        X = self._table(X)
        n = len(self.estimators_)
        calls = [
            (first, min(first + ADDED_AT_A_TIME, n), X) for first in range(0, n, ADDED_AT_A_TIME)
        ]
        sums = in_parallel(self._sum_of_votes, calls, n_jobs=self.n_jobs, threads=True)
        return sum(sums[1:], sums[0]) / n

    def _staged_mean_votes(self, X: Any) -> Iterator[np.ndarray]:
        X = self._table(X)
        total: Any = 0.0
        for number in range(len(self.estimators_)):
            total = total + self._ask(number, X)
            yield total / (number + 1)

    def _all_votes(self, X: Any) -> np.ndarray:
        """Each learner's votes, (learners, rows, columns)."""
        X = self._table(X)
        calls = [(number, X) for number in range(len(self.estimators_))]
        return np.stack(in_parallel(self._ask, calls, n_jobs=self.n_jobs, threads=True))

    def _jackknife(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "estimators_")
        if not self._sampler.replace:
            raise ValueError(
                "jackknife_standard_errors needs bootstrap samples; fit with bootstrap=True"
            )
        votes = self._all_votes(X)
        bags = Bags(self._sampler.counts, self._sampler.leave_one_out_factors())
        variance = jackknife_variance(bags, votes.reshape(len(votes), -1))
        return np.sqrt(variance).reshape(votes.shape[1:])

    # --------------------------------------------------------- for the subclasses
    def _check_target(self, y: Any, continuing: bool) -> tuple[np.ndarray, np.ndarray]:
        """y as learners are given it, and as votes are compared with."""
        raise NotImplementedError

    def _publish_votes(self, account: OutOfBag) -> None:
        raise NotImplementedError
