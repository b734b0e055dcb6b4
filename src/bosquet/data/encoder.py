"""TableEncoder: from any table to the columns the core takes, the same way every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet._digits import EXACT, warn_of_lost_digits

from .choice import FROM_DTYPE, chosen_columns
from .columns import Columns
from .containers import open_table
from .levels import MOST_LEVELS, Levels, quantities
from .names import check_names, names_of
from .table import Coded, Column, Numbers, Table, place

_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_STATE_KEYS = {"feature_names", "named_by_hand", "levels"}


class TableEncoder:
    """What was learned of a table's columns: their names, which are categorical, their levels.

    Tables are NumPy arrays, nested lists, pandas and polars data frames, Arrow tables and
    whatever else hands out an Arrow stream, and scipy's sparse matrices (what is not stored there
    is the value 0). NaN, None, null and pandas' NA are missing values in all of them; infinite
    values are ordinary, very large ones. The same values give the same numbers and the same codes
    whichever container holds them.

    **Categorical columns** become int32 codes, with -1 for a missing value. A level is known by its
    value: numbers by number (1, 1.0 and True are one level), text by text, and anything else a
    category column may hold (dates, intervals) by its `str`. Codes follow the order of the levels,
    numbers ascending and then text by code point, so they depend on the values alone. A level not
    seen in training counts as missing, without an error; but a column in which only text was seen
    must not hold only numbers later, nor the reverse, which is an error that names the column.

    **Ordinal columns** are those of an ordered category type: pandas' ``Categorical(ordered=True)``,
    polars' ``Enum``, Arrow's ordered dictionaries. They become quantities, the place of each level in the
    type's order, also of levels that training did not see; whatever the type does not name is missing.
    Named in `categorical_features`, such a column is categorical instead.

    **Many levels.** The `max_categories` most frequent levels of a column keep a code each; of
    equally frequent ones, those first in level order. The rarer levels count as missing, in
    training as later, and need not be remembered. A level never seen is the rarest of all: it is
    then answered as the rare ones taught, where otherwise no training row would have told the
    model what to do with it.

    **A column with nothing in it** and no numeric type (all None, or text that is all missing)
    has no levels, and whatever stands in it later is missing.

    Attributes
    ----------
    n_features : int
        Number of columns.
    feature_names : list of str or None
        Names, when the table had string column names or they were given.
    levels : list
        For each column its levels in code order, or None when it is quantitative.
    categories : list of int
        For each column the number of its levels, 0 when it is quantitative or ordinal or has none.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.data import TableEncoder
    >>> X = [[1.5, "red"], [2.0, "blue"], [None, "red"]]
    >>> encoder, columns = TableEncoder.fit(X)
    >>> columns
    [array([1.5, 2. , nan]), array([1, 0, 1], dtype=int32)]
    >>> encoder.levels
    [None, ['blue', 'red']]
    >>> encoder.transform([[0, "green"]])
    [array([0]), array([-1], dtype=int32)]

    Numbers in an array go through as they are:

    >>> X = np.arange(6.0).reshape(3, 2)
    >>> encoder, columns = TableEncoder.fit(X)
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
        self.levels = [None if known is None else known.ordered for known in levels]
        self.categories = [
            0 if known is None or known.ordinal else len(known.ordered) for known in levels
        ]
        self._levels = levels
        self._named_by_hand = named_by_hand
        self._quantitative = all(known is None for known in levels)
        # An array has nothing to check but its shape then.
        self._takes_arrays_as_they_are = self._quantitative and (
            feature_names is None or named_by_hand
        )

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        categorical_features: Any = FROM_DTYPE,
        feature_names: Sequence[str] | None = None,
        max_categories: int = 4095,
        owner: str = "TableEncoder",
    ) -> tuple[TableEncoder, Columns]:
        """Learns the columns of X and encodes them.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The training table.
        categorical_features : "from_dtype", None, or array-like of bool, int or str
            With "from_dtype", columns of text and of category types are categorical, but for those of
            ordered types, which are ordinal. None says that none is; a mask, indices or names say
            which are. A column of text that is not among them is then an error, and a column of
            numbers that is has its values as levels.
        feature_names : sequence of str, optional
            Names for the columns of a table that has none of its own.
        max_categories : int
            How many levels of a column keep a code of their own, 1 to 65535.
        owner : str
            Who to name in error messages.
        """
        _check_max_categories(max_categories)
        table = open_table(X, owner)
        names = names_of(table.names)
        named_by_hand = names is None and feature_names is not None
        if feature_names is not None:
            names = _names_by_hand(feature_names, names, table.n_columns)
        chosen = chosen_columns(categorical_features, table.n_columns, names)
        if chosen is None or not chosen.any():
            matrix = table.matrix()
            if matrix is not None:
                _warn_of_lost_digits(_lost_in_matrix(table, matrix), names)
                return cls([None] * table.n_columns, names, named_by_hand), matrix
        levels: list[Levels | None] = []
        columns: list[np.ndarray] = []
        lost: dict[int, int] = {}
        for index in range(table.n_columns):
            column = table.column(index)
            where = place(index, names)
            known = _levels_of(column, None if chosen is None else chosen[index], max_categories)
            levels.append(known)
            if known is None:
                columns.append(quantities(column, where, in_training=True))
                _note_lost(lost, index, column)
            else:
                columns.append(known.encode(_as_coded(column), where))
        _warn_of_lost_digits(lost, names)
        return cls(levels, names, named_by_hand), columns

    def transform(self, X: Any, *, owner: str = "TableEncoder") -> Columns:
        """Encodes another table with what was learned; its names and their number must match.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Any container, not necessarily the one of training.
        owner : str
            Who to name in error messages.
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
        for index, known in enumerate(self._levels):
            column = table.column(index)
            where = place(index, self.feature_names)
            if known is None:
                columns.append(quantities(column, where, in_training=False))
            else:
                columns.append(known.encode(_as_coded(column), where))
        return columns

    def _check(self, table: Table, owner: str) -> None:
        names = names_of(table.names)
        if names is not None or not self._named_by_hand:
            check_names(self.feature_names, names, owner)
        if table.n_columns != self.n_features:
            raise ValueError(
                f"X has {table.n_columns} features, but {owner} is expecting {self.n_features} "
                "features as input."
            )

    def to_state(self) -> dict[str, Any]:
        """What was learned, in values that JSON has: the model file keeps this."""
        return {
            "feature_names": self.feature_names,
            "named_by_hand": self._named_by_hand,
            "levels": [None if known is None else known.to_state() for known in self._levels],
        }

    @classmethod
    def from_state(cls, state: Any) -> TableEncoder:
        """The encoder of a state; a ValueError says what is wrong with any other value.

        Keys that a later version may have added are not looked at.
        """
        if not isinstance(state, dict) or not set(state) >= _STATE_KEYS:
            raise ValueError(f"an encoder's state must hold {sorted(_STATE_KEYS)}.")
        parts, names, by_hand = state["levels"], state["feature_names"], state["named_by_hand"]
        if not isinstance(parts, list) or not parts:
            raise ValueError(
                "'levels' of an encoder's state must be a list with an entry a column."
            )
        if names is not None and not (
            isinstance(names, list)
            and all(isinstance(name, str) for name in names)
            and len(names) == len(set(names)) == len(parts)
        ):
            raise ValueError(
                "'feature_names' of an encoder's state must be None, or a list of as many "
                "different strings as there are columns."
            )
        if type(by_hand) is not bool or (by_hand and names is None):
            raise ValueError(
                "'named_by_hand' of an encoder's state must be a boolean, and needs names."
            )
        levels = [
            None if part is None else Levels.from_state(part, place(index, names))
            for index, part in enumerate(parts)
        ]
        return cls(levels, None if names is None else list(names), by_hand)


def _check_max_categories(most: Any) -> None:
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)):
        raise TypeError(f"max_categories={most!r} must be an integer.")
    if not 1 <= most <= MOST_LEVELS:
        raise ValueError(f"max_categories={most} must be in 1..{MOST_LEVELS}.")


def _levels_of(column: Column, chosen: bool | None, max_categories: int) -> Levels | None:
    """Levels of a column that has some; `chosen` tells whether it was named as categorical."""
    if not chosen and isinstance(column, Coded) and column.ordered:
        return Levels.in_their_order(column)
    if isinstance(column, Coded) if chosen is None else chosen:
        return Levels.learn(_as_coded(column), max_categories)
    return None


def _note_lost(lost: dict[int, int], index: int, column: Column) -> None:
    """Keep an integer of the column that changes as a quantity, if there is one."""
    example = column.changed_by_float64() if isinstance(column, Numbers) else None
    if example is not None:
        lost[index] = example


def _lost_in_matrix(table: Table, matrix: np.ndarray) -> dict[int, int]:
    """By column an integer that changes as a quantity; only columns of large numbers are looked into."""
    lost: dict[int, int] = {}
    if table.holds_integers():
        high, low = np.fmax.reduce(matrix), np.fmin.reduce(matrix)
        for index in np.flatnonzero((high > EXACT) | (low < -EXACT)).tolist():
            _note_lost(lost, index, table.column(index))
    return lost


def _warn_of_lost_digits(lost: dict[int, int], names: Sequence[str] | None) -> None:
    if lost:
        warn_of_lost_digits(
            [place(index, names) for index in lost],
            next(iter(lost.values())),
            "drop an identifier, name a category in categorical_features, subtract a constant from the rest",
        )


def _as_coded(column: Column) -> Coded:
    return column.as_coded() if isinstance(column, Numbers) else column


def _names_by_hand(given: Sequence[str], own: list[str] | None, n_features: int) -> list[str]:
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"feature_names={given!r} must be a sequence of strings.")
    names = [str(name) for name in given]
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names, but X has {n_features} features.")
    if len(set(names)) < len(names):
        raise ValueError(f"feature_names={names} holds a name more than once.")
    if own is not None and own != names:
        raise ValueError(f"feature_names={names} differ from the column names of X, {own}.")
    return names
