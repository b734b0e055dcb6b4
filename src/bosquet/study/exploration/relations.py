r"""Association of columns with the target and with each other, on a scale from 0 to 1.

A column is divided into bins. For classification the measure is Cramér's V of bins and classes, corrected for
bias (Bergsma, 2013). For regression it is the correlation ratio

.. math:: \eta = \sqrt{1 - \frac{\sum_i (y_i - \bar y_{b(i)})^2}{\sum_i (y_i - \bar y)^2}}

of the target by bin, whose square is adjusted for the number of bins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.study.exploration.features import BINS, FINE_BINS, Feature
from bosquet.study.exploration.target import ExploredTarget


def strength_of_relation(feature: Feature, target: ExploredTarget) -> float | None:
    """Return the association of a column with the target, 0 to 1; None if all its values are missing."""
    if bool(feature.missing.all()):
        return None
    # About 20 rows per bin, so that an association is distinguishable from chance.
    codes, count = feature.bins(min(BINS, max(4, len(feature.missing) // 20)))
    if target.is_classes:
        return cramers_v(codes, target.codes, count, len(target.classes))
    return correlation_ratio(codes, target.numbers, count)


def cramers_v(a: np.ndarray, b: np.ndarray, n_a: int, n_b: int) -> float:
    """Return Cramér's V of two arrays of codes, corrected for bias.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.study.exploration.relations import cramers_v
    >>> a = np.arange(300) % 3
    >>> round(cramers_v(a, a, 3, 3), 6), cramers_v(a, np.arange(300) // 100, 3, 3)
    (1.0, 0.0)
    """
    table = np.bincount(a * n_b + b, minlength=n_a * n_b).reshape(n_a, n_b).astype(float)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n_rows, columns = table.shape
    n = table.sum()
    if min(n_rows, columns) < 2 or n < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = ((table - expected) ** 2 / expected).sum() / n
    phi = max(0.0, phi - (n_rows - 1) * (columns - 1) / (n - 1))
    if phi < 1e-9:
        return 0.0
    rows_fair = n_rows - (n_rows - 1) ** 2 / (n - 1)
    columns_fair = columns - (columns - 1) ** 2 / (n - 1)
    return float(min(1.0, np.sqrt(phi / max(min(rows_fair, columns_fair) - 1, 1e-12))))


def correlation_ratio(codes: np.ndarray, numbers: np.ndarray, count: int) -> float:
    """Return the correlation ratio of numbers by group, adjusted for the number of groups."""
    n = len(numbers)
    sizes = np.bincount(codes, minlength=count).astype(float)
    sums = np.bincount(codes, numbers, minlength=count)
    total = ((numbers - numbers.mean()) ** 2).sum()
    filled = sizes > 0
    groups = int(filled.sum())
    if total <= 0 or n <= groups:
        return 0.0
    between = (sums[filled] ** 2 / sizes[filled]).sum() - sums.sum() ** 2 / n
    share = 1 - (1 - between / total) * (n - 1) / (n - groups)
    return float(np.sqrt(min(max(share, 0.0), 1.0)))


def random_half(
    n_rows: int, rng: np.random.Generator, group: np.ndarray | None = None
) -> np.ndarray:
    """Return a boolean mask of a random half of the rows; groups are not divided."""
    unit = np.arange(n_rows) if group is None else np.unique(group, return_inverse=True)[1]
    units = int(unit.max()) + 1 if n_rows else 0
    chosen = np.zeros(units, dtype=bool)
    chosen[rng.permutation(units)[: units // 2]] = True
    half: np.ndarray = chosen[unit]
    return half


def avoided_error_share(feature: Feature, target: ExploredTarget, half: np.ndarray) -> float:
    """Return the share of a constant's errors that a single column avoids on unseen rows.

    Errors are misclassified rows for classification and squared errors for regression. The best prediction
    per bin of the column is fitted on one `half` of the rows and tested on the other, so that an identifier
    avoids no errors.
    """
    codes, count = feature.bins(FINE_BINS)
    n = len(codes)
    if target.is_classes:
        k = len(target.classes)
        table = np.bincount(codes[half] * k + target.codes[half], minlength=count * k)
        table = table.reshape(count, k).astype(float)
        best = (table + 1e-3 * table.sum(axis=0) / max(table.sum(), 1)).argmax(axis=1)
        candidates = [best[codes[~half]]]
        nearest = _class_of_nearest(feature, target, half)
        candidates += [] if nearest is None else [nearest]
        wrong = min(float((predicted != target.codes[~half]).mean()) for predicted in candidates)
        base = 1 - target.counts.max() / n
        return 1 - wrong / base if base > 0 else 0.0
    return _explained_variance(feature, target.numbers, codes, count, half)


def _class_of_nearest(
    feature: Feature, target: ExploredTarget, half: np.ndarray
) -> np.ndarray | None:
    """Return the class of the row with the nearest different number; None for a category.

    This finds sharp class boundaries that the bins are too coarse for. Rows with an equal number are skipped,
    because a duplicate of the row would predict any target.
    """
    present_in_half = half & ~feature.missing
    if feature.numbers is None or not present_in_half.any():
        return None
    order = np.flatnonzero(present_in_half)[
        np.argsort(feature.numbers[present_in_half], kind="stable")
    ]
    numbers, queried = feature.numbers[order], feature.numbers[~half]
    above = np.searchsorted(numbers, queried, side="right")
    below = np.searchsorted(numbers, queried, side="left") - 1
    up = np.append(numbers, np.inf)[above] - queried
    down = queried - np.append(numbers, -np.inf)[below]  # -inf if no number is smaller
    nearest = np.where(down < up, below, above).clip(0, len(order) - 1)
    most_frequent = int(target.counts.argmax())
    return np.where(feature.missing[~half], most_frequent, target.codes[order[nearest]])


def _explained_variance(
    feature: Feature, y: np.ndarray, codes: np.ndarray, count: int, half: np.ndarray
) -> float:
    mean = y[half].mean()
    sums = np.bincount(codes[half], y[half] - mean, minlength=count)
    means = mean + sums / (np.bincount(codes[half], minlength=count) + 1e-9)
    candidates = [means[codes[~half]]]
    present_in_half = half & ~feature.missing
    if feature.numbers is not None and present_in_half.sum() > 1:
        # Interpolation finds smooth curves that the bins are too coarse for.
        order = np.flatnonzero(present_in_half)[
            np.argsort(feature.numbers[present_in_half], kind="stable")
        ]
        between = np.interp(feature.numbers[~half], feature.numbers[order], y[order])
        candidates.append(np.where(feature.missing[~half], mean, between))
    total = max(((y[~half] - mean) ** 2).sum(), 1e-300)
    return float(1 - min(((y[~half] - predicted) ** 2).sum() for predicted in candidates) / total)


def is_copy(feature: Feature, target: ExploredTarget) -> bool:
    """Return whether the column is the target itself, relabelled or linearly transformed."""
    if bool(feature.missing.any()):
        return False
    if target.is_classes:
        codes, count = feature.bins(FINE_BINS)
        if feature.distinct != len(target.classes):
            return False
        pairs = np.unique(codes * len(target.classes) + target.codes)
        return len(pairs) == feature.distinct and count > 1
    if feature.numbers is None or np.ptp(feature.numbers) == 0:
        return False
    return bool(abs(np.corrcoef(feature.numbers, target.numbers)[0, 1]) > 1 - 1e-9)


def spearman(features: list[Feature]) -> np.ndarray:
    """Return the matrix of Spearman correlations of numeric columns; missing values are set to the median."""
    ranks = np.empty((len(features), len(features[0].missing)))
    for index, feature in enumerate(features):
        assert feature.numbers is not None
        filled = np.where(feature.missing, np.nanmedian(feature.numbers), feature.numbers)
        _, inverse, counts = np.unique(filled, return_inverse=True, return_counts=True)
        ranks[index] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]  # equal values share a rank
    with np.errstate(invalid="ignore", divide="ignore"):
        correlations: np.ndarray = np.atleast_2d(np.nan_to_num(np.corrcoef(ranks)))
    return correlations


def quick_relations(frame: Any, names: list[str], target: ExploredTarget) -> np.ndarray:
    """Return |Pearson correlation| of many numeric columns with the target or its classes; 0 for others."""
    n = len(frame)
    if target.is_classes:
        truth = (target.codes[:, None] == np.arange(min(len(target.classes), 10))).astype(float)
    else:
        truth = target.numbers[:, None].astype(float)
    truth = truth - truth.mean(axis=0)
    truth /= np.maximum(np.sqrt((truth**2).sum(axis=0)), 1e-300)
    relations = np.zeros(len(names))
    for start in range(0, len(names), 2000):
        block = frame[names[start : start + 2000]]
        is_numeric = [
            kind.kind in "iufb" if hasattr(kind, "kind") else False for kind in block.dtypes
        ]
        numeric_columns = np.flatnonzero(is_numeric)
        if not len(numeric_columns):
            continue
        values = block.iloc[:, numeric_columns].to_numpy(dtype=float)
        values = np.where(np.isfinite(values), values, 0.0)
        values -= values.mean(axis=0)
        scale = np.maximum(np.sqrt((values**2).sum(axis=0)), 1e-300)
        relations[start + numeric_columns] = np.abs(truth.T @ values / scale).max(axis=0)
    assert n == len(truth)
    return relations
