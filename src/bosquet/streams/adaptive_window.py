"""Adaptive windowing: a detector of changes in the mean of a stream."""

from __future__ import annotations

import math
from typing import Any

from bosquet._fitted import reads_fit_snapshot
from bosquet._parameters import check_parameters, integer, number
from bosquet._sklearn import BaseEstimator
from bosquet.streams.change import Change, check_in_range, check_range

CHECKS = {
    "delta": number(0, 1, open_low=True, open_high=True),
    "low": number(-math.inf),
    "high": number(-math.inf),
    "max_buckets": integer(2),
}


class AdaptiveWindow(BaseEstimator):
    r"""Detector of a change in the mean of a stream; the means before and after need not be known.

    The window contains the values since the last change. After every value it is cut in two at every
    possible place, and the means of the older and of the newer part are compared. If the values are
    independent, lie in [low, high] and have the same mean, then by Hoeffding's inequality

    .. math:: |\bar x_0 - \bar x_1| \ge (high - low)
              \sqrt{\tfrac12 \bigl(\tfrac1{n_0} + \tfrac1{n_1}\bigr) \ln \tfrac2{\delta'}}

    has probability at most δ'. With δ' = δ / (c n (n + 1)) for n values and c possible cuts, the
    probabilities of all cuts at all times sum to at most δ: **while the mean does not change, the
    probability that there is ever an alarm is at most δ**. An alarm empties the window, and the guarantee
    holds again for the values that follow.

    The window does not store every value. It stores sums of 1, 2, 4, ... values (buckets), at most
    `max_buckets` of each size, so that its memory and the time per value grow with the logarithm of n. The
    cuts lie between buckets. This is the window of ADWIN with a threshold that is valid for the whole
    stream.

    Parameters
    ----------
    delta : float, default=0.01
        δ, the largest probability of a false alarm while the mean does not change, for any length of the
        stream.
    low, high : float, default=0.0, 1.0
        Range of the values; the errors of a classifier are 0 or 1. A value outside raises an error.
    max_buckets : int, default=5
        Maximum number of buckets of each size. More buckets mean more possible cuts.

    Attributes
    ----------
    changes_ : list of Change
        The detected changes.
    n_seen_ : int
        Number of values so far.
    n_window_ : int
        Number of values since the last change.
    mean_ : float
        Mean of these values; NaN if there are none.

    Examples
    --------
    The errors of a model, which become more frequent after 1000 rows:

    >>> import numpy as np
    >>> from bosquet.streams import AdaptiveWindow
    >>> detector = AdaptiveWindow(delta=0.01)
    >>> wrong = np.random.default_rng(1).random(1500) < np.repeat([0.1, 0.4], [1000, 500])
    >>> [i for i, value in enumerate(wrong) if detector.update(value)]
    [1222]
    >>> print(f"{detector.changes_[0].before:.2f} -> {detector.changes_[0].after:.2f}")
    0.09 -> 0.34

    References
    ----------
    Bifet and Gavaldà, "Learning from time-changing data with adaptive windowing", SIAM International
    Conference on Data Mining 2007.
    """

    changes_: list[Change]
    n_seen_: int
    n_window_: int

    def __init__(
        self, delta: float = 0.01, *, low: float = 0.0, high: float = 1.0, max_buckets: int = 5
    ):
        self.delta = delta
        self.low = low
        self.high = high
        self.max_buckets = max_buckets

    def update(self, value: float) -> bool:
        """Process the next value; return True if it raises an alarm."""
        state = self.__dict__
        if "changes_" not in state:
            check_parameters(self, CHECKS)
            check_range(self.low, self.high)
            state = state | {"changes_": [], "n_seen_": 0} | EMPTY_WINDOW
        number = check_in_range(value, self.low, self.high, state["n_seen_"])
        window = {
            "n_window_": state["n_window_"] + 1,
            "_total": state["_total"] + number,
            "_buckets": _with_value(state["_buckets"], number, self.max_buckets),
        }
        n_seen, changes = state["n_seen_"] + 1, state["changes_"]
        change = self._best_cut(n_seen, *window.values())
        if change is not None:
            changes, window = [*changes, change], EMPTY_WINDOW
        # One assignment: after an interrupt the value was either processed completely or not at all.
        self.__dict__ = state | window | {"n_seen_": n_seen, "changes_": changes}
        return change is not None

    @property
    @reads_fit_snapshot
    def mean_(self) -> float:
        """Mean of the values in the window."""
        return self._total / self.n_window_ if self.n_window_ else math.nan

    def _best_cut(
        self, n_seen: int, n: int, total: float, buckets: list[list[float]]
    ) -> Change | None:
        """Return the change at the cut that exceeds its threshold most, or None if no cut exceeds it."""
        cuts = sum(map(len, buckets)) - 1
        if cuts < 1:
            return None
        threshold = math.log(2 * cuts * n * (n + 1) / self.delta) / 2 * (self.high - self.low) ** 2
        best_ratio, change = 1.0, None
        size, n_newer, newer_total = 0, 0, 0.0
        for level, sums in enumerate(buckets):
            size = 2**level
            for bucket in reversed(sums):  # from the newest to the oldest
                n_newer, newer_total = n_newer + size, newer_total + bucket
                n_older = n - n_newer
                if n_older == 0:
                    break
                before, after = (total - newer_total) / n_older, newer_total / n_newer
                ratio = (before - after) ** 2 / (threshold * (1 / n_older + 1 / n_newer))
                if ratio >= best_ratio:
                    best_ratio = ratio
                    change = Change(n_seen - n_newer, n_seen - 1, before, after)
        return change


# `_buckets` has one list per size 1, 2, 4, ...: the sums of as many values, the oldest first.
EMPTY_WINDOW: dict[str, Any] = {"n_window_": 0, "_total": 0.0, "_buckets": []}


def _with_value(buckets: list[list[float]], number: float, max_buckets: int) -> list[list[float]]:
    """Return the buckets with one more value; if there are too many of a size, the two oldest are merged."""
    buckets = list(buckets)
    merged: float | None = number
    level = 0
    while merged is not None:
        sums = [*(buckets[level] if level < len(buckets) else ()), merged]
        merged = None
        if len(sums) > max_buckets:
            merged, sums = sums[0] + sums[1], sums[2:]
        buckets[level : level + 1] = [sums]
        level += 1
    return buckets
