"""Progress messages of a study: one line per finished method."""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any, TextIO

from bosquet.study.methods.method import Method
from bosquet.study.metrics.formatting import format_score
from bosquet.study.metrics.metric import Metric
from bosquet.study.run.clock import StudyClock, format_seconds
from bosquet.study.run.outcomes import Outcome


class ProgressReporter:
    """Print progress to standard error.

    verbose=0 prints nothing, verbose=1 one line per method on the first split and one line per further split,
    verbose=2 one line per method on every split.
    """

    def __init__(
        self,
        verbose: int,
        clock: StudyClock,
        metric: Metric,
        width: int,
        stream: TextIO | None = None,
    ):
        self.verbose, self.clock, self.metric = int(verbose), clock, metric
        self.width = width  # characters of the longest title
        self.stream = stream or sys.stderr
        self.best: float | None = None
        self.split: int | None = None  # of the last line
        # Scores and titles of further splits; on a cluster several splits run at the same time.
        self.split_scores: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)

    def write(self, text: str) -> None:
        """Print one line."""
        if self.verbose:
            print(text, file=self.stream, flush=True)

    def report_outcome(self, method: Method, outcome: Outcome, waiting: int) -> None:
        """Report the outcome of a method; `waiting` methods follow on the same split."""
        if not self.verbose:
            return
        if outcome.split == 0 or self.verbose > 1:
            if outcome.split != self.split:
                self.split = outcome.split
                self.write(f"split {outcome.split + 1}{_tuning_text(outcome)}")
            self.write(self._outcome_line(method, outcome, waiting))
            return
        scores = self.split_scores[outcome.split]
        if outcome.score is not None:
            scores.append((outcome.score, method.title))
        if not waiting and scores:
            scores.sort(reverse=self.metric.higher_is_better)
            best = "; ".join(f"{title} {format_score(score)}" for score, title in scores[:3])
            left = (
                f"  {format_seconds(max(self.clock.seconds_left(), 0))} left"
                if self.clock.timed
                else ""
            )
            self.write(f"split {outcome.split + 1}{_tuning_text(outcome)}: {best}{left}")

    def _outcome_line(self, method: Method, outcome: Outcome, waiting: int) -> str:
        title = f"  {method.title:<{self.width}}"
        if outcome.status != "done" or outcome.score is None:
            return f"{title}  {outcome.status}: {outcome.message}"
        leads = self.best is None or self.metric.is_better(outcome.score, self.best)
        if outcome.split == 0 and leads:
            self.best = outcome.score
        mark = "  best so far" if outcome.split == 0 and leads else ""
        columns = [
            f"{title}  {self.metric.title} {format_score(outcome.score):<9}",
            f"{format_seconds(outcome.seconds):>7}",
            self._time_left_text(waiting),
        ]
        rows = f"  on {outcome.rows_used:,} rows" if outcome.subsampled else ""
        setting = _chosen_label(outcome)
        return "  ".join(filter(None, columns)) + rows + (f"  {setting}" if setting else "") + mark

    def _time_left_text(self, waiting: int) -> str:
        if self.clock.timed:
            return f"{format_seconds(max(self.clock.seconds_left(), 0)):>7} left"
        return f"{waiting:>3} waiting"


def _tuning_text(outcome: Outcome) -> str:
    texts = {
        "near": ", tuned near the hyper-parameters of split 1",
        "same": ", with the hyper-parameters of split 1",
    }
    return texts.get(outcome.scope, "")


def _chosen_label(outcome: Outcome) -> str:
    """Return the label of the chosen candidate."""
    if outcome.curve is None:
        return ""
    chosen = [point["label"] for point in outcome.curve["points"] if point["chosen"]]
    return chosen[0] if chosen else ""


def introduction_line(table: Any, metric: Metric, budget: float | None, n_methods: int) -> str:
    """Return one line that describes the study before it starts."""
    target = table.target
    n, d = len(table.X), table.X.shape[1] - (table.design.offset_column is not None)
    kind = "numeric"
    if target.is_classes:
        kind = f"{len(target.classes)} classes"
        if target.task == "binary":
            label = str(target.classes[target.positive])
            kind += f", positive class {label!r} ({target.positive_share:.1%})"
    time = "no time limit" if budget is None else f"budget {format_seconds(budget)}"
    return (
        f"{n:,} rows, {d:,} columns; target {target.name}: {kind}; metric: {metric.title}; "
        f"{n_methods} {'method' if n_methods == 1 else 'methods'}; {time}"
    )
