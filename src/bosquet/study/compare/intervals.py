"""Confidence intervals of scores and of differences between methods.

Over repeated splits the scores of two methods are paired by split, and their mean difference has the
corrected interval of Nadeau and Bengio: training sets share rows, so that the splits are not independent.
With fewer than five splits the interval comes from a bootstrap of the test rows of the first split; it does
not include the variation over training sets.

Differences to the best are tested simultaneously. Their intervals are wider than that of a single comparison,
so that by chance alone some method is "significantly worse" in one study out of twenty: over splits with
Dunnett's critical value, over bootstrap draws with the quantile of the largest deviation. The selection of
the best by the same scores is not corrected for.

>>> from bosquet.study.compare.intervals import corrected_interval
>>> [round(bound, 3) for bound in corrected_interval([0.1, 0.2, 0.15, 0.12], n_train=80, n_test=20)]
[0.045, 0.24]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from bosquet.study.metrics.metric import Metric
from bosquet.study.record import Difference
from bosquet.study.table.design_splits import MIN_BLOCKS

CONFIDENCE = 0.95
# With two splits the corrected interval has one degree of freedom and a half width of 12.7 standard errors,
# with three splits 4.3: hardly any difference would be significant.
MIN_SPLITS = 5
DRAWS = 400
MIN_DRAWS = 200
# Maximum number of rows times draws: they are stored as one byte each.
MAX_COUNTS = 8_000_000


def corrected_interval(
    values: Sequence[float],
    *,
    n_train: int,
    n_test: int,
    confidence: float = CONFIDENCE,
    critical: float | None = None,
) -> tuple[float, float]:
    r"""Return a confidence interval of the mean score, or paired difference, over J random splits,

    .. math:: \bar d \pm t_{J-1} \sqrt{\left(\frac1J + \frac{n_{test}}{n_{train}}\right) S^2} .

    For simultaneous intervals `critical` replaces the quantile of t.

    References
    ----------
    Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
    """
    from scipy.stats import t

    d = np.asarray(values, dtype=float)
    variance = (1 / len(d) + n_test / n_train) * float(d.var(ddof=1))
    if critical is None:
        critical = float(t.ppf((1 + confidence) / 2, len(d) - 1))
    half = critical * math.sqrt(variance)
    return float(d.mean()) - half, float(d.mean()) + half


@cache
def dunnett_critical_value(comparisons: int, freedom: int, confidence: float = CONFIDENCE) -> float:
    r"""Return Dunnett's two-sided critical value: a bound on the largest \|t\| over several comparisons.

    The comparisons share a control, so their differences have correlation 1/2. With Z and Z\ :sub:`0`
    standard normal and s the root of a chi-square over its degrees of freedom, the probability that all
    :math:`|Z_i - Z_0| \le \sqrt2\, c\, s` is integrated over :math:`Z_0` and s.

    References
    ----------
    Dunnett, "A multiple comparison procedure for comparing several treatments with a control", JASA 50, 1955.

    Examples
    --------
    >>> from bosquet.study.compare.intervals import dunnett_critical_value
    >>> round(dunnett_critical_value(9, 20), 2)  # table of two-sided values, 5 %
    2.95
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr
    from scipy.stats import chi2, t

    if comparisons <= 1:
        return float(t.ppf((1 + confidence) / 2, freedom))
    z, weight = np.polynomial.hermite_e.hermegauss(80)
    weight = weight / weight.sum()
    u, share = np.polynomial.legendre.leggauss(200)
    scale = np.sqrt(2 * chi2.ppf((u + 1) / 2, freedom) / freedom)[:, None]

    def excess(critical: float) -> float:
        inside = ndtr(critical * scale + z) - ndtr(z - critical * scale)
        return float(share @ (inside**comparisons @ weight)) / 2 - confidence

    return float(brentq(excess, 0.1, 200.0, xtol=1e-6))


def next_block_interval(
    scores: Sequence[float], within: tuple[float, float] = (-math.inf, math.inf)
) -> tuple[float, float] | None:
    r"""Return a prediction interval for the score on the next block of time, from J blocks; None for J < 3.

    The interval is for one further score, not for the mean of the scores. The first of the following
    intervals is for scores that vary about a level, the second for scores that drift. Which of them applies
    is unknown, so the hull of both is returned:

    .. math:: \bar s \pm t_{J-1} \sqrt{1 + \tfrac1J}\, S \quad\text{and}\quad s_J \pm t_{J-1} D ,

    with S the standard deviation of the scores and D the root mean square of the differences between
    neighbouring blocks.

    Towards a bound of the metric (`within`) the interval is computed on the logarithm of the distance to the
    bound, so that for example no negative error is predicted.

    Parameters
    ----------
    scores : sequence of float
        The scores, the latest block first.
    within : (float, float)
        The range of the metric.

    Examples
    --------
    >>> from bosquet.study.compare.intervals import next_block_interval
    >>> [round(bound, 2) for bound in next_block_interval([1.0, 1.3, 0.9, 1.2, 1.1], (0.0, float("inf")))]
    [0.47, 1.82]
    >>> [round(bound, 2) for bound in next_block_interval([1.3, 1.2, 1.1, 1.0, 0.9], (0.0, float("inf")))]
    [0.7, 1.58]
    """
    if len(scores) < MIN_BLOCKS:
        return None
    s = np.asarray(scores, dtype=float)
    low, high = _next_value_interval(s)
    if np.isfinite(within[0]) and (s > within[0]).all():
        low = max(low, within[0] + math.exp(_next_value_interval(np.log(s - within[0]))[0]))
    if np.isfinite(within[1]) and (s < within[1]).all():
        high = min(high, within[1] - math.exp(_next_value_interval(np.log(within[1] - s))[0]))
    return low, high


def _next_value_interval(s: np.ndarray) -> tuple[float, float]:
    """Return the prediction interval of one further value of a series, the latest value first."""
    from scipy.stats import t

    quantile = float(t.ppf((1 + CONFIDENCE) / 2, len(s) - 1))
    level, about = float(s.mean()), quantile * math.sqrt(1 + 1 / len(s)) * float(s.std(ddof=1))
    latest, step = float(s[0]), quantile * float(np.sqrt(np.mean(np.diff(s) ** 2)))
    return min(level - about, latest - step), max(level + about, latest + step)


@dataclass
class BootstrapDraws:
    """Bootstrap draws of test rows: `counts` has the number of times each row is in each draw."""

    y: np.ndarray
    metric: Metric
    counts: np.ndarray  # (draws, rows)
    weight: np.ndarray | None = None

    @classmethod
    def draw(
        cls,
        y: np.ndarray,
        metric: Metric,
        seed: int,
        group: np.ndarray | None = None,
        weight: np.ndarray | None = None,
    ) -> BootstrapDraws:
        """Draw rows, or whole groups, with replacement; a draw has as many as the test rows have."""
        rng = np.random.default_rng(seed)
        n = len(y)
        draws = min(DRAWS, max(MIN_DRAWS, MAX_COUNTS // n))
        counts = np.empty((draws, n), dtype=np.uint8)
        unit = np.arange(n) if group is None else np.unique(group, return_inverse=True)[1]
        units = int(unit.max()) + 1
        for draw in range(draws):
            counts[draw] = np.bincount(rng.integers(units, size=units), minlength=units)[unit]
        return cls(y, metric, counts, weight)

    def scores(self, predictions: np.ndarray) -> np.ndarray:
        """Return the score of the predictions on each draw."""
        counts = self.counts if self.weight is None else self.counts * self.weight
        return self.metric.bootstrap_scores(self.y, predictions, counts)


def difference_over_splits(
    scores: Sequence[float],
    best: Sequence[float],
    *,
    n_train: int,
    n_test: int,
    comparisons: int = 1,
) -> Difference:
    """Return the difference of a method to the best over the same splits, one of several `comparisons`."""
    d = np.asarray(scores, dtype=float) - np.asarray(best, dtype=float)
    critical = dunnett_critical_value(comparisons, len(d) - 1)
    low, high = corrected_interval(d, n_train=n_train, n_test=n_test, critical=critical)
    return _make_difference(float(d.mean()), low, high)


def differences_over_rows(
    means: Sequence[float], seen: Sequence[float], drawn: Sequence[np.ndarray]
) -> list[Difference]:
    """Return the differences of several methods to the best, with intervals from bootstrap draws.

    `means` are the mean differences over the splits, `seen` those of the first split, `drawn` those of each
    draw of its test rows. The intervals are simultaneous (max-t): a half width is the standard deviation over
    the draws times the quantile of the largest standardised deviation over all differences.
    """
    off = np.array([np.asarray(d, dtype=float) - s for d, s in zip(drawn, seen, strict=True)])
    deviation = np.sqrt(np.nanmean(np.where(np.isfinite(off), off, np.nan) ** 2, axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.nanmax(np.abs(off) / deviation[:, None], axis=0, initial=0.0)
    critical = float(np.quantile(largest[np.isfinite(largest)], CONFIDENCE))
    halves = np.nan_to_num(critical * deviation)
    return [
        _make_difference(mean, mean - half, mean + half)
        for mean, half in zip(means, halves.tolist(), strict=True)
    ]


def score_interval(
    scores: Sequence[float],
    drawn: np.ndarray | None,
    *,
    n_train: int,
    n_test: int,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> list[float] | None:
    """Return the confidence interval of the mean score of a method, clipped to the range of the metric."""
    if len(scores) >= MIN_SPLITS:
        interval = corrected_interval(scores, n_train=n_train, n_test=n_test)
    elif drawn is None:
        return None
    else:
        interval = _bootstrap_interval(float(np.mean(scores)), drawn, float(scores[0]))
    return [min(max(bound, within[0]), within[1]) for bound in interval]


def _bootstrap_interval(mean: float, drawn: np.ndarray, seen: float) -> tuple[float, float]:
    tail = (1 - CONFIDENCE) / 2
    drawn = drawn[np.isfinite(drawn)]
    if not drawn.size:
        return mean, mean
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return mean + float(low) - seen, mean + float(high) - seen


def untested_difference(mean: float) -> Difference:
    """Return a difference without a test, for methods that were trained on different rows."""
    return {"mean": mean, "low": None, "high": None, "distinguishable": False}


def _make_difference(mean: float, low: float, high: float) -> Difference:
    significant = bool(low > 0 or high < 0)
    return {"mean": mean, "low": low, "high": high, "distinguishable": significant}
