"""The outcomes of a study so far: one per method and split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bosquet.study.methods.method import BAYES_RULE, Method
from bosquet.study.metrics.metric import Metric
from bosquet.study.run.checkpoint import Checkpoint
from bosquet.study.run.outcomes import Outcome, TuningScope
from bosquet.study.table.splits import StudySplit


@dataclass
class OutcomeTable:
    """The outcomes in a checkpoint, by method; `splits` are those of the finished rounds."""

    methods: Sequence[Method]
    metric: Metric
    checkpoint: Checkpoint
    splits: list[StudySplit] = field(default_factory=list)

    def outcomes_of(self, method: Method) -> list[Outcome]:
        """Return the outcomes of a method, one per finished round."""
        outcomes = [self.checkpoint.get(split.number, method.name) for split in self.splits]
        return [outcome for outcome in outcomes if outcome is not None]

    def scored_outcomes(self, number: int = 0) -> list[tuple[Method, Outcome]]:
        """Return the methods that have a score in a round (default: the first), with their outcomes."""
        pairs = [(method, self.checkpoint.get(number, method.name)) for method in self.methods]
        return [
            (method, outcome) for method, outcome in pairs if outcome and outcome.status == "done"
        ]

    def leader(self, on_all_rows: bool = False) -> tuple[Method, Outcome] | None:
        """Return the method with the best score on the first split so far, of all or of those on all rows."""
        best: tuple[Method, Outcome] | None = None
        for method, outcome in self.scored_outcomes():
            if outcome.score is None or method.name == BAYES_RULE:
                continue
            if on_all_rows and outcome.subsampled:
                continue
            if best is None or self.metric.is_better(outcome.score, best[1].score):  # type: ignore[arg-type]
                best = method, outcome
        return best

    def latest_seconds(self, method: Method, scope: TuningScope) -> float | None:
        """Return the seconds of a method in the last further round that tuned it like this, or None."""
        for split in reversed(self.splits[1:]):
            outcome = self.checkpoint.get(split.number, method.name)
            if outcome is not None and outcome.scope == scope:
                return outcome.seconds
        return None
