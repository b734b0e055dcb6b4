"""Calibration diagnostics: reliability curve, Brier score decomposition, expected calibration error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from bosquet._parameters import check_value, choice, integer, number
from bosquet._sklearn import seed_from
from bosquet._tabular_result import TabularResult
from bosquet.trust.outcomes import (
    binary_event,
    check_probabilities,
    check_weights,
    class_indicators,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import RandomState


@dataclass(frozen=True, repr=False)
class ReliabilityCurve(TabularResult):
    """Predicted probabilities in bins, and the observed frequency of the event in each bin.

    Attributes
    ----------
    edges : array of shape (bins + 1,)
        Edges of the bins. A bin contains its upper edge, but not its lower one.
    count, weight : arrays of shape (bins,)
        Number of rows in each bin, and the sum of their weights. The values below are NaN for a bin
        without rows.
    score : array of shape (bins,)
        Mean predicted probability of each bin.
    observed : array of shape (bins,)
        Observed frequency of the event in each bin.
    low, high : arrays of shape (bins,)
        Bounds of Wilson's confidence interval for that frequency.
    confidence : float
        Confidence level of the intervals.
    """

    edges: np.ndarray
    count: np.ndarray
    weight: np.ndarray
    score: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float

    _max_lines = 20  # a table of more bins is hard to read

    def columns(self) -> dict[str, Any]:
        """Return the columns: number of rows, mean score, observed frequency and its interval per bin."""
        names = ("count", "score", "observed", "low", "high")
        return {name: getattr(self, name) for name in names}

    def _caption(self) -> str:
        return (
            f"Reliability of {int(self.count.sum())} scores in {self.count.size} bins,"
            f" {self.confidence:.0%} intervals"
        )


@dataclass(frozen=True)
class BrierDecomposition:
    """Decomposition of the Brier score into five terms.

    ``score = reliability - resolution + uncertainty + within_variance - within_covariance``, exactly.

    Attributes
    ----------
    score : float
        Brier score: mean squared difference of probability and outcome.
    reliability : float
        Mean squared difference of mean score and observed frequency per bin. Calibration can remove
        this term.
    resolution : float
        Variance of the observed frequency between bins: how well the model separates rows.
    uncertainty : float
        Variance of the outcome: the Brier score of a constant prediction at the mean outcome.
    within_variance, within_covariance : float
        Variance of the scores within bins, and twice their covariance with the outcome within bins. Both
        are 0 if all scores of a bin are equal; their difference is the error due to binning.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_variance: float
    within_covariance: float


@dataclass(frozen=True)
class CalibrationError:
    """The expected calibration error with a bootstrap confidence interval.

    Attributes
    ----------
    value : float
        The binned estimate of the error, which is biased upwards.
    corrected : float
        The estimate minus its bias, which the bootstrap estimates; at least 0.
    low, high : float
        Bounds of the bias-corrected bootstrap interval.
    confidence : float
        Confidence level of the interval.
    """

    value: float
    corrected: float
    low: float
    high: float
    confidence: float


def reliability_curve(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = 0.95,
    of: object = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Compute the observed frequency of an event against its predicted probability, in bins.

    Parameters
    ----------
    y : array of shape (rows,)
        True classes.
    probabilities : array of shape (rows,) or (rows, classes)
        As `predict_proba` returns them; a single column is the probability of the second class.
    n_bins : int, default=10
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins with equal numbers of rows, or of equal width. Rows with equal scores share a bin.
    confidence : float, default=0.95
        Confidence level of the intervals.
    of : label, optional
        With more than two classes: the class whose probability is examined. Default: the most probable
        class of each row; the event is that it is correct.
    classes : array, optional
        The labels in the order of the columns (default: the sorted labels in y).
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
    outcome, score = binary_event(y, probabilities, classes, of)
    weight = check_weights(sample_weight, outcome.size)
    edges = bin_edges(score, weight, n_bins, strategy)
    bins = _bin_of(score, edges)
    size = edges.size - 1
    total = np.bincount(bins, weight, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(bins, weight * score, size) / total
        observed = np.bincount(bins, weight * outcome, size) / total
        # Effective sample size of the weighted rows.
        effective = total**2 / np.bincount(bins, weight**2, size)
    low, high = wilson_interval(observed, effective, confidence)
    return ReliabilityCurve(
        edges, np.bincount(bins, minlength=size), total, mean, observed, low, high, confidence
    )


def brier_decomposition(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> BrierDecomposition:
    r"""Decompose the Brier score into reliability, resolution, uncertainty and within-bin terms.

    With bins k of weight :math:`w_k` (summing to 1), mean score :math:`\bar p_k` and observed frequency
    :math:`\bar y_k`,

    .. math:: \frac1n \sum_i (p_i - y_i)^2 = \sum_k w_k (\bar p_k - \bar y_k)^2
              - \sum_k w_k (\bar y_k - \bar y)^2 + \bar y (1 - \bar y)
              + \sum_k w_k \mathrm{Var}_k(p) - 2 \sum_k w_k \mathrm{Cov}_k(p, y) .

    With more than two classes, each class is an event with its own bins, and the terms are summed over
    the classes. The score is then between 0 and 2.

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
    outcome, score = class_indicators(y, check_probabilities(probabilities), classes)
    weight = check_weights(sample_weight, len(outcome))
    terms = np.zeros(6)
    for event in range(outcome.shape[1]):
        terms += _brier_terms(outcome[:, event], score[:, event], weight, n_bins, strategy)
    return BrierDecomposition(*terms.tolist())


def _brier_terms(
    outcome: np.ndarray, score: np.ndarray, weight: np.ndarray, n_bins: int, strategy: str
) -> np.ndarray:
    """Return the terms of one event, in the order of the fields of `BrierDecomposition`."""
    edges = bin_edges(score, weight, n_bins, strategy)
    bins = _bin_of(score, edges)
    total = np.bincount(bins, weight, edges.size - 1)
    share = total / weight.sum()
    filled = np.maximum(total, np.finfo(float).tiny)
    mean = np.bincount(bins, weight * score, total.size) / filled
    observed = np.bincount(bins, weight * outcome, total.size) / filled
    base_rate = float(share @ observed)
    centred_score, centred_outcome = score - mean[bins], outcome - observed[bins]
    return np.array(
        [
            np.average((score - outcome) ** 2, weights=weight),
            share @ (mean - observed) ** 2,
            share @ (observed - base_rate) ** 2,
            base_rate * (1 - base_rate),
            np.average(centred_score**2, weights=weight),
            2 * np.average(centred_score * centred_outcome, weights=weight),
        ]
    )


def calibration_error(
    y: ArrayLike,
    probabilities: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence: float = 0.95,
    n_bootstrap: int = 500,
    of: object = None,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = 0,
) -> CalibrationError:
    r"""Compute the calibration error, :math:`\sum_k w_k |\bar p_k - \bar y_k|`, with a confidence interval.

    The error of a finite sample is biased upwards: even with calibrated scores, the observed frequencies
    differ from the mean scores by chance. The bootstrap estimates this bias, which is then subtracted.
    Bootstrap samples around the observed gaps give too small a bias. Bootstrap samples around gaps that
    are shrunk by their own variance give too large a bias. The upper bound of the interval uses the first,
    the lower bound the second, and the corrected estimate the mean of both.

    Parameters
    ----------
    y, probabilities, n_bins, strategy, confidence, of, classes, sample_weight
        As in `reliability_curve`.
    n_bootstrap : int, default=500
        Number of bootstrap samples.
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
    outcome, score = binary_event(y, probabilities, classes, of)
    weight = check_weights(sample_weight, outcome.size)
    edges = bin_edges(score, weight, n_bins, strategy)
    bins = _bin_of(score, edges)
    difference = weight * (score - outcome)

    def gaps(counts: np.ndarray | None) -> np.ndarray:
        """Return the weighted mean difference per bin.

        `counts` is how often a bootstrap sample holds each row.
        """
        total = np.bincount(
            bins, difference if counts is None else difference * counts, edges.size - 1
        )
        total_weight = weight.sum() if counts is None else weight @ counts
        return total / max(total_weight, np.finfo(float).tiny)

    observed, n = gaps(None), outcome.size
    rng = np.random.default_rng(seed_from(random_state))
    resampled = np.array(
        [gaps(np.bincount(rng.integers(n, size=n), minlength=n)) for _ in range(n_bootstrap)]
    )
    value, tail = float(np.abs(observed).sum()), (1 - confidence) / 2
    # The square of an observed gap exceeds that of the true gap by its variance, on average.
    shrunk = np.sign(observed) * np.sqrt(np.maximum(observed**2 - resampled.var(axis=0), 0))
    small_bias = np.abs(resampled).sum(axis=1) - value
    large_bias = np.abs(resampled - observed + shrunk).sum(axis=1) - np.abs(shrunk).sum()
    low = value - np.quantile(large_bias, 1 - tail)
    high = value - np.quantile(small_bias, tail)
    corrected = value - (small_bias.mean() + large_bias.mean()) / 2
    low, corrected, high = (max(float(bound), 0.0) for bound in (low, corrected, high))
    return CalibrationError(value, corrected, low, high, confidence)


# ------------------------------------------------------------------------------------------ bins
def bin_edges(score: np.ndarray, weight: np.ndarray, n_bins: int, strategy: str) -> np.ndarray:
    """Return bin edges from 0 to 1; "quantile" makes at most `n_bins` bins, fewer if scores repeat."""
    check_value("n_bins", n_bins, integer(1))
    check_value("strategy", strategy, choice("quantile", "uniform"))
    if strategy == "uniform":
        return np.linspace(0, 1, n_bins + 1)
    order = np.argsort(score, kind="stable")
    cumulative = np.cumsum(weight[order])
    levels = np.arange(1, n_bins) / n_bins * cumulative[-1]
    # The tolerance prevents that rounding errors of the sums move an edge by a row.
    inner = score[order[np.searchsorted(cumulative, levels * (1 - 1e-12))]]
    inner = np.unique(inner)
    # An edge at the largest score would leave an empty bin above it. An edge at 0 is kept: scores of 0 may
    # have a bin of their own.
    return np.concatenate([[0.0], inner[inner < score.max()], [1.0]])


def _bin_of(score: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.searchsorted(edges[1:-1], score, side="left")


def wilson_interval(
    share: np.ndarray, rows: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's confidence interval for a frequency `share` observed in `rows` rows.

    The interval is within [0, 1].
    """
    z2 = norm.ppf((1 + confidence) / 2) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = (share + z2 / (2 * rows)) / (1 + z2 / rows)
        half_width = np.sqrt(z2 * (share * (1 - share) / rows + z2 / (4 * rows**2))) / (
            1 + z2 / rows
        )
    return np.clip(middle - half_width, 0, 1), np.clip(middle + half_width, 0, 1)
