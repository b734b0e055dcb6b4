"""Drawing of a tree with Matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._optional import import_pyplot
from bosquet.trees._layout import tidy_layout
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.colours import class_colour, node_colours
from bosquet.trees.formatting import TreeFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from bosquet.trees.formatting import Categories


MAX_LEAVES = 40  # leaves that are drawn if max_depth is not given

# Sizes in inches (the font size in points) of a drawing at its natural size.
_FONT = 9.0
_LEVEL_GAP = 0.36
_NODE_GAP = 0.14
_LINE_HEIGHT, _MARGIN = 0.155, 0.1
_BAR_HEIGHT = 0.13
_TEXT_COLOUR, _NOTE_COLOUR = "#222222", "#6B6B6B"


@dataclass
class _Box:
    """A node to draw: its lines of text, its size and its position in inches."""

    lines: list[tuple[str, bool]]  # text, and whether it is emphasised
    width: float
    height: float
    is_leaf: bool
    hidden: bool  # whether the branch below is not drawn
    x: float = 0.0
    y: float = 0.0


def draw_tree(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    categories: Categories = None,
    *,
    cost_matrix: ArrayLike | None = None,
    max_depth: int | None = None,
    show_missing: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw a tree: conditions in boxes, yes to the left, leaves with their rows and class shares.

    The hue of a box is the predicted class and its intensity the probability of the class; in a regression
    tree, darker boxes have larger means. Lines are thicker if more rows pass them. A tree with more than 40
    leaves is truncated to the depth with at most 40 leaves, with a note in the drawing.

    Parameters
    ----------
    tree : TreeArrays
    feature_names, class_names, categories, cost_matrix : as in `export_text`
    max_depth : int, optional
        Number of levels of splits to draw. Dashed boxes show how many leaves are below them.
    show_missing : bool, default=False
        Whether to show the branch that missing values take.
    ax : matplotlib Axes, optional
        Axes to draw into; the text is scaled down if they are small. Default: a new figure of the size
        that the tree needs.

    Returns
    -------
    matplotlib Axes
        ``ax.figure.savefig("tree.svg")`` saves the figure to a file.
    """
    pyplot = import_pyplot()
    formatter = TreeFormatter(tree, feature_names, class_names, categories, cost_matrix)
    depth = _depth_to_draw(tree, max_depth)
    boxes, children = _layout_boxes(formatter, depth, show_missing)
    positions = tidy_layout(children, {node: box.width for node, box in boxes.items()}, _NODE_GAP)
    level = max(box.height for box in boxes.values()) + _LEVEL_GAP
    for node, box in boxes.items():
        box.x, box.y = positions[node], -float(tree.depths[node]) * level
    left = min(box.x - box.width / 2 for box in boxes.values()) - 0.1
    right = max(box.x + box.width / 2 for box in boxes.values()) + 0.1
    bottom = min(box.y - box.height / 2 for box in boxes.values()) - 0.1
    top = boxes[0].height / 2 + 0.1
    legend_height = 0.3 if formatter.is_classifier else 0.0
    note = _truncation_note(tree, boxes)
    bottom -= legend_height + (0.25 if note else 0.0)
    width = max(right - left, 3.2)
    left, right = (left + right - width) / 2, (left + right + width) / 2
    if ax is None:
        figure = pyplot.figure(figsize=(width, top - bottom))
        ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    ax.set_aspect("equal")
    ax.axis("off")
    size = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    scale = min(1.0, size.width / width, size.height / (top - bottom))
    colours = node_colours(formatter)
    _draw_edges(ax, tree, boxes, children, scale)
    for node, box in boxes.items():
        _draw_box(ax, formatter, node, box, colours[node], scale)
    if formatter.is_classifier:
        _draw_legend(ax, formatter, bottom + (0.25 if note else 0.0), (left + right) / 2, scale)
    if note:
        ax.text((left + right) / 2, bottom + 0.13, note, ha="center", va="center",
                fontsize=_FONT * scale, color=_NOTE_COLOUR, style="italic")  # fmt: skip
    return ax


def _depth_to_draw(tree: TreeArrays, max_depth: int | None) -> int:
    if max_depth is not None:
        if max_depth < 0:
            raise ValueError(f"max_depth={max_depth} is not valid: max_depth must be >= 0")
        return max_depth
    # For each depth, the boxes without children if the tree is truncated there: leaves and cut nodes.
    levels = tree.depth + 1
    leaves = np.cumsum(np.bincount(tree.depths[tree.is_leaf], minlength=levels))
    drawn = leaves + np.bincount(tree.depths[~tree.is_leaf], minlength=levels)
    return int(np.flatnonzero(drawn <= MAX_LEAVES)[-1])


def _truncation_note(tree: TreeArrays, boxes: dict[int, _Box]) -> str:
    if not any(box.hidden for box in boxes.values()):
        return ""
    shown = sum(box.is_leaf and not box.hidden for box in boxes.values())
    depth = max(int(tree.depths[node]) for node in boxes)
    return f"{shown} of {tree.n_leaves} leaves shown, to depth {depth} of {tree.depth}"


def _layout_boxes(
    formatter: TreeFormatter, depth: int, show_missing: bool
) -> tuple[dict[int, _Box], dict[int, tuple[int, int]]]:
    tree = formatter.tree
    boxes: dict[int, _Box] = {}
    children: dict[int, tuple[int, int]] = {}
    stack = [0]
    while stack:
        node = stack.pop()
        end = bool(tree.is_leaf[node]) or int(tree.depths[node]) >= depth
        hidden = end and not tree.is_leaf[node]
        lines = (
            _leaf_lines(formatter, node, hidden)
            if end
            else _split_lines(formatter, node, show_missing)
        )
        width = max(_text_width(text, main) for text, main in lines) + 0.2
        height = (
            _LINE_HEIGHT * len(lines)
            + _MARGIN
            + (_BAR_HEIGHT if end and formatter.is_classifier else 0)
        )
        boxes[node] = _Box(lines, max(width, 0.85), height, end, hidden)
        if not end:
            children[node] = (int(tree.left[node]), int(tree.right[node]))
            stack += children[node]
    return boxes, children


def _split_lines(formatter: TreeFormatter, node: int, show_missing: bool) -> list[tuple[str, bool]]:
    split = formatter.split_rule(node)
    text = formatter.condition(split, True, max_shown=3).replace("<=", "≤")
    name = formatter.feature_name(split.feature)
    condition = text[len(name) :].strip()
    short = textwrap.shorten(name, 26, placeholder="…") if " " in name else name[:26]
    lines = [(short, True)]
    lines += [(line, True) for line in textwrap.wrap(condition, 28)[:3]]
    lines.append((formatter.size_text(node).replace("n ", "n = ", 1), False))
    if show_missing:
        branch = "left" if formatter.tree.missing_left[node] else "right"
        surrogates = "surrogates, " if formatter.tree.surrogates[node] else ""
        lines.append((f"missing: {surrogates}{branch}", False))
    return lines


def _leaf_lines(formatter: TreeFormatter, node: int, hidden: bool) -> list[tuple[str, bool]]:
    prediction = formatter.prediction_text(node)
    lines = [(prediction if len(prediction) <= 18 else prediction[:17] + "…", True)]
    lines.append((formatter.size_text(node).replace("n ", "n = ", 1), False))
    if hidden:
        lines.append((f"… {formatter.tree.branch_leaves[node]} leaves", False))
    return lines


def _text_width(text: str, main: bool) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(weight="bold" if main else "normal", size=_font_size(main))
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] / 72


def _font_size(main: bool) -> float:
    return _FONT if main else _FONT - 1


def _draw_edges(
    ax: Axes,
    tree: TreeArrays,
    boxes: dict[int, _Box],
    children: Mapping[int, Sequence[int]],
    scale: float,
) -> None:
    total = float(tree.weight[0]) or 1.0
    for node, pair in children.items():
        parent = boxes[node]
        start = parent.y - parent.height / 2
        turn = max(boxes[child].y + boxes[child].height / 2 for child in pair) + 0.12
        for child, word in zip(pair, ("yes", "no"), strict=True):
            box = boxes[child]
            width = (0.6 + 3.4 * float(tree.weight[child]) / total) * scale
            ax.plot([parent.x, parent.x, box.x, box.x], [start, turn, turn, box.y], zorder=1,
                    color="#9A9A9A", linewidth=width, solid_joinstyle="round")  # fmt: skip
            if node == 0:
                ax.text((parent.x + box.x) / 2, turn + 0.05, word, ha="center", va="bottom",
                        fontsize=_font_size(False) * scale, color=_NOTE_COLOUR)  # fmt: skip


def _draw_box(
    ax: Axes, formatter: TreeFormatter, node: int, box: _Box, colour: str, scale: float
) -> None:
    from matplotlib.patches import FancyBboxPatch

    low, left = box.y - box.height / 2, box.x - box.width / 2
    ax.add_patch(
        FancyBboxPatch(
            (left, low), box.width, box.height, zorder=2, facecolor=colour,
            boxstyle=f"round,pad=0,rounding_size={0.03 if box.is_leaf else 0.12}",
            edgecolor=_TEXT_COLOUR, linewidth=(1.0 if box.is_leaf else 0.6) * scale,
            linestyle="--" if box.hidden else "-",
        )
    )  # fmt: skip
    bar = _BAR_HEIGHT if box.is_leaf and formatter.is_classifier else 0.0
    for k, (text, main) in enumerate(box.lines):
        ax.text(box.x, box.y + (box.height - _MARGIN) / 2 - _LINE_HEIGHT * (k + 0.5), text, zorder=4,
                ha="center", va="center", fontsize=_font_size(main) * scale,
                color=_TEXT_COLOUR if main else "#444444",
                weight="bold" if main and (box.is_leaf or k == 0) else "normal",
                parse_math=False)  # fmt: skip
    if bar:
        _draw_shares(ax, formatter.tree.value[node], left + 0.06, low + 0.06, box.width - 0.12)


def _draw_shares(ax: Axes, shares: np.ndarray, left: float, low: float, width: float) -> None:
    from matplotlib.patches import Rectangle

    for k, share in enumerate(shares.tolist()):
        if share > 0:
            ax.add_patch(
                Rectangle(
                    (left, low),
                    width * share,
                    _BAR_HEIGHT - 0.04,
                    zorder=3,
                    linewidth=0,
                    facecolor=class_colour(k),
                )
            )
            left += width * share


def _draw_legend(ax: Axes, formatter: TreeFormatter, y: float, x: float, scale: float) -> None:
    """Draw the colours of the classes below the tree; only the first classes if there are too many."""
    assert formatter.class_names is not None
    names = [str(name) for name in formatter.class_names]
    available = ax.get_xlim()[1] - ax.get_xlim()[0] - 0.2
    widths = [_text_width(name, False) + 0.42 for name in names]
    limit = available - 0.3 if sum(widths) > available else available
    fitting = int(np.searchsorted(np.cumsum(widths), limit))
    shown = [*names[:fitting], *(["…"] if fitting < len(names) else [])]
    at = x - (sum(widths[:fitting]) + (0.2 if fitting < len(names) else 0)) / 2
    for k, name in enumerate(shown):
        if name != "…":
            ax.plot(
                [at + 0.06], [y + 0.15], marker="s", color=class_colour(k), markersize=7 * scale
            )
        ax.text(at + (0.17 if name != "…" else 0), y + 0.15, name, va="center",
                fontsize=_font_size(False) * scale, color=_TEXT_COLOUR, parse_math=False)  # fmt: skip
        at += widths[k] if name != "…" else 0
