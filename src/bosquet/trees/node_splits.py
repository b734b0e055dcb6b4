"""NodeSplits: the competitors or the surrogates of all nodes of a tree, stored as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_TYPES = {
    "feature": np.int32,
    "threshold": np.float64,
    "gain": np.float64,
    "reversed": np.bool_,
    "agreement": np.float64,
}
COMPETITOR = ("feature", "threshold", "gain")
SURROGATE = ("feature", "threshold", "reversed", "agreement")


class NodeSplits(Sequence[list[dict[str, Any]]]):
    """Sequence with a list of splits for each node of a tree; each split is a dict.

    The splits are stored in one array per field, because a large tree has millions of them and a dict
    needs 200 bytes. The dicts are created at each access; changing them does not change the tree.

    Parameters
    ----------
    counts : array of shape (n_nodes,)
        Number of splits of each node.
    columns : mapping from field to array of shape (n_splits,)
        The fields of the splits, in the order of the nodes. The keys are those of `COMPETITOR` or
        `SURROGATE`.
    left_categories : mapping from split to list of int
        For each split on a categorical feature the codes of the categories that go left.

    Examples
    --------
    >>> from bosquet.trees.node_splits import NodeSplits
    >>> splits = NodeSplits([1, 0, 0], {"feature": [2], "threshold": [0.5], "gain": [0.1]}, {})
    >>> splits[0]
    [{'feature': 2, 'threshold': 0.5, 'left_categories': None, 'gain': 0.1}]
    >>> splits[1]
    []
    """

    def __init__(
        self,
        counts: ArrayLike,
        columns: Mapping[str, ArrayLike],
        left_categories: Mapping[int, list[int]],
    ) -> None:
        self.counts = np.ascontiguousarray(counts, dtype=np.int64)
        self.columns: dict[str, np.ndarray] = {
            name: np.ascontiguousarray(values, dtype=_TYPES[name])
            for name, values in columns.items()
        }
        self.left_categories = dict(left_categories)
        self._ends = np.cumsum(self.counts)
        if any(values.size != self.n_splits for values in self.columns.values()):
            sizes = {values.size for values in self.columns.values()}
            raise ValueError(
                f"counts has the sum {self.n_splits}, but the columns have {sorted(sizes)} entries;"
                " these numbers must be equal"
            )

    @classmethod
    def from_lists(cls, splits: Iterable[list[dict[str, Any]]], names: Iterable[str]) -> NodeSplits:
        """Build the splits from one list of dicts per node."""
        by_node = list(splits)
        all_splits = [split for node_splits in by_node for split in node_splits]
        codes = {
            number: split["left_categories"]
            for number, split in enumerate(all_splits)
            if split["left_categories"] is not None
        }
        columns = {name: [split[name] for split in all_splits] for name in names}
        return cls([len(node_splits) for node_splits in by_node], columns, codes)

    @property
    def n_splits(self) -> int:
        """Number of splits of all nodes."""
        return int(self._ends[-1]) if self._ends.size else 0

    def subset(self, nodes: np.ndarray, keep_splits: np.ndarray) -> NodeSplits:
        """Return the splits of some nodes; a node where the mask `keep_splits` is False gets none."""
        counts = np.where(keep_splits, self.counts[nodes], 0)
        first = np.cumsum(counts) - counts
        starts = (self._ends - self.counts)[nodes]
        numbers = np.arange(int(counts.sum())) + np.repeat(starts - first, counts)
        columns = {name: values[numbers] for name, values in self.columns.items()}
        codes = {}
        if self.left_categories:
            left_codes = (
                (new, self.left_categories.get(old)) for new, old in enumerate(numbers.tolist())
            )
            codes = {new: old_codes for new, old_codes in left_codes if old_codes is not None}
        return NodeSplits(counts, columns, codes)

    def _splits_of_node(self, node: int) -> list[dict[str, Any]]:
        end = int(self._ends[node])
        return [
            self._split_of_number(number) for number in range(end - int(self.counts[node]), end)
        ]

    def _split_of_number(self, number: int) -> dict[str, Any]:
        columns = self.columns
        split = {
            "feature": columns["feature"][number].item(),
            "threshold": columns["threshold"][number].item(),
            "left_categories": self._left_codes(number),
        }
        return split | {
            name: values[number].item() for name, values in columns.items() if name not in split
        }

    def _left_codes(self, number: int) -> list[int] | None:
        codes = self.left_categories.get(number)
        return None if codes is None else list(codes)

    def __len__(self) -> int:
        return self.counts.size

    @overload
    def __getitem__(self, node: int) -> list[dict[str, Any]]: ...
    @overload
    def __getitem__(self, node: slice) -> list[list[dict[str, Any]]]: ...
    def __getitem__(self, node: Any) -> Any:
        if isinstance(node, slice):
            return [self._splits_of_node(i) for i in range(*node.indices(len(self)))]
        return self._splits_of_node(range(len(self))[node])

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        return (self._splits_of_node(node) for node in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeSplits):
            return NotImplemented
        return (
            np.array_equal(self.counts, other.counts)
            and self.columns.keys() == other.columns.keys()
            and self.left_categories == other.left_categories
            and all(
                np.array_equal(values, other.columns[name], equal_nan=values.dtype.kind == "f")
                for name, values in self.columns.items()
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"NodeSplits({self.n_splits} splits of {len(self)} nodes)"
