"""The interface of gradient boosting to clusters: columns whose rows are in several processes."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from bosquet.boosting.gradient._rows import EncodedRows
from bosquet.boosting.gradient._trees import TreeTerms
from bosquet.data import BatchedColumns

if TYPE_CHECKING:
    from bosquet.losses import CustomLoss, NativeLoss

__all__ = ["DistributedColumns", "EncodedRows", "TreeTerms"]


class DistributedColumns(BatchedColumns):
    """Columns in the memory of several processes, which boost trees together."""

    @abstractmethod
    def tree_stepper(
        self,
        train: EncodedRows,
        validation: EncodedRows | None,
        loss: NativeLoss | CustomLoss,
        terms: TreeTerms | None,
        *,
        categories: list[int],
        options: dict[str, Any],
        max_bins: int,
        vector_leaves: bool,
    ) -> Any:
        """Return an object with the methods of `TreeStepper`, which adds the trees of a round to the terms.

        `train.columns` are these columns. The validation set has columns in memory or columns of the same
        class.
        """
