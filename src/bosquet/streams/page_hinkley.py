"""Page's sum: how much a stream has exceeded a mean that was promised."""

from __future__ import annotations

import math
from typing import Any

from bosquet._parameters import check_parameters, choice, number
from bosquet._sklearn import BaseEstimator
from bosquet.streams.change import Change, check_in_range, check_range

CHECKS = {
    "mean": number(-math.inf),
    "tolerance": number(0, open_low=True),
    "run_length": number(1, open_low=True),
    "direction": choice("rise", "fall"),
    "low": number(-math.inf),
    "high": number(-math.inf),
}


class PageHinkley(BaseEstimator):
    r"""Does a stream still keep to its mean? Page's test, with the time between false alarms.

    The mean μ is known: the out-of-bag error of a forest, say, while rows to come are judged. What exceeds
    it by more than a tolerance a is added up, and never falls below 0:

    .. math:: S_t = \max(0, S_{t-1} + x_t - \mu - a), \qquad
              \text{alarm at } S_t \ge h = \frac{(high - low)^2 \ln A}{8 a}.

    By Hoeffding's lemma exp(λ(x - μ - a)) has mean at most 1 with λ = 8a / (high - low)², whatever the
    distribution of x in [low, high] with mean at most μ. So that exp(λ S) grows no faster than the number
    of values (Lorden): **without a change there are at least A values on average before an alarm**. After
    a shift to μ + Δ, Δ > a, it takes about h / (Δ - a) values. An alarm starts the
    sum anew; while μ is not kept, there will be others.

    The lecture notes of streams often put a running mean in place of μ and leave h to the user; there
    is no such promise then. If μ is not known, take `AdaptiveWindow`.

    Parameters
    ----------
    mean : float
        μ, what is expected.
    tolerance : float, default=0.05
        a; best about half of the shift that matters.
    run_length : float, default=10000
        A, values between false alarms on average, at least.
    direction : {"rise", "fall"}, default="rise"
    low, high : float, default=0.0, 1.0
        The range of the values.

    Attributes
    ----------
    changes_ : list of Change
        `began` is where the sum last left 0, `before` is `mean`.
    n_seen_ : int
    sum_ : float
        S.
    threshold_ : float
        h.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.streams import PageHinkley
    >>> detector = PageHinkley(mean=0.1, tolerance=0.1, run_length=10_000)
    >>> wrong = np.random.default_rng(1).random(1500) < np.repeat([0.1, 0.4], [1000, 500])
    >>> [place for place, value in enumerate(wrong) if detector.update(value)][:1]
    [1067]

    References
    ----------
    Page, "Continuous inspection schemes", Biometrika 1954. Lorden, "Procedures for reacting to a change in
    distribution", Annals of Mathematical Statistics 1971.
    """

    sum_: float
    n_seen_: int
    threshold_: float
    changes_: list[Change]

    def __init__(
        self,
        mean: float,
        *,
        tolerance: float = 0.05,
        run_length: float = 10_000,
        direction: str = "rise",
        low: float = 0.0,
        high: float = 1.0,
    ):
        self.mean = mean
        self.tolerance = tolerance
        self.run_length = run_length
        self.direction = direction
        self.low = low
        self.high = high

    def update(self, value: Any) -> bool:
        """Look at the next value; True if it brings the alarm."""
        known = self.__dict__ if "changes_" in self.__dict__ else self.__dict__ | self._beginning()
        number = check_in_range(value, self.low, self.high, known["n_seen_"])
        n_seen, changes = known["n_seen_"] + 1, known["changes_"]
        since, total = known["_since"], known["_total"]
        if known["sum_"] == 0:
            since, total = n_seen - 1, 0.0
        total += number
        sign = 1 if self.direction == "rise" else -1
        reached = max(0.0, known["sum_"] + sign * (number - self.mean) - self.tolerance)
        alarm = bool(reached >= known["threshold_"])
        if alarm:
            change = Change(since, n_seen - 1, float(self.mean), total / (n_seen - since))
            changes, reached = [*changes, change], 0.0
        # All at once, so that a value counts whole or, after an interrupt, not at all.
        self.__dict__ = known | {
            "n_seen_": n_seen,
            "sum_": reached,
            "_since": since,
            "_total": total,
            "changes_": changes,
        }
        return alarm

    def _beginning(self) -> dict[str, Any]:
        check_parameters(self, CHECKS)
        check_range(self.low, self.high)
        if not self.low <= self.mean <= self.high:
            raise ValueError(
                f"mean={self.mean!r} must be in [low, high] = [{self.low:g}, {self.high:g}]"
            )
        width = self.high - self.low
        return {
            "threshold_": width**2 * math.log(self.run_length) / (8 * self.tolerance),
            "changes_": [],
            "n_seen_": 0,
            "sum_": 0.0,
            "_since": 0,
            "_total": 0.0,
        }
