"""Numeric matrices of tables, for methods that need distances or linear combinations of features.

Trees accept a table with categories and missing values. The other methods receive the matrix made by
`NumericInputs`: scaled numbers, imputed missing values with indicator columns, one-hot encoded categories.

The plans of `bosquet.tables` define how raw columns are read, once for the whole table. The encodings of this
module belong to one fit: means, scales and the levels that are frequent enough are learned from its training
rows alone, because the validation and test rows must not influence a fit.

A ColumnTransformer of scikit-learn with imputer, scaler and one-hot encoder makes a similar matrix. For
tables of 50,000 to 100,000 rows it takes 3 to 10 times as long and 2 to 4 times the memory: categories
become arrays of objects, each step copies the numbers, and the matrix is always in double precision. It
does not drop constant columns or the most frequent level, and it does not limit the number of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot, set_feature_attributes
from bosquet._parameters import Check, boolean, check_parameters, choice, integer
from bosquet._sklearn import BaseEstimator, check_is_fitted
from bosquet.data import Columns, TableEncoder, count_rows, take_rows
from bosquet.study.table.screening import (
    explained_by_columns,
    explained_by_levels,
    target_columns,
)

OTHERS, MISSING = "(others)", "(missing)"
# Values and columns converted at a time: large enough for vectorisation, small compared with the table.
BLOCK_VALUES, BLOCK_COLUMNS = 2**18, 256
# A matrix is sparse if it has more columns than this and a smaller share of non-zero entries than this.
SPARSE_COLUMNS, SPARSE_SHARE = 50, 0.3

_CHECKS: dict[str, Check] = {
    "scale": choice("standard", "unit", None),
    "baseline": boolean(),
    "min_rows": integer(1),
    "max_columns": integer(1),
    "dense": boolean(),
    "dtype": choice("float32", "float64"),
}


@dataclass(frozen=True)
class NumberEncoding:
    """Encoding of a numeric column: (value - shift) / scale, with missing values set to `fill`."""

    index: int
    shift: float
    scale: float
    fill: float
    marked: bool  # whether there is an indicator column for missing values


@dataclass(frozen=True)
class LevelEncoding:
    """Encoding of a category: the output column (slot) of each code, -1 for none; the last is for missing."""

    index: int
    slots: np.ndarray
    names: list[str]


class NumericInputs(TransformerMixin, BaseEstimator):
    """Transformer from a table of numbers and categories to a numeric matrix without missing values.

    - A number is centred and divided by its standard deviation (``scale="standard"``), or mapped to
      [0, 1] by the smallest and the largest training value (``"unit"``). Missing and infinite values are
      replaced by the mean. If the training data has any, an indicator column marks them. Constant columns
      are dropped.
    - A category has a column of 0 and 1 for each level with at least `min_rows` rows, one for all rarer
      levels together, and one for missing values if the training data has any. An unseen level counts as
      missing, as in Bosquet's trees; without a column for missing values, all columns are 0.
    - If there are more than `max_columns` output columns, those are kept that individually explain most of
      the variance of the target (sure independence screening). This bounds time and memory for 10⁵ columns.

    Parameters
    ----------
    scale : {"standard", "unit", None}, default="standard"
        How numbers are scaled.
    baseline : bool, default=False
        Whether to drop the most frequent level of each category, so that the columns are not collinear.
    min_rows : int, default=10
        Minimum number of rows of a level that has its own column.
    max_columns : int, default=2000
        Maximum number of output columns.
    dense : bool, default=True
        If False, the matrix is sparse (CSR) when most entries are 0.
    dtype : {"float32", "float64"}, default="float64"

    Attributes
    ----------
    n_columns_ : int
        Number of columns of the matrix.
    is_sparse_ : bool
        Whether the matrix is sparse.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.study.table.numeric_inputs import NumericInputs
    >>> X = [[1.0, "red"], [3.0, "blue"], [None, "red"]]
    >>> inputs = NumericInputs(min_rows=1).fit(X)
    >>> list(inputs.get_feature_names_out())
    ['x0', 'x0 (missing)', 'x1=blue', 'x1=red']
    >>> inputs.transform(X)
    array([[-1.,  0.,  0.,  1.],
           [ 1.,  0.,  1.,  0.],
           [ 0.,  1.,  0.,  1.]])

    References
    ----------
    Fan and Lv, "Sure independence screening for ultrahigh dimensional feature space", Journal of the
    Royal Statistical Society B 2008.
    """

    def __init__(
        self,
        *,
        scale: str | None = "standard",
        baseline: bool = False,
        min_rows: int = 10,
        max_columns: int = 2000,
        dense: bool = True,
        dtype: str = "float64",
    ):
        self.scale = scale
        self.baseline = baseline
        self.min_rows = min_rows
        self.max_columns = max_columns
        self.dense = dense
        self.dtype = dtype

    @publishes_fit_atomically
    def fit(self, X: Any, y: Any = None) -> NumericInputs:
        """Learn the scales, the levels and, if there are too many columns, which columns to keep.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
            Used to select columns if there are more than `max_columns`.

        Returns
        -------
        self
        """
        self._learn(X, y)
        return self

    @publishes_fit_atomically
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit and transform the same rows, reading the table only once."""
        return self._matrix(self._learn(X, y))

    @reads_fit_snapshot
    def transform(self, X: Any) -> Any:
        """Return the matrix of a table, of shape (n_samples, n_columns_), dense or CSR."""
        check_is_fitted(self, "n_columns_")
        return self._matrix(self._encoder.transform(X, owner=type(self).__name__))

    @reads_fit_snapshot
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the column names, such as "age", "age (missing)", "colour=red", "colour=(others)"."""
        check_is_fitted(self, "n_columns_")
        names = self._encoder.feature_names or [f"x{i}" for i in range(self.n_features_in_)]
        outputs = [names[column.index] for column in self._numbers]
        outputs += [f"{names[column.index]} {MISSING}" for column in self._numbers if column.marked]
        for levels in self._levels:
            outputs += [f"{names[levels.index]}={level}" for level in levels.names]
        kept_names = (
            outputs
            if self._kept_slots is None
            else [outputs[position] for position in self._kept_slots]
        )
        return np.asarray(kept_names, dtype=object)

    # ------------------------------------------------------------------ learning
    def _learn(self, X: Any, y: Any) -> Columns:
        check_parameters(self, _CHECKS)
        encoder, columns = TableEncoder.fit_encode(X, owner=type(self).__name__)
        set_feature_attributes(self, encoder)
        self._numbers: list[NumberEncoding] = []
        self._levels: list[LevelEncoding] = []
        of_numbers = [i for i, n_levels in enumerate(encoder.n_levels) if n_levels == 0]
        for indices in _blocks(of_numbers, count_rows(columns)):
            self._numbers += self._measure_columns(columns, indices)
        start = len(self._numbers) + sum(column.marked for column in self._numbers)
        for index in (i for i, n_levels in enumerate(encoder.n_levels) if n_levels > 0):
            column = self._list_levels(index, _column(columns, index), encoder.levels[index], start)
            self._levels.append(column)
            start += len(column.names)
        self._kept_slots = (
            self._screen_columns(columns, y, start) if start > self.max_columns else None
        )
        self.n_columns_ = start if self._kept_slots is None else len(self._kept_slots)
        if self.n_columns_ == 0:
            raise ValueError(
                f"every column of X is constant over its {count_rows(columns)} sample(s); pass at least one"
                " column that varies"
            )
        filled = (len(self._numbers) + len(self._levels)) / max(start, 1)
        self.is_sparse_ = (
            not self.dense and self.n_columns_ > SPARSE_COLUMNS and filled < SPARSE_SHARE
        )
        return columns

    def _measure_columns(self, columns: Columns, indices: list[int]) -> list[NumberEncoding]:
        """Return the parameters of some numeric columns, without constant ones."""
        block = _block(columns, indices)
        is_finite = np.isfinite(block)
        count = is_finite.sum(axis=0)
        values = np.where(is_finite, block, 0.0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mean = values.sum(axis=0) / count
            deviation = np.sqrt(np.where(is_finite, (block - mean) ** 2, 0.0).sum(axis=0) / count)
        low = np.where(is_finite, block, np.inf).min(axis=0)
        high = np.where(is_finite, block, -np.inf).max(axis=0)
        encodings = []
        for position, index in enumerate(indices):
            # A standard deviation this small relative to the values is rounding error.
            size = max(abs(low[position]), abs(high[position])) if count[position] else 0.0
            varies = np.isfinite(deviation[position]) and deviation[position] > 1e-13 * size
            marked = bool(count[position] < len(block)) and count[position] > 0
            if not varies and not marked:
                continue
            shift, scale = 0.0, 1.0
            if self.scale == "standard":
                shift, scale = mean[position], deviation[position]
            elif self.scale == "unit":
                shift, scale = low[position], high[position] - low[position]
            if not varies:  # only the indicator column is informative
                shift, scale = mean[position], 1.0
            encodings.append(
                NumberEncoding(index, float(shift), float(scale), float(mean[position]), marked)
            )
        return encodings

    def _list_levels(self, index: int, codes: np.ndarray, levels: Any, start: int) -> LevelEncoding:
        counts = np.bincount(codes + 1, minlength=len(levels) + 1)
        missing, counts = int(counts[0]), counts[1:]
        frequent = np.flatnonzero(counts >= self.min_rows)
        rare = np.flatnonzero((counts > 0) & (counts < self.min_rows))
        if rare.size == 1:  # a single rare level keeps its own column
            frequent, rare = np.sort(np.append(frequent, rare)), rare[:0]
        if self.baseline and frequent.size:
            frequent = frequent[frequent != frequent[counts[frequent].argmax()]]
        slots = np.full(len(levels) + 1, -1, dtype=np.intp)
        slots[frequent] = start + np.arange(frequent.size)
        names = [str(levels[code]) for code in frequent.tolist()]
        if rare.size:
            slots[rare] = start + len(names)
            names.append(OTHERS)
        if missing:
            slots[-1] = start + len(names)
            names.append(MISSING)
        return LevelEncoding(index, slots, names)

    def _screen_columns(self, columns: Columns, y: Any, total: int) -> np.ndarray:
        """Return the sorted indices of the `max_columns` columns that individually explain most of y."""
        n_rows = count_rows(columns)
        targets = target_columns(y)
        explained = np.zeros(total)
        first = 0
        mark = len(self._numbers)
        for encodings in _blocks(self._numbers, n_rows):
            block, marks = self._scale(columns, encodings)
            explained[first : first + len(encodings)] = explained_by_columns(block, targets)
            explained[mark : mark + marks.shape[1]] = explained_by_columns(marks, targets)
            first += len(encodings)
            mark += marks.shape[1]
        for levels in self._levels:
            explained += explained_by_levels(
                levels.slots[_column(columns, levels.index)], targets, total
            )
        best = np.argsort(-explained, kind="stable")[: self.max_columns]
        return np.sort(best)

    # -------------------------------------------------------------- transforming
    def _matrix(self, columns: Columns) -> Any:
        return self._sparse_matrix(columns) if self.is_sparse_ else self._dense_matrix(columns)

    def _output_columns(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return the output column of each number, indicator and level; -1 for those left out."""
        n_numbers = len(self._numbers)
        n_marks = sum(column.marked for column in self._numbers)
        total = n_numbers + n_marks + sum(len(levels.names) for levels in self._levels)
        column_of_slot = np.full(total + 1, -1, dtype=np.int32)  # the last entry is that of slot -1
        kept_slots = np.arange(total) if self._kept_slots is None else self._kept_slots
        column_of_slot[kept_slots] = np.arange(len(kept_slots))
        of_levels = [column_of_slot[levels.slots] for levels in self._levels]
        return (
            column_of_slot[:n_numbers],
            column_of_slot[n_numbers : n_numbers + n_marks],
            of_levels,
        )

    def _dense_matrix(self, columns: Columns) -> np.ndarray:
        """Return the dense matrix, filled in blocks of rows so that no copy of its size is needed."""
        n_rows = count_rows(columns)
        output_columns = self._output_columns()
        matrix = np.zeros((n_rows, self.n_columns_), dtype=self.dtype)
        step = max(BLOCK_VALUES // min(max(len(self._numbers), 1), BLOCK_COLUMNS), 1)
        for first in range(0, n_rows, step):
            block = slice(first, first + step)
            self._fill(take_rows(columns, block), matrix[block], output_columns)
        return matrix

    def _fill(self, columns: Columns, matrix: np.ndarray, output_columns: Any) -> None:
        of_numbers, of_marks, of_levels = output_columns
        first = mark = 0
        for encodings in _blocks(self._numbers, 1):
            block, marks = self._scale(columns, encodings)
            _put_block(matrix, of_numbers[first : first + len(encodings)], block)
            _put_block(matrix, of_marks[mark : mark + marks.shape[1]], marks)
            first += len(encodings)
            mark += marks.shape[1]
        for levels, column_of_code in zip(self._levels, of_levels, strict=True):
            column = column_of_code[_column(columns, levels.index)]
            rows = np.flatnonzero(column >= 0)
            matrix[rows, column[rows]] = 1

    def _sparse_matrix(self, columns: Columns) -> Any:
        """Return the matrix as CSR; entries are counted first and then written to their final positions."""
        of_numbers, of_marks, of_levels = self._output_columns()
        marked = [column.index for column in self._numbers if column.marked]
        counts = np.full(count_rows(columns), (of_numbers >= 0).sum(), dtype=np.int64)
        for index, output_column in zip(marked, of_marks, strict=True):
            if output_column >= 0:
                counts += ~np.isfinite(_column(columns, index))
        for levels, column_of_code in zip(self._levels, of_levels, strict=True):
            counts += (column_of_code >= 0)[_column(columns, levels.index)]
        ends = np.cumsum(counts)
        filled = int(ends[-1])
        index_dtype = np.int32 if filled <= np.iinfo(np.int32).max else np.int64
        entries, column_indices = (
            np.ones(filled, dtype=self.dtype),
            np.empty(filled, dtype=index_dtype),
        )
        free = ends - counts  # position of the next entry of each row
        for number, output_column in zip(self._numbers, of_numbers, strict=True):
            if output_column >= 0:
                entries[free] = self._scale(columns, [number])[0][:, 0]
                column_indices[free] = output_column
                free += 1
        for index, output_column in zip(marked, of_marks, strict=True):
            if output_column >= 0:
                rows = np.flatnonzero(~np.isfinite(_column(columns, index)))
                column_indices[free[rows]] = output_column
                free[rows] += 1
        for levels, column_of_code in zip(self._levels, of_levels, strict=True):
            column = column_of_code[_column(columns, levels.index)]
            rows = np.flatnonzero(column >= 0)
            column_indices[free[rows]] = column[rows]
            free[rows] += 1
        starts = np.concatenate([[0], ends]).astype(index_dtype)
        return sparse.csr_matrix(
            (entries, column_indices, starts), shape=(len(ends), self.n_columns_)
        )

    def _scale(
        self, columns: Columns, encodings: list[NumberEncoding]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return some numeric columns, imputed and scaled, and their indicators of missing values."""
        block = _block(columns, [column.index for column in encodings])
        unknown = ~np.isfinite(block)
        fill = np.array([column.fill for column in encodings])
        block = np.where(unknown, fill, block)
        block -= np.array([column.shift for column in encodings])
        block /= np.array([column.scale for column in encodings])
        return block, unknown[:, [column.marked for column in encodings]].astype(float)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def _column(columns: Columns, index: int) -> np.ndarray:
    return columns[index] if isinstance(columns, list) else columns[:, index]


def _block(columns: Columns, indices: list[int]) -> np.ndarray:
    if isinstance(columns, list):
        return np.column_stack([np.asarray(columns[i], dtype=float) for i in indices])
    return np.array(columns[:, indices], dtype=float)


def _blocks(items: list[Any], n_rows: int) -> Iterator[list[Any]]:
    """Yield the columns in blocks of about `BLOCK_VALUES` values."""
    step = min(max(BLOCK_VALUES // max(n_rows, 1), 1), BLOCK_COLUMNS)
    for first in range(0, len(items), step):
        yield items[first : first + step]


def _put_block(matrix: np.ndarray, output_columns: np.ndarray, block: np.ndarray) -> None:
    """Write the columns of a block to their output columns; -1 skips a column."""
    kept_columns = np.flatnonzero(output_columns >= 0)
    if (
        kept_columns.size == len(output_columns)
        and kept_columns.size
        and output_columns[-1] - output_columns[0] == kept_columns.size - 1
    ):
        matrix[:, output_columns[0] : output_columns[-1] + 1] = block
    elif kept_columns.size:
        matrix[:, output_columns[kept_columns]] = block[:, kept_columns]
