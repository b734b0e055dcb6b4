"""What a study says while it runs: a line for each method that is finished."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from bosquet.study.methods.method import Method
from bosquet.study.metrics.formatting import figure
from bosquet.study.metrics.scoring import Metric
from bosquet.study.run.clock import Clock, in_words
from bosquet.study.run.outcomes import Outcome


class Teller:
    """Lines on the standard error; none with verbose=0, each method on every split with verbose=2."""

    def __init__(
        self, verbose: int, clock: Clock, metric: Metric, width: int, stream: TextIO | None = None
    ):
        self.verbose, self.clock, self.metric = int(verbose), clock, metric
        self.width = width  # of the longest title
        self.stream = stream or sys.stderr
        self.best: float | None = None
        self.split: int | None = None
        self.here: list[tuple[float, str]] = []  # scores on a split after the first

    def say(self, text: str) -> None:
        """One line."""
        if self.verbose:
            print(text, file=self.stream, flush=True)

    def outcome(self, method: Method, outcome: Outcome, waiting: int) -> None:
        """The line of a method on the first split, and of each later split one line for all."""
        if not self.verbose:
            return
        if outcome.split != self.split:
            self.split, self.here = outcome.split, []
            if outcome.split == 0 or self.verbose > 1:
                self.say(f"split {outcome.split + 1}{_tuned(outcome)}")
        if outcome.split == 0 or self.verbose > 1:
            self.say(self._line(method, outcome, waiting))
            return
        if outcome.score is not None:
            self.here.append((outcome.score, method.title))
        if not waiting and self.here:
            self.here.sort(reverse=self.metric.higher_is_better)
            best = "; ".join(f"{title} {figure(score)}" for score, title in self.here[:3])
            left = f"  {in_words(max(self.clock.left(), 0))} left" if self.clock.timed else ""
            self.say(f"split {outcome.split + 1}{_tuned(outcome)}: {best}{left}")

    def _line(self, method: Method, outcome: Outcome, waiting: int) -> str:
        title = f"  {method.title:<{self.width}}"
        if outcome.status != "done" or outcome.score is None:
            return f"{title}  {outcome.status}: {outcome.message}"
        leads = self.best is None or self.metric.better(outcome.score, self.best)
        if outcome.split == 0 and leads:
            self.best = outcome.score
        mark = "  best so far" if outcome.split == 0 and leads else ""
        parts = [
            f"{title}  {self.metric.title} {figure(outcome.score):<9}",
            f"{in_words(outcome.seconds):>7}",
            self._left(waiting),
        ]
        rows = f"  on {outcome.rows_used:,} rows" if outcome.subsampled else ""
        setting = _setting(outcome)
        return "  ".join(filter(None, parts)) + rows + (f"  {setting}" if setting else "") + mark

    def _left(self, waiting: int) -> str:
        if self.clock.timed:
            return f"{in_words(max(self.clock.left(), 0)):>7} left"
        return f"{waiting:>3} waiting"


def _tuned(outcome: Outcome) -> str:
    ways = {"near": ", tuned near the first choice", "same": ", with the first choice"}
    return ways.get(outcome.how, "")


def _setting(outcome: Outcome) -> str:
    """The chosen candidate, as its curve calls it."""
    if outcome.curve is None:
        return ""
    chosen = [point["label"] for point in outcome.curve["points"] if point["chosen"]]
    return chosen[0] if chosen else ""


def introduction(table: Any, metric: Metric, budget: float | None, n_methods: int) -> str:
    """What is about to be done, in one line."""
    target = table.target
    n, d = len(table.X), table.X.shape[1] - (table.design.offset_column is not None)
    kind = "a number"
    if target.is_classes:
        kind = f"{len(target.classes)} classes"
        if target.task == "binary":
            label = str(target.classes[target.positive])
            kind += f", {label!r} looked for ({target.looked_for:.1%})"
    time = "counted schedule" if budget is None else f"budget {in_words(budget)}"
    return (
        f"{n:,} rows, {d:,} columns; {target.name}: {kind}; judged by {metric.title}; "
        f"{n_methods} {'method' if n_methods == 1 else 'methods'}; {time}"
    )
