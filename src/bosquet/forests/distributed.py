"""The interface of forests to clusters: columns on which several processes grow trees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from bosquet import _core
from bosquet.data import BatchedColumns, TableEncoder
from bosquet.trees.growing import TreeTarget


class ForestFit(Protocol):
    """Protocol of objects that grow the trees of a forest, as `_core.CartFit` does."""

    def grow(
        self,
        ensemble: _core.Ensemble,
        keys: Sequence[int],
        draws: int,
        replace: bool,
        balanced: bool = False,
    ) -> None:
        """Append one tree per key, each grown on a bag of `draws` rows."""

    def close(self) -> None:
        """Free what the processes hold."""


class DistributedForestColumns(BatchedColumns):
    """Columns of which several processes have copies, on which each grows some of the trees."""

    @property
    @abstractmethod
    def n_processes(self) -> int:
        """Number of processes."""

    @abstractmethod
    def forest_fit(
        self,
        encoder: TableEncoder,
        target: TreeTarget,
        weight: np.ndarray,
        options: dict[str, Any],
        *,
        max_bins: int,
        seed: int,
    ) -> ForestFit:
        """Return an object that grows trees on the processes."""
