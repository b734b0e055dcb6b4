r"""Drift: whether each column has the same distribution in two sets of rows.

Numbers are compared by the Kolmogorov-Smirnov statistic, categories by the total variation distance; both
are differences of probabilities between 0 and 1. The size of a drift is measured by the population stability
index over bins of the training rows,

.. math:: PSI = \sum_b (p_b - q_b) \log\frac{p_b}{q_b}.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.metrics.formatting import format_score
from bosquet.study.record import Finding
from bosquet.tables.column_plan import ColumnPlan

NOTABLE, LARGE = 0.1, 0.25  # usual thresholds of the population stability index
_REPORTED = 8  # columns with a finding each
_LEVEL = 0.001  # significance level, corrected for the number of columns
ENDS = 0.2  # share of the rows at each end of the table that are compared
MIN_AT_ENDS, MAX_AT_ENDS = 20, 20_000


def drift_between(train: list[Feature], test: list[Feature]) -> list[Finding]:
    """Return findings on the columns whose distributions differ significantly between two tables."""
    measured_columns = []
    for ours, theirs in zip(train, test, strict=True):
        index, difference, p_value = distribution_shift(ours, theirs)
        if p_value * len(train) < _LEVEL and index >= NOTABLE:
            new = _new_levels(ours, theirs)
            measured_columns.append(
                (
                    index,
                    Finding(
                        kind="drift",
                        severity="high" if index >= LARGE else "medium",
                        columns=[ours.name],
                        message=f"{ours.name} has another distribution in the test table (stability index"
                        f" {index:.2f}, largest difference {difference:.0%}{new}); the model may be less"
                        " accurate there than the study reports.",
                    ),
                )
            )
    worst = [finding for _, finding in sorted(measured_columns, key=lambda pair: -pair[0])]
    other_columns = [name for finding in worst[_REPORTED:] for name in finding["columns"]]
    if other_columns:
        message = f"{len(other_columns)} more columns have drifted, such as {', '.join(other_columns[:5])}."
        worst[_REPORTED:] = [
            Finding(kind="drift", severity="medium", columns=other_columns, message=message)
        ]
    return worst


@dataclass(frozen=True)
class Drift:
    """Difference between the first and the last rows, in the order of the table or of a time."""

    # Columns with significant drift and their stability index, largest first.
    columns: list[tuple[str, float]]
    target_moved: bool
    target_index: float
    change: str  # "mean 12.1 in the first fifth of the rows, 15.3 in the last"

    def of_target(self, name: str) -> str:
        """Return a text on the drift of the target."""
        return f"{name}: {self.change}"


def drift_in_order(
    features: list[Feature], target: ExploredTarget, order: np.ndarray | None = None
) -> Drift:
    """Measure the drift between the first and the last fifth of the rows; `order` sorts the rows by time."""
    n_rows = len(target.codes if target.is_classes else target.numbers)
    count = int(ENDS * n_rows)
    if count < MIN_AT_ENDS:
        return Drift([], False, 0.0, "")
    order = np.arange(n_rows) if order is None else order
    every = -(-count // MAX_AT_ENDS)
    first, last = order[:count:every], order[-count::every]
    target_feature = _as_feature(target)
    measured = [
        (feature.name, *distribution_shift(feature.take(first), feature.take(last)))
        for feature in [target_feature, *features]
        if feature.distinct > 1
    ]
    beyond = {
        position: index
        for position, (_, index, _, p_value) in enumerate(measured)
        if index >= NOTABLE and p_value * len(measured) < _LEVEL
    }
    moved = sorted(((measured[k][0], beyond[k]) for k in beyond if k), key=lambda pair: -pair[1])
    return Drift(moved, 0 in beyond, measured[0][1], _target_change(target, first, last))


def drift_finding(drift: Drift, target: str, by: str) -> list[Finding]:
    """Return one finding on all columns; `by` is the time column, "" for the order of the table."""
    if not drift.columns and not drift.target_moved:
        return []
    ordered = f"by {by}" if by else "in the order of the table"
    change_texts = [drift.of_target(target)] if drift.target_moved else []
    change_texts += [f"{name} (stability index {index:.2f})" for name, index in drift.columns[:3]]
    more_columns = f" and {len(drift.columns) - 3} more columns" if len(drift.columns) > 3 else ""
    advice = (
        "" if by else " If the table is sorted by time, add a time column and pass it with --time."
    )
    message = (
        f"The last fifth of the rows {ordered} differs from the first in"
        f" {', '.join(change_texts)}{more_columns}."
        f"{advice}"
    )
    names = ([target] if drift.target_moved else []) + [name for name, _ in drift.columns]
    return [
        Finding(
            kind="drift",
            severity="medium" if by and drift.target_moved else "low",
            columns=names,
            message=message,
        )
    ]


def _as_feature(target: ExploredTarget) -> Feature:
    plan = ColumnPlan(target.name, "category" if target.is_classes else "number")
    if target.is_classes:
        return Feature(plan, "category", codes=target.codes, levels=target.classes)
    return Feature(plan, "number", numbers=target.numbers)


def _target_change(target: ExploredTarget, first: np.ndarray, last: np.ndarray) -> str:
    if not target.is_classes:
        before, after = (float(target.numbers[rows].mean()) for rows in (first, last))
        return (
            f"mean {format_score(before)} in the first fifth of the rows, {format_score(after)} in the"
            " last"
        )
    shares = [
        np.bincount(target.codes[rows], minlength=len(target.classes)) / len(rows)
        for rows in (first, last)
    ]
    most_changed = int(np.abs(shares[1] - shares[0]).argmax())
    return (
        f"{target.classes[most_changed]!r} in {shares[0][most_changed]:.1%} of the first fifth of the rows"
        f" and in {shares[1][most_changed]:.1%} of the last"
    )


def distribution_shift(ours: Feature, theirs: Feature) -> tuple[float, float, float]:
    """Return the stability index, the largest difference of probabilities and the p-value of the drift."""
    if ours.numbers is not None:
        assert theirs.numbers is not None
        cuts = (
            np.unique(np.quantile(ours.ordered, np.linspace(0, 1, 11)[1:-1]))
            if (ours.ordered.size)
            else np.zeros(0)
        )
        count = len(cuts) + 2
        mine = np.where(ours.missing, count - 1, np.searchsorted(cuts, ours.numbers))
        other = np.where(theirs.missing, count - 1, np.searchsorted(cuts, theirs.numbers))
    else:
        assert ours.codes is not None
        assert theirs.codes is not None
        levels = {level: code for code, level in enumerate(ours.levels or [])}
        count = len(levels) + 2  # the last two codes: unseen levels and missing values
        mapped = np.array(
            [*(levels.get(level, count - 2) for level in theirs.levels or []), count - 1]
        )
        mine = np.where(ours.missing, count - 1, ours.codes)
        other = np.where(theirs.missing, count - 1, mapped[theirs.codes])
    n, m = len(mine), len(other)
    p = np.bincount(mine.astype(np.intp), minlength=count) / n
    q = np.bincount(other.astype(np.intp), minlength=count) / m
    smooth_p, smooth_q = (
        (p + 0.5 / n) / (1 + 0.5 * count / n),
        (q + 0.5 / m) / (1 + 0.5 * count / m),
    )
    index = float(((smooth_p - smooth_q) * np.log(smooth_p / smooth_q)).sum())
    difference = float(np.abs(p - q).sum() / 2)
    p_value = _chi_squared_p(p, q, n, m)
    if ours.numbers is not None and ours.ordered.size and theirs.ordered.size:
        from scipy.stats import ks_2samp

        tested = ks_2samp(ours.ordered, theirs.ordered, method="asymp")
        difference, p_value = float(tested.statistic), min(p_value, float(tested.pvalue))
    return index, difference, p_value


def _chi_squared_p(p: np.ndarray, q: np.ndarray, n: int, m: int) -> float:
    """Return the p-value of the chi-squared test of homogeneity."""
    from scipy.stats import chi2

    pooled = (n * p + m * q) / (n + m)
    present = pooled > 0
    if present.sum() < 2:
        return 1.0
    statistic = (
        n * (p - pooled) ** 2 / pooled.clip(1e-300) + m * (q - pooled) ** 2 / pooled.clip(1e-300)
    )[present]
    return float(chi2.sf(statistic.sum(), int(present.sum()) - 1))


def _new_levels(ours: Feature, theirs: Feature) -> str:
    new = sorted(set(theirs.levels or []) - set(ours.levels or []))
    if not new:
        return ""
    return f", {len(new)} new levels such as {new[0]!r}"
