"""Target statistics: quantitative columns derived from the levels of categorical columns.

A *group* is one categorical column or a combination of several, whose combinations of levels are treated
as the levels of one column. Its derived columns are the mean target of the level and the number of training
rows of the level. In training the rows are divided into random folds, and the mean of a row is taken over the
rows of the other folds: a mean that contains the row's own target would reveal it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from bosquet import _core
from bosquet.boosting.gradient._rows import EncodedRows
from bosquet.data import take_rows

if TYPE_CHECKING:
    from bosquet.data import Columns

Group = tuple[int, ...]
Gains = Callable[[Sequence[Group]], list[tuple[float, int]]]
# The level number of each row, the keys of the levels.
NumberedLevels = tuple[np.ndarray, np.ndarray]

# Number of folds: the mean of a row is taken over the rows of the others.
FOLDS = 10
# Number of random divisions into folds, each of which gives another version of the derived columns. The first
# gives the leaf values, the others the splits, in turn: a split that fits the noise of one version gets the
# values that it deserves in another.
VERSIONS = 8
# With more rows there is less noise, and a version takes more memory: MANY_ROWS have FEW_VERSIONS.
MANY_ROWS, FEW_VERSIONS = 200_000, 3
# The prior mean counts as much as this many rows.
PRIOR_WEIGHT = 1.0
# Columns with more levels are split by their statistics only. A set of levels that is found among hundreds
# of levels fits noise.
MAX_SET_LEVELS = 255
# Largest number of pairs of columns, and of columns from which they are formed: those that predict the target
# best.
MAX_PAIRS = 30
MAX_PAIRED_COLUMNS = 10
# Smallest gain of a pair; that of a column without any relation to the target is larger in 1 of 700 cases.
MIN_GAIN = 9.0
# Number of rows, evenly spaced, on which groups are compared.
MEASURED_ROWS = 100_000
# With more targets (classes), there are no pairs.
MAX_TARGETS_PAIRED = 8
# Largest number of classes that have a statistic.
MAX_CLASSES = 32
# Number of candidate groups that are numbered at a time.
GROUPS_IN_MEMORY = 16


@dataclass(frozen=True)
class LevelSums:
    """Sums over the training rows of each level of a group.

    Attributes
    ----------
    columns : the columns of the group.
    keys : the combinations of levels that occur, as the core numbers them, ascending; shape (levels,).
    weight : the weight of the rows of each level.
    sums : the weighted sums of the targets, shape (targets, levels).
    """

    columns: Group
    keys: np.ndarray
    weight: np.ndarray
    sums: np.ndarray


class TargetStatistics:
    """The derived columns of a fitted model: the columns of its trees as a function of the encoded columns.

    Attributes
    ----------
    categories : the number of levels of each encoded column, 0 if it is quantitative.
    kept_columns : the encoded columns that are also columns of the trees.
    groups : sums over all training rows, from which the statistics of new rows are computed.
    prior : the mean of each target.
    strength : the weight of the prior mean.
    sources : for each column of the trees, the encoded columns from which it is computed.
    tree_categories : the number of levels of each column of the trees.
    """

    def __init__(
        self,
        categories: Sequence[int],
        kept_columns: Sequence[int],
        groups: Sequence[LevelSums],
        prior: np.ndarray,
        strength: float,
    ):
        self.categories = list(categories)
        self.kept_columns = list(kept_columns)
        self.groups = list(groups)
        self.prior = prior
        self.strength = strength
        values_per_group = prior.size + 1
        derived = [group.columns for group in self.groups for _ in range(values_per_group)]
        self.sources: list[Group] = [(f,) for f in self.kept_columns] + derived
        self.tree_categories = [self.categories[f] for f in self.kept_columns] + [0] * len(derived)
        unknown = np.append(prior, 0.0).astype(np.float32)[None, :]
        self._tables = _core.TargetTables(
            [list(group.columns) for group in self.groups],
            [[self.categories[f] for f in group.columns] for group in self.groups],
            [group.keys for group in self.groups],
            [self._level_values(group) for group in self.groups],
            [unknown] * len(self.groups),
        )

    def _level_values(self, group: LevelSums) -> np.ndarray:
        """Return the derived values of each level of a group, shape (levels, targets + 1)."""
        mean = group.sums + self.strength * self.prior[:, None]
        mean /= group.weight + self.strength
        return np.vstack([mean, group.weight]).T.astype(np.float32, order="C")

    def tree_columns(self, columns: Columns, threads: int = 1) -> list[np.ndarray]:
        """Return the columns of the trees for rows that are not training rows."""
        derived = self._tables.derive(columns, threads)
        return [*(columns[f] for f in self.kept_columns), *derived]

    def same_tables(self, other: TargetStatistics) -> bool:
        """Whether both derive the same values from all rows."""
        return len(self.groups) == len(other.groups) and all(
            mine.columns == theirs.columns
            and np.array_equal(mine.keys, theirs.keys)
            and np.array_equal(self._level_values(mine), other._level_values(theirs))
            for mine, theirs in zip(self.groups, other.groups, strict=True)
        )

    def __reduce__(self) -> tuple[object, ...]:
        content = (self.categories, self.kept_columns, self.groups, self.prior, self.strength)
        return (TargetStatistics, content)


class TrainingStatistics:
    """The statistics of a training set, and the columns of the trees for its rows in each version.

    `target` holds the targets of the statistics, numbers in [0, 1] of shape (targets, rows). `groups` are
    those of an earlier fit; by default they are chosen.
    """

    def __init__(
        self,
        rows: EncodedRows,
        target: np.ndarray,
        categories: Sequence[int],
        *,
        seed: int,
        threads: int,
        groups: Sequence[Group] | None = None,
    ):
        self.columns, self.weight = rows.columns, rows.weight
        self.target = np.ascontiguousarray(target)
        self.categories, self.threads = list(categories), threads
        self.strength = PRIOR_WEIGHT * rows.weight_factor
        self.prior = _weighted_means(self.target, self.weight)
        if groups is None:
            groups = choose_groups(self._gain_function(seed), self.categories, self.prior.size)
        self.versions = VERSIONS if self.target.shape[1] < MANY_ROWS else FEW_VERSIONS
        self._numbered_groups = [self._number_levels(self.columns, group) for group in groups]
        self.target_statistics = TargetStatistics(
            self.categories,
            [f for f, levels in enumerate(self.categories) if levels <= MAX_SET_LEVELS],
            [
                self._level_sums(group, *numbered)
                for group, numbered in zip(groups, self._numbered_groups, strict=True)
            ],
            self.prior,
            self.strength,
        )

    def tree_columns(self, seed: int, version: int) -> list[np.ndarray]:
        """Return the columns of the trees for the training rows, in one of the versions."""
        derived = _core.held_out_statistics(
            *_numbers_and_sizes(self._numbered_groups), self.target, self.weight, self.prior, self.strength,
            FOLDS, seed, version, self.threads,
        )  # fmt: skip
        return [*(self.columns[f] for f in self.target_statistics.kept_columns), *derived]

    def _number_levels(self, columns: Columns, group: Group) -> NumberedLevels:
        levels = [self.categories[f] for f in group]
        numbers, keys = _core.number_levels(columns, list(group), levels)
        return numbers, keys

    def _level_sums(self, group: Group, numbers: np.ndarray, keys: np.ndarray) -> LevelSums:
        # `bincount` adds up in the order of the rows: the same bits on every machine.
        weighted = self.target * self.weight if self.weight.size else self.target
        sums = np.array([np.bincount(numbers, t, keys.size) for t in weighted])
        weight = np.bincount(numbers, self.weight if self.weight.size else None, keys.size)
        return LevelSums(group, keys, weight.astype(float), sums)

    def _gain_function(self, seed: int) -> Gains:
        """Return a function of groups that returns gain and number of levels of each, on some rows."""
        measured_rows = slice(None, None, -(-self.target.shape[1] // MEASURED_ROWS))
        columns = take_rows(self.columns, measured_rows)
        weight = np.ascontiguousarray(self.weight[measured_rows])
        target = np.ascontiguousarray(self.target[:, measured_rows])

        def gains(groups: Sequence[Group]) -> list[tuple[float, int]]:
            gains_and_sizes: list[tuple[float, int]] = []
            for first in range(0, len(groups), GROUPS_IN_MEMORY):
                groups_at_once = groups[first : first + GROUPS_IN_MEMORY]
                numbered = [self._number_levels(columns, group) for group in groups_at_once]
                gain = _core.held_out_gains(
                    *_numbers_and_sizes(numbered), target, weight, self.prior, self.strength, FOLDS, seed, 0,
                    self.threads,
                ).tolist()  # fmt: skip
                gains_and_sizes += zip(gain, (keys.size for _, keys in numbered), strict=True)
            return gains_and_sizes

        return gains


def _numbers_and_sizes(numbered: Sequence[NumberedLevels]) -> tuple[list[np.ndarray], list[int]]:
    return [numbers for numbers, _ in numbered], [keys.size for _, keys in numbered]


def choose_groups(gains: Gains, categories: Sequence[int], n_targets: int) -> list[Group]:
    """Return columns of many levels, and pairs with such a column: those that gain most over their columns.

    For a column of few levels, sets of levels are better: its means differ between the folds by nothing but
    noise. If no column has many levels, all categorical columns are used. `gains` returns how well each
    group predicts the target, and its number of levels.
    """
    categorical: list[Group] = [(f,) for f, levels in enumerate(categories) if levels > 0]
    wide = [group for group in categorical if categories[group[0]] > MAX_SET_LEVELS] or categorical
    if len(categorical) < 2 or n_targets > MAX_TARGETS_PAIRED:
        return wide
    single_gains = dict(zip(categorical, gains(categorical), strict=True))
    best = sorted(categorical, key=lambda group: (-single_gains[group][0], group))[
        :MAX_PAIRED_COLUMNS
    ]
    pairs = [
        pair
        for pair in combinations(sorted(column for (column,) in best), 2)
        if any((column,) in wide for column in pair)
        and (categories[pair[0]] + 1) * (categories[pair[1]] + 1) < 2**63
    ]
    excess: dict[Group, float] = {}
    distinct_gains = set()
    for pair, (gain, levels) in zip(pairs, gains(pairs), strict=True):
        column_gains = [single_gains[column,] for column in pair]
        # A pair without further levels is the same as one of its columns. Two pairs with equal numbers are
        # the same if one of their columns is a copy of another.
        is_new = (
            levels > max(size for _, size in column_gains) and (gain, levels) not in distinct_gains
        )
        if is_new and gain > MIN_GAIN:
            distinct_gains.add((gain, levels))
            excess[pair] = gain - max(part for part, _ in column_gains)
    ranked: list[Group] = sorted(excess, key=lambda pair: (-excess[pair], pair))
    return wide + ranked[:MAX_PAIRS]


def class_indicators(target: np.ndarray, classes: int) -> np.ndarray:
    """Return targets of the statistics of a classifier: one row per class, of the second class alone if two.

    Of many classes only the most frequent ones have a statistic.
    """
    numbers = target[0].astype(np.intp)
    if classes == 2:
        return (numbers == 1).astype(float)[None, :]
    frequent = np.argsort(-np.bincount(numbers, minlength=classes), kind="stable")[:MAX_CLASSES]
    return (numbers == np.sort(frequent)[:, None]).astype(float)


def quantile_ranks(target: np.ndarray) -> np.ndarray:
    """Return targets of a regressor's statistics: the rank of each value in [0, 1], equal for equal values.

    The mean rank of a level is not affected by outliers, and does not depend on the scale of the target.
    """
    ranks = np.empty_like(target)
    for values, column_ranks in zip(target, ranks, strict=True):
        _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
        middle = np.cumsum(counts) - counts / 2
        column_ranks[:] = (middle / values.size)[number]
    return ranks


def _weighted_means(target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    # `cumsum` adds up one after the other: the same bits on every machine.
    total = np.cumsum(weight)[-1] if weight.size else target.shape[1]
    weighted = target * weight if weight.size else target
    return np.ascontiguousarray(np.cumsum(weighted, axis=1)[:, -1] / total)
