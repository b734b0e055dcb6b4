"""How a tree is put into words: names of features, labels of categories and classes, conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bosquet.trees.arrays import TreeArrays, class_shares, predicted_classes


@dataclass(frozen=True)
class Split:
    """A question about one feature: of a node, of a competitor or of a surrogate.

    With `ordinal`, the categories are a threshold's: those below it, or with `reversed` those above.
    """

    feature: int
    threshold: float
    left_categories: tuple[int, ...] | None = None
    reversed: bool = False
    ordinal: bool = False

    @classmethod
    def of_node(cls, tree: TreeArrays, node: int) -> Split:
        codes = tree.left_categories[node]
        return cls(
            int(tree.feature[node]),
            float(tree.threshold[node]),
            None if codes is None else _codes(codes),
        )

    @classmethod
    def of_entry(cls, entry: dict[str, Any]) -> Split:
        """From an entry of `competitors` or `surrogates`."""
        codes = entry.get("left_categories")
        return cls(
            int(entry["feature"]),
            float(entry["threshold"]),
            None if codes is None else _codes(codes),
            bool(entry.get("reversed", False)),
        )


def _codes(codes: Any) -> tuple[int, ...]:
    return tuple(sorted(int(code) for code in codes))


class Wording:
    """Names and labels of one tree.

    Parameters
    ----------
    tree : TreeArrays
    feature_names : sequence of str, optional
        By default x0, x1, ...
    class_names : sequence, optional
        Labels of the classes, one a column of `tree.value`. Without them a tree whose values are
        shares (two or more columns that add up to 1) has the classes 0, 1, ...; any other is one of
        regression.
    categories : sequence or dict, optional
        For each feature None, or its categories in the order of their codes. A category that is
        not among them counts as missing. A threshold on a feature that has categories parts them
        by their order.
    cost_matrix : array of shape (classes, classes), optional
        Under which a node decides for a class; line: true class, column: decision.
    """

    def __init__(
        self,
        tree: TreeArrays,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        categories: Any = None,
        cost_matrix: Any = None,
    ):
        self.tree = tree
        self.feature_names = _checked_names(tree, feature_names)
        self.categories = dict(
            categories.items() if hasattr(categories, "items") else enumerate(categories or [])
        )
        self.class_names: list[Any] | None = None
        if class_names is not None or _holds_shares(tree):
            shares = class_shares(tree, "class_names")
            names = range(shares.shape[1]) if class_names is None else class_names
            self.class_names = [plain(name) for name in names]
            if len(self.class_names) != shares.shape[1]:
                raise ValueError(
                    f"class_names has {len(self.class_names)} entries for {shares.shape[1]} classes"
                )
            self._decided = predicted_classes(tree, cost_matrix)
        elif cost_matrix is not None:
            raise ValueError("cost_matrix goes with a tree of classes")

    @property
    def of_classes(self) -> bool:
        return self.class_names is not None

    # ---------------------------------------------------------------- questions
    def name(self, feature: int) -> str:
        return f"x{feature}" if self.feature_names is None else self.feature_names[feature]

    def labels(self, feature: int) -> list[Any] | None:
        """The categories of a feature in the order of their codes, or None if not known."""
        known = self.categories.get(feature)
        return None if known is None else [plain(label) for label in known]

    def question(self, node: int) -> Split:
        """What an inner node asks."""
        return self._of_levels(Split.of_node(self.tree, node))

    def entry(self, entry: dict[str, Any]) -> Split:
        """What a competitor or a surrogate asks."""
        return self._of_levels(Split.of_entry(entry))

    def surrogates(self, node: int) -> list[Split]:
        """The questions asked instead, in order, where the node's own feature is missing."""
        return [self.entry(entry) for entry in self.tree.surrogates[node]]

    def _of_levels(self, split: Split) -> Split:
        """A threshold on the codes of ordinal categories, as those categories."""
        labels = self.categories.get(split.feature)
        if labels is None or split.left_categories is not None:
            return split
        below = [code <= split.threshold for code in range(len(labels))]
        left = tuple(code for code, is_below in enumerate(below) if is_below != split.reversed)
        return replace(split, left_categories=left, ordinal=True)

    def sides(self, split: Split) -> tuple[list[Any], list[Any] | None]:
        """The categories that go left, and those that go right if all are known."""
        left = list(split.left_categories or ())
        labels = self.labels(split.feature)
        if labels is None:
            return left, None
        if left and left[-1] >= len(labels):
            raise ValueError(
                f"categories of {self.name(split.feature)!r} has {len(labels)} labels,"
                f" but the tree knows code {left[-1]}"
            )
        right = [label for code, label in enumerate(labels) if code not in set(left)]
        return [labels[code] for code in left], right

    def condition(self, split: Split, left: bool, most: int | None = None) -> str:
        """What is true of a row that goes left, or right, by its value.

        Of a list of more than `most` categories the first ones are named and the others counted.
        """
        name = self.name(split.feature)
        sign = "<=" if left != split.reversed else ">"
        if split.left_categories is None:
            return f"{name} {sign} {number(split.threshold)}"
        goes_left, goes_right = self.sides(split)
        below = goes_right if split.reversed else goes_left
        if split.ordinal and below:
            return f"{name} {sign} {below[-1]}"
        if left:
            return f"{name} in {listed(goes_left, most)}"
        if goes_right is None:
            return f"{name} not in {listed(goes_left, most)}"
        return f"{name} in {listed(goes_right, most)}"

    # ------------------------------------------------------------------ answers
    def prediction(self, node: int) -> Any:
        """What the node answers: a label, a number, or a list of numbers."""
        if self.class_names is not None:
            return self.class_names[self._decided[node]]
        value = self.tree.value[node].tolist()
        return value[0] if len(value) == 1 else value

    def class_of(self, node: int) -> int:
        """The column of the class that the node decides for."""
        return int(self._decided[node])

    def answer(self, node: int) -> str:
        """The prediction as text."""
        if self.class_names is not None:
            return str(self.prediction(node))
        return ", ".join(number(value, 4) for value in self.tree.value[node].tolist())

    def shares(self, node: int, most: int = 4) -> str:
        """The largest shares of classes, such as "yes 0.91, no 0.09"."""
        assert self.class_names is not None
        shares = self.tree.value[node]
        order = [k for k in np.argsort(-shares, kind="stable") if shares[k] > 0]
        named = [f"{self.class_names[k]} {share_text(shares[k])}" for k in order[:most]]
        return ", ".join(named) + (", ..." if len(order) > most else "")

    def size(self, node: int) -> str:
        """Rows of the node, and their weight where it is another number."""
        rows, weight = int(self.tree.n_rows[node]), float(self.tree.weight[node])
        return f"n {rows}" if weight == rows else f"n {rows}, weight {number(weight, 4)}"


def share_text(share: float) -> str:
    """Two digits, without rounding a class away or a node to purity."""
    text = f"{share:.2f}"
    if (text == "1.00" and share < 1) or (text == "0.00" and share > 0):
        return ">0.99" if share > 0.5 else "<0.01"
    return text


def number(value: float, digits: int = 6) -> str:
    """A number for people: a few significant digits, whole and large numbers without powers of ten.

    >>> number(4.5), number(12.0), number(253_912.4, 4), number(2e-9)
    ('4.5', '12', '253912', '2e-09')
    """
    if (
        np.isfinite(value)
        and abs(value) < 1e15
        and (value == int(value) or abs(value) >= 10**digits)
    ):
        return str(round(value))
    return f"{value:.{digits}g}"


def listed(labels: list[Any], most: int | None = None) -> str:
    """Labels in braces; one that holds a comma or a brace has quotes, for it would read as several."""
    shown = [_quoted(str(label)) for label in labels[:most]]
    if len(labels) > len(shown):
        shown.append(f"{len(labels) - len(shown)} more")
    return "{" + ", ".join(shown) + "}"


def _quoted(label: str) -> str:
    plain = label == label.strip() != "" and not any(mark in label for mark in ",{}'\"")
    return label if plain else repr(label)


def plain(label: Any) -> Any:
    """A NumPy scalar as the Python object it stands for."""
    return label.item() if isinstance(label, np.generic) else label


def _holds_shares(tree: TreeArrays) -> bool:
    value = tree.value
    return (
        value.shape[1] > 1
        and bool((value >= 0).all())
        and bool(np.allclose(value.sum(axis=1), 1, atol=1e-6))
    )


def _checked_names(tree: TreeArrays, feature_names: Sequence[str] | None) -> list[str] | None:
    if feature_names is None:
        return None
    names = [str(name) for name in feature_names]
    if tree.feature.max() >= len(names):
        raise ValueError(
            f"feature_names has {len(names)} entries, but the tree uses feature {tree.feature.max()}"
        )
    return names
