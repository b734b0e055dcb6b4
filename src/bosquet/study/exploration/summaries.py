"""What is shown of a column: its numbers in brief and its distribution by class."""

from __future__ import annotations

import numpy as np

from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.relations import relation
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.record import Column, Histogram

BARS = 30  # of a number
LEVELS = 15  # of a category
CLASSES = 8  # distributions shown apart
OTHERS = "(others)"
_TAIL = 0.005  # share of the rows beyond the first and the last bar's inner edges, at most


def column_of(feature: Feature, target: ExploredTarget, sample: np.ndarray) -> Column:
    """A column of the record; the relation to the target is measured on `sample`."""
    numbers = feature.numbers is not None and feature.ordered.size > 0
    mean = deviation = quantiles = None
    if numbers:
        values = feature.ordered
        mean, deviation = float(values.mean()), float(values.std())
        quantiles = [float(q) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]
    strength = None
    if feature.used:
        strength = relation(feature.take(sample), target.take(sample))
    return Column(
        name=feature.name,
        kind=feature.kind,  # type: ignore[typeddict-item]
        missing=int(feature.missing.sum()),
        distinct=feature.distinct,
        used=feature.used,
        mean=mean,
        deviation=deviation,
        quantiles=quantiles,
        outliers=int(whiskers(feature)[0]) if numbers and feature.kind == "number" else 0,
        relation=strength,
        histogram=histogram_of(feature, *_groups(target)),
    )


def whiskers(feature: Feature, reach: float = 1.5) -> tuple[int, float]:
    """How many values lie beyond the whiskers of a box plot, and how far the farthest, in boxes."""
    values = feature.ordered
    low, high = np.quantile(values, [0.25, 0.75])
    box = high - low
    if box <= 0:
        return 0, 0.0
    below = np.searchsorted(values, low - reach * box, side="left")
    above = values.size - np.searchsorted(values, high + reach * box, side="right")
    farthest = max((low - values[0]) / box, (values[-1] - high) / box)
    return int(below + above), float(farthest)


def _groups(target: ExploredTarget) -> tuple[np.ndarray | None, list[str]]:
    """Codes of the classes shown apart, and their names; the rarer of many are taken together."""
    if not target.is_classes:
        return None, ["all"]
    if len(target.classes) <= CLASSES:
        return target.codes, target.classes
    order = np.argsort(-target.counts, kind="stable")
    place = np.minimum(np.argsort(order), CLASSES - 1)
    names = [target.classes[c] for c in order[: CLASSES - 1]]
    return place[target.codes], [*names, OTHERS]


def histogram_of(feature: Feature, groups: np.ndarray | None, names: list[str]) -> Histogram:
    """Counts by group over bars of numbers or over the commonest levels.

    Levels come with the commonest first, those of an ordered category in their order.
    """
    if feature.numbers is not None:
        if not feature.ordered.size:
            return Histogram(edges=None, levels=[], counts={name: [] for name in names})
        edges = bar_edges(feature.ordered, feature.distinct)
        codes = np.clip(
            np.searchsorted(edges, feature.numbers, side="right") - 1, 0, len(edges) - 2
        )
        counts = _counted(codes, feature.missing, groups, names, len(edges) - 1)
        return Histogram(edges=[float(e) for e in edges], levels=None, counts=counts)
    assert feature.codes is not None
    assert feature.levels is not None
    sizes = np.bincount(feature.codes[feature.codes >= 0], minlength=len(feature.levels))
    order = np.argsort(-sizes, kind="stable")
    ordinal = feature.plan.kind == "ordinal"
    if ordinal:
        order[:LEVELS].sort()
    shown = [feature.levels[code] for code in order[:LEVELS]]
    place = np.minimum(np.argsort(order), LEVELS)
    if len(order) > LEVELS:
        shown.append(OTHERS)
    codes = place[feature.codes] if len(order) else np.zeros(len(feature.codes), dtype=np.intp)
    counts = _counted(codes, feature.missing, groups, names, len(shown))
    found = Histogram(edges=None, levels=shown, counts=counts)
    if ordinal:
        found["ordered"] = True
    return found


def _counted(
    codes: np.ndarray, missing: np.ndarray, groups: np.ndarray | None, names: list[str], bars: int
) -> dict[str, list[int]]:
    if not bars:
        return {name: [] for name in names}
    groups = np.zeros(len(codes), dtype=np.intp) if groups is None else groups
    there = ~missing
    table = np.bincount(groups[there] * bars + codes[there], minlength=len(names) * bars)
    table = table.reshape(len(names), bars)
    return {name: [int(c) for c in row] for name, row in zip(names, table, strict=True)}


def bar_edges(ordered: np.ndarray, distinct: int) -> np.ndarray:
    """Edges of bars of equal width; whole numbers of few values have a bar each.

    Where a few values lie far out, the first or the last bar reaches to them and is wider.
    """
    low, high = float(ordered[0]), float(ordered[-1])
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    whole = distinct <= BARS and bool((ordered == np.floor(ordered)).all())
    if whole and high - low < BARS:
        return np.arange(low - 0.5, high + 1)
    inner_low, inner_high = np.quantile(ordered, [_TAIL, 1 - _TAIL])
    if inner_high - inner_low <= 0:
        inner_low, inner_high = low, high
    edges = np.linspace(inner_low, inner_high, min(BARS, max(distinct, 2)) + 1)
    edges[0], edges[-1] = low, max(high, edges[-1])
    return np.unique(edges)


def target_histogram(target: ExploredTarget) -> Histogram:
    """The distribution of the target itself."""
    if target.is_classes:
        counts = {"all": [int(c) for c in target.counts]}
        return Histogram(edges=None, levels=list(target.classes), counts=counts)
    ordered = np.sort(target.numbers)
    edges = bar_edges(ordered, len(np.unique(ordered)))
    codes = np.clip(np.searchsorted(edges, ordered, side="right") - 1, 0, len(edges) - 2)
    counts = {"all": [int(c) for c in np.bincount(codes, minlength=len(edges) - 1)]}
    return Histogram(edges=[float(e) for e in edges], levels=None, counts=counts)
