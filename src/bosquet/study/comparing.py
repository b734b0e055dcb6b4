"""How sure a difference between two methods is.

Over repeated splits the scores of methods are paired split by split, and their mean difference has the
corrected interval of Nadeau and Bengio: training parts share rows, so that the splits say less than as many
independent ones would. With fewer splits than five, rows of the first test part are drawn anew instead; that
interval does not know how scores change with the training rows.

>>> from bosquet.study.comparing import corrected_interval
>>> [round(bound, 3) for bound in corrected_interval([0.1, 0.2, 0.15, 0.12], n_train=80, n_test=20)]
[0.045, 0.24]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bosquet.study.record import Difference
from bosquet.study.scoring import Metric

CONFIDENCE = 0.95
# The corrected interval of two splits rests on one degree of freedom and is 12.7 deviations wide either way,
# that of three 4.3: it would tell next to nothing apart.
FEWEST_SPLITS = 5
DRAWS = 400
FEWEST_DRAWS = 100
# Rows times draws that are kept as a table of bytes.
MOST_COUNTS = 8_000_000


def corrected_interval(
    values: Sequence[float], *, n_train: int, n_test: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    r"""An interval of the mean of scores, or of paired differences, over J random splits,

    .. math:: \bar d \pm t_{J-1} \sqrt{\left(\frac1J + \frac{n_{test}}{n_{train}}\right) S^2} .

    References
    ----------
    Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
    """
    from scipy.stats import t

    d = np.asarray(values, dtype=float)
    variance = (1 / len(d) + n_test / n_train) * float(d.var(ddof=1))
    half = float(t.ppf((1 + confidence) / 2, len(d) - 1)) * math.sqrt(variance)
    return float(d.mean()) - half, float(d.mean()) + half


@dataclass
class TestRows:
    """The first split's test rows, and how often each is in each of a number of draws."""

    __test__ = False  # not for pytest to collect

    y: np.ndarray
    metric: Metric
    times: np.ndarray  # (draws, rows)

    @classmethod
    def drawn(cls, y: np.ndarray, metric: Metric, seed: int) -> TestRows:
        """Draws of as many rows as there are, with replacement; the same for every method."""
        random = np.random.default_rng(seed)
        n = len(y)
        draws = min(DRAWS, max(FEWEST_DRAWS, MOST_COUNTS // n))
        times = np.empty((draws, n), dtype=np.uint8)
        for draw in range(draws):
            times[draw] = np.bincount(random.integers(n, size=n), minlength=n)
        return cls(y, metric, times)

    def scores(self, answer: np.ndarray) -> np.ndarray:
        """The score of the answers on each draw."""
        return self.metric.scores_of_draws(self.y, answer, self.times)


def difference_over_splits(
    scores: Sequence[float], best: Sequence[float], *, n_train: int, n_test: int
) -> Difference:
    """This method minus the best over the same splits, five of them or more."""
    d = np.asarray(scores, dtype=float) - np.asarray(best, dtype=float)
    low, high = corrected_interval(d, n_train=n_train, n_test=n_test)
    return _difference(float(d.mean()), low, high)


def difference_over_rows(
    scores: Sequence[float], best: Sequence[float], drawn: np.ndarray, drawn_best: np.ndarray
) -> Difference:
    """This method minus the best, where there are too few splits to go by: from draws of test rows.

    The interval is that of the draws, moved to the mean over the splits.
    """
    mean = float(np.mean(np.asarray(scores, dtype=float) - np.asarray(best, dtype=float)))
    low, high = _spread_about(mean, drawn - drawn_best, float(scores[0] - best[0]))
    return _difference(mean, low, high)


def interval_of(
    scores: Sequence[float],
    drawn: np.ndarray | None,
    *,
    n_train: int,
    n_test: int,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> list[float] | None:
    """The interval of a method's own mean score, as far as it lies within the scores that there can be."""
    if len(scores) >= FEWEST_SPLITS:
        found = corrected_interval(scores, n_train=n_train, n_test=n_test)
    elif drawn is None:
        return None
    else:
        found = _spread_about(float(np.mean(scores)), drawn, float(scores[0]))
    return [min(max(bound, within[0]), within[1]) for bound in found]


def _spread_about(mean: float, drawn: np.ndarray, seen: float) -> tuple[float, float]:
    tail = (1 - CONFIDENCE) / 2
    drawn = drawn[np.isfinite(drawn)]
    if not drawn.size:
        return mean, mean
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return mean + float(low) - seen, mean + float(high) - seen


def _difference(mean: float, low: float, high: float) -> Difference:
    apart = bool(low > 0 or high < 0)
    return {"mean": mean, "low": low, "high": high, "distinguishable": apart}
