"""The types that the signatures of several packages share.

They serve readers and mypy. Import them under `TYPE_CHECKING`: nothing uses them at run time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy, in any format."""

    format: str

    @property
    def shape(self) -> tuple[int, ...]: ...
    def tocsr(self) -> SparseMatrix: ...


class ArrowStream(Protocol):
    """An object that exports its columns as a stream of Arrow, such as a data frame of any library."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


# What X may be: an array, nested lists, a data frame, an Arrow table or a sparse matrix.
TableLike: TypeAlias = ArrayLike | ArrowStream | SparseMatrix

# What X may be if `fit` reads it in batches: paths, a data set of Arrow, a lazy frame, a stream or an
# iterable of tables. `bosquet.batches.open_batches` lists them.
Batches: TypeAlias = str | PathLike[str] | ArrowStream | Iterable[object]

# What scikit-learn accepts as `random_state`.
RandomState: TypeAlias = int | np.random.RandomState | None

# What the generators of data accept as `random_state`.
Seed: TypeAlias = RandomState | np.random.Generator

# JSON values by name: a fitted model in a model file.
State: TypeAlias = dict[str, object]


class Estimator(Protocol):
    """An estimator of this library, of scikit-learn, or of a library that follows scikit-learn."""

    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = ...) -> Self: ...
    def predict(self, X: TableLike) -> np.ndarray: ...
    def get_params(self, deep: bool = True) -> dict[str, object]: ...
    def set_params(self, **params: object) -> Self: ...


class Classifier(Estimator, Protocol):
    """An estimator that predicts classes; `classes_` exists after `fit`."""

    classes_: np.ndarray

    def predict_proba(self, X: TableLike) -> np.ndarray: ...


class Splitter(Protocol):
    """A cross-validation splitter of scikit-learn."""

    def split(
        self, X: TableLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterable[tuple[np.ndarray, np.ndarray]]: ...


# A validation set: (X, y), (X, y, sample_weight) or, for gradient boosting, (X, y, sample_weight, offset).
EvalSet: TypeAlias = (
    tuple[TableLike, ArrayLike]
    | tuple[TableLike, ArrayLike, ArrayLike | None]
    | tuple[TableLike, ArrayLike, ArrayLike | None, ArrayLike | None]
    | None
)

# Parameters that several estimators have.
# "from_dtype", a mask, indices or names
CategoricalFeatures: TypeAlias = (
    str | Sequence[bool] | Sequence[int] | Sequence[str] | np.ndarray | None
)
ClassWeight: TypeAlias = Mapping[Hashable, float] | str | None
MonotoneConstraint: TypeAlias = ArrayLike | Mapping[str, int] | None
NamedEstimators: TypeAlias = Sequence[tuple[str, Estimator]]
