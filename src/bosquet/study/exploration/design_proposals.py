"""Proposals of columns for the design of a table: time, group and sample weight.

A random split is too optimistic if rows are ordered in time or if several rows belong to one person: later
rows and other persons are harder to predict. A column is therefore proposed for the design, but never used
without being passed. Each rule needs more evidence than a name, or reports with low severity, so that
ordinary columns are rarely proposed.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

import numpy as np

from bosquet.study.exploration.drift import Drift, drift_in_order
from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.relations import spearman, strength_of_relation
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.record import Finding

SORTED = 0.98  # minimum share of steps between consecutive rows in the same direction
LOCAL = 0.02  # maximum mean step between consecutive rows, relative to that of random pairs of rows
INCREASING = 0.8  # minimum correlation with the row number of a time that does not start again
PAIRS = 10_000  # random pairs of rows
MIN_TIMES = 10  # distinct values of a time
MIN_GROUPS, ROWS_IN_GROUP = 20, 2.0
GROUPS_SAMPLED, ROWS_SAMPLED = 200, 25  # groups, and rows per group
MOSTLY_CONSTANT = 0.95  # minimum share of groups in which a column has a single value
# Numeric columns that must be constant in each group if the group column has no typical name.
CONSTANT_NUMBERS = 2
MIN_WEIGHTS = 20  # distinct values of a weight
UNRELATED, WEAKLY_RELATED = 0.1, 0.3  # association with the target, 0 to 1

_WORDS = r"(?:^|[_ .\-])(?:{})(?:$|[_ .\-])"
_TIME = re.compile(
    _WORDS.format("date|time|timestamp|datetime|year|yr|month|mnth|day|week|hour|hr|period|epoch"),
    re.IGNORECASE,
)
_BIRTH = re.compile("birth|born|dob", re.IGNORECASE)
_PERSON = "patient|subject|participant|respondent|customer|client|user|person|household|student|individual"
_IDENTIFIER = re.compile(
    rf"(?i:(?:^|[_ .\-])(?:id|uid|uuid|guid|{_PERSON})$)|[a-z]I[Dd]$"
    rf"|(?i:^(?:{_PERSON})[_ .\-]?(?:id|no|nr|number|code)$)"
)
# Names of weights in surveys; "weight" alone may be a body weight.
_SAMPLING_WEIGHT = re.compile(
    r"(?:fnl|final|instance|sampl(?:e|ing)|survey|design|case|person|population|household|expansion|probability)"
    r"[_ .\-]?(?:weights?|wgts?|wts?)\d*$|(?:sup|per|hh|asec|fin|pw|ip)wg?t\d*$|^(?:pweights?|ipw|iptw)$",
    re.IGNORECASE,
)
_WEIGHT = re.compile(r"^(?:(?:obs|row|sample)[_ .\-]?)?(?:weights?|wgts?|wts?|w)$", re.IGNORECASE)


@dataclass(frozen=True)
class Proposal:
    """A proposed column for an option of the design, and the reason.

    `column` is "" if the table has no suitable column yet. A proposal that is `sure` is an alarm.
    """

    option: str  # "time", "group" or "weight"
    column: str
    why: str
    sure: bool

    def finding(self) -> Finding:
        """Return the finding that recommends the option."""
        advice = f", pass --{self.option} {shlex.quote(self.column)}"
        if not self.column:
            advice = f" and pass --{self.option} with its name"
        return Finding(
            kind="design",
            severity="medium" if self.sure else "low",
            columns=[self.column] if self.column else [],
            message=f"{self.why}{advice}.",
        )


# ------------------------------------------------------------------------------------------- time
def is_in_order(values: np.ndarray) -> bool:
    """Return whether the rows are sorted by these numbers, except for a few jumps."""
    present = values[~np.isnan(values)]
    if present.size < max(MIN_TIMES, 0.9 * values.size):
        return False
    steps = np.diff(present)
    if not steps.any():
        return False
    if max((steps >= 0).mean(), (steps <= 0).mean()) >= SORTED:
        return True
    first, second = present[np.random.default_rng(0).integers(present.size, size=(2, PAIRS))]
    typical = np.abs(first - second).mean()
    return bool(np.abs(steps).mean() <= LOCAL * typical)


def is_time(feature: Feature) -> bool:
    """Return whether a column holds dates, or numbers with a typical name of a time."""
    if feature.numbers is None or _BIRTH.search(feature.name):
        return False
    return feature.kind == "date" or _TIME.search(feature.name) is not None


@dataclass(frozen=True)
class TimeColumn:
    """A column with the time of each row, and whether the table is sorted by it."""

    feature: Feature
    in_order: bool
    starts_again: bool = False  # such as the day of the month, which is not a time by itself

    @property
    def values(self) -> np.ndarray:
        assert self.feature.numbers is not None
        return self.feature.numbers


def time_column(features: list[Feature], passed_name: str | None = None) -> TimeColumn | None:
    """Return the most likely time column, or None.

    This is the column `passed_name`; otherwise dates by which the table is sorted, then numbers with the
    name of a time by which it is sorted, then other dates.
    """
    named = next((f for f in features if f.name == passed_name and f.numbers is not None), None)
    if named is not None and not bool(named.missing.any()):
        return TimeColumn(named, False)
    times = [f for f in features if is_time(f) and f.distinct >= MIN_TIMES]
    sorted_ones = [f for f in times if is_in_order(f.numbers)]  # type: ignore[arg-type]
    candidates = [
        TimeColumn(f, True, f.kind != "date" and not _is_increasing(f)) for f in sorted_ones
    ]
    candidates += [TimeColumn(f, False) for f in times if f.kind == "date" and not f.missing.any()]
    ranked = sorted(
        candidates,
        key=lambda t: (
            t.starts_again,
            not t.in_order,
            t.feature.kind != "date",
            -t.feature.distinct,
        ),
    )
    return ranked[0] if ranked else None


def _is_increasing(feature: Feature) -> bool:
    """Return whether the times rise (or fall) over the whole table, without starting again."""
    assert feature.numbers is not None
    present = feature.numbers[~feature.missing]
    return abs(np.corrcoef(present, np.arange(present.size))[0, 1]) >= INCREASING


def propose_time(time: TimeColumn, drift: Drift, target: str) -> Proposal:
    """Return the proposal to split by the time column."""
    name = time.feature.name
    target_change = f"; {drift.of_target(target)}" if drift.target_moved else ""
    if time.starts_again:
        why = (
            f"The rows seem to be sorted by time: {name} increases from row to row and then starts again"
            f"{target_change}. If the model will predict later rows, add a column with the row number"
        )
        return Proposal("time", "", why, sure=True)
    if time.in_order:
        why = (
            f"The rows are sorted by {name}{target_change}. A random split trains on rows that are"
            " later than its test rows, which is too optimistic for predicting later rows. If that is the aim"
        )
        return Proposal("time", name, why, sure=True)
    if drift.target_moved:
        why = f"{target} changes with {name}{target_change}. To test on the latest rows"
        return Proposal("time", name, why, sure=True)
    why = f"{name} is a date. If the model will predict later rows"
    return Proposal("time", name, why, sure=False)


# ------------------------------------------------------------------------------------------ group
def propose_group(features: list[Feature], rng: np.random.Generator) -> Proposal | None:
    """Propose a repeating identifier, or a category within which several numeric columns are constant."""
    best: tuple[int, Proposal] | None = None
    for feature in features:
        codes = _group_codes(feature)
        if codes is None:
            continue
        has_identifier_name = _IDENTIFIER.search(feature.name.strip()) is not None
        numbers, others = _constant_columns(feature, codes, features, rng)
        if not has_identifier_name and len(numbers) < CONSTANT_NUMBERS:
            continue
        count = int(codes.max()) + 1
        rows_per_value = (codes >= 0).sum() / count
        described = [*numbers, *others]
        constant = f"; {', '.join(described[:3])} constant in each" if described else ""
        why = (
            f"{feature.name} repeats ({count:,} values, {rows_per_value:.1f} rows per value{constant}). A"
            " random split has rows of the same value in training and test set, which is too optimistic for"
            " predicting new values. If that is the aim"
        )
        proposal = Proposal("group", feature.name, why, sure=bool(described))
        rank = len(described) + 2 * has_identifier_name
        if best is None or rank > best[0]:
            best = rank, proposal
    return None if best is None else best[1]


def group_codes(features: list[Feature], proposed: list[Proposal]) -> np.ndarray | None:
    """Return the group codes of the rows by the group column whose proposal is sure, or None."""
    names = [
        proposal.column for proposal in proposed if proposal.option == "group" and proposal.sure
    ]
    feature = next((f for f in features if f.name in names), None)
    return None if feature is None else _group_codes(feature)


def _group_codes(feature: Feature) -> np.ndarray | None:
    """Return the codes of a column that may identify groups of rows; None for other columns."""
    if feature.kind in ("date", "constant") or is_time(feature):
        return None
    if not MIN_GROUPS <= feature.distinct <= len(feature.missing) / ROWS_IN_GROUP:
        return None
    if feature.numbers is None:
        return feature.codes
    numbers = feature.numbers
    if bool(feature.missing.any()) or not (numbers == np.floor(numbers)).all():
        return None
    import pandas as pd

    codes: np.ndarray = pd.factorize(numbers)[0]
    return codes


def _constant_columns(
    group: Feature, codes: np.ndarray, features: list[Feature], rng: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Return the numeric columns and the other columns that are constant in each group.

    They are checked on a sample of groups and of rows per group. Numeric columns need many distinct values.
    """
    sizes = np.bincount(codes[codes >= 0])
    several = np.flatnonzero(sizes > 1)
    if several.size < MIN_GROUPS:
        return [], []
    chosen = rng.permutation(several)[:GROUPS_SAMPLED]
    index_in_sample = np.full(sizes.size + 1, -1)
    index_in_sample[chosen] = np.arange(chosen.size)
    rows = np.flatnonzero(index_in_sample[codes] >= 0)
    rows = rows[np.argsort(index_in_sample[codes[rows]], kind="stable")]
    starts = np.flatnonzero(np.diff(index_in_sample[codes[rows]], prepend=-1))
    within = np.arange(rows.size) - np.repeat(starts, np.diff(np.append(starts, rows.size)))
    rows = rows[within < ROWS_SAMPLED]
    labels = index_in_sample[codes[rows]]
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    numbers: list[str] = []
    others: list[str] = []
    for other in features:
        if other is group or not other.used or is_time(other):
            continue
        values = other.numbers if other.numbers is not None else other.codes
        assert values is not None
        by_group = np.nan_to_num(values[rows].astype(float), nan=np.inf)
        low = np.minimum.reduceat(by_group, starts)
        high = np.maximum.reduceat(by_group, starts)
        varied = np.unique(low).size
        if (low == high).mean() < MOSTLY_CONSTANT or varied < 2:
            continue
        if group.numbers is not None and varied >= 0.9 * chosen.size:
            continue  # a function of the group number itself, such as its logarithm
        rich = other.numbers is not None and varied >= MIN_GROUPS
        (numbers if rich else others).append(other.name)
    return numbers, others


# ----------------------------------------------------------------------------------------- weight
def propose_weight(
    features: list[Feature], target: ExploredTarget, sample: np.ndarray
) -> Proposal | None:
    """Propose a column that has the name of a weight, is never negative and hardly predicts the target."""
    for feature in features:
        has_weight_name = _SAMPLING_WEIGHT.search(feature.name.strip()) is not None
        if not has_weight_name and not _WEIGHT.search(feature.name.strip()):
            continue
        if feature.numbers is None or bool(feature.missing.any()):
            continue
        if feature.ordered[0] < 0 or feature.distinct < MIN_WEIGHTS:
            continue
        strength = strength_of_relation(feature.take(sample), target.take(sample)) or 0.0
        if strength > (WEAKLY_RELATED if has_weight_name else UNRELATED):
            continue
        if (
            not has_weight_name
            and _strongest_correlation(feature, features, sample) > WEAKLY_RELATED
        ):
            continue  # a body weight is correlated with height and the like
        why = (
            f"{feature.name} has the name of a sampling weight, is never negative and is weakly associated"
            f" with {target.name} ({strength:.2f}). If it is the number of cases that a row represents"
        )
        return Proposal("weight", feature.name, why, sure=has_weight_name)
    return None


def _strongest_correlation(feature: Feature, features: list[Feature], sample: np.ndarray) -> float:
    others = [f for f in features if f.used and f.numbers is not None and f is not feature]
    if not others:
        return 0.0
    matrix = spearman([each.take(sample) for each in [feature, *others]])
    return float(np.abs(matrix[0, 1:]).max())


# -------------------------------------------------------------------------------------------- all
def proposals(
    features: list[Feature],
    target: ExploredTarget,
    sample: np.ndarray,
    rng: np.random.Generator,
    time: TimeColumn | None,
) -> tuple[list[Proposal], Drift]:
    """Return the proposals for the design of a table, and the drift from its first to its last rows."""
    stationary = [f for f in features if f.used and not _follows_order(f)]
    order = None
    if time is not None and not time.starts_again:
        order = np.argsort(time.values, kind="stable")
    drift = drift_in_order(stationary, target, order)
    proposed = [] if time is None else [propose_time(time, drift, target.name)]
    for proposal in (propose_group(features, rng), propose_weight(features, target, sample)):
        proposed += [] if proposal is None else [proposal]
    return proposed, drift


def _follows_order(feature: Feature) -> bool:
    """Return whether a column is a time, or the table is sorted by it; it then drifts by definition."""
    if feature.numbers is None:
        return False
    return is_time(feature) or feature.kind == "date" or is_in_order(feature.numbers)
