"""Columns that say how rows belong together: when each was recorded, whose it is, how much it counts.

Such a column is proposed, never applied: a random split of rows that follow each other in time, or of which
several are about one person, promises more than later rows or other persons will show. Each rule asks for
more than a name, or reports with low severity, so that ordinary columns are left alone.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

import numpy as np

from bosquet.study.exploration.drift import Drift, drift_in_order
from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.relations import relation, spearman
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.record import Finding

SORTED = 0.98  # share of steps between neighbouring rows that go one way
LOCAL = 0.02  # mean step between neighbouring rows, in the mean difference of rows drawn at random
GOES_ON = 0.8  # correlation of a time that does not start again with the number of the row
PAIRS = 10_000  # drawn
FEWEST_TIMES = 10  # distinct values of a time
FEWEST_GROUPS, ROWS_IN_GROUP = 20, 2.0
GROUPS_LOOKED_AT, ROWS_LOOKED_AT = 200, 25  # ... and rows of each
MOSTLY_CONSTANT = 0.95  # groups in which a column that describes the group has one value
CONSTANT_NUMBERS = 2  # columns of numbers that tell a group without a telling name
FEWEST_WEIGHTS = 20  # distinct values of a weight
UNRELATED, WEAKLY_RELATED = 0.1, 0.3  # to the target, 0 to 1

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
# Names that surveys give to weights; "weight" alone may be what somebody weighs.
_SAMPLING_WEIGHT = re.compile(
    r"(?:fnl|final|instance|sampl(?:e|ing)|survey|design|case|person|population|household|expansion|probability)"
    r"[_ .\-]?(?:weights?|wgts?|wts?)\d*$|(?:sup|per|hh|asec|fin|pw|ip)wg?t\d*$|^(?:pweights?|ipw|iptw)$",
    re.IGNORECASE,
)
_WEIGHT = re.compile(r"^(?:(?:obs|row|sample)[_ .\-]?)?(?:weights?|wgts?|wts?|w)$", re.IGNORECASE)


@dataclass(frozen=True)
class Proposal:
    """A column ("" if there is none yet), the option it is for, and why; `sure` ones are alarms."""

    option: str  # "time", "group" or "weight"
    column: str
    why: str
    sure: bool

    def finding(self) -> Finding:
        named = shlex.quote(self.column) if self.column else "with its name"
        return Finding(
            kind="design",
            severity="medium" if self.sure else "low",
            columns=[self.column] if self.column else [],
            message=f"{self.why}: pass --{self.option} {named}.",
        )


# ------------------------------------------------------------------------------------------- time
def is_in_order(values: np.ndarray) -> bool:
    """Whether rows follow each other in these numbers, but for a few jumps."""
    known = values[~np.isnan(values)]
    if known.size < max(FEWEST_TIMES, 0.9 * values.size):
        return False
    steps = np.diff(known)
    if not steps.any():
        return False
    if max((steps >= 0).mean(), (steps <= 0).mean()) >= SORTED:
        return True
    one, other = known[np.random.default_rng(0).integers(known.size, size=(2, PAIRS))]
    apart = np.abs(one - other).mean()
    return bool(np.abs(steps).mean() <= LOCAL * apart)


def is_time(feature: Feature) -> bool:
    """Whether a column holds dates, or numbers that are called as times are."""
    if feature.numbers is None or _BIRTH.search(feature.name):
        return False
    return feature.kind == "date" or _TIME.search(feature.name) is not None


@dataclass(frozen=True)
class TimeColumn:
    """The column that tells when rows were recorded, and whether they come in its order."""

    feature: Feature
    in_order: bool
    starts_again: bool = False  # a day of the month: in order, but no time by itself

    @property
    def values(self) -> np.ndarray:
        assert self.feature.numbers is not None
        return self.feature.numbers


def time_column(features: list[Feature], given: str | None = None) -> TimeColumn | None:
    """The one given, else dates that rows come in the order of, numbers called as times are, any dates."""
    named = next((f for f in features if f.name == given and f.numbers is not None), None)
    if named is not None and not bool(named.missing.any()):
        return TimeColumn(named, False)
    times = [f for f in features if is_time(f) and f.distinct >= FEWEST_TIMES]
    sorted_ones = [f for f in times if is_in_order(f.numbers)]  # type: ignore[arg-type]
    found = [TimeColumn(f, True, f.kind != "date" and not _goes_on(f)) for f in sorted_ones]
    found += [TimeColumn(f, False) for f in times if f.kind == "date" and not f.missing.any()]
    ranked = sorted(
        found,
        key=lambda t: (
            t.starts_again,
            not t.in_order,
            t.feature.kind != "date",
            -t.feature.distinct,
        ),
    )
    return ranked[0] if ranked else None


def _goes_on(feature: Feature) -> bool:
    """Whether later rows have later times all through the table."""
    assert feature.numbers is not None
    known = feature.numbers[~feature.missing]
    return abs(np.corrcoef(known, np.arange(known.size))[0, 1]) >= GOES_ON


def propose_time(time: TimeColumn, drift: Drift, target: str) -> Proposal:
    name = time.feature.name
    changed = f"; {drift.of_target(target)}" if drift.target_moved else ""
    if time.starts_again:
        why = (
            f"The rows seem to be in the order of time: {name} goes on from row to row and starts again"
            f"{changed}. Where later rows are to be predicted, add a column that numbers the rows"
        )
        return Proposal("time", "", why, sure=True)
    if time.in_order:
        why = (
            f"The rows are in the order of {name}{changed}. A random split trains on rows that are later than"
            " those it tests on, and promises too much where later rows are to be predicted"
        )
        return Proposal("time", name, why, sure=True)
    if drift.target_moved:
        why = f"{target} changes with {name}{changed}. To test on the latest rows"
        return Proposal("time", name, why, sure=True)
    why = f"{name} is a date. If later rows are to be predicted"
    return Proposal("time", name, why, sure=False)


# ------------------------------------------------------------------------------------------ group
def propose_group(features: list[Feature], random: np.random.Generator) -> Proposal | None:
    """An identifier that repeats, or a category that several columns of numbers are constant in."""
    best: tuple[int, Proposal] | None = None
    for feature in features:
        codes = _group_codes(feature)
        if codes is None:
            continue
        named = _IDENTIFIER.search(feature.name.strip()) is not None
        numbers, others = _constant_within(feature, codes, features, random)
        if not named and len(numbers) < CONSTANT_NUMBERS:
            continue
        count = int(codes.max()) + 1
        each = (codes >= 0).sum() / count
        described = [*numbers, *others]
        with_them = f", with one value of {', '.join(described[:3])} each" if described else ""
        why = (
            f"{feature.name} repeats ({count:,} values, {each:.1f} rows each{with_them}). A random split"
            " has rows of one value in training and test, and promises too much where new ones are to be"
            " predicted"
        )
        proposal = Proposal("group", feature.name, why, sure=bool(described))
        rank = len(described) + 2 * named
        if best is None or rank > best[0]:
            best = rank, proposal
    return None if best is None else best[1]


def group_codes(features: list[Feature], proposed: list[Proposal]) -> np.ndarray | None:
    """The groups of the rows by the column that is proposed for them with confidence."""
    names = [one.column for one in proposed if one.option == "group" and one.sure]
    found = next((f for f in features if f.name in names), None)
    return None if found is None else _group_codes(found)


def _group_codes(feature: Feature) -> np.ndarray | None:
    """A number for each value of a column that may name what rows are about; None for other columns."""
    if feature.kind in ("date", "constant") or is_time(feature):
        return None
    if not FEWEST_GROUPS <= feature.distinct <= len(feature.missing) / ROWS_IN_GROUP:
        return None
    if feature.numbers is None:
        return feature.codes
    numbers = feature.numbers
    if bool(feature.missing.any()) or not (numbers == np.floor(numbers)).all():
        return None
    import pandas as pd

    codes: np.ndarray = pd.factorize(numbers)[0]
    return codes


def _constant_within(
    group: Feature, codes: np.ndarray, features: list[Feature], random: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Columns of many numbers, and other columns, that have one value in each group."""
    sizes = np.bincount(codes[codes >= 0])
    several = np.flatnonzero(sizes > 1)
    if several.size < FEWEST_GROUPS:
        return [], []
    chosen = random.permutation(several)[:GROUPS_LOOKED_AT]
    place = np.full(sizes.size + 1, -1)
    place[chosen] = np.arange(chosen.size)
    rows = np.flatnonzero(place[codes] >= 0)
    rows = rows[np.argsort(place[codes[rows]], kind="stable")]
    starts = np.flatnonzero(np.diff(place[codes[rows]], prepend=-1))
    within = np.arange(rows.size) - np.repeat(starts, np.diff(np.append(starts, rows.size)))
    rows = rows[within < ROWS_LOOKED_AT]
    labels = place[codes[rows]]
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    numbers: list[str] = []
    others: list[str] = []
    for other in features:
        if other is group or not other.used or is_time(other):
            continue
        values = other.numbers if other.numbers is not None else other.codes
        assert values is not None
        some = np.nan_to_num(values[rows].astype(float), nan=np.inf)
        low, high = np.minimum.reduceat(some, starts), np.maximum.reduceat(some, starts)
        varied = np.unique(low).size
        if (low == high).mean() < MOSTLY_CONSTANT or varied < 2:
            continue
        if group.numbers is not None and varied >= 0.9 * chosen.size:
            continue  # a function of the number itself, such as its logarithm
        rich = other.numbers is not None and varied >= FEWEST_GROUPS
        (numbers if rich else others).append(other.name)
    return numbers, others


# ----------------------------------------------------------------------------------------- weight
def propose_weight(
    features: list[Feature], target: ExploredTarget, sample: np.ndarray
) -> Proposal | None:
    """A column of positive numbers that is called as weights are and says little of the target."""
    for feature in features:
        named = _SAMPLING_WEIGHT.search(feature.name.strip()) is not None
        if not named and not _WEIGHT.search(feature.name.strip()):
            continue
        if feature.numbers is None or bool(feature.missing.any()):
            continue
        if feature.ordered[0] < 0 or feature.distinct < FEWEST_WEIGHTS:
            continue
        strength = relation(feature.take(sample), target.take(sample)) or 0.0
        if strength > (WEAKLY_RELATED if named else UNRELATED):
            continue
        if not named and _strongest_correlation(feature, features, sample) > WEAKLY_RELATED:
            continue  # what somebody weighs goes with height and the like
        why = (
            f"{feature.name} is called as sampling weights are, is never negative and says little of"
            f" {target.name} (relation {strength:.2f}). If it tells how many cases a row stands for"
        )
        return Proposal("weight", feature.name, why, sure=named)
    return None


def _strongest_correlation(feature: Feature, features: list[Feature], sample: np.ndarray) -> float:
    others = [f for f in features if f.used and f.numbers is not None and f is not feature]
    if not others:
        return 0.0
    matrix = spearman([one.take(sample) for one in [feature, *others]])
    return float(np.abs(matrix[0, 1:]).max())


# -------------------------------------------------------------------------------------------- all
def proposals(
    features: list[Feature],
    target: ExploredTarget,
    sample: np.ndarray,
    random: np.random.Generator,
    time: TimeColumn | None,
) -> tuple[list[Proposal], Drift]:
    """What to pass for the design of the table, and how the first rows differ from the last."""
    still = [f for f in features if f.used and not _moves_by_itself(f)]
    order = None
    if time is not None and not time.starts_again:
        order = np.argsort(time.values, kind="stable")
    drift = drift_in_order(still, target, order)
    found = [] if time is None else [propose_time(time, drift, target.name)]
    for one in (propose_group(features, random), propose_weight(features, target, sample)):
        found += [] if one is None else [one]
    return found, drift


def _moves_by_itself(feature: Feature) -> bool:
    """Whether a column follows the order of the rows, or counts time."""
    if feature.numbers is None:
        return False
    return is_time(feature) or feature.kind == "date" or is_in_order(feature.numbers)
