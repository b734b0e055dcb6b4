"""The rounds of a vote: one loop for two classes, or one for each column of a code, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.boosting._decisions import Decision, OfCodes
from bosquet.boosting._endings import Ending, following
from bosquet.boosting._stagewise import Round, WorseThanChance
from bosquet.boosting._votes import Vote


@dataclass
class Labelled:
    """Rows as the learner takes them, with their class numbers and their shares of the weight."""

    table: Any
    numbers: np.ndarray
    share: np.ndarray

    def error(self, decided: np.ndarray) -> float:
        return float(self.share[decided != self.numbers].sum())


@dataclass(frozen=True)
class Kept:
    """What is kept of a round, an entry a column: NaN where a variant or a column has none."""

    scale: np.ndarray
    size: np.ndarray
    alpha: np.ndarray
    error: np.ndarray
    normaliser: np.ndarray
    training_error: float


class VoteStepper:
    """Lets every loop add its voter to the vote, round after round (see `_loop.run_rounds`)."""

    def __init__(
        self,
        vote: Vote,
        loops: list[Iterator[Round]],
        decision: Decision,
        train: Labelled,
        validation: Labelled | None,
        *,
        threads: int,
        vc_dim: float | None,
    ):
        self.terms = vote
        self.loops, self.decision = loops, decision
        self.train, self.validation = train, validation
        self.threads, self.vc_dim = threads, vc_dim
        self.kept: list[Kept] = []
        self.last: list[Round | None] = []
        self.is_finished = False
        self.endings: list[Ending | None] = [None] * len(loops)
        start = vote.n_rounds
        # What the code as a whole decides on the training rows is in no single loop's hands.
        self.decoded: np.ndarray | None = None
        if isinstance(decision, OfCodes):
            self.decoded = vote.raw(train.table, threads, 0, start)
        self.held: np.ndarray | None = None
        if validation is not None:
            self.held = vote.raw(validation.table, threads, 0, start)

    def step(self) -> bool:
        before = self.terms.n_rounds
        rounds = self._rounds()
        if not any(rounds):
            self.terms.truncate(before)
            self.is_finished = True
            return False
        self.last = rounds
        if self.decoded is not None:
            self.decoded += self.terms.raw(self.train.table, self.threads, before, before + 1)
        if self.validation is not None and self.held is not None:
            self.held += self.terms.raw(self.validation.table, self.threads, before, before + 1)
        self.kept.append(self._kept(rounds))
        return True

    def _rounds(self) -> list[Round | None]:
        """The next round of each loop; one that has come to its end adds nothing from then on."""
        rounds: list[Round | None] = []
        without_edge = None
        for number, loop in enumerate(self.loops):
            try:
                found, ending = following(loop)
            except WorseThanChance as error:
                without_edge = without_edge or error
                found, ending = None, Ending(str(error))
            rounds.append(found)
            # A loop that has ended before returns nothing more.
            self.endings[number] = self.endings[number] or ending
            if rounds[-1] is None and len(self.loops) > 1:
                self.terms.add_nothing()
        if without_edge and not any(rounds) and not self.kept:
            # One column of a code may be too hard for the learner, not all of them.
            raise without_edge
        return rounds

    def _kept(self, rounds: list[Round | None]) -> Kept:
        def column(values: list[float | None]) -> np.ndarray:
            return np.array([np.nan if value is None else value for value in values])

        steps = [None if found is None else found.step for found in rounds]
        if self.decoded is not None:
            missed = self.train.error(self.decision.numbers(self.decision.decision(self.decoded)))
        else:
            assert rounds[0] is not None
            missed = rounds[0].training_error
        return Kept(
            scale=np.array([0.0 if step is None else step.scale for step in steps]),
            size=np.array([0.0 if step is None else step.size for step in steps]),
            alpha=column([None if step is None else step.alpha for step in steps]),
            error=column([None if step is None else step.error for step in steps]),
            normaliser=column([None if found is None else found.normaliser for found in rounds]),
            training_error=missed,
        )

    def train_loss(self) -> float:
        return self.kept[-1].training_error

    def validation_loss(self) -> float | None:
        if self.validation is None or self.held is None:
            return None
        return self.validation.error(self.decision.numbers(self.decision.decision(self.held)))

    def scores(self) -> np.ndarray:
        """What the vote says of the training rows, (rows, outputs)."""
        if self.decoded is not None:
            return self.decoded
        if not self.last or self.last[0] is None:
            return self.terms.raw(self.train.table, self.threads)
        f = self.last[0].scores()
        return f[:, None] if f.ndim == 1 else f.T
