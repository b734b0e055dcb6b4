"""Leaks: columns, levels and pairs of columns that contain the target or are known only after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from bosquet.study.exploration.features import Feature
from bosquet.study.exploration.findings import list_names
from bosquet.study.exploration.relations import avoided_error_share, is_copy, random_half
from bosquet.study.exploration.target import ExploredTarget
from bosquet.study.record import Finding
from bosquet.tables.dates import DAYS_OF_A_YEAR

# Share of a constant's errors that one column avoids: a sure leak, and a likely one.
SURE = 0.98
LIKELY = 0.9
MIN_ROWS_OF_A_LEAK = 40  # fewer rows cannot show a leak
# Expected share of all rows in a cell (level, class) if column and target are independent. Below it empty
# cells are ordinary (no child earns 50,000).
MIN_EXPECTED_SHARE = 0.1
# The same for the level "not missing": a column that is filled in for one class only is not ordinary.
MIN_EXPECTED_SHARE_OF_KNOWN = 0.01
# A level with at least this share of the rows and only one of two classes is a leak, even if the other class
# is rare.
MAJORITY_SHARE = 0.5
# The same as MIN_EXPECTED_SHARE for such a level, and the least for any level.
MIN_EXPECTED_SHARE_OF_MAJORITY = 0.005
CONTAMINATION = 0.001  # tolerated share of the expected rows: errors in the table
SIGNIFICANCE = 0.001  # level of the test, corrected for the number of cells in the table
# Minimum share of the rows of a number that is treated as a level.
MIN_SHARE_OF_A_NUMBER = 0.01
# Maximum standard deviation of a numeric target in a level, relative to that in the table.
MAX_DEVIATION_IN_A_LEVEL = 0.01
DETERMINED = 0.9999  # R² of the target regressed on two columns
MAX_COLUMNS_PAIRED = 40
LATER = 0.05  # minimum share of rows with a date later than the time of the row
ONE_DAY = 1.01 / DAYS_OF_A_YEAR  # in years; a time on the same day is not later than its date
# Share and minimum number of the latest rows, in which a column that is filled in late is empty.
LAST_ROWS = 0.05
MIN_LAST_ROWS = 20
_REPORTED = 5  # columns with a finding each


def column_leaks(
    features: list[Feature],
    target: ExploredTarget,
    rng: np.random.Generator,
    group: np.ndarray | None = None,
) -> list[Finding]:
    """Report columns that predict the target almost perfectly.

    The measure is computed on other groups than it is fitted to. Otherwise a column that is constant within
    groups would identify the group and so predict the targets of its other rows.
    """
    findings = []
    for feature in features:
        name = feature.name
        if is_copy(feature, target):
            message = f"{name} is a copy of {target.name}, possibly rescaled or renamed; drop it."
            findings.append(Finding(kind="leak", severity="high", columns=[name], message=message))
        elif len(feature.missing) >= MIN_ROWS_OF_A_LEAK:
            half = random_half(len(feature.missing), rng, group)
            share = avoided_error_share(feature, target, half)
            if share >= LIKELY:
                findings.append(
                    Finding(
                        kind="leak",
                        severity="high" if share >= SURE else "medium",
                        columns=[name],
                        message=f"{name} alone avoids {share:.0%} of the errors in predicting {target.name};"
                        " drop it unless it is known before the target.",
                    )
                )
    return findings


def pair_leaks(
    features: Iterable[Feature], target: ExploredTarget, already_reported: Collection[str] = ()
) -> list[Finding]:
    """Report pairs of columns of which a numeric target is a linear combination, such as their sum."""
    numbers = [
        f for f in features if f.numbers is not None and f.used and not bool(f.missing.any())
    ]
    numbers = [f for f in numbers if f.distinct > 2 and f.name not in already_reported]
    if target.is_classes or not 2 <= len(numbers) <= MAX_COLUMNS_PAIRED:
        return []
    values = [np.asarray(f.numbers) for f in numbers]
    matrix: np.ndarray = np.corrcoef(np.stack([*values, target.numbers]))
    among, with_target = matrix[:-1, :-1], matrix[:-1, -1]
    products = np.outer(with_target, with_target)
    squares = with_target[:, None] ** 2 + with_target[None, :] ** 2
    # The quotient is meaningless for columns that are collinear with each other.
    denominators = np.where(np.abs(among) < 0.999, 1 - among**2, np.inf)
    explained = np.triu((squares - 2 * products * among) / denominators, k=1)
    explained_by_one = np.maximum(with_target[:, None] ** 2, with_target[None, :] ** 2)
    findings = []
    for i, j in np.argwhere((explained > DETERMINED) & (explained_by_one < DETERMINED))[:_REPORTED]:
        a, b = numbers[i].name, numbers[j].name
        message = (
            f"{target.name} is a linear combination of {a} and {b}; drop them unless they are known before"
            f" {target.name}."
        )
        findings.append(Finding(kind="leak", severity="high", columns=[a, b], message=message))
    return findings


def time_leaks(features: Iterable[Feature], time: Feature) -> list[Finding]:
    """Report columns that are known only after the time of their row.

    These are dates later than the time of the row, and columns that are empty in the latest rows.
    """
    assert time.numbers is not None
    n_rows = len(time.numbers)
    count = max(int(LAST_ROWS * n_rows), MIN_LAST_ROWS)
    order = np.argsort(time.numbers, kind="stable")
    last = order[-count:]
    findings = []
    for feature in features:
        if feature is time or not feature.used:
            continue
        how = ""
        if feature.kind == "date" and time.kind == "date" and feature.numbers is not None:
            later = float((feature.numbers > time.numbers + ONE_DAY).mean())
            how = f"is later than {time.name} in {later:.0%} of the rows" if later >= LATER else ""
        elif n_rows > 4 * count and bool(feature.missing[last].all()):
            earlier = float(feature.missing[order[:-count]].mean())
            how = f"is missing in the last {count:,} rows by {time.name}" if earlier < 0.5 else ""
        if how:
            message = (
                f"{feature.name} {how}; drop it unless it is known when the target is predicted."
            )
            findings.append(
                Finding(kind="leak", severity="medium", columns=[feature.name], message=message)
            )
    return findings


# -------------------------------------------------------------------------------------- by level
@dataclass(frozen=True)
class _Levels:
    """The levels of a category or the common values of a number, and missing values last.

    Rows with other values have a code of at least `len(names)`.
    """

    feature: Feature
    codes: np.ndarray
    names: list[str]
    numbers: np.ndarray | None  # values of the first names in a numeric column
    has_missing: bool


@dataclass(frozen=True)
class _Leak:
    """A level that excludes a class, or at which a numeric target is constant.

    `expected` is the share of all rows that would be in the empty cell under independence.
    """

    column: str
    level: str  # "RACE = 'Not_a_Fatality'"
    n_rows: int
    how: str  # "never has INJURY = 'Fatal' (42 % of all rows)"
    expected: float
    threshold: float = MIN_EXPECTED_SHARE

    @property
    def severe(self) -> bool:
        return self.expected >= self.threshold


def level_leaks(
    features: Iterable[Feature], target: ExploredTarget, already_reported: Collection[str] = ()
) -> list[Finding]:
    """Report levels, missing values and common numbers that never occur with one class, using all rows.

    A rare level lacks many classes by chance. A cell is therefore reported only if independence of column and
    target would make it so empty with a probability of at most 0.001 divided by the number of cells
    (Bonferroni), and if it would contain a notable share of all rows. Columns in `already_reported` are
    skipped.
    """
    examined = [
        feature for feature in features if feature.used and feature.name not in already_reported
    ]
    max_common_numbers = int(1 / MIN_SHARE_OF_A_NUMBER)  # levels that a column of numbers can have
    levels_in_all = sum(
        len(f.levels) if f.levels is not None else max_common_numbers for f in examined
    )
    # Two more levels per column: missing and not missing.
    cells = (levels_in_all + 2 * len(examined)) * max(len(target.classes), 1)
    worst = []
    for feature in examined:
        levels = _levels_of(feature)
        if levels.names:
            find = _excluded_classes if target.is_classes else _constant_targets
            leaks = find(levels, target, SIGNIFICANCE / cells)
            worst += sorted(leaks, key=lambda leak: -leak.expected / leak.threshold)[:1]
    return _report_leaks(sorted(worst, key=lambda leak: -leak.expected), target.name)


def _report_leaks(leaks: list[_Leak], target: str) -> list[Finding]:
    """Return a finding for each of the worst columns, one for other severe columns and one for the rest."""
    severe = [leak for leak in leaks if leak.severe]
    mild = [leak for leak in leaks if not leak.severe]
    findings = []
    for leak in severe[:_REPORTED]:
        message = (
            f"{leak.level} ({leak.n_rows:,} rows) {leak.how}; drop {leak.column} unless it is known before"
            f" {target}."
        )
        findings.append(
            Finding(kind="leak", severity="medium", columns=[leak.column], message=message)
        )
    other_columns = [leak.column for leak in severe[_REPORTED:]]
    if other_columns:
        message = (
            f"{len(other_columns)} more columns have a level that excludes a value of {target}:"
            f" {list_names(other_columns)}; drop those that are not known before {target}."
        )
        findings.append(
            Finding(kind="leak", severity="medium", columns=other_columns, message=message)
        )
    if mild:
        examples = "; ".join(f"{leak.level} {leak.how}" for leak in mild[:_REPORTED])
        more = f"; and {len(mild) - _REPORTED} more columns" if len(mild) > _REPORTED else ""
        message = f"Levels that exclude a value of {target}: {examples}{more}."
        names = [leak.column for leak in mild]
        findings.append(Finding(kind="leak", severity="low", columns=names, message=message))
    return findings


def _levels_of(feature: Feature) -> _Levels:
    numbers = None
    if feature.numbers is None:
        assert feature.codes is not None
        codes = feature.codes
        names = [f"{feature.name} = {level!r}" for level in feature.levels or []]
    else:
        numbers = _common_numbers(feature)
        names = [f"{feature.name} = {value:g}" for value in numbers]
        codes = np.full(len(feature.numbers), len(names) + 1)
        if len(names):
            nearest = np.searchsorted(numbers, feature.numbers).clip(0, len(names) - 1)
            codes = np.where(numbers[nearest] == feature.numbers, nearest, codes)
    missing = feature.missing
    has_missing = bool(missing.any()) and not bool(missing.all())
    codes = np.where(missing, len(names), codes)
    if has_missing:
        names.append(f"{feature.name} missing")
    return _Levels(feature, codes, names, numbers, has_missing)


def _common_numbers(feature: Feature) -> np.ndarray:
    values = feature.ordered
    if not values.size:
        return values
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    counts = np.diff(np.append(first, values.size))
    common: np.ndarray = values[first[counts >= MIN_SHARE_OF_A_NUMBER * len(feature.missing)]]
    return common


def _excluded_classes(levels: _Levels, target: ExploredTarget, significance: float) -> list[_Leak]:
    from scipy.stats import binom

    rows, classes, names = len(levels.codes), len(target.classes), levels.names
    table = np.bincount(
        levels.codes * classes + target.codes, minlength=(len(names) + 2) * classes
    ).reshape(-1, classes)[: len(names)]
    thresholds = np.full(len(names), MIN_EXPECTED_SHARE)
    if classes == 2:
        thresholds[table.sum(axis=1) >= MAJORITY_SHARE * rows] = MIN_EXPECTED_SHARE_OF_MAJORITY
    if levels.has_missing:
        table = np.vstack([table, target.counts - table[-1]])
        names = [*names, f"{levels.feature.name} not missing"]
        thresholds = np.append(thresholds, MIN_EXPECTED_SHARE_OF_KNOWN)
    share, sizes = target.counts / rows, table.sum(axis=1)
    expected = sizes[:, None] * share
    empty = (table <= CONTAMINATION * expected) & (
        expected >= MIN_EXPECTED_SHARE_OF_MAJORITY * rows
    )
    leaks = []
    for level, label in np.argwhere(empty).tolist():
        seen = int(table[level, label])
        if binom.cdf(seen, sizes[level], share[label]) > significance:
            continue
        if not _differs_from_neighbours(levels, level, target.codes == label):
            continue
        value = f"{target.name} = {target.classes[label]!r}"
        how = f"has {value} in only {seen:,} rows" if seen else f"never has {value}"
        how += f" ({share[label]:.0%} of all rows have it)"
        expected_share = float(expected[level, label] / rows)
        leaks.append(
            _Leak(
                levels.feature.name,
                names[level],
                int(sizes[level]),
                how,
                expected_share,
                float(thresholds[level]),
            )
        )
    return leaks


def _differs_from_neighbours(levels: _Levels, level: int, of_class: np.ndarray) -> bool:
    """Return whether the class has at least half of its share among the nearest other numbers.

    If it has less, the class is absent from a whole range, which is the smooth effect of a good feature.
    """
    if levels.numbers is None or level >= len(levels.numbers):
        return True
    numbers, ordered = levels.feature.numbers, levels.feature.ordered
    assert numbers is not None
    value = levels.numbers[level]
    low, high = (np.searchsorted(ordered, value, side=side) for side in ("left", "right"))
    count = max(int(high - low), MIN_ROWS_OF_A_LEAK)
    order = np.argsort(numbers, kind="stable")  # missing values last
    sides = [order[max(low - count, 0) : low], order[high : min(high + count, ordered.size)]]
    shares = [float(of_class[side].mean()) for side in sides if side.size]
    return bool(shares) and min(shares) >= float(of_class.mean()) / 2


def _constant_targets(levels: _Levels, target: ExploredTarget, significance: float) -> list[_Leak]:
    y, rows, names = target.numbers, len(levels.codes), levels.names
    size = len(names) + 2
    counts = np.maximum(np.bincount(levels.codes, minlength=size), 1)[: len(names)]
    mean = y.mean()
    means = np.bincount(levels.codes, y - mean, minlength=size)[: len(names)] / counts
    squares = np.bincount(levels.codes, (y - mean) ** 2, minlength=size)[: len(names)] / counts
    spread = np.sqrt(np.maximum(squares - means**2, 0))
    # A target that is mostly one number is constant in many levels by chance.
    most_frequent = np.unique(y, return_counts=True)[1].max() / rows
    constant = (counts >= MIN_SHARE_OF_A_NUMBER * rows) & (counts < rows)
    constant &= spread < MAX_DEVIATION_IN_A_LEVEL * y.std()
    return [
        _Leak(
            levels.feature.name,
            names[level],
            int(counts[level]),
            f"always has {target.name} = {np.median(y[levels.codes == level]):.6g}",
            float(counts[level] / rows),
        )
        for level in np.flatnonzero(constant).tolist()
        if most_frequent ** counts[level] <= significance
    ]
