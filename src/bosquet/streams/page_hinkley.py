"""Page-Hinkley test: a detector of a shift from a known mean."""

from __future__ import annotations

import math

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
    r"""Page-Hinkley test: detector of a shift from a known mean, with a bound on its false alarms.

    The mean μ is known; it may be the out-of-bag error of a forest that predicts new rows. Excesses over μ
    plus a tolerance a are summed, and the sum is never negative:

    .. math:: S_t = \max(0, S_{t-1} + x_t - \mu - a), \qquad
              \text{alarm at } S_t \ge h = \frac{(high - low)^2 \ln A}{8 a}.

    By Hoeffding's lemma, exp(λ(x - μ - a)) with λ = 8a / (high - low)² has mean at most 1 for any
    distribution of x in [low, high] with mean at most μ. Therefore the mean of exp(λ S) grows at most
    linearly with the number of values (Lorden), and **without a change there are on average at least A
    values before an alarm**. After a shift to μ + Δ with Δ > a, detection takes about h / (Δ - a) values. An
    alarm resets the sum to 0; if the mean remains shifted, more alarms follow.

    Other descriptions of this test replace μ by a running mean and leave h to the user; then this guarantee
    does not hold. If μ is not known, use `AdaptiveWindow`.

    Parameters
    ----------
    mean : float
        μ, the mean without a change.
    tolerance : float, default=0.05
        a. About half of the smallest relevant shift is a good choice.
    run_length : float, default=10000
        A, the lower bound of the mean number of values before a false alarm.
    direction : {"rise", "fall"}, default="rise"
        Whether increases or decreases of the mean are detected.
    low, high : float, default=0.0, 1.0
        Range of the values.

    Attributes
    ----------
    changes_ : list of Change
        The detected changes. `began` is the index of the first value after the sum was last 0,
        `before` is `mean`.
    n_seen_ : int
        Number of values so far.
    sum_ : float
        S, the current sum.
    threshold_ : float
        h, the threshold of the sum.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.streams import PageHinkley
    >>> detector = PageHinkley(mean=0.1, tolerance=0.1, run_length=10_000)
    >>> wrong = np.random.default_rng(1).random(1500) < np.repeat([0.1, 0.4], [1000, 500])
    >>> [i for i, value in enumerate(wrong) if detector.update(value)][:1]
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

    def update(self, value: float) -> bool:
        """Process the next value; return True if it raises an alarm."""
        state = self.__dict__
        if "changes_" not in state:
            state = state | self._initial_state()
        number = check_in_range(value, self.low, self.high, state["n_seen_"])
        n_seen, changes = state["n_seen_"] + 1, state["changes_"]
        since, total = state["_since"], state["_total"]
        if state["sum_"] == 0:
            since, total = n_seen - 1, 0.0
        total += number
        sign = 1 if self.direction == "rise" else -1
        new_sum = max(0.0, state["sum_"] + sign * (number - self.mean) - self.tolerance)
        alarm = bool(new_sum >= state["threshold_"])
        if alarm:
            change = Change(since, n_seen - 1, float(self.mean), total / (n_seen - since))
            changes, new_sum = [*changes, change], 0.0
        # One assignment: after an interrupt the value was either processed completely or not at all.
        self.__dict__ = state | {
            "n_seen_": n_seen,
            "sum_": new_sum,
            "_since": since,
            "_total": total,
            "changes_": changes,
        }
        return alarm

    def _initial_state(self) -> dict[str, object]:
        check_parameters(self, CHECKS)
        check_range(self.low, self.high)
        if not self.low <= self.mean <= self.high:
            raise ValueError(
                f"mean={self.mean!r} is not valid: mean must be in [low, high] = [{self.low:g},"
                f" {self.high:g}]"
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
