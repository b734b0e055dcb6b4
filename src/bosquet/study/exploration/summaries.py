"""Summary statistics of a column and its histogram per class."""

from __future__ import annotations

import numpy as np

from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.relations import strength_of_relation
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.record import ColumnRecord, Histogram

BARS = 30  # maximum number of bars for a number
LEVELS = 15  # maximum number of levels shown for a category
CLASSES = 8  # maximum number of classes with their own histogram
OTHERS = "(others)"
_TAIL = 0.005  # share of the rows at each end that may widen the first or the last bar


def column_record(feature: Feature, target: ExploredTarget, sample: np.ndarray) -> ColumnRecord:
    """Return the record of a column; its association with the target is measured on the rows `sample`."""
    numbers = feature.numbers is not None and feature.ordered.size > 0
    mean = deviation = quantiles = None
    if numbers:
        values = feature.ordered
        mean, deviation = float(values.mean()), float(values.std())
        quantiles = [float(q) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]
    strength = None
    if feature.used:
        strength = strength_of_relation(feature.take(sample), target.take(sample))
    return ColumnRecord(
        name=feature.name,
        kind=feature.kind,  # type: ignore[typeddict-item]
        missing=int(feature.missing.sum()),
        distinct=feature.distinct,
        used=feature.used,
        mean=mean,
        deviation=deviation,
        quantiles=quantiles,
        outliers=int(count_beyond_whiskers(feature)[0])
        if numbers and feature.kind == "number"
        else 0,
        relation=strength,
        histogram=histogram_of(feature, *_groups_of_target(target)),
    )


def count_beyond_whiskers(feature: Feature, reach: float = 1.5) -> tuple[int, float]:
    """Count the values beyond the whiskers of a box plot.

    Also return the distance of the farthest value from the quartiles, in interquartile ranges.
    """
    values = feature.ordered
    low, high = np.quantile(values, [0.25, 0.75])
    box = high - low
    if box <= 0:
        return 0, 0.0
    below = np.searchsorted(values, low - reach * box, side="left")
    above = values.size - np.searchsorted(values, high + reach * box, side="right")
    farthest = max((low - values[0]) / box, (values[-1] - high) / box)
    return int(below + above), float(farthest)


def _groups_of_target(target: ExploredTarget) -> tuple[np.ndarray | None, list[str]]:
    """Return a group code per row and the group names: the classes, the rarest of many combined."""
    if not target.is_classes:
        return None, ["all"]
    if len(target.classes) <= CLASSES:
        return target.codes, target.classes
    order = np.argsort(-target.counts, kind="stable")
    group_of_class = np.minimum(np.argsort(order), CLASSES - 1)
    names = [target.classes[c] for c in order[: CLASSES - 1]]
    return group_of_class[target.codes], [*names, OTHERS]


def histogram_of(feature: Feature, groups: np.ndarray | None, names: list[str]) -> Histogram:
    """Return the counts per group in the bins of a number or the most frequent levels of a category.

    The most frequent level comes first; levels of an ordered category are in their order.
    """
    if feature.numbers is not None:
        if not feature.ordered.size:
            return Histogram(edges=None, levels=[], counts={name: [] for name in names})
        edges = bar_edges(feature.ordered, feature.distinct)
        codes = np.clip(
            np.searchsorted(edges, feature.numbers, side="right") - 1, 0, len(edges) - 2
        )
        counts = _count_by_group(codes, feature.missing, groups, names, len(edges) - 1)
        return Histogram(edges=[float(e) for e in edges], levels=None, counts=counts)
    assert feature.codes is not None
    assert feature.levels is not None
    sizes = np.bincount(feature.codes[feature.codes >= 0], minlength=len(feature.levels))
    order = np.argsort(-sizes, kind="stable")
    ordinal = feature.plan.kind == "ordinal"
    if ordinal:
        order[:LEVELS].sort()
    shown_levels = [feature.levels[code] for code in order[:LEVELS]]
    bar_of_level = np.minimum(np.argsort(order), LEVELS)
    if len(order) > LEVELS:
        shown_levels.append(OTHERS)
    codes = (
        bar_of_level[feature.codes] if len(order) else np.zeros(len(feature.codes), dtype=np.intp)
    )
    counts = _count_by_group(codes, feature.missing, groups, names, len(shown_levels))
    histogram = Histogram(edges=None, levels=shown_levels, counts=counts)
    if ordinal:
        histogram["ordered"] = True
    return histogram


def _count_by_group(
    codes: np.ndarray, missing: np.ndarray, groups: np.ndarray | None, names: list[str], bars: int
) -> dict[str, list[int]]:
    if not bars:
        return {name: [] for name in names}
    groups = np.zeros(len(codes), dtype=np.intp) if groups is None else groups
    present = ~missing
    table = np.bincount(groups[present] * bars + codes[present], minlength=len(names) * bars)
    table = table.reshape(len(names), bars)
    return {name: [int(c) for c in row] for name, row in zip(names, table, strict=True)}


def bar_edges(ordered: np.ndarray, distinct: int) -> np.ndarray:
    """Return the edges of bars of equal width; integers with few distinct values have one bar each.

    If there are a few distant values, the first or the last bar is wider and includes them.
    """
    low, high = float(ordered[0]), float(ordered[-1])
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    are_integers = distinct <= BARS and bool((ordered == np.floor(ordered)).all())
    if are_integers and high - low < BARS:
        return np.arange(low - 0.5, high + 1)
    inner_low, inner_high = np.quantile(ordered, [_TAIL, 1 - _TAIL])
    if inner_high - inner_low <= 0:
        inner_low, inner_high = low, high
    edges = np.linspace(inner_low, inner_high, min(BARS, max(distinct, 2)) + 1)
    edges[0], edges[-1] = low, max(high, edges[-1])
    return np.unique(edges)


def target_histogram(target: ExploredTarget) -> Histogram:
    """Return the histogram of the target."""
    if target.is_classes:
        counts = {"all": [int(c) for c in target.counts]}
        return Histogram(edges=None, levels=list(target.classes), counts=counts)
    ordered = np.sort(target.numbers)
    edges = bar_edges(ordered, len(np.unique(ordered)))
    codes = np.clip(np.searchsorted(edges, ordered, side="right") - 1, 0, len(edges) - 2)
    counts = {"all": [int(c) for c in np.bincount(codes, minlength=len(edges) - 1)]}
    return Histogram(edges=[float(e) for e in edges], levels=None, counts=counts)
