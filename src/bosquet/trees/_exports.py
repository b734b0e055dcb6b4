"""Methods of tree estimators that export or draw the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet._fitted import reads_fit_snapshot
from bosquet._sklearn import check_is_fitted
from bosquet.data import TableEncoder
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.code_export import export_python, export_sql
from bosquet.trees.drawing import draw_tree
from bosquet.trees.export import export_graphviz, export_text, rules, split_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bosquet.trees.export import Rule, SplitRow


class TreeExportMixin:
    """Mixin that calls the export functions of `bosquet.trees` with the names and classes of the model."""

    _encoder: TableEncoder
    tree_: TreeArrays

    def export_options(self) -> dict[str, Any]:
        """Return the names and categories that the export functions of `bosquet.trees` take."""
        check_is_fitted(self, "tree_")
        names = getattr(self, "feature_names_in_", None)
        classes = getattr(self, "classes_", None)
        if isinstance(classes, list):
            classes = None  # with several targets, shares are exported as numbers
        return {
            "feature_names": None if names is None else [str(name) for name in names],
            "class_names": None if classes is None else [str(label) for label in classes],
            "categories": self._encoder.levels,
        }

    @reads_fit_snapshot
    def export_text(self, **options: Any) -> str:
        """Return the tree as indented text; options as in `bosquet.trees.export_text`."""
        return export_text(self.tree_, **{**self.export_options(), **options})

    @reads_fit_snapshot
    def export_graphviz(self, **options: Any) -> str:
        """Return the tree in the DOT language; options as in `bosquet.trees.export_graphviz`."""
        return export_graphviz(self.tree_, **{**self.export_options(), **options})

    @reads_fit_snapshot
    def export_sql(self, **options: Any) -> str:
        """Return the tree as an SQL expression; options as in `bosquet.trees.export_sql`."""
        return export_sql(self.tree_, **{**self.export_options(), **options})

    @reads_fit_snapshot
    def export_python(self, **options: Any) -> str:
        """Return the source of a Python function; options as in `bosquet.trees.export_python`."""
        return export_python(self.tree_, **{**self.export_options(), **options})

    @reads_fit_snapshot
    def rules(self, **options: Any) -> list[Rule]:
        """Return one rule per leaf; options as in `bosquet.trees.rules`."""
        return rules(self.tree_, **{**self.export_options(), **options})

    @reads_fit_snapshot
    def split_table(self, **options: Any) -> list[SplitRow]:
        """Return splits, competitors and surrogates; options as in `bosquet.trees.split_table`."""
        names = self.export_options()
        del names["class_names"]
        return split_table(self.tree_, **{**names, **options})

    @reads_fit_snapshot
    def plot(self, **options: Any) -> Axes:
        """Draw the tree with Matplotlib; options as in `bosquet.trees.draw_tree`."""
        return draw_tree(self.tree_, **{**self.export_options(), **options})
