"""From a table and its classes to the loops that fill a vote: one, or one for each column of a code."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet._sklearn import effective_threads
from bosquet.boosting._codes import code_matrix
from bosquet.boosting._decisions import Decision, OfCodes, OfTwo, OfVotes
from bosquet.boosting._descent import Descent, descend
from bosquet.boosting._native_rounds import stump_rounds
from bosquet.boosting._reweighting import Reweighting
from bosquet.boosting._stagewise import Round, boost
from bosquet.boosting._vote_stepper import Labelled, VoteStepper
from bosquet.boosting._votes import Vote
from bosquet.boosting._weak import EachLabel, new_vote, some_rows, weak_learner

Loops = list[Iterator[Round]]


class Assembly:
    """Puts together learner, variant, vote and decision, as a model's parameters say."""

    def __init__(self, model: Any, estimator: Any, train: Labelled, continuing: bool):
        self.model, self.estimator, self.train = model, estimator, train
        self.continuing = continuing
        self.threads = effective_threads(model.n_jobs)
        self.sampling = getattr(model, "sampling", None)
        self.rows = train.numbers.size
        self.vc_dim: float | None = None  # of the learner, once there is one

    def stepper(self, validation: Labelled | None) -> VoteStepper:
        """What adds the rounds."""
        scheme = "two" if self.model.n_classes_ == 2 else self.model._scheme()
        decision: Decision
        if scheme == "two":
            decision = OfTwo(self.model._margin_loss())
            vote, loops = self._of_two()
        elif scheme in ("samme", "mh"):
            decision = OfVotes(1.0 if scheme == "samme" else 2.0)
            vote, loops = self._of_classes(scheme)
        else:
            matrix = code_matrix(scheme, self.model.n_classes_, self.model._seed)
            decision = OfCodes(matrix, self.model._margin_loss())
            vote, loops = self._of_code(matrix)
        return VoteStepper(
            vote,
            loops,
            decision,
            self.train,
            validation,
            threads=self.threads,
            vc_dim=self.vc_dim,
        )

    def _of_two(self) -> tuple[Vote, Loops]:
        y = 2.0 * self.train.numbers - 1
        variant = self.model._variant(y, self.train.share, self.rows)
        learner = self._learner(
            self.train.table, variant.says, self.train.numbers, labels=self.model.classes_
        )
        vote = self._vote(learner, 1, variant.as_vote, at_once=False)
        f = self._scores(vote)[:, 0].copy() if self.continuing else None
        return vote, [self._loop(learner, variant, vote, f, 0)]

    def _of_classes(self, scheme: str) -> tuple[Vote, Loops]:
        variant = self.model._variant_of_many(scheme, self.train.numbers, self.train.share)
        learner = self._learner(
            self.train.table,
            variant.says,
            self.train.numbers,
            n_classes=self.model.n_classes_,
            labels=self.model.classes_,
        )
        at_once = not isinstance(learner, EachLabel)
        vote = self._vote(learner, self.model.n_classes_, variant.as_vote, at_once=at_once)
        f = np.ascontiguousarray(self._scores(vote).T) if self.continuing else None
        return vote, [self._loop(learner, variant, vote, f, 0)]

    def _of_code(self, matrix: np.ndarray) -> tuple[Vote, Loops]:
        signs = matrix[self.train.numbers]
        is_whole = not (signs == 0).any()
        learner: Any = None
        vote: Vote | None = None
        raw: np.ndarray | None = None
        loops: Loops = []
        for column in range(matrix.shape[1]):
            rows = np.flatnonzero(signs[:, column])
            y = signs[rows, column].astype(float)
            variant = self.model._variant(y, self.train.share[rows], self.rows)
            if learner is None or not is_whole:  # else the table is prepared once for all columns
                table = self.train.table
                if not is_whole:
                    table = some_rows(self.estimator, table, rows)
                learner = self._learner(table, variant.says, y > 0)
            if vote is None:
                vote = self._vote(learner, matrix.shape[1], variant.as_vote, at_once=False)
                raw = self._scores(vote) if self.continuing else None
            if (y == y[0]).all():
                loops.append(iter(()))  # nothing to tell apart
                continue
            f = None if raw is None else raw[rows, column].copy()
            own = self._with_own_draws(learner, column, y)
            loops.append(self._loop(own, variant, vote, f, column))
        assert vote is not None
        return vote, loops

    def _with_own_draws(self, learner: Any, column: int, y: np.ndarray) -> Any:
        """The same learner, with random numbers of its column's own."""
        own = copy.copy(learner)
        own.reweighting = Reweighting(
            self.model._seed + column + 1, learner.reweighting.resample, self._strata(y > 0)
        )
        return own

    def _vote(self, learner: Any, outputs: int, as_vote: Any, *, at_once: bool) -> Vote:
        if self.continuing:
            # A copy, so that a fit that fails leaves the fitted model alone.
            return self.model._vote.copy()
        return new_vote(
            learner, self.model._encoder, outputs=outputs, as_vote=as_vote, at_once=at_once
        )

    def _scores(self, vote: Vote) -> np.ndarray:
        return vote.raw(self.train.table, self.threads)

    def _loop(
        self, learner: Any, variant: Any, vote: Vote, f: np.ndarray | None, column: int
    ) -> Iterator[Round]:
        if self.model._is_finished:
            return iter(())
        if f is None and self.model._runs_natively(learner):
            return stump_rounds(learner, self.model.variant, variant, vote)  # type: ignore[arg-type]
        size = float(sum(kept.size[column] for kept in self.model._kept))
        loop = descend if isinstance(variant, Descent) else boost
        return loop(learner, variant, vote, f=f, first=vote.n_rounds, size=size)

    def _learner(self, table: Any, says: str, numbers: np.ndarray, **options: Any) -> Any:
        model = self.model
        learner = weak_learner(
            self.estimator,
            table,
            says=says,
            encoder=model._encoder,
            n_jobs=model.n_jobs,
            seed=model._seed,
            reweight=getattr(model, "reweight", "weights"),
            strata=self._strata(numbers),
            split=model.split,
            max_bins=model.max_bins,
            **options,
        )
        self.vc_dim = learner.vc_dim
        return learner

    def _strata(self, numbers: np.ndarray) -> np.ndarray | None:
        return np.asarray(numbers, dtype=np.intp) if self.sampling == "under" else None
