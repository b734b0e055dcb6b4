"""Training sets of a simulation: drawn from a generator, or sampled from a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from sklearn.base import is_classifier

from bosquet._sklearn import rows_of
from bosquet.theory._checks import Truth, check_table, class_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator
    from bosquet.datasets.generator import Generator


class TrainingSets(Protocol):
    """A source of training sets and test rows; `knows_noise` is whether the distribution of y is known."""

    knows_noise: ClassVar[bool]

    def truth(self, rng: np.random.RandomState) -> Truth:
        """Return the test rows and the distribution of y there, as far as it is known."""

    def training_set(self, rng: np.random.RandomState) -> tuple[Any, np.ndarray]:
        """Draw X and y of a training set."""


@dataclass(frozen=True)
class FromGenerator:
    """New rows from a generator for each training set; the true distribution is known."""

    generator: Generator
    n_train: int
    n_test: int

    knows_noise: ClassVar[bool] = True

    @classmethod
    def of(cls, generator: Generator, n_train: Any, n_test: Any) -> FromGenerator:
        """Create a source; sizes that are not integers become the defaults, 200 and 1000 rows."""
        return cls(
            generator,
            int(n_train) if isinstance(n_train, int | np.integer) else 200,
            int(n_test) if isinstance(n_test, int | np.integer) else 1000,
        )

    def truth(self, rng: np.random.RandomState) -> Truth:
        return Truth.of(self.generator, self.generator.sample(self.n_test, rng)[0])

    def training_set(self, rng: np.random.RandomState) -> tuple[Any, np.ndarray]:
        return self.generator.sample(self.n_train, rng)


@dataclass(frozen=True)
class FromTable:
    """Test rows are held out of a table; training sets are drawn without replacement from the other rows."""

    X: Any
    y: np.ndarray
    test: np.ndarray
    pool: np.ndarray
    n_train: int
    as_classes: bool

    knows_noise: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        estimator: Estimator,
        X: Any,
        y: ArrayLike,
        loss: str,
        n_train: Any,
        n_test: Any,
        rng: np.random.RandomState,
    ) -> FromTable:
        """Split a table into test rows and the pool from which training sets are drawn."""
        check_table(X, y, "target")
        target = np.asarray(y)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if target.shape != (n,):
            raise ValueError(
                f"y has shape {target.shape}, but X has {n} rows; pass one target per row"
            )
        held_out = _row_count(n_test, n)
        if not 0 < held_out < n:
            raise ValueError(
                f"n_test={n_test!r} of {n} rows leaves no rows for training or for testing; pass a value"
                f" between 1 and {n - 1}, or a fraction"
            )
        order = rng.permutation(n)
        pool = np.sort(order[held_out:])
        rows = _row_count(0.5 if n_train is None else n_train, pool.size)
        if not 0 < rows <= pool.size:
            raise ValueError(
                f"n_train={n_train!r} is not valid: {pool.size} rows are left after holding out the test"
                " rows; pass a smaller number or a fraction"
            )
        as_classes = loss == "zero-one" or (loss == "auto" and is_classifier(estimator))
        return cls(X, target, np.sort(order[:held_out]), pool, rows, as_classes)

    def truth(self, rng: np.random.RandomState) -> Truth:
        X, y = rows_of(self.X, self.test), self.y[self.test]
        X = X if hasattr(X, "shape") else np.asarray(X)
        if not self.as_classes:
            return Truth(X, mean=y.astype(float), variance=np.zeros(y.size))
        classes = np.unique(self.y)
        one_hot = np.eye(classes.size)[class_codes(y, classes, "y")]
        return Truth(X, probability=one_hot, classes=classes)

    def training_set(self, rng: np.random.RandomState) -> tuple[Any, np.ndarray]:
        rows = np.sort(rng.choice(self.pool, size=self.n_train, replace=False))
        return rows_of(self.X, rows), self.y[rows]


def _row_count(amount: int | float, n_rows: int) -> int:
    """Return a number of rows: an integer as it is, a float as a fraction of `n_rows`."""
    return int(amount) if isinstance(amount, int | np.integer) else round(amount * n_rows)
