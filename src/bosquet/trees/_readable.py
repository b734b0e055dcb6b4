"""The ways to read a fitted tree, with its own names put in."""

from __future__ import annotations

from typing import Any

from bosquet._fitted import reads_one_fit
from bosquet._sklearn import check_is_fitted
from bosquet.data import TableEncoder
from bosquet.trees.arrays import TreeArrays


class ReadableTree:
    """What a tree estimator can be read as; `bosquet.trees` has the functions and their options."""

    _encoder: TableEncoder
    tree_: TreeArrays

    def _reading(self) -> dict[str, Any]:
        check_is_fitted(self, "tree_")
        names = getattr(self, "feature_names_in_", None)
        classes = getattr(self, "classes_", None)
        if isinstance(classes, list):
            classes = None  # shares of several targets are read as so many numbers
        return {
            "feature_names": None if names is None else [str(name) for name in names],
            "class_names": None if classes is None else [str(label) for label in classes],
            "categories": self._encoder.levels,
        }

    @reads_one_fit
    def export_text(self, **options: Any) -> str:
        """The tree as indented text."""
        from bosquet.trees.reading import export_text

        return export_text(self.tree_, **{**self._reading(), **options})

    @reads_one_fit
    def export_graphviz(self, **options: Any) -> str:
        """The tree in Graphviz's language."""
        from bosquet.trees.reading import export_graphviz

        return export_graphviz(self.tree_, **{**self._reading(), **options})

    @reads_one_fit
    def export_sql(self, **options: Any) -> str:
        """The tree as an SQL expression."""
        from bosquet.trees.scoring import export_sql

        return export_sql(self.tree_, **{**self._reading(), **options})

    @reads_one_fit
    def export_python(self, **options: Any) -> str:
        """The tree as the source of a Python function."""
        from bosquet.trees.scoring import export_python

        return export_python(self.tree_, **{**self._reading(), **options})

    @reads_one_fit
    def rules(self, **options: Any) -> list[Any]:
        """One rule a leaf."""
        from bosquet.trees.reading import rules

        return rules(self.tree_, **{**self._reading(), **options})

    @reads_one_fit
    def split_table(self, **options: Any) -> list[dict[str, Any]]:
        """The split of each node beside its competitors and surrogates."""
        from bosquet.trees.reading import split_table

        words = self._reading()
        del words["class_names"]
        return split_table(self.tree_, **{**words, **options})

    @reads_one_fit
    def plot(self, **options: Any) -> Any:
        """Draw the tree with Matplotlib."""
        from bosquet.trees.drawing import draw_tree

        return draw_tree(self.tree_, **{**self._reading(), **options})
