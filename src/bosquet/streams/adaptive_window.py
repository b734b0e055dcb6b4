"""A window over a stream that grows while nothing happens and is dropped when its mean has changed."""

from __future__ import annotations

import math
from typing import Any

from bosquet._fitted import reads_one_fit
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
    r"""Has the mean of a stream changed? A detector that needs to know neither mean.

    The window holds what came since the last change. After every value it is cut in two wherever it can
    be, and the means of the older and of the newer part are compared. They differ by chance, for
    independent values in [low, high] with one mean, by (Hoeffding's inequality)

    .. math:: |\bar x_0 - \bar x_1| \ge (high - low)
              \sqrt{\tfrac12 \bigl(\tfrac1{n_0} + \tfrac1{n_1}\bigr) \ln \tfrac2{\delta'}}

    with probability δ' at the most. With δ' = δ / (c n (n + 1)) after n values that can be cut in c places
    the chances of all cuts at all times add up to δ: **as long as nothing changes, the chance that
    an alarm is raised at all, ever, is at most δ**. After an alarm the window is empty and the promise
    starts anew.

    The window is not stored value by value. Sums of 1, 2, 4, ... values are kept, at most `max_buckets` of
    each size, so that memory and time a value grow with the logarithm of n; the cuts lie between
    buckets. This is ADWIN's window with a threshold that holds for the whole stream.

    Parameters
    ----------
    delta : float, default=0.01
        The chance of a false alarm in a stretch of the stream without a change, however long.
    low, high : float, default=0.0, 1.0
        The range of the values: errors of a classifier are 0 or 1. A value outside is an error.
    max_buckets : int, default=5
        More buckets of a size mean more places to cut at.

    Attributes
    ----------
    changes_ : list of Change
    n_seen_ : int
        Values so far.
    n_window_ : int
        Values since the last change.
    mean_ : float
        Their mean; NaN if there are none.

    Examples
    --------
    The errors of a model, which become more frequent after 1000 rows:

    >>> import numpy as np
    >>> from bosquet.streams import AdaptiveWindow
    >>> detector = AdaptiveWindow(delta=0.01)
    >>> wrong = np.random.default_rng(1).random(1500) < np.repeat([0.1, 0.4], [1000, 500])
    >>> [place for place, value in enumerate(wrong) if detector.update(value)]
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

    def update(self, value: Any) -> bool:
        """Look at the next value; True if it brings the alarm."""
        known = self.__dict__
        if "changes_" not in known:
            check_parameters(self, CHECKS)
            check_range(self.low, self.high)
            known = known | {"changes_": [], "n_seen_": 0} | EMPTY
        number = check_in_range(value, self.low, self.high, known["n_seen_"])
        window = {
            "n_window_": known["n_window_"] + 1,
            "_total": known["_total"] + number,
            "_buckets": _added(known["_buckets"], number, self.max_buckets),
        }
        n_seen, changes = known["n_seen_"] + 1, known["changes_"]
        change = self._best_cut(n_seen, *window.values())
        if change is not None:
            changes, window = [*changes, change], EMPTY
        # All at once, so that a value counts whole or, after an interrupt, not at all.
        self.__dict__ = known | window | {"n_seen_": n_seen, "changes_": changes}
        return change is not None

    @property
    @reads_one_fit
    def mean_(self) -> float:
        """Mean of the window."""
        return self._total / self.n_window_ if self.n_window_ else math.nan

    def _best_cut(
        self, n_seen: int, n: int, whole: float, buckets: list[list[float]]
    ) -> Change | None:
        """The cut whose means lie furthest beyond what chance allows, if one does."""
        cuts = sum(map(len, buckets)) - 1
        if cuts < 1:
            return None
        chance = math.log(2 * cuts * n * (n + 1) / self.delta) / 2 * (self.high - self.low) ** 2
        best, found = 1.0, None
        size, newer, total = 0, 0, 0.0
        for level, sums in enumerate(buckets):
            size = 2**level
            for part in reversed(sums):  # from the newest on
                newer, total = newer + size, total + part
                older = n - newer
                if older == 0:
                    break
                before, after = (whole - total) / older, total / newer
                beyond = (before - after) ** 2 / (chance * (1 / older + 1 / newer))
                if beyond >= best:
                    best = beyond
                    found = Change(n_seen - newer, n_seen - 1, before, after)
        return found


# A window of no values. Buckets are by size 1, 2, 4, ...: sums of so many values, the oldest first.
EMPTY: dict[str, Any] = {"n_window_": 0, "_total": 0.0, "_buckets": []}


def _added(buckets: list[list[float]], number: float, most: int) -> list[list[float]]:
    """With a bucket of one value more; where there are too many of a size, the two oldest become one."""
    buckets = list(buckets)
    carried: float | None = number
    level = 0
    while carried is not None:
        sums = [*(buckets[level] if level < len(buckets) else ()), carried]
        carried = None
        if len(sums) > most:
            carried, sums = sums[0] + sums[1], sums[2:]
        buckets[level : level + 1] = [sums]
        level += 1
    return buckets
