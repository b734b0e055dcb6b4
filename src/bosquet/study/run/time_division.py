"""How the budget of a study is divided among its rounds and among the methods of the first round."""

from __future__ import annotations

from collections.abc import Sequence

from bosquet.study.methods.method import INCUMBENT, Method
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.context import StudyContext
from bosquet.study.run.final_model import seconds_for_rows
from bosquet.study.run.machine import SMALL_TABLE_VALUES
from bosquet.study.run.order import time_weight
from bosquet.study.run.outcome_table import OutcomeTable
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.trial_runner import TrialRunner
from bosquet.study.tuning.time_limits import TimeLimits

# The first round may use half of the budget, because it tunes every method.
END_OF_FIRST_ROUND = 0.5
# The further rounds only narrow the intervals. The rest of the budget is for explaining the chosen method and
# fitting it to all rows; rounds end earlier if that fit is predicted to take longer.
END_OF_ROUNDS = 0.8
# Least share of the budget for explaining the chosen method, besides its fit to all rows.
EXPLAINING_SHARE = 0.05
# If the first round is late, it goes on with this share of the time left for all rounds.
LATE_SHARE = 1 / 3
# No further method is started if less than this share of the budget is left: it would have time for hardly
# any candidate.
MIN_SHARE = 0.02
# Share of the budget for gradient boosting with default hyper-parameters. No study should end with a worse
# model, so it runs before the others and may use nearly all of the first round.
INCUMBENT_SHARE = 0.45
# Largest share of the budget for combinations of methods, so that time is left for further rounds.
MAX_FOR_COMBINING = 0.08
# On large tables a method is stopped if it takes this many times its soft limit: predicted durations are
# inexact, and a fit that is stopped may leave no model ...
MAX_SOFT_LIMITS = 3.0
# ... and more than this share of the budget.
MIN_SHARE_TO_STOP = 0.06
# On large tables no method may use more than this share of the time left, because others are waiting.
MAX_SHARE_OF_LEFT = 1 / 2
WIDE = 500  # columns after one-hot encoding, from which on a table is large for any number of rows
# Overruns of shorter methods (seconds) are mostly overhead and are not measured.
MIN_SECONDS_MEASURED = 0.5
# Larger overruns are clipped to this factor, because one slow method should not take the time of all others.
MAX_OVERRUN = 4.0
# Weight of a measurement in the moving average, for the same reason.
OVERRUN_WEIGHT = 1 / 4


class TimeDivision:
    """The time limits of methods in the first round, and the seconds that are left for the rounds."""

    def __init__(
        self, context: StudyContext, clock: StudyClock, outcomes: OutcomeTable, runner: TrialRunner
    ):
        self.context, self.clock, self.outcomes, self.runner = context, clock, outcomes, runner
        self.overrun = 1.0  # moving average of the ratio of used seconds to the soft limit

    @property
    def postpones_expensive_methods(self) -> bool:
        """Whether expensive methods are postponed: on large tables with a budget.

        On smaller tables each method determines by a trial fit how many rows it can afford, usually all.
        """
        shape = self.context.shape
        large = (
            shape.n_rows * shape.n_indicators >= SMALL_TABLE_VALUES or shape.n_indicators >= WIDE
        )
        return large and self.clock.timed

    def left_for_rounds(self) -> float:
        """Return the seconds until all rounds must end, so that there is time for the final fit."""
        left = self.clock.seconds_left(END_OF_ROUNDS)
        leader = self.outcomes.leader()
        if not self.clock.timed or leader is None:
            return left
        method, outcome = leader
        final = seconds_for_rows(method, outcome, self.context.shape, len(self.context.y))
        return min(left, self.clock.seconds_left(1 - EXPLAINING_SHARE) - final)

    def is_late(self) -> bool:
        """Return whether too little time is left for the rounds to start a further method."""
        budget = self.clock.budget
        return budget is not None and self.left_for_rounds() < MIN_SHARE * budget

    def first_round_is_over(self) -> bool:
        """Return whether too little of the first round is left to start a method on a subsample."""
        budget = self.clock.budget
        return (
            budget is not None and self.clock.seconds_left(END_OF_FIRST_ROUND) < MIN_SHARE * budget
        )

    def allows(self, method: Method, seconds: float) -> bool:
        """Return whether a fit of `seconds` is within the method's share and leaves time for others."""
        if self.clock.budget is None:
            return True
        max_seconds = self._largest_share(method) * self.clock.budget
        return seconds <= min(max_seconds, MAX_SHARE_OF_LEFT * self.left_for_rounds())

    def limits(self, waiting: Sequence[Method]) -> TimeLimits:
        """Return the limits of the first waiting method."""
        soft = self.soft_limit(waiting)
        return TimeLimits(soft, self._hard_limit(waiting[0], soft))

    def soft_limit(self, waiting: Sequence[Method]) -> float | None:
        """Return the soft limit of the first waiting method, in proportion to the weights of the methods."""
        budget, method = self.clock.budget, waiting[0]
        if budget is None:
            return None
        if method.name == INCUMBENT:
            return INCUMBENT_SHARE * budget
        suited = [other for other in waiting[1:] if not other.why_unsuited(self.context.shape)]
        share = time_weight(method) / (time_weight(method) + sum(map(time_weight, suited)))
        left = max(self.clock.seconds_left(END_OF_FIRST_ROUND), LATE_SHARE * self.left_for_rounds())
        seconds = min(left, self._seconds_of_slots(left) * share / self.overrun)
        seconds = max(seconds, 0.0)
        return min(seconds, MAX_FOR_COMBINING * budget) if method.combine else seconds

    def _seconds_of_slots(self, left: float) -> float:
        """Return the sum of the seconds left in all slots, of which at least one is free."""
        return max(self.runner.n_slots * left - self.runner.seconds_reserved(), left)

    def _hard_limit(self, method: Method, soft: float | None) -> float | None:
        """Return the hard limit of a method, or None.

        It is set only on large or wide tables, where a single fit may take minutes. It rules out parallel
        fits, which are more useful on smaller tables.
        """
        budget = self.clock.budget
        if soft is None or budget is None or not self.postpones_expensive_methods:
            return None
        if method.name == INCUMBENT:
            return soft
        generous = max(MAX_SOFT_LIMITS * soft, self._largest_share(method) * budget)
        return max(min(generous, MAX_SHARE_OF_LEFT * self.left_for_rounds()), MIN_SHARE * budget)

    def _largest_share(self, method: Method) -> float:
        """Return the largest share of the budget that a method may use."""
        weights = sum(map(time_weight, self.outcomes.methods))
        return max(MIN_SHARE_TO_STOP, self.runner.n_slots * time_weight(method) / weights)

    def learn_overrun(self, outcome: Outcome, soft: float | None) -> None:
        """Update the average overrun: limits are soft, and the machine may be busy."""
        # On large tables the duration of a method is predicted before it is started.
        measured = outcome.status == "done" and outcome.seconds > MIN_SECONDS_MEASURED
        if soft and measured and not self.postpones_expensive_methods:
            ratio = min(max(outcome.seconds / soft, 1.0), MAX_OVERRUN)
            self.overrun += OVERRUN_WEIGHT * (ratio - self.overrun)
