"""Do the probabilities mean what they say? Reliability, the Brier score and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from bosquet._parameters import check_value, choice, integer, number
from bosquet._shown import Shown
from bosquet._sklearn import seed_from
from bosquet.trust._outcomes import (
    check_probabilities,
    check_weights,
    class_indicators,
    one_event,
)


@dataclass(frozen=True, repr=False)
class ReliabilityCurve(Shown):
    """Scores in bins, and how often the event happened in each.

    Attributes
    ----------
    edges : array of shape (bins + 1,)
        A score belongs to the bin whose upper edge is the first not below it.
    count, weight : arrays of shape (bins,)
        Rows of a bin, and the sum of their weights. A bin without rows has NaN below.
    score : array of shape (bins,)
        Mean score of the bin.
    observed : array of shape (bins,)
        Share of the rows where the event happened.
    low, high : arrays of shape (bins,)
        Wilson's interval of that share.
    confidence : float
        The level of the intervals.
    """

    edges: np.ndarray
    count: np.ndarray
    weight: np.ndarray
    score: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float

    _most_lines = 20  # more bins than that are hardly read

    def columns(self) -> dict[str, Any]:
        """Rows, mean score, observed share and its interval of each bin."""
        names = ("count", "score", "observed", "low", "high")
        return {name: getattr(self, name) for name in names}

    def _caption(self) -> str:
        return (
            f"Reliability of {int(self.count.sum())} scores in {self.count.size} bins,"
            f" {self.confidence:.0%} intervals"
        )


@dataclass(frozen=True)
class BrierDecomposition:
    """The Brier score as a sum of five parts.

    ``score = reliability - resolution + uncertainty + within_variance - within_covariance``, exactly.

    Attributes
    ----------
    score : float
        Mean squared distance of probability and outcome.
    reliability : float
        Mean squared distance of a bin's score from what was observed there: what calibration can
        take away.
    resolution : float
        Variance of what was observed over the bins: how far the model tells rows apart.
    uncertainty : float
        Variance of the outcome: the score of the constant that is right on average.
    within_variance, within_covariance : float
        Variance of the scores inside bins, and twice their covariance with the outcome there. Both
        are 0 if all scores of a bin are the same; together they are what the bins do not see.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_variance: float
    within_covariance: float


@dataclass(frozen=True)
class CalibrationError:
    """The expected calibration error and how well it is known.

    Attributes
    ----------
    value : float
        The error, as bins show it.
    corrected : float
        The same less what chance adds, which the bootstrap tells; not below 0.
    low, high : float
        Bounds of the bootstrap interval of the error without that bias.
    confidence : float
        The level of the interval.
    """

    value: float
    corrected: float
    low: float
    high: float
    confidence: float


def reliability_curve(
    y: Any,
    probabilities: Any,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = 0.95,
    of: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> ReliabilityCurve:
    """How often an event happened where the model said p, for p in bins.

    Parameters
    ----------
    y : array of shape (rows,)
        True classes.
    probabilities : array of shape (rows,) or (rows, classes)
        As `predict_proba` gives them; one column is the probability of the second class.
    n_bins : int, default=10
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equal numbers of rows, or of equal width. Equal scores are never parted.
    confidence : float, default=0.95
        Level of the intervals.
    of : label, optional
        With more than two classes: the class whose probability is looked at. None: the most
        probable class, the event being that it is the right one.
    classes : array, optional
        The labels in the order of the columns; taken from y by default.
    sample_weight : array of shape (rows,), optional

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> from bosquet.trust import reliability_curve
    >>> curve = reliability_curve([0, 0, 1, 1, 0, 1], [0.1, 0.2, 0.2, 0.7, 0.9, 0.9], n_bins=2)
    >>> print(curve.score.round(3), curve.observed.round(3))
    [0.167 0.833] [0.333 0.667]
    """
    check_value("confidence", confidence, number(0, 1, open_low=True))
    happened, score = one_event(y, probabilities, classes, of)
    weight = check_weights(sample_weight, happened.size)
    edges = bin_edges(score, weight, n_bins, strategy)
    bins = _bin_of(score, edges)
    size = edges.size - 1
    total = np.bincount(bins, weight, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(bins, weight * score, size) / total
        observed = np.bincount(bins, weight * happened, size) / total
        # Unequal weights tell as much as this many equal ones.
        effective = total**2 / np.bincount(bins, weight**2, size)
    low, high = wilson_interval(observed, effective, confidence)
    return ReliabilityCurve(
        edges, np.bincount(bins, minlength=size), total, mean, observed, low, high, confidence
    )


def brier_decomposition(
    y: Any,
    probabilities: Any,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    classes: Any = None,
    sample_weight: Any = None,
) -> BrierDecomposition:
    r"""The Brier score, taken apart.

    With bins k of weight :math:`w_k` (summing to 1), mean score :math:`\bar p_k` and observed share
    :math:`\bar y_k`,

    .. math:: \frac1n \sum_i (p_i - y_i)^2 = \sum_k w_k (\bar p_k - \bar y_k)^2
              - \sum_k w_k (\bar y_k - \bar y)^2 + \bar y (1 - \bar y)
              + \sum_k w_k \mathrm{Var}_k(p) - 2 \sum_k w_k \mathrm{Cov}_k(p, y) .

    Of more than two classes each is an event of its own, with bins of its own, and the parts are
    summed: the score is then between 0 and 2.

    Parameters
    ----------
    y, probabilities, n_bins, strategy, classes, sample_weight
        As in `reliability_curve`.

    Returns
    -------
    BrierDecomposition

    Examples
    --------
    >>> from bosquet.trust import brier_decomposition
    >>> parts = brier_decomposition([0, 0, 0, 1, 0, 1, 1, 1], [0.2] * 4 + [0.6] * 4)
    >>> print(f"{parts.score:.4f} = {parts.reliability:.4f} - {parts.resolution:.4f}"
    ...       f" + {parts.uncertainty:.4f}")
    0.2000 = 0.0125 - 0.0625 + 0.2500

    References
    ----------
    Murphy, "A new vector partition of the probability score", Journal of Applied Meteorology 12, 1973.
    Stephenson, Coelho and Jolliffe, "Two extra components in the Brier score decomposition", Weather and
    Forecasting 23, 2008.
    """
    happened, score = class_indicators(y, check_probabilities(probabilities), classes)
    weight = check_weights(sample_weight, len(happened))
    parts = np.zeros(6)
    for event in range(happened.shape[1]):
        parts += _parts_of(happened[:, event], score[:, event], weight, n_bins, strategy)
    return BrierDecomposition(*parts.tolist())


def _parts_of(
    happened: np.ndarray, score: np.ndarray, weight: np.ndarray, n_bins: int, strategy: str
) -> np.ndarray:
    edges = bin_edges(score, weight, n_bins, strategy)
    bins = _bin_of(score, edges)
    total = np.bincount(bins, weight, edges.size - 1)
    share = total / weight.sum()
    filled = np.maximum(total, np.finfo(float).tiny)
    mean = np.bincount(bins, weight * score, total.size) / filled
    observed = np.bincount(bins, weight * happened, total.size) / filled
    everywhere = float(share @ observed)
    off_score, off_outcome = score - mean[bins], happened - observed[bins]
    return np.array(
        [
            np.average((score - happened) ** 2, weights=weight),
            share @ (mean - observed) ** 2,
            share @ (observed - everywhere) ** 2,
            everywhere * (1 - everywhere),
            np.average(off_score**2, weights=weight),
            2 * np.average(off_score * off_outcome, weights=weight),
        ]
    )


def calibration_error(
    y: Any,
    probabilities: Any,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = 0.95,
    n_bootstrap: int = 500,
    of: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> CalibrationError:
    r"""The expected calibration error, :math:`\sum_k w_k |\bar p_k - \bar y_k|`, with an interval.

    The error of a finite sample is too large: where score and truth agree, chance parts them. Rows
    drawn anew from the sample show how far, and that is taken off, quantile by quantile. Drawn about the
    gaps that were seen, chance looks too small; about gaps drawn back by their own variance, too large.
    The upper bound takes off the one, the lower bound the other, and the estimate the mean of both.

    Parameters
    ----------
    y, probabilities, n_bins, strategy, confidence, of, classes, sample_weight
        As in `reliability_curve`.
    n_bootstrap : int, default=500
        Draws.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    CalibrationError

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.trust import calibration_error
    >>> p = np.random.default_rng(0).random(2000)
    >>> y = np.random.default_rng(1).random(2000) < p ** 2
    >>> error = calibration_error(y, p)
    >>> print(f"{error.value:.3f}, between {error.low:.3f} and {error.high:.3f}")
    0.169, between 0.155 and 0.186

    References
    ----------
    Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning",
    AAAI 2015.
    """
    check_value("n_bootstrap", n_bootstrap, integer(1))
    check_value("confidence", confidence, number(0, 1, open_low=True))
    happened, score = one_event(y, probabilities, classes, of)
    weight = check_weights(sample_weight, happened.size)
    edges = bin_edges(score, weight, n_bins, strategy)
    bins = _bin_of(score, edges)
    gap = weight * (score - happened)

    def gaps(times: np.ndarray | None) -> np.ndarray:
        off = np.bincount(bins, gap if times is None else gap * times, edges.size - 1)
        return off / max(weight.sum() if times is None else weight @ times, np.finfo(float).tiny)

    seen, n = gaps(None), happened.size
    random = np.random.default_rng(seed_from(random_state))
    drawn = np.array(
        [gaps(np.bincount(random.integers(n, size=n), minlength=n)) for _ in range(n_bootstrap)]
    )
    value, tail = float(np.abs(seen).sum()), (1 - confidence) / 2
    # A gap's square is too large by its variance; drawn back by it, gaps may be too small.
    true = np.sign(seen) * np.sqrt(np.maximum(seen**2 - drawn.var(axis=0), 0))
    excess_low = np.abs(drawn).sum(axis=1) - value
    excess_high = np.abs(drawn - seen + true).sum(axis=1) - np.abs(true).sum()
    low = value - np.quantile(excess_high, 1 - tail)
    high = value - np.quantile(excess_low, tail)
    corrected = value - (excess_low.mean() + excess_high.mean()) / 2
    low, corrected, high = (max(float(bound), 0.0) for bound in (low, corrected, high))
    return CalibrationError(value, corrected, low, high, confidence)


# ------------------------------------------------------------------------------------------ bins
def bin_edges(score: np.ndarray, weight: np.ndarray, n_bins: int, strategy: str) -> np.ndarray:
    """Edges from 0 to 1; by quantiles at most `n_bins` bins, fewer where scores repeat."""
    check_value("n_bins", n_bins, integer(1))
    check_value("strategy", strategy, choice("quantile", "uniform"))
    if strategy == "uniform":
        return np.linspace(0, 1, n_bins + 1)
    order = np.argsort(score, kind="stable")
    below = np.cumsum(weight[order])
    levels = np.arange(1, n_bins) / n_bins * below[-1]
    # Sums of weights round; an edge must not move by a row for that.
    inner = score[order[np.searchsorted(below, levels * (1 - 1e-12))]]
    inner = np.unique(inner)
    # An edge at the largest score would leave an empty bin above it. Scores of 0 may be a bin of their own.
    return np.concatenate([[0.0], inner[inner < score.max()], [1.0]])


def _bin_of(score: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.searchsorted(edges[1:-1], score, side="left")


def wilson_interval(
    share: np.ndarray, rows: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval of a share observed in so many rows; it stays within [0, 1]."""
    z2 = norm.ppf((1 + confidence) / 2) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = (share + z2 / (2 * rows)) / (1 + z2 / rows)
        reach = np.sqrt(z2 * (share * (1 - share) / rows + z2 / (4 * rows**2))) / (1 + z2 / rows)
    return np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)
