"""TableEncoder: converts tables of any container to the columns that the compiled core reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bosquet._digits import LARGEST_EXACT_INTEGER
from bosquet._suggestions import first_names

from .categorical_features import FROM_DTYPE, categorical_mask
from .columns import Columns
from .containers import open_table
from .levels import MAX_LEVELS, Levels, numeric_values
from .names import check_names, feature_names_from
from .table import Column, Table, column_label
from .training_levels import (
    TrainingLevels,
    is_categorical,
    is_ordinal,
    note_lost_digits,
    to_coded_column,
    warn_of_columns_that_lose_digits,
)

if TYPE_CHECKING:
    from bosquet._types import CategoricalFeatures, State, TableLike


_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_STATE_KEYS = {"feature_names", "named_by_hand", "levels"}

# Number of levels of a column that get a code each, unless the caller asks for another number.
MAX_CATEGORIES = 4095
# Code of a level that did not occur in training, if the encoder distinguishes such levels.
UNSEEN = -2


class TableEncoder:
    """Fitted description of the columns of a table: their names, which are categorical, and their levels.

    A table is a NumPy array, nested lists, a pandas or polars data frame, an Arrow table or another object
    that exports an Arrow stream, or a SciPy sparse matrix (entries that are not stored are 0). NaN, None,
    null and pandas' NA are missing values in all of them. Infinite values are treated as very large numbers.
    The same values give the same numbers and codes in every container.

    **Categorical columns** become int32 codes, with -1 for a missing value. Levels are compared by value:
    numbers as numbers (1, 1.0 and True are the same level), text as text, and other objects that a category
    column may contain (dates, intervals) by their `str`. Codes follow the order of the levels, numbers
    ascending and then text by code point, so they depend on the values only. A level that did not occur in
    training is treated as missing, without an error. However, if a column had only text in training and has
    only numbers later, or the reverse, an error names the column.

    **Ordinal columns** are those of an ordered category type: pandas' ``Categorical(ordered=True)``,
    polars' ``Enum``, Arrow's ordered dictionaries. They become quantities: the position of each level in the
    order of the type, also for levels that do not occur in training. Values that are not levels of the type
    are missing. If such a column is listed in `categorical_features`, it is categorical instead.

    **Many levels.** The `max_categories` most frequent levels of a column get a code each; ties are resolved
    by the order of the levels. Rarer levels are treated as missing, in training and later, and are not
    stored. An unseen level is then predicted like the rare levels of training, which is better than a value
    that no training row had.

    **A column without any value** and without a numeric type (all None, or text that is all missing)
    has no levels. All its later values are treated as missing.

    Attributes
    ----------
    n_features : int
        Number of columns.
    feature_names : list of str or None
        Names, if the table had string column names or `feature_names` was given.
    levels : list
        For each column its levels in the order of their codes, or None if it is quantitative.
    n_levels : list of int
        For each column the number of its levels; 0 if it is quantitative or ordinal, or has no levels.
    unseen_code : int, default=-1
        The code of levels that did not occur in training: that of missing values, or `UNSEEN`.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.data import TableEncoder
    >>> X = [[1.5, "red"], [2.0, "blue"], [None, "red"]]
    >>> encoder, columns = TableEncoder.fit_encode(X)
    >>> columns
    [array([1.5, 2. , nan]), array([1, 0, 1], dtype=int32)]
    >>> encoder.levels
    [None, ['blue', 'red']]
    >>> encoder.transform([[0, "green"]])
    [array([0]), array([-1], dtype=int32)]

    A numeric array is returned without a copy:

    >>> X = np.arange(6.0).reshape(3, 2)
    >>> encoder, columns = TableEncoder.fit_encode(X)
    >>> columns is X
    True
    """

    def __init__(
        self,
        levels: list[Levels | None],
        feature_names: list[str] | None,
        named_by_hand: bool = False,
    ) -> None:
        self.n_features = len(levels)
        self.feature_names = feature_names
        self.levels = [
            None if column_levels is None else column_levels.ordered for column_levels in levels
        ]
        self.n_levels = [
            0 if column_levels is None or column_levels.ordinal else len(column_levels.ordered)
            for column_levels in levels
        ]
        self.unseen_code = -1
        self._levels = levels
        self._named_by_hand = named_by_hand
        self._quantitative = all(column_levels is None for column_levels in levels)
        # Then only the shape of an array has to be checked.
        self._takes_arrays_as_they_are = self._quantitative and (
            feature_names is None or named_by_hand
        )

    @classmethod
    def fit_encode(
        cls,
        X: TableLike,
        *,
        categorical_features: CategoricalFeatures = FROM_DTYPE,
        feature_names: Sequence[str] | None = None,
        max_categories: int | None = MAX_CATEGORIES,
        owner: str = "TableEncoder",
    ) -> tuple[TableEncoder, Columns]:
        """Fit an encoder to X and return it with the encoded columns.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The training table.
        categorical_features : "from_dtype", None, or array-like of bool, int or str
            With "from_dtype", columns of text and of category types are categorical, and columns of ordered
            category types are ordinal. With None, no column is categorical. A mask, indices or names select
            the categorical columns: a column of text that is not selected is then an error, and the levels of
            a selected column of numbers are its values.
        feature_names : sequence of str, optional
            Names for the columns of a table that has no column names.
        max_categories : int or None, default=4095
            Maximum number of levels per column that get a code, in [1, 65535]; None: all levels, which may be
            more than trees can split on.
        owner : str
            Name of the estimator in error messages.
        """
        _check_max_categories(max_categories)
        table = open_table(X, owner)
        names = feature_names_from(table.names)
        named_by_hand = names is None and feature_names is not None
        if feature_names is not None:
            names = _check_given_names(feature_names, names, table.n_columns)
        chosen = categorical_mask(categorical_features, table.n_columns, names)
        if chosen is None or not chosen.any():
            matrix = table.matrix()
            if matrix is not None:
                warn_of_columns_that_lose_digits(_lost_digits_in_matrix(table, matrix), names)
                return cls([None] * table.n_columns, names, named_by_hand), matrix
        levels: list[Levels | None] = []
        columns: list[np.ndarray] = []
        lost_digits: dict[int, int] = {}
        for index in range(table.n_columns):
            column = table.column(index)
            where = column_label(index, names)
            column_levels = _levels_of(
                column, None if chosen is None else chosen[index], max_categories
            )
            levels.append(column_levels)
            if column_levels is None:
                columns.append(numeric_values(column, where, in_training=True))
                note_lost_digits(lost_digits, index, column)
            else:
                columns.append(column_levels.encode(to_coded_column(column), where))
        warn_of_columns_that_lose_digits(lost_digits, names)
        return cls(levels, names, named_by_hand), columns

    @classmethod
    def fit_batches(
        cls,
        read: Callable[[Sequence[int] | None], Iterator[TableLike]],
        *,
        categorical_features: CategoricalFeatures = FROM_DTYPE,
        max_categories: int | None = MAX_CATEGORIES,
        owner: str = "TableEncoder",
    ) -> TableEncoder:
        """Fit an encoder to a table that is read in batches: the same as for the whole table.

        Parameters
        ----------
        read : function of column numbers
            Returns an iterator of batches with these columns (None: all), whose types do not vary.
        categorical_features, max_categories, owner
            As in `fit_encode`.
        """
        training = TrainingLevels(next(iter(read(None))), categorical_features, owner)
        to_read = training.columns_to_read
        for batch in read(to_read) if to_read else ():
            training.add(batch)
        return cls.from_training_levels(training, max_categories)

    @classmethod
    def from_training_levels(
        cls, training: TrainingLevels, max_categories: int | None = MAX_CATEGORIES
    ) -> TableEncoder:
        """Return the encoder of a table from the levels of all its batches or parts."""
        _check_max_categories(max_categories)
        return cls(training.levels(max_categories), training.names)

    def transform(self, X: TableLike, *, owner: str = "TableEncoder") -> Columns:
        """Encode another table, which must have the column names of training.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A table in any container, which may differ from the one of training.
        owner : str
            Name of the estimator in error messages.
        """
        if (
            type(X) is np.ndarray
            and self._takes_arrays_as_they_are
            and X.ndim == 2
            and X.shape[1] == self.n_features
            and X.shape[0] > 0
            and (X.dtype == _FLOAT64 or X.dtype == _FLOAT32)
            and X.flags.aligned
        ):
            return X
        table = open_table(X, owner)
        self._check(table, owner)
        if self._quantitative:
            matrix = table.matrix()
            if matrix is not None:
                return matrix
        columns = []
        for index, column_levels in enumerate(self._levels):
            column = table.column(index)
            where = column_label(index, self.feature_names)
            if column_levels is None:
                columns.append(numeric_values(column, where, in_training=False))
            else:
                columns.append(
                    column_levels.encode(to_coded_column(column), where, self.unseen_code)
                )
        return columns

    def _check(self, table: Table, owner: str) -> None:
        names = feature_names_from(table.names)
        if names is not None or not self._named_by_hand:
            check_names(self.feature_names, names, owner)
        if table.n_columns != self.n_features:
            raise ValueError(
                f"X has {table.n_columns} features, but {owner} is expecting {self.n_features} features as"
                " input; pass the columns that it was fitted to"
            )

    def to_state(self) -> State:
        """Return the fitted encoder as JSON values for a model file."""
        return {
            "feature_names": self.feature_names,
            "named_by_hand": self._named_by_hand,
            "levels": [
                None if column_levels is None else column_levels.to_state()
                for column_levels in self._levels
            ],
        }

    @classmethod
    def from_state(cls, state: object, max_levels: int | None = MAX_LEVELS) -> TableEncoder:
        """Build the encoder from the result of `to_state`; raise ValueError for an invalid state.

        A column may have at most `max_levels` levels (None: any number). Unknown keys, which a later version
        may have added, are ignored.
        """
        if not isinstance(state, dict) or not set(state) >= _STATE_KEYS:
            raise ValueError(
                f"the state of an encoder must be an object with the keys {sorted(_STATE_KEYS)}"
            )
        level_states, names = state["levels"], state["feature_names"]
        by_hand = state["named_by_hand"]
        if not isinstance(level_states, list) or not level_states:
            raise ValueError(
                "'levels' in the state of an encoder must be a list with one entry per column"
            )
        if names is not None and not (
            isinstance(names, list)
            and all(isinstance(name, str) for name in names)
            and len(names) == len(set(names)) == len(level_states)
        ):
            raise ValueError(
                "'feature_names' in the state of an encoder must be null or a list of distinct strings, "
                f"one for each of the {len(level_states)} columns"
            )
        if type(by_hand) is not bool or (by_hand and names is None):
            raise ValueError(
                f"'named_by_hand' in the state of an encoder is {by_hand!r}; it must be false, or true if"
                " there are feature names"
            )
        levels = [
            None
            if level_state is None
            else Levels.from_state(level_state, column_label(index, names), max_levels)
            for index, level_state in enumerate(level_states)
        ]
        return cls(levels, None if names is None else list(names), by_hand)


def _check_max_categories(max_categories: object) -> None:
    if max_categories is None:
        return
    if isinstance(max_categories, bool) or not isinstance(max_categories, (int, np.integer)):
        raise TypeError(
            f"max_categories={max_categories!r} is not valid: max_categories must be an integer in [1,"
            f" {MAX_LEVELS}]"
        )
    if not 1 <= max_categories <= MAX_LEVELS:
        raise ValueError(
            f"max_categories={max_categories} is not valid: max_categories must be in [1, {MAX_LEVELS}]"
        )


def _levels_of(column: Column, chosen: bool | None, max_categories: int | None) -> Levels | None:
    """Return the levels of a categorical or ordinal column, None for a quantitative one.

    `chosen` is whether `categorical_features` lists the column, None if its type decides.
    """
    if is_ordinal(column, chosen):
        return Levels.from_ordered_type(column)
    if is_categorical(column, chosen):
        return Levels.learn(to_coded_column(column), max_categories)
    return None


def _lost_digits_in_matrix(table: Table, matrix: np.ndarray) -> dict[int, int]:
    """Return, by column, the first integer that loses digits as float64; only large numbers are examined."""
    lost_digits: dict[int, int] = {}
    if table.holds_integers():
        high, low = np.fmax.reduce(matrix), np.fmin.reduce(matrix)
        for index in np.flatnonzero(
            (high > LARGEST_EXACT_INTEGER) | (low < -LARGEST_EXACT_INTEGER)
        ).tolist():
            note_lost_digits(lost_digits, index, table.column(index))
    return lost_digits


def _check_given_names(
    given_names: Sequence[str], table_names: list[str] | None, n_features: int
) -> list[str]:
    if isinstance(given_names, str) or not all(isinstance(name, str) for name in given_names):
        raise TypeError(
            f"feature_names={given_names!r} is not valid: feature_names must be a sequence of strings"
        )
    names = [str(name) for name in given_names]
    if len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but X has {n_features} features; pass one name per"
            " feature"
        )
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"feature_names contains {repeated!r} {names.count(repeated)} times; names must be distinct"
        )
    if table_names is not None and table_names != names:
        raise ValueError(
            f"feature_names differs from the column names of X, {first_names(table_names)}; omit"
            " feature_names"
        )
    return names
