"""Reading a tree: as text, as a graph, as rules, and what it might have asked instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.trees._colours import node_colours
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.wording import Split, Wording, listed, number

MOST_INDENTATION = 250_000_000  # characters of export_text; it grows with the square of the depth


def export_text(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    categories: Any = None,
    *,
    cost_matrix: Any = None,
    max_depth: int | None = None,
    show_missing: bool = True,
) -> str:
    """The tree as indented text: one line a node, leaves with an arrow to what they predict.

    Parameters
    ----------
    tree : TreeArrays
    feature_names : sequence of str, optional
    class_names : sequence, optional
        Labels of the classes; without them shares of classes are those of 0, 1, ...
    categories : sequence or dict, optional
        For each feature None, or its categories in the order of their codes.
    cost_matrix : array of shape (classes, classes), optional
        Under which leaves decide; line: true class, column: decision.
    max_depth : int, optional
        Nodes below it are counted instead of shown.
    show_missing : bool, default=True
        Whether to say which way a missing value goes.

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
    words = Wording(tree, feature_names, class_names, categories, cost_matrix)
    lines = []
    # (node, depth, condition): a stack instead of calls, for trees deeper than Python likes.
    stack = [(0, 0, "all rows")]
    while stack:
        node, depth, condition = stack.pop()
        indent = "|   " * (depth - 1) + "|-- " if depth else ""
        hidden = max_depth is not None and depth >= max_depth and not tree.is_leaf[node]
        lines.append(f"{indent}{condition}: {_summary(words, node, hidden)}")
        if tree.is_leaf[node] or hidden:
            continue
        for left in (False, True):
            child = int(tree.left[node] if left else tree.right[node])
            text = words.condition(words.question(node), left)
            text += _missing_note(tree, node, left) if show_missing else ""
            stack.append((child, depth + 1, text))
    return "\n".join(lines)


def _check_indentation(tree: TreeArrays, max_depth: int | None) -> None:
    depths = tree.depths if max_depth is None else tree.depths[tree.depths <= max_depth]
    characters = 4 * int(depths.sum())
    if characters > MOST_INDENTATION:
        raise ValueError(
            f"the tree is {tree.depth} levels deep: indented text of it takes {characters / 1e9:.2g}"
            f" GB, and the limit is {MOST_INDENTATION / 1e9:.2g} GB; pass a smaller max_depth, prune"
            " the tree, or use rules() or export_graphviz()"
        )


def _summary(words: Wording, node: int, hidden: bool) -> str:
    """Size and answer of a node; how many leaves are not shown, if any."""
    tree, parts = words.tree, [words.size(node)]
    if tree.is_leaf[node]:
        text = f"{parts[0]} -> {words.answer(node)}"
        return f"{text} ({words.shares(node)})" if words.of_classes else text
    parts.append(words.shares(node) if words.of_classes else f"mean {words.answer(node)}")
    if hidden:
        parts.append(f"... {tree.branch_leaves[node]} leaves below")
    return ", ".join(parts)


def _missing_note(tree: TreeArrays, node: int, left: bool) -> str:
    if bool(tree.missing_left[node]) != left:
        return ""
    return " or missing (after surrogates)" if tree.surrogates[node] else " or missing"


def export_graphviz(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    categories: Any = None,
    *,
    cost_matrix: Any = None,
    max_depth: int | None = None,
    show_missing: bool = True,
) -> str:
    """The tree in the DOT language of Graphviz, coloured by class or by mean.

    Parameters are those of `export_text`. The left branch is the one on which the question in the
    node is answered with yes.

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
    words = Wording(tree, feature_names, class_names, categories, cost_matrix)
    colours = node_colours(words)
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
            _dot_escape(line) for line in _dot_lines(words, node, hidden, show_missing)
        )
        frame = "" if inner else ", penwidth=2"
        lines.append(f'  n{node} [label="{label}", fillcolor="{colours[node]}"{frame}];')
        if inner:
            left, right = int(tree.left[node]), int(tree.right[node])
            lines.append(f'  n{node} -> n{left} [label="yes"];')
            lines.append(f'  n{node} -> n{right} [label="no"];')
            stack += [right, left]
    return "\n".join([*lines, "}"])


def _dot_lines(words: Wording, node: int, hidden: bool, show_missing: bool) -> list[str]:
    tree, lines = words.tree, []
    leaf = bool(tree.is_leaf[node])
    if leaf or hidden:
        lines.append(words.answer(node))
    else:
        lines.append(words.condition(words.question(node), True))
        if show_missing:
            way = "yes" if tree.missing_left[node] else "no"
            lines.append(f"missing: {'surrogates, then ' if tree.surrogates[node] else ''}{way}")
    lines.append(words.size(node))
    if words.of_classes:
        lines.append(words.shares(node))
    elif not leaf and not hidden:
        lines.append(f"mean {words.answer(node)}")
    if hidden and not leaf:
        lines.append(f"... {tree.branch_leaves[node]} leaves below")
    return lines


def _dot_escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


@dataclass(frozen=True)
class Rule:
    """A leaf as a rule: what is true of its rows, and what it answers for them.

    Attributes
    ----------
    leaf : int
        Number of the node.
    conditions : tuple of str
        One for each feature on the way, in the order in which they were first asked about.
    prediction : label or number
    value : tuple of float
        Shares of the classes, or means.
    n_rows : int
    weight : float
    """

    leaf: int
    conditions: tuple[str, ...]
    prediction: Any
    value: tuple[float, ...]
    n_rows: int
    weight: float

    def __str__(self) -> str:
        conditions = " and ".join(self.conditions) or "always"
        shown = (
            number(self.prediction, 4) if isinstance(self.prediction, float) else self.prediction
        )
        return f"{conditions} -> {shown} (n {self.n_rows})"


def rules(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    categories: Any = None,
    *,
    cost_matrix: Any = None,
) -> list[Rule]:
    """The leaves as rules, from left to right; several questions about a feature become one.

    Parameters are those of `export_text`. "or missing" says that a row whose value is missing comes
    this way at all questions about the feature; where a node has surrogates, these are asked first.
    """
    words = Wording(tree, feature_names, class_names, categories, cost_matrix)
    found = []
    stack: list[tuple[int, dict[int, _Range]]] = [(0, {})]
    while stack:
        node, ranges = stack.pop()
        if tree.is_leaf[node]:
            found.append(
                Rule(
                    leaf=node,
                    conditions=tuple(part.text(words) for part in ranges.values()),
                    prediction=words.prediction(node),
                    value=tuple(tree.value[node].tolist()),
                    n_rows=int(tree.n_rows[node]),
                    weight=float(tree.weight[node]),
                )
            )
            continue
        split = words.question(node)
        for left in (False, True):
            known = ranges.get(split.feature, _Range(split.feature))
            narrowed = known.narrowed(words, split, left, bool(tree.missing_left[node]) == left)
            child = int(tree.left[node] if left else tree.right[node])
            stack.append((child, {**ranges, split.feature: narrowed}))
    return found


@dataclass(frozen=True)
class _Range:
    """What a path says about one feature."""

    feature: int
    above: float = -np.inf
    at_most: float = np.inf
    allowed: tuple[Any, ...] | None = None  # labels or codes; None: no list of them
    excluded: tuple[Any, ...] = ()
    missing: bool = True

    def narrowed(self, words: Wording, split: Split, left: bool, missing: bool) -> _Range:
        above, at_most, allowed, excluded = self.above, self.at_most, self.allowed, self.excluded
        if split.left_categories is None:
            above = above if left else max(above, split.threshold)
            at_most = min(at_most, split.threshold) if left else at_most
        else:
            goes_left, goes_right = words.sides(split)
            side = goes_left if left else goes_right
            if side is None:
                excluded = tuple(dict.fromkeys([*excluded, *goes_left]))
            else:
                before = side if allowed is None else allowed
                allowed = tuple(label for label in before if label in set(side))
            if allowed is not None:
                allowed = tuple(label for label in allowed if label not in set(excluded))
        return _Range(self.feature, above, at_most, allowed, excluded, self.missing and missing)

    def text(self, words: Wording) -> str:
        name = words.name(self.feature)
        if self.allowed is not None:
            text = f"{name} in {listed(list(self.allowed))}"
        elif self.excluded:
            text = f"{name} not in {listed(list(self.excluded))}"
        elif np.isinf(self.above):
            text = f"{name} <= {number(self.at_most)}"
        elif np.isinf(self.at_most):
            text = f"{name} > {number(self.above)}"
        else:
            text = f"{number(self.above)} < {name} <= {number(self.at_most)}"
        return f"({text} or missing)" if self.missing else text


def split_table(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    categories: Any = None,
    *,
    nodes: Sequence[int] | None = None,
) -> list[dict[str, Any]]:
    """The split of each inner node beside its competitors and surrogates.

    Parameters
    ----------
    tree : TreeArrays
    feature_names, categories : as in `export_text`
    nodes : sequence of int, optional
        Inner nodes to show; by default all.

    Returns
    -------
    list of dicts
        With `node`, `kind` ("split", "competitor" or "surrogate"), `feature`, `goes_left` (the
        condition in words), `gain` (None for a surrogate) and `agreement` (None but for a
        surrogate). ``pandas.DataFrame`` takes the list as it is.
    """
    words = Wording(tree, feature_names, None, categories)
    wanted = np.flatnonzero(~tree.is_leaf) if nodes is None else np.asarray(nodes, dtype=np.int64)
    table = []

    def add(node: int, kind: str, split: Split, gain: Any, agreement: Any) -> None:
        table.append(
            {
                "node": node,
                "kind": kind,
                "feature": words.name(split.feature),
                "goes_left": words.condition(split, True),
                "gain": None if gain is None else float(gain),
                "agreement": None if agreement is None else float(agreement),
            }
        )

    for node in wanted.tolist():
        if not 0 <= node < tree.n_nodes or tree.is_leaf[node]:
            raise ValueError(f"nodes holds {node}, which is not an inner node of the tree")
        add(node, "split", words.question(node), tree.gain[node], None)
        for entry in tree.competitors[node]:
            add(node, "competitor", words.entry(entry), entry["gain"], None)
        for entry in tree.surrogates[node]:
            add(node, "surrogate", words.entry(entry), None, entry["agreement"])
    return table
