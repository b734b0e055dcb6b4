"""Leaks: columns, levels and pairs of columns that contain the target or are known only after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.findings import listed
from bosquet.study.exploration.relations import given_away, is_copy, random_half
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.record import Finding
from bosquet.tables.dates import DAYS_OF_A_YEAR

GIVES_AWAY, NEARLY = 0.98, 0.9  # share of the errors that one column avoids
FEWEST_ROWS = 40  # fewer cannot show a leak
# Rows that a level would share with a class if the two were independent, as a share of all rows. Below the
# first, empty cells are ordinary (no child earns 50,000); a column filled in for one class alone is not.
EXPECTED, EXPECTED_IF_KNOWN, EXPECTED_LOW = 0.1, 0.01, 0.005
# A level of so many rows with one class of two is a leak, however rare the other class.
MOST_ROWS_IN_LEVEL = 0.5
CONTAMINATION = 0.001  # of the expected rows may be there nevertheless: errors in the table
CHANCE = 0.001  # that independence gives such a cell anywhere in the table
COMMON = 0.01  # share of the rows from which on a value of a number is a level
CONSTANT = 0.01  # standard deviation of a numeric target within a level, in that of the table
DETERMINED = 0.9999  # R² of the target on two columns
MOST_COLUMNS_PAIRED = 40
LATER = 0.05  # share of rows with a date later than the row's own time
ONE_DAY = 1.01 / DAYS_OF_A_YEAR  # in years: a time of the same day is not later than its date
LAST_ROWS, FEWEST_LAST_ROWS = 0.05, 20  # in time, in which a column that is filled in late is empty
_REPORTED = 5  # columns with a finding each


def column_leaks(
    features: list[Feature],
    target: ExploredTarget,
    random: np.random.Generator,
    group: np.ndarray | None = None,
) -> list[Finding]:
    """Columns that give the target away.

    Groups of rows are whole in what is measured: a column that is constant in each names the group, and
    gives the target of its other rows away, but not that of another group.
    """
    found = []
    for feature in features:
        name = feature.name
        if is_copy(feature, target):
            message = f"{name} is {target.name} in other words: drop it."
            found.append(Finding(kind="leak", severity="high", columns=[name], message=message))
        elif len(feature.missing) >= FEWEST_ROWS:
            half = random_half(len(feature.missing), random, group)
            share = given_away(feature, target, half)
            if share >= NEARLY:
                found.append(
                    Finding(
                        kind="leak",
                        severity="high" if share >= GIVES_AWAY else "medium",
                        columns=[name],
                        message=f"{name} alone avoids {share:.0%} of the errors in {target.name}:"
                        " drop it unless it is known before the target is.",
                    )
                )
    return found


def pair_leaks(
    features: Iterable[Feature], target: ExploredTarget, known: Collection[str] = ()
) -> list[Finding]:
    """Two columns of which a numeric target is a linear combination, such as their sum."""
    numbers = [
        f for f in features if f.numbers is not None and f.used and not bool(f.missing.any())
    ]
    numbers = [f for f in numbers if f.distinct > 2 and f.name not in known]
    if target.is_classes or not 2 <= len(numbers) <= MOST_COLUMNS_PAIRED:
        return []
    values = [np.asarray(f.numbers) for f in numbers]
    matrix: np.ndarray = np.corrcoef(np.stack([*values, target.numbers]))
    among, with_target = matrix[:-1, :-1], matrix[:-1, -1]
    products = np.outer(with_target, with_target)
    squares = with_target[:, None] ** 2 + with_target[None, :] ** 2
    # Columns that are collinear with each other make the quotient meaningless.
    rest = np.where(np.abs(among) < 0.999, 1 - among**2, np.inf)
    explained = np.triu((squares - 2 * products * among) / rest, k=1)
    alone = np.maximum(with_target[:, None] ** 2, with_target[None, :] ** 2)
    found = []
    for i, j in np.argwhere((explained > DETERMINED) & (alone < DETERMINED))[:_REPORTED]:
        a, b = numbers[i].name, numbers[j].name
        message = (
            f"{target.name} is a sum or difference of {a} and {b}, each times a constant:"
            f" drop them unless they are known before {target.name} is."
        )
        found.append(Finding(kind="leak", severity="high", columns=[a, b], message=message))
    return found


def time_leaks(features: Iterable[Feature], time: Feature) -> list[Finding]:
    """Columns that are known only after the time of their row.

    Dates that are later than the row's own, and columns that are not filled in yet in the latest rows.
    """
    assert time.numbers is not None
    rows = len(time.numbers)
    count = max(int(LAST_ROWS * rows), FEWEST_LAST_ROWS)
    order = np.argsort(time.numbers, kind="stable")
    last = order[-count:]
    found = []
    for feature in features:
        if feature is time or not feature.used:
            continue
        how = ""
        if feature.kind == "date" and time.kind == "date" and feature.numbers is not None:
            later = float((feature.numbers > time.numbers + ONE_DAY).mean())
            how = f"is later than {time.name} in {later:.0%} of the rows" if later >= LATER else ""
        elif rows > 4 * count and bool(feature.missing[last].all()):
            earlier = float(feature.missing[order[:-count]].mean())
            how = f"is missing in the last {count:,} rows by {time.name}" if earlier < 0.5 else ""
        if how:
            message = (
                f"{feature.name} {how}: drop it unless it is known when the target is predicted."
            )
            found.append(
                Finding(kind="leak", severity="medium", columns=[feature.name], message=message)
            )
    return found


# -------------------------------------------------------------------------------------- by level
@dataclass(frozen=True)
class _Levels:
    """The levels of a column: those of a category, the common values of a number, missing last.

    `codes` of rows with other values are `len(names)` or more.
    """

    feature: Feature
    codes: np.ndarray
    names: list[str]
    numbers: np.ndarray | None  # what the first names stand for in a column of numbers
    has_missing: bool


@dataclass(frozen=True)
class _Leak:
    """A level that excludes a class, or at which a numeric target is constant.

    `expected` is the share of all rows that independence would put where there are none.
    """

    column: str
    level: str  # "RACE = 'Not_a_Fatality'"
    rows: int
    how: str  # "never has INJURY = 'Fatal' (42 % of all rows)"
    expected: float
    threshold: float = EXPECTED

    @property
    def severe(self) -> bool:
        return self.expected >= self.threshold


def level_leaks(
    features: Iterable[Feature], target: ExploredTarget, known: Collection[str] = ()
) -> list[Finding]:
    """Levels, missing values and common numbers that never occur with one class, on all rows.

    A rare level has no rows of many a class by chance. A cell is therefore reported only where independence
    of column and target would leave it so empty with probability 0.001 at most, divided by the number of
    cells in the table, and where it would hold a notable share of all rows. Columns in `known` are reported
    already and are skipped.
    """
    looked_at = [feature for feature in features if feature.used and feature.name not in known]
    most = int(1 / COMMON)  # levels that a column of numbers can have
    levels_in_all = sum(len(f.levels) if f.levels is not None else most for f in looked_at)
    # Two levels more for each column: missing and known.
    cells = (levels_in_all + 2 * len(looked_at)) * max(len(target.classes), 1)
    worst = []
    for feature in looked_at:
        levels = _levels(feature)
        if levels.names:
            find = _excluded_classes if target.is_classes else _constant_targets
            found = find(levels, target, CHANCE / cells)
            worst += sorted(found, key=lambda leak: -leak.expected / leak.threshold)[:1]
    return _reported(sorted(worst, key=lambda leak: -leak.expected), target.name)


def _reported(leaks: list[_Leak], target: str) -> list[Finding]:
    """One finding for each severe column, one for the rest of them, and one for the mild ones."""
    severe = [leak for leak in leaks if leak.severe]
    mild = [leak for leak in leaks if not leak.severe]
    found = []
    for leak in severe[:_REPORTED]:
        message = (
            f"{leak.level} ({leak.rows:,} rows) {leak.how}: drop {leak.column} unless it is known before"
            f" {target} is."
        )
        found.append(
            Finding(kind="leak", severity="medium", columns=[leak.column], message=message)
        )
    rest = [leak.column for leak in severe[_REPORTED:]]
    if rest:
        message = (
            f"{len(rest)} more columns have a level that excludes a value of {target}: {listed(rest)};"
            f" drop those that are not known before {target} is."
        )
        found.append(Finding(kind="leak", severity="medium", columns=rest, message=message))
    if mild:
        shown = "; ".join(f"{leak.level} {leak.how}" for leak in mild[:_REPORTED])
        more = f"; and {len(mild) - _REPORTED} columns more" if len(mild) > _REPORTED else ""
        message = f"Levels that exclude a value of {target}: {shown}{more}."
        names = [leak.column for leak in mild]
        found.append(Finding(kind="leak", severity="low", columns=names, message=message))
    return found


def _levels(feature: Feature) -> _Levels:
    numbers = None
    if feature.numbers is None:
        assert feature.codes is not None
        codes, names = feature.codes, [f"{feature.name} = {one!r}" for one in feature.levels or []]
    else:
        numbers = _common_numbers(feature)
        names = [f"{feature.name} = {value:g}" for value in numbers]
        codes = np.full(len(feature.numbers), len(names) + 1)
        if len(names):
            place = np.searchsorted(numbers, feature.numbers).clip(0, len(names) - 1)
            codes = np.where(numbers[place] == feature.numbers, place, codes)
    missing = feature.missing
    some = bool(missing.any()) and not bool(missing.all())
    codes = np.where(missing, len(names), codes)
    return _Levels(
        feature, codes, [*names, f"{feature.name} missing"] if some else names, numbers, some
    )


def _common_numbers(feature: Feature) -> np.ndarray:
    values = feature.ordered
    if not values.size:
        return values
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    counts = np.diff(np.append(first, values.size))
    common: np.ndarray = values[first[counts >= COMMON * len(feature.missing)]]
    return common


def _excluded_classes(levels: _Levels, target: ExploredTarget, chance: float) -> list[_Leak]:
    from scipy.stats import binom

    rows, classes, names = len(levels.codes), len(target.classes), levels.names
    table = np.bincount(
        levels.codes * classes + target.codes, minlength=(len(names) + 2) * classes
    ).reshape(-1, classes)[: len(names)]
    thresholds = np.full(len(names), EXPECTED)
    if classes == 2:
        thresholds[table.sum(axis=1) >= MOST_ROWS_IN_LEVEL * rows] = EXPECTED_LOW
    if levels.has_missing:
        table = np.vstack([table, target.counts - table[-1]])
        names = [*names, f"{levels.feature.name} known"]
        thresholds = np.append(thresholds, EXPECTED_IF_KNOWN)
    share, sizes = target.counts / rows, table.sum(axis=1)
    expected = sizes[:, None] * share
    empty = (table <= CONTAMINATION * expected) & (expected >= EXPECTED_LOW * rows)
    found = []
    for level, label in np.argwhere(empty).tolist():
        seen = int(table[level, label])
        if binom.cdf(seen, sizes[level], share[label]) > chance:
            continue
        if not _differs_from_neighbours(levels, level, target.codes == label):
            continue
        how = "never has" if not seen else f"in {seen:,} rows only has"
        how += f" {target.name} = {target.classes[label]!r} ({share[label]:.0%} of all rows)"
        part = float(expected[level, label] / rows)
        found.append(
            _Leak(
                levels.feature.name,
                names[level],
                int(sizes[level]),
                how,
                part,
                float(thresholds[level]),
            )
        )
    return found


def _differs_from_neighbours(levels: _Levels, level: int, of_class: np.ndarray) -> bool:
    """Whether the nearest other numbers have the class at half of its share or more.

    Where they have not, the class is absent from a whole range, which is the smooth effect of a good column.
    """
    if levels.numbers is None or level >= len(levels.numbers):
        return True
    numbers, ordered = levels.feature.numbers, levels.feature.ordered
    assert numbers is not None
    value = levels.numbers[level]
    low, high = (np.searchsorted(ordered, value, side=side) for side in ("left", "right"))
    count = max(int(high - low), FEWEST_ROWS)
    order = np.argsort(numbers, kind="stable")  # missing values last
    sides = [order[max(low - count, 0) : low], order[high : min(high + count, ordered.size)]]
    shares = [float(of_class[side].mean()) for side in sides if side.size]
    return bool(shares) and min(shares) >= float(of_class.mean()) / 2


def _constant_targets(levels: _Levels, target: ExploredTarget, chance: float) -> list[_Leak]:
    y, rows, names = target.numbers, len(levels.codes), levels.names
    size = len(names) + 2
    counts = np.maximum(np.bincount(levels.codes, minlength=size), 1)[: len(names)]
    mean = y.mean()
    means = np.bincount(levels.codes, y - mean, minlength=size)[: len(names)] / counts
    squares = np.bincount(levels.codes, (y - mean) ** 2, minlength=size)[: len(names)] / counts
    spread = np.sqrt(np.maximum(squares - means**2, 0))
    # A target that is mostly one number is constant in many a level by chance.
    commonest = np.unique(y, return_counts=True)[1].max() / rows
    constant = (counts >= COMMON * rows) & (counts < rows) & (spread < CONSTANT * y.std())
    return [
        _Leak(
            levels.feature.name,
            names[level],
            int(counts[level]),
            f"always has {target.name} = {np.median(y[levels.codes == level]):.6g}",
            float(counts[level] / rows),
        )
        for level in np.flatnonzero(constant).tolist()
        if commonest ** counts[level] <= chance
    ]
