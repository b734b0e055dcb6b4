"""How sure a difference between two methods is.

Over repeated splits the scores of methods are paired split by split, and their mean difference has the
corrected interval of Nadeau and Bengio: training parts share rows, so that the splits say less than as many
independent ones would. With fewer splits than five, rows of the first test part are drawn anew instead; that
interval does not know how scores change with the training rows.

Differences to the best are tested all at once: their intervals are wider than that of a single comparison,
so that noise alone makes any method "significantly worse" in one study of twenty (Dunnett's critical value
over splits, the quantile of the largest deviation over draws). That the best was selected by the same
scores is not corrected for.

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

from bosquet.study.metrics.scoring import Metric
from bosquet.study.record import Difference
from bosquet.study.table.design_splits import FEWEST_BLOCKS

CONFIDENCE = 0.95
# The corrected interval of two splits rests on one degree of freedom and is 12.7 deviations wide either way,
# that of three 4.3: it would tell next to nothing apart.
FEWEST_SPLITS = 5
DRAWS = 400
FEWEST_DRAWS = 200
# Rows times draws that are kept as a table of bytes.
MOST_COUNTS = 8_000_000


def corrected_interval(
    values: Sequence[float],
    *,
    n_train: int,
    n_test: int,
    confidence: float = CONFIDENCE,
    critical: float | None = None,
) -> tuple[float, float]:
    r"""An interval of the mean of scores, or of paired differences, over J random splits,

    .. math:: \bar d \pm t_{J-1} \sqrt{\left(\frac1J + \frac{n_{test}}{n_{train}}\right) S^2} .

    `critical` takes the place of the quantile of t where several intervals are to hold at once.

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
    r"""Dunnett's two-sided critical value: the bound of the largest of several \|t\| that share a control.

    Differences to one control correlate by 1/2. With Z and Z\ :sub:`0` standard normal and s the root of a
    chi-square over its degrees of freedom, the probability that all :math:`|Z_i - Z_0| \le \sqrt2\, c\, s` is
    integrated over :math:`Z_0` and s.

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
    r"""An interval for the score on the next block of time, from those on J blocks; None for J < 3.

    A prediction interval of one more score, not an interval of their mean: blocks differ as the future will.
    If scores vary about a level, the next one is in the first of two intervals; if they wander, so that
    it starts from the latest, in the second. It is not known which, and the hull of both is returned:

    .. math:: \bar s \pm t_{J-1} \sqrt{1 + \tfrac1J}\, S \quad\text{and}\quad s_J \pm t_{J-1} D ,

    with S the standard deviation of the scores and D the root mean square of the differences between
    neighbouring blocks.

    A bound of the scores (`within`) is approached on a logarithmic scale: no error is negative, and the lower
    end is that of the logarithms of the errors.

    Parameters
    ----------
    scores : the latest block first
    within : scores that there can be

    Examples
    --------
    >>> from bosquet.study.compare.intervals import next_block_interval
    >>> [round(bound, 2) for bound in next_block_interval([1.0, 1.3, 0.9, 1.2, 1.1], (0.0, float("inf")))]
    [0.47, 1.82]
    >>> [round(bound, 2) for bound in next_block_interval([1.3, 1.2, 1.1, 1.0, 0.9], (0.0, float("inf")))]
    [0.7, 1.58]
    """
    if len(scores) < FEWEST_BLOCKS:
        return None
    s = np.asarray(scores, dtype=float)
    low, high = _of_next(s)
    if np.isfinite(within[0]) and (s > within[0]).all():
        low = max(low, within[0] + math.exp(_of_next(np.log(s - within[0]))[0]))
    if np.isfinite(within[1]) and (s < within[1]).all():
        high = min(high, within[1] - math.exp(_of_next(np.log(within[1] - s))[0]))
    return low, high


def _of_next(s: np.ndarray) -> tuple[float, float]:
    """The interval of one more value of a series, the latest first, that varies about a level or wanders."""
    from scipy.stats import t

    quantile = float(t.ppf((1 + CONFIDENCE) / 2, len(s) - 1))
    level, about = float(s.mean()), quantile * math.sqrt(1 + 1 / len(s)) * float(s.std(ddof=1))
    latest, step = float(s[0]), quantile * float(np.sqrt(np.mean(np.diff(s) ** 2)))
    return min(level - about, latest - step), max(level + about, latest + step)


@dataclass
class TestRows:
    """The first split's test rows, and how often each is in each of a number of draws."""

    __test__ = False  # not for pytest to collect

    y: np.ndarray
    metric: Metric
    times: np.ndarray  # (draws, rows)
    weight: np.ndarray | None = None

    @classmethod
    def drawn(
        cls,
        y: np.ndarray,
        metric: Metric,
        seed: int,
        group: np.ndarray | None = None,
        weight: np.ndarray | None = None,
    ) -> TestRows:
        """Draws of as many rows, or groups, as there are, with replacement; the same for every method."""
        random = np.random.default_rng(seed)
        n = len(y)
        draws = min(DRAWS, max(FEWEST_DRAWS, MOST_COUNTS // n))
        times = np.empty((draws, n), dtype=np.uint8)
        unit = np.arange(n) if group is None else np.unique(group, return_inverse=True)[1]
        units = int(unit.max()) + 1
        for draw in range(draws):
            times[draw] = np.bincount(random.integers(units, size=units), minlength=units)[unit]
        return cls(y, metric, times, weight)

    def scores(self, answer: np.ndarray) -> np.ndarray:
        """The score of the answers on each draw."""
        times = self.times if self.weight is None else self.times * self.weight
        return self.metric.scores_of_draws(self.y, answer, times)


def difference_over_splits(
    scores: Sequence[float],
    best: Sequence[float],
    *,
    n_train: int,
    n_test: int,
    comparisons: int = 1,
) -> Difference:
    """This method minus the best over the same splits, one of several comparisons made at once."""
    d = np.asarray(scores, dtype=float) - np.asarray(best, dtype=float)
    critical = dunnett_critical_value(comparisons, len(d) - 1)
    low, high = corrected_interval(d, n_train=n_train, n_test=n_test, critical=critical)
    return _difference(float(d.mean()), low, high)


def differences_over_rows(
    means: Sequence[float], seen: Sequence[float], drawn: Sequence[np.ndarray]
) -> list[Difference]:
    """Several methods minus the best, where there are too few splits to go by: from draws of test rows.

    `means` are differences over the splits, `seen` those of the first split, `drawn` those of each draw of
    its test rows. The intervals hold at once: half widths are standard deviations over the draws times the
    quantile of the largest deviation, in standard deviations, that a draw has in any of the differences
    (max-t).
    """
    off = np.array([np.asarray(d, dtype=float) - s for d, s in zip(drawn, seen, strict=True)])
    deviation = np.sqrt(np.nanmean(np.where(np.isfinite(off), off, np.nan) ** 2, axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.nanmax(np.abs(off) / deviation[:, None], axis=0, initial=0.0)
    critical = float(np.quantile(largest[np.isfinite(largest)], CONFIDENCE))
    halves = np.nan_to_num(critical * deviation)
    return [
        _difference(mean, mean - half, mean + half)
        for mean, half in zip(means, halves.tolist(), strict=True)
    ]


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


def untested(mean: float) -> Difference:
    """A difference between methods that were trained on different rows."""
    return {"mean": mean, "low": None, "high": None, "distinguishable": False}


def _difference(mean: float, low: float, high: float) -> Difference:
    apart = bool(low > 0 or high < 0)
    return {"mean": mean, "low": low, "high": high, "distinguishable": apart}
