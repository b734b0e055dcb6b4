"""Text for the nodes of a tree: feature names, labels of categories and classes, conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bosquet.trees.arrays import TreeArrays, check_class_shares, predicted_classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# The labels of each categorical feature in the order of their codes, by feature or for all features.
Categories: TypeAlias = Mapping[int, Sequence[object]] | Sequence[Sequence[object] | None] | None


@dataclass(frozen=True)
class SplitRule:
    """The split rule of a node, a competitor or a surrogate.

    A row goes left if its value is <= `threshold` (with `reversed`, if it is > `threshold`) or if its
    category is in `left_categories`. With `ordinal`, `left_categories` was derived from a threshold on
    ordered categories.
    """

    feature: int
    threshold: float
    left_categories: tuple[int, ...] | None = None
    reversed: bool = False
    ordinal: bool = False

    @classmethod
    def of_node(cls, tree: TreeArrays, node: int) -> SplitRule:
        """Return the rule of an inner node."""
        codes = tree.left_categories[node]
        return cls(
            int(tree.feature[node]),
            float(tree.threshold[node]),
            None if codes is None else _sorted_codes(codes),
        )

    @classmethod
    def of_entry(cls, entry: dict[str, Any]) -> SplitRule:
        """Return the rule of an entry of `competitors` or `surrogates`."""
        codes = entry.get("left_categories")
        return cls(
            int(entry["feature"]),
            float(entry["threshold"]),
            None if codes is None else _sorted_codes(codes),
            bool(entry.get("reversed", False)),
        )


def _sorted_codes(codes: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(int(code) for code in codes))


class TreeFormatter:
    """Formats splits and predictions of a tree as text.

    Parameters
    ----------
    tree : TreeArrays
    feature_names : sequence of str, optional
        Default: x0, x1, ...
    class_names : sequence, optional
        Labels of the classes, one per column of `tree.value`. Without them, a tree whose values are class
        shares (two or more columns with sum 1) has the classes 0, 1, ...; other trees are regression trees.
    categories : sequence or dict, optional
        For each feature None, or its categories in the order of their codes. Other categories are treated
        as missing values. A threshold on a feature with categories splits them by their order.
    cost_matrix : array of shape (classes, classes), optional
        Misclassification costs (rows: true class, columns: predicted class); each node predicts the class
        of least expected cost.
    """

    def __init__(
        self,
        tree: TreeArrays,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[object] | None = None,
        categories: Categories = None,
        cost_matrix: ArrayLike | None = None,
    ):
        self.tree = tree
        self.feature_names = _checked_names(tree, feature_names)
        self.categories = dict(
            categories.items() if isinstance(categories, Mapping) else enumerate(categories or [])
        )
        self.class_names: list[object] | None = None
        if class_names is not None or _has_class_shares(tree):
            shares = check_class_shares(tree, "class_names")
            names = range(shares.shape[1]) if class_names is None else class_names
            self.class_names = [python_scalar(name) for name in names]
            if len(self.class_names) != shares.shape[1]:
                raise ValueError(
                    f"class_names has {len(self.class_names)} names, but the tree has"
                    f" {shares.shape[1]} classes; pass one name per class"
                )
            self._decisions = predicted_classes(tree, cost_matrix)
        elif cost_matrix is not None:
            raise ValueError(
                "cost_matrix needs a classification tree, but this is a regression tree; pass"
                " cost_matrix=None"
            )

    @property
    def is_classifier(self) -> bool:
        return self.class_names is not None

    # ------------------------------------------------------------------- splits
    def feature_name(self, feature: int) -> str:
        return f"x{feature}" if self.feature_names is None else self.feature_names[feature]

    def category_labels(self, feature: int) -> list[object] | None:
        """Return the categories of a feature in the order of their codes; None if not known."""
        categories = self.categories.get(feature)
        return None if categories is None else [python_scalar(label) for label in categories]

    def split_rule(self, node: int) -> SplitRule:
        """Return the split rule of an inner node."""
        return self._as_category_rule(SplitRule.of_node(self.tree, node))

    def entry_rule(self, entry: dict[str, Any]) -> SplitRule:
        """Return the split rule of a competitor or surrogate."""
        return self._as_category_rule(SplitRule.of_entry(entry))

    def surrogate_rules(self, node: int) -> list[SplitRule]:
        """Return the surrogate splits of a node in the order in which they are tried."""
        return [self.entry_rule(entry) for entry in self.tree.surrogates[node]]

    def _as_category_rule(self, split: SplitRule) -> SplitRule:
        """Convert a threshold on the codes of ordered categories into the categories that go left."""
        labels = self.categories.get(split.feature)
        if labels is None or split.left_categories is not None:
            return split
        below = [code <= split.threshold for code in range(len(labels))]
        left = tuple(code for code, is_below in enumerate(below) if is_below != split.reversed)
        return replace(split, left_categories=left, ordinal=True)

    def sides(self, split: SplitRule) -> tuple[list[object], list[object] | None]:
        """Return the categories that go left, and those that go right (None if not known)."""
        left = list(split.left_categories or ())
        labels = self.category_labels(split.feature)
        if labels is None:
            return [*left], None
        if left and left[-1] >= len(labels):
            raise ValueError(
                f"categories of {self.feature_name(split.feature)!r} has {len(labels)} labels, but the tree"
                f" splits on code {left[-1]}; pass all categories of the training data"
            )
        right = [label for code, label in enumerate(labels) if code not in set(left)]
        return [labels[code] for code in left], right

    def condition(self, split: SplitRule, left: bool, max_shown: int | None = None) -> str:
        """Return the condition for a row to go left, or right, as text.

        Only the first `max_shown` categories are listed; the others are counted.
        """
        name = self.feature_name(split.feature)
        sign = "<=" if left != split.reversed else ">"
        if split.left_categories is None:
            return f"{name} {sign} {format_number(split.threshold)}"
        goes_left, goes_right = self.sides(split)
        below = goes_right if split.reversed else goes_left
        if split.ordinal and below:
            return f"{name} {sign} {below[-1]}"
        if left:
            return f"{name} in {format_set(goes_left, max_shown)}"
        if goes_right is None:
            return f"{name} not in {format_set(goes_left, max_shown)}"
        return f"{name} in {format_set(goes_right, max_shown)}"

    # -------------------------------------------------------------- predictions
    def prediction(self, node: int) -> object:
        """Return the prediction of a node: a label, a number, or a list of numbers."""
        if self.class_names is not None:
            return self.class_names[self._decisions[node]]
        value = self.tree.value[node].tolist()
        return value[0] if len(value) == 1 else value

    def predicted_class(self, node: int) -> int:
        """Return the column of the class that a node predicts."""
        return int(self._decisions[node])

    def prediction_text(self, node: int) -> str:
        """Return the prediction of a node as text."""
        if self.class_names is not None:
            return str(self.prediction(node))
        return ", ".join(format_number(value, 4) for value in self.tree.value[node].tolist())

    def shares_text(self, node: int, max_shown: int = 4) -> str:
        """Return the largest class shares of a node, such as "yes 0.91, no 0.09"."""
        assert self.class_names is not None
        shares = self.tree.value[node]
        order = [k for k in np.argsort(-shares, kind="stable") if shares[k] > 0]
        named = [f"{self.class_names[k]} {format_share(shares[k])}" for k in order[:max_shown]]
        return ", ".join(named) + (", ..." if len(order) > max_shown else "")

    def size_text(self, node: int) -> str:
        """Return the number of rows of a node, and their weight if it differs."""
        rows, weight = int(self.tree.n_rows[node]), float(self.tree.weight[node])
        return f"n {rows}" if weight == rows else f"n {rows}, weight {format_number(weight, 4)}"


def format_share(share: float) -> str:
    """Format a share with two digits; shares that are not exactly 0 or 1 are not rounded to 0 or 1."""
    text = f"{share:.2f}"
    if (text == "1.00" and share < 1) or (text == "0.00" and share > 0):
        return ">0.99" if share > 0.5 else "<0.01"
    return text


def format_number(value: float, digits: int = 6) -> str:
    """Format a number with a few significant digits; integers and large numbers without exponent.

    >>> format_number(4.5), format_number(12.0), format_number(253_912.4, 4), format_number(2e-9)
    ('4.5', '12', '253912', '2e-09')
    """
    if (
        np.isfinite(value)
        and abs(value) < 1e15
        and (value == int(value) or abs(value) >= 10**digits)
    ):
        return str(round(value))
    return f"{value:.{digits}g}"


def format_set(labels: list[object], max_shown: int | None = None) -> str:
    """Format labels as a set in braces; labels with commas, braces or quotes are quoted."""
    shown = [_quote(str(label)) for label in labels[:max_shown]]
    if len(labels) > len(shown):
        shown.append(f"{len(labels) - len(shown)} more")
    return "{" + ", ".join(shown) + "}"


def _quote(label: str) -> str:
    is_unambiguous = label == label.strip() != "" and not any(mark in label for mark in ",{}'\"")
    return label if is_unambiguous else repr(label)


def python_scalar(label: object) -> object:
    """Convert a NumPy scalar to the corresponding Python object."""
    return label.item() if isinstance(label, np.generic) else label


def _has_class_shares(tree: TreeArrays) -> bool:
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
            f"feature_names has {len(names)} names, but the tree splits on feature {tree.feature.max()}; pass"
            " the names of all features"
        )
    return names
