"""Export of a tree as text, as a graph, as rules, and as a table of splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from bosquet.trees.arrays import TreeArrays
from bosquet.trees.colours import node_colours
from bosquet.trees.formatting import SplitRule, TreeFormatter, format_number, format_set

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet.trees.formatting import Categories


MAX_INDENTATION = 250_000_000  # characters of export_text; it grows with the square of the depth


def export_text(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    categories: Categories = None,
    *,
    cost_matrix: ArrayLike | None = None,
    max_depth: int | None = None,
    show_missing: bool = True,
) -> str:
    """Return the tree as indented text: one line per node, with an arrow to the prediction of a leaf.

    Parameters
    ----------
    tree : TreeArrays
    feature_names : sequence of str, optional
    class_names : sequence, optional
        Labels of the classes. Default: 0, 1, ...
    categories : sequence or dict, optional
        For each feature None, or its categories in the order of their codes.
    cost_matrix : array of shape (classes, classes), optional
        Misclassification costs (rows: true class, columns: predicted class); each leaf predicts the class
        of least expected cost.
    max_depth : int, optional
        Maximum depth of the nodes shown; the leaves below are counted. Default: all nodes.
    show_missing : bool, default=True
        Whether to show the branch that missing values take.

    Examples
    --------
    >>> from bosquet.trees import TreeArrays, export_text
    >>> tree = TreeArrays(
    ...     feature=[1, -1, -1], threshold=[4.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     missing_left=[False] * 3, left_categories=[None] * 3, value=[[5.9], [5.1], [6.4]],
    ...     n_rows=[263, 90, 173], weight=[263, 90, 173], impurity=[0.8, 0.5, 0.4], gain=[0] * 3,
    ... )
    >>> print(export_text(tree, ["hits", "years"]))
    all rows: n 263, mean 5.9
    |-- years <= 4.5: n 90 -> 5.1
    |-- years > 4.5 or missing: n 173 -> 6.4
    """
    _check_indentation(tree, max_depth)
    formatter = TreeFormatter(tree, feature_names, class_names, categories, cost_matrix)
    lines = []
    # (node, depth, condition). A stack, because recursion would exceed Python's limit in deep trees.
    stack = [(0, 0, "all rows")]
    while stack:
        node, depth, condition = stack.pop()
        indent = "|   " * (depth - 1) + "|-- " if depth else ""
        hidden = max_depth is not None and depth >= max_depth and not tree.is_leaf[node]
        lines.append(f"{indent}{condition}: {_summary_text(formatter, node, hidden)}")
        if tree.is_leaf[node] or hidden:
            continue
        for left in (False, True):
            child = int(tree.left[node] if left else tree.right[node])
            text = formatter.condition(formatter.split_rule(node), left)
            text += _missing_note(tree, node, left) if show_missing else ""
            stack.append((child, depth + 1, text))
    return "\n".join(lines)


def _check_indentation(tree: TreeArrays, max_depth: int | None) -> None:
    depths = tree.depths if max_depth is None else tree.depths[tree.depths <= max_depth]
    characters = 4 * int(depths.sum())
    if characters > MAX_INDENTATION:
        raise ValueError(
            f"the tree is {tree.depth} levels deep, so its indented text needs {characters / 1e9:.2g} GB; the"
            f" limit is {MAX_INDENTATION / 1e9:.2g} GB. Pass a smaller max_depth, prune the tree, or use"
            " rules() or export_graphviz()"
        )


def _summary_text(formatter: TreeFormatter, node: int, hidden: bool) -> str:
    """Return the size and the prediction of a node, and the number of leaves that are not shown."""
    tree, texts = formatter.tree, [formatter.size_text(node)]
    if tree.is_leaf[node]:
        text = f"{texts[0]} -> {formatter.prediction_text(node)}"
        return f"{text} ({formatter.shares_text(node)})" if formatter.is_classifier else text
    texts.append(
        formatter.shares_text(node)
        if formatter.is_classifier
        else f"mean {formatter.prediction_text(node)}"
    )
    if hidden:
        texts.append(f"... {tree.branch_leaves[node]} leaves below")
    return ", ".join(texts)


def _missing_note(tree: TreeArrays, node: int, left: bool) -> str:
    if bool(tree.missing_left[node]) != left:
        return ""
    return " or missing (after surrogates)" if tree.surrogates[node] else " or missing"


def export_graphviz(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    categories: Categories = None,
    *,
    cost_matrix: ArrayLike | None = None,
    max_depth: int | None = None,
    show_missing: bool = True,
) -> str:
    """Return the tree in the DOT language of Graphviz, coloured by class or by mean.

    All parameters (`tree`, `feature_names`, `class_names`, `categories`, `cost_matrix`, `max_depth`,
    `show_missing`) are those of `export_text`. Rows that satisfy the condition of a node take the left
    branch ("yes").

    Examples
    --------
    >>> from bosquet.trees import TreeArrays, export_graphviz
    >>> leaf = TreeArrays([-1], [0], [-1], [-1], [0], [None], [[0.75, 0.25]], [8], [8], [0.375], [0])
    >>> print(export_graphviz(leaf, class_names=["no", "yes"]))
    digraph tree {
      node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=10];
      edge [fontname="Helvetica", fontsize=9];
      n0 [label="no\\nn 8\\nno 0.75, yes 0.25", fillcolor="#...", penwidth=2];
    }
    """
    formatter = TreeFormatter(tree, feature_names, class_names, categories, cost_matrix)
    colours = node_colours(formatter)
    lines = [
        "digraph tree {",
        '  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=10];',
        '  edge [fontname="Helvetica", fontsize=9];',
    ]
    stack = [0]
    while stack:
        node = stack.pop()
        hidden = max_depth is not None and tree.depths[node] >= max_depth
        inner = not tree.is_leaf[node] and not hidden
        label = "\\n".join(
            _dot_escape(line) for line in _dot_lines(formatter, node, hidden, show_missing)
        )
        border = "" if inner else ", penwidth=2"
        lines.append(f'  n{node} [label="{label}", fillcolor="{colours[node]}"{border}];')
        if inner:
            left, right = int(tree.left[node]), int(tree.right[node])
            lines.append(f'  n{node} -> n{left} [label="yes"];')
            lines.append(f'  n{node} -> n{right} [label="no"];')
            stack += [right, left]
    return "\n".join([*lines, "}"])


def _dot_lines(formatter: TreeFormatter, node: int, hidden: bool, show_missing: bool) -> list[str]:
    tree, lines = formatter.tree, []
    leaf = bool(tree.is_leaf[node])
    if leaf or hidden:
        lines.append(formatter.prediction_text(node))
    else:
        lines.append(formatter.condition(formatter.split_rule(node), True))
        if show_missing:
            branch = "yes" if tree.missing_left[node] else "no"
            lines.append(f"missing: {'surrogates, then ' if tree.surrogates[node] else ''}{branch}")
    lines.append(formatter.size_text(node))
    if formatter.is_classifier:
        lines.append(formatter.shares_text(node))
    elif not leaf and not hidden:
        lines.append(f"mean {formatter.prediction_text(node)}")
    if hidden and not leaf:
        lines.append(f"... {tree.branch_leaves[node]} leaves below")
    return lines


def _dot_escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


@dataclass(frozen=True)
class Rule:
    """A leaf as a rule: the conditions on the path to the leaf, and its prediction.

    Attributes
    ----------
    leaf : int
        Number of the node.
    conditions : tuple of str
        One condition per feature on the path, in the order in which the features first occur.
    prediction : label or number
    value : tuple of float
        Class shares, or means.
    n_rows : int
        Number of training rows in the leaf.
    weight : float
        Weight of these rows.
    """

    leaf: int
    conditions: tuple[str, ...]
    prediction: object
    value: tuple[float, ...]
    n_rows: int
    weight: float

    def __str__(self) -> str:
        conditions = " and ".join(self.conditions) or "always"
        shown = (
            format_number(self.prediction, 4)
            if isinstance(self.prediction, float)
            else self.prediction
        )
        return f"{conditions} -> {shown} (n {self.n_rows})"


def rules(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    categories: Categories = None,
    *,
    cost_matrix: ArrayLike | None = None,
) -> list[Rule]:
    """Return one rule per leaf, from left to right; several splits on a feature become one condition.

    The parameters `tree`, `feature_names`, `class_names`, `categories` and `cost_matrix` are those of
    `export_text`. "or missing" in a condition means that a row with a missing
    value of this feature takes this path at all splits on the feature. In nodes with surrogates, the
    surrogate splits decide first.
    """
    formatter = TreeFormatter(tree, feature_names, class_names, categories, cost_matrix)
    result = []
    stack: list[tuple[int, dict[int, _Range]]] = [(0, {})]
    while stack:
        node, ranges = stack.pop()
        if tree.is_leaf[node]:
            result.append(
                Rule(
                    leaf=node,
                    conditions=tuple(interval.text(formatter) for interval in ranges.values()),
                    prediction=formatter.prediction(node),
                    value=tuple(tree.value[node].tolist()),
                    n_rows=int(tree.n_rows[node]),
                    weight=float(tree.weight[node]),
                )
            )
            continue
        split = formatter.split_rule(node)
        for left in (False, True):
            parent_range = ranges.get(split.feature, _Range(split.feature))
            narrowed = parent_range.narrow(
                formatter, split, left, bool(tree.missing_left[node]) == left
            )
            child = int(tree.left[node] if left else tree.right[node])
            stack.append((child, {**ranges, split.feature: narrowed}))
    return result


@dataclass(frozen=True)
class _Range:
    """The values of one feature that reach a node."""

    feature: int
    above: float = -np.inf
    at_most: float = np.inf
    allowed: tuple[object, ...] | None = None  # labels or codes; None: any except `excluded`
    excluded: tuple[object, ...] = ()
    missing: bool = True

    def narrow(
        self, formatter: TreeFormatter, split: SplitRule, left: bool, missing: bool
    ) -> _Range:
        above, at_most, allowed, excluded = self.above, self.at_most, self.allowed, self.excluded
        if split.left_categories is None:
            above = above if left else max(above, split.threshold)
            at_most = min(at_most, split.threshold) if left else at_most
        else:
            goes_left, goes_right = formatter.sides(split)
            side = goes_left if left else goes_right
            if side is None:
                excluded = tuple(dict.fromkeys([*excluded, *goes_left]))
            else:
                before = side if allowed is None else allowed
                allowed = tuple(label for label in before if label in set(side))
            if allowed is not None:
                allowed = tuple(label for label in allowed if label not in set(excluded))
        return _Range(self.feature, above, at_most, allowed, excluded, self.missing and missing)

    def text(self, formatter: TreeFormatter) -> str:
        name = formatter.feature_name(self.feature)
        if self.allowed is not None:
            text = f"{name} in {format_set(list(self.allowed))}"
        elif self.excluded:
            text = f"{name} not in {format_set(list(self.excluded))}"
        elif np.isinf(self.above):
            text = f"{name} <= {format_number(self.at_most)}"
        elif np.isinf(self.at_most):
            text = f"{name} > {format_number(self.above)}"
        else:
            text = f"{format_number(self.above)} < {name} <= {format_number(self.at_most)}"
        return f"({text} or missing)" if self.missing else text


class SplitRow(TypedDict):
    """A split of an inner node, or one of its competitors or surrogates."""

    node: int
    kind: str
    feature: str
    goes_left: str
    gain: float | None
    agreement: float | None


def split_table(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    categories: Categories = None,
    *,
    nodes: Sequence[int] | None = None,
) -> list[SplitRow]:
    """Return the split of each inner node with its competitors and surrogates.

    Parameters
    ----------
    tree : TreeArrays
    feature_names, categories : as in `export_text`
    nodes : sequence of int, optional
        Numbers of inner nodes. Default: all inner nodes.

    Returns
    -------
    list of dicts
        With the keys `node`, `kind` ("split", "competitor" or "surrogate"), `feature`, `goes_left` (the
        condition to go left, as text), `gain` (None for a surrogate) and `agreement` (None except for a
        surrogate). ``pandas.DataFrame`` accepts the list.
    """
    formatter = TreeFormatter(tree, feature_names, None, categories)
    selected = np.flatnonzero(~tree.is_leaf) if nodes is None else np.asarray(nodes, dtype=np.int64)
    table: list[SplitRow] = []

    def add(
        node: int, kind: str, split: SplitRule, gain: float | None, agreement: float | None
    ) -> None:
        table.append(
            {
                "node": node,
                "kind": kind,
                "feature": formatter.feature_name(split.feature),
                "goes_left": formatter.condition(split, True),
                "gain": None if gain is None else float(gain),
                "agreement": None if agreement is None else float(agreement),
            }
        )

    for node in selected.tolist():
        if not 0 <= node < tree.n_nodes or tree.is_leaf[node]:
            raise ValueError(
                f"nodes has the entry {node}, which is not an inner node of the tree; pass numbers of nodes"
                " with a split"
            )
        add(node, "split", formatter.split_rule(node), tree.gain[node], None)
        for entry in tree.competitors[node]:
            add(node, "competitor", formatter.entry_rule(entry), entry["gain"], None)
        for entry in tree.surrogates[node]:
            add(node, "surrogate", formatter.entry_rule(entry), None, entry["agreement"])
    return table
