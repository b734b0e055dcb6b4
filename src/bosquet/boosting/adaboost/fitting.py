"""The rounds of a fit by reweighting: from an estimator's choices to the loops that fill its vote.

Two classes, SAMME and AdaBoost.MH are one loop. A code is one loop for each of its columns, side by side. On
native stumps with two classes the core runs a whole round of the loop (`stump_rounds`).
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._sklearn import effective_threads
from bosquet.boosting.adaboost._learner_factory import make_vote, make_weak_learner, select_rows
from bosquet.boosting.adaboost._weak_learners import (
    OnePerClass,
    Reweighting,
    StumpLearner,
    WeakLearner,
)
from bosquet.boosting.adaboost.endings import Ending, next_round, without_edge, without_mistake
from bosquet.boosting.adaboost.stagewise import (
    EDGE_TOLERANCE,
    BoostingRound,
    Loop,
    TwoClasses,
    Variant,
    VoteStep,
    WorseThanChance,
    adaboost_step,
    boost,
    no_edge_error,
)
from bosquet.boosting.adaboost.votes import (
    CodeDecoder,
    Decoder,
    TreeVote,
    TwoClassDecoder,
    Vote,
    VoteDecoder,
    code_matrix,
)
from bosquet.data import TableEncoder
from bosquet.losses import MarginLoss

# Variants for which the core computes α, and ε.
HAS_ALPHA, HAS_ERROR = ("discrete", "mada"), ("discrete", "mada", "real")

Loops = list[Iterator[BoostingRound]]


@dataclass
class LabelledRows:
    """A table for the learner, with class numbers and weights that sum to 1."""

    table: Any
    class_indices: np.ndarray
    distribution: np.ndarray

    def error(self, decided: np.ndarray) -> float:
        return float(self.distribution[decided != self.class_indices].sum())


@dataclass(frozen=True)
class RoundRecord:
    """The record of a round, with one entry per column of the vote; NaN if there is no value."""

    scale: np.ndarray
    size: np.ndarray
    alpha: np.ndarray
    error: np.ndarray
    normaliser: np.ndarray
    training_error: float


@dataclass(frozen=True)
class Algorithm:
    """The choices of an estimator that boosts by reweighting.

    `scheme` is "two" for two classes, "samme", "mh" or the name of a code. `two_classes(y, distribution,
    n_rows)` makes the variant for signs y, where `n_rows` is the number of rows of the whole fit;
    `several_classes(class_indices, distribution)` makes the variant of "samme" or "mh". `loss` decodes codes
    and gives probabilities. `core_name` is the name of the variant in the core, None if it cannot run its
    rounds.
    """

    scheme: str
    two_classes: Callable[[np.ndarray, np.ndarray, int], TwoClasses]
    loss: MarginLoss
    several_classes: Callable[[np.ndarray, np.ndarray], Variant] | None = None
    loop: Callable[..., Loop] = boost
    core_name: str | None = None


@dataclass(frozen=True)
class LearnerBuilder:
    """Builds the weak learner of a fit, for one table after the other."""

    estimator: Any
    encoder: TableEncoder
    classes: np.ndarray
    seed: int
    n_jobs: int | None
    reweight: str
    undersample: bool
    split: str
    max_bins: int

    def learner(
        self, table: Any, output_kind: str, numbers: np.ndarray, **options: Any
    ) -> WeakLearner:
        return make_weak_learner(
            self.estimator,
            table,
            output_kind=output_kind,
            encoder=self.encoder,
            n_jobs=self.n_jobs,
            seed=self.seed,
            reweight=self.reweight,
            strata=self.strata(numbers),
            split=self.split,
            max_bins=self.max_bins,
            **options,
        )

    def strata(self, numbers: np.ndarray) -> np.ndarray | None:
        return np.asarray(numbers, dtype=np.intp) if self.undersample else None

    def with_own_draws(self, learner: Any, column: int, y: np.ndarray) -> WeakLearner:
        """Return the same learner with other random numbers, for a column of a code."""
        drawing_learner = copy.copy(learner)
        drawing_learner.reweighting = Reweighting(
            self.seed + column + 1, learner.reweighting.resample, self.strata(y > 0)
        )
        return drawing_learner


@dataclass(frozen=True)
class EarlierRounds:
    """The rounds that a warm start continues."""

    vote: Vote
    records: Sequence[RoundRecord]
    is_finished: bool  # whether the loops have ended


def make_vote_stepper(
    algorithm: Algorithm,
    builder: LearnerBuilder,
    train: LabelledRows,
    validation: LabelledRows | None,
    earlier: EarlierRounds | None = None,
) -> VoteStepper:
    """Return the stepper of a fit: learner, variant and vote, with one loop or one per column of a code."""
    plan = _LoopPlan(algorithm, builder, train, earlier)
    decoder: Decoder
    if algorithm.scheme == "two":
        decoder = TwoClassDecoder(algorithm.loss)
        vote, loops = plan.two_classes()
    elif algorithm.scheme in ("samme", "mh"):
        decoder = VoteDecoder(1.0 if algorithm.scheme == "samme" else 2.0)
        vote, loops = plan.several_classes()
    else:
        matrix = code_matrix(algorithm.scheme, builder.classes.size, builder.seed)
        decoder = CodeDecoder(matrix, algorithm.loss)
        vote, loops = plan.columns_of_code(matrix)
    return VoteStepper(
        vote, loops, decoder, train, validation, threads=plan.threads, vc_dim=plan.vc_dim
    )


class _LoopPlan:
    """Builds the vote of a fit and the loops that fill it."""

    def __init__(
        self,
        algorithm: Algorithm,
        builder: LearnerBuilder,
        train: LabelledRows,
        earlier: EarlierRounds | None,
    ):
        self.algorithm, self.builder = algorithm, builder
        self.train, self.earlier = train, earlier
        self.n_rows = train.class_indices.size
        self.threads = effective_threads(builder.n_jobs)
        self.vc_dim: float | None = None  # of the learner, once it is made

    def two_classes(self) -> tuple[Vote, Loops]:
        train, builder = self.train, self.builder
        variant = self.algorithm.two_classes(
            2.0 * train.class_indices - 1, train.distribution, self.n_rows
        )
        learner = self._make_learner(
            train.table, variant, train.class_indices, labels=builder.classes
        )
        vote, sums = self._make_vote(learner, variant, 1)
        f = None if sums is None else sums[:, 0].copy()
        return vote, [self._make_loop(learner, variant, vote, f, 0)]

    def several_classes(self) -> tuple[Vote, Loops]:
        train, builder = self.train, self.builder
        assert self.algorithm.several_classes is not None
        variant = self.algorithm.several_classes(train.class_indices, train.distribution)
        n_classes = builder.classes.size
        learner = self._make_learner(
            train.table, variant, train.class_indices, n_classes=n_classes, labels=builder.classes
        )
        at_once = not isinstance(learner, OnePerClass)
        vote, sums = self._make_vote(learner, variant, n_classes, at_once)
        f = None if sums is None else np.ascontiguousarray(sums.T)
        return vote, [self._make_loop(learner, variant, vote, f, 0)]

    def columns_of_code(self, matrix: np.ndarray) -> tuple[Vote, Loops]:
        train = self.train
        signs = matrix[train.class_indices]
        has_all_rows = not (signs == 0).any()
        learner: WeakLearner | None = None
        vote: Vote | None = None
        sums: np.ndarray | None = None
        loops: Loops = []
        for column in range(matrix.shape[1]):
            rows = np.flatnonzero(signs[:, column])
            y = signs[rows, column].astype(float)
            variant = self.algorithm.two_classes(y, train.distribution[rows], self.n_rows)
            # If every column has all rows, the table is prepared once.
            if learner is None or not has_all_rows:
                table = train.table
                if not has_all_rows:
                    table = select_rows(self.builder.estimator, table, rows)
                learner = self._make_learner(table, variant, y > 0)
            if vote is None:
                vote, sums = self._make_vote(learner, variant, matrix.shape[1])
            if (y == y[0]).all():
                loops.append(iter(()))  # one class only: nothing to learn
                continue
            f = None if sums is None else sums[rows, column].copy()
            column_learner = self.builder.with_own_draws(learner, column, y)
            loops.append(self._make_loop(column_learner, variant, vote, f, column))
        assert vote is not None
        return vote, loops

    def _make_learner(
        self, table: Any, variant: Variant, numbers: np.ndarray, **classes: Any
    ) -> WeakLearner:
        learner = self.builder.learner(table, variant.output_kind, numbers, **classes)
        self.vc_dim = learner.vc_dim
        return learner

    def _make_vote(
        self, learner: WeakLearner, variant: Variant, outputs: int, at_once: bool = False
    ) -> tuple[Vote, np.ndarray | None]:
        """Return the vote, and its sums on the training rows if it has rounds of an earlier fit."""
        if self.earlier is None:
            encoder, as_vote = self.builder.encoder, variant.as_vote
            vote = make_vote(learner, encoder, outputs=outputs, as_vote=as_vote, at_once=at_once)
            return vote, None
        # A copy, so that a fit that fails does not change the fitted model.
        vote = self.earlier.vote.copy()
        return vote, vote.predict_raw(self.train.table, self.threads)

    def _make_loop(
        self,
        learner: WeakLearner,
        variant: Variant,
        vote: Vote,
        f: np.ndarray | None,
        column: int,
    ) -> Iterator[BoostingRound]:
        if self.earlier is not None and self.earlier.is_finished:
            return iter(())
        if f is None and self.algorithm.core_name is not None and core_can_boost(learner):
            assert isinstance(vote, TreeVote)
            assert isinstance(variant, TwoClasses)
            assert isinstance(learner, StumpLearner)
            return stump_rounds(learner, self.algorithm.core_name, variant, vote)
        records = [] if self.earlier is None else self.earlier.records
        step_sum = float(sum(record.size[column] for record in records))
        return self.algorithm.loop(
            learner, variant, vote, f=f, first=vote.n_rounds, step_sum=step_sum
        )


class VoteStepper:
    """Runs one round of every loop per step, and records it (see `rounds.run_rounds`)."""

    def __init__(
        self,
        vote: Vote,
        loops: list[Iterator[BoostingRound]],
        decoder: Decoder,
        train: LabelledRows,
        validation: LabelledRows | None,
        *,
        threads: int,
        vc_dim: float | None,
    ):
        self.terms = vote
        self.loops, self.decoder = loops, decoder
        self.train, self.validation = train, validation
        self.threads, self.vc_dim = threads, vc_dim
        self.records: list[RoundRecord] = []
        self.last: list[BoostingRound | None] = []
        self.is_finished = False
        self.endings: list[Ending | None] = [None] * len(loops)
        start = vote.n_rounds
        # No single loop knows the training error of a code, which is computed from the sums of all columns.
        self.code_sums: np.ndarray | None = None
        if isinstance(decoder, CodeDecoder):
            self.code_sums = vote.predict_raw(train.table, threads, 0, start)
        self.validation_sums: np.ndarray | None = None
        if validation is not None:
            self.validation_sums = vote.predict_raw(validation.table, threads, 0, start)

    def step(self) -> bool:
        before = self.terms.n_rounds
        rounds = self._next_rounds()
        if not any(rounds):
            self.terms.truncate(before)
            self.is_finished = True
            return False
        self.last = rounds
        table, span = self.train.table, (before, before + 1)
        if self.code_sums is not None:
            self.code_sums += self.terms.predict_raw(table, self.threads, *span)
        if self.validation is not None and self.validation_sums is not None:
            self.validation_sums += self.terms.predict_raw(
                self.validation.table, self.threads, *span
            )
        self.records.append(self._record_of_rounds(rounds))
        return True

    def _next_rounds(self) -> list[BoostingRound | None]:
        """Return the next round of each loop.

        The round is None for a loop that has ended, which adds nothing to the vote.
        """
        rounds: list[BoostingRound | None] = []
        error: WorseThanChance | None = None
        for number, loop in enumerate(self.loops):
            try:
                round_, ending = next_round(loop)
            except WorseThanChance as no_edge:
                error = error or no_edge
                round_, ending = None, Ending(str(no_edge))
            rounds.append(round_)
            # A loop that ended in an earlier round returns no ending again.
            self.endings[number] = self.endings[number] or ending
            if rounds[-1] is None and len(self.loops) > 1:
                self.terms.add_nothing()
        if error and not any(rounds) and not self.records:
            # Some columns of a code may be too hard for the learner, but not all of them.
            raise error
        return rounds

    def _record_of_rounds(self, rounds: list[BoostingRound | None]) -> RoundRecord:
        def column(values: list[float | None]) -> np.ndarray:
            return np.array([np.nan if value is None else value for value in values])

        steps = [None if round_ is None else round_.step for round_ in rounds]
        if self.code_sums is not None:
            scores = self.decoder.scores(self.code_sums)
            training_error = self.train.error(self.decoder.class_indices(scores))
        else:
            assert rounds[0] is not None
            training_error = rounds[0].training_error
        return RoundRecord(
            scale=np.array([0.0 if step is None else step.scale for step in steps]),
            size=np.array([0.0 if step is None else step.size for step in steps]),
            alpha=column([None if step is None else step.alpha for step in steps]),
            error=column([None if step is None else step.error for step in steps]),
            normaliser=column([None if round_ is None else round_.normaliser for round_ in rounds]),
            training_error=training_error,
        )

    def train_loss(self) -> float:
        return self.records[-1].training_error

    def validation_loss(self) -> float | None:
        if self.validation is None or self.validation_sums is None:
            return None
        scores = self.decoder.scores(self.validation_sums)
        return self.validation.error(self.decoder.class_indices(scores))

    def scores(self) -> np.ndarray:
        """Return sums of the vote on the training rows, (rows, outputs)."""
        if self.code_sums is not None:
            return self.code_sums
        if not self.last or self.last[0] is None:
            return self.terms.predict_raw(self.train.table, self.threads)
        f = self.last[0].scores()
        return f[:, None] if f.ndim == 1 else f.T


# ------------------------------------------------------ rounds of the core on stumps
def core_can_boost(learner: WeakLearner) -> bool:
    """Whether the core can run the rounds of this learner: native stumps on all rows, two classes."""
    if not isinstance(learner, StumpLearner) or learner.reweighting.is_random:
        return False
    return learner.output_kind in ("signs", "probabilities", "numbers")


def stump_rounds(learner: StumpLearner, name: str, variant: TwoClasses, vote: TreeVote) -> Loop:
    """Return the rounds of `boost` with the same learner and variant, run by the core."""
    core = _core.StumpBooster(
        learner.search, variant.y, variant.distribution, name, float(variant.learning_rate)
    )
    step_sum = 0.0
    for t in itertools.count():
        round_ = core.round(vote.ensemble)
        if not round_["taken"]:
            if round_["error"] == 0:
                yield _perfect_round(round_["stump"], core, variant, vote, step_sum)
                return without_mistake(t + 1)
            if t == 0:
                raise no_edge_error(round_["error"], variant.chance)
            return without_edge(t + 1, round_["error"], variant.chance)
        largest = float(np.abs(round_["stump"].values).max())
        no_gain = (
            round_["error"] >= 0.5 - EDGE_TOLERANCE
            if name in HAS_ALPHA
            else largest <= EDGE_TOLERANCE
        )
        # Votes of 0 have the wrong sign for one class, but the error of their values is ½.
        error = round_["error"] if name in HAS_ALPHA else 0.5
        if no_gain:
            if t == 0:
                raise no_edge_error(error, variant.chance)
            if vote.trees_per_round == 1:
                vote.truncate(vote.n_rounds - 1)
                return without_edge(t + 1, error, variant.chance)
        scale = round_["alpha"]
        step_sum += scale * largest
        step = VoteStep(
            scale,
            scale * largest,
            round_["error"] if name in HAS_ERROR else None,
            scale if name in HAS_ALPHA else None,
        )
        scores = _core_scores(core, variant.y)
        yield BoostingRound(step, round_["z"], round_["training_error"], scores)
        if no_gain:
            return without_edge(t + 1, error, variant.chance)
    raise AssertionError("the count of rounds is infinite")


def _perfect_round(
    stump: _core.Stump,
    core: _core.StumpBooster,
    variant: TwoClasses,
    vote: TreeVote,
    step_sum: float,
) -> BoostingRound:
    """Return the round of a stump without errors, which the core does not add to the vote."""
    step = adaboost_step(0.0, step_sum, variant.learning_rate)
    assert step is not None
    stump.add_to(vote.ensemble, step.scale)
    scores = _core_scores(core, variant.y, step.scale)
    return BoostingRound(step, math.exp(-step.scale), variant.training_error(scores()), scores)


def _core_scores(
    core: _core.StumpBooster, y: np.ndarray, added_margin: float = 0.0
) -> Callable[[], np.ndarray]:
    return lambda: y * (core.margins() + added_margin)
