"""Pictures of a tree and of its pruning, by Matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.trees._colours import class_colour, node_colours
from bosquet.trees._layout import tidy_layout
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.wording import Wording

MOST_LEAVES = 40  # drawn without being asked for by max_depth

# Inches, at the font size of the drawing.
_FONT = 9.0
_BETWEEN_LEVELS = 0.36
_GAP = 0.14
_LINE, _MARGIN = 0.155, 0.1
_BAR = 0.13
_INK, _FAINT = "#222222", "#6B6B6B"


def pyplot_or_error() -> Any:
    """Matplotlib, imported when something is drawn."""
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError('drawing needs Matplotlib: pip install "bosquet[plot]"') from None
    return pyplot


@dataclass
class _Box:
    """A node to be drawn: its lines of text, its size and place in inches."""

    lines: list[tuple[str, bool]]  # text, and whether it is the main one
    width: float
    height: float
    is_leaf: bool
    hidden: bool
    x: float = 0.0
    y: float = 0.0


def draw_tree(
    tree: TreeArrays,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    categories: Any = None,
    *,
    cost_matrix: Any = None,
    max_depth: int | None = None,
    show_missing: bool = False,
    ax: Any = None,
) -> Any:
    """Draws a tree: questions in boxes, yes to the left, leaves with their rows and shares.

    The hue of a box is its class, its strength how sure that is; in a regression tree darker is
    larger. Lines are as thick as rows come their way. A tree of more than 40 leaves is cut off at
    the depth that shows at most as many, and the drawing says so.

    Parameters
    ----------
    tree : TreeArrays
    feature_names, class_names, categories, cost_matrix : as in `export_text`
    max_depth : int, optional
        Levels of questions to draw. Dashed boxes say how many leaves are below.
    show_missing : bool, default=False
        Whether each box says which way missing values go.
    ax : matplotlib Axes, optional
        Where to draw; text shrinks if there is little room. By default a new figure of the size
        that the tree needs.

    Returns
    -------
    matplotlib Axes
        ``ax.figure.savefig("tree.svg")`` writes it to a file.
    """
    pyplot = pyplot_or_error()
    words = Wording(tree, feature_names, class_names, categories, cost_matrix)
    depth = _depth_to_draw(tree, max_depth)
    boxes, children = _boxes(words, depth, show_missing)
    places = tidy_layout(children, {node: box.width for node, box in boxes.items()}, _GAP)
    level = max(box.height for box in boxes.values()) + _BETWEEN_LEVELS
    for node, box in boxes.items():
        box.x, box.y = places[node], -float(tree.depths[node]) * level
    left = min(box.x - box.width / 2 for box in boxes.values()) - 0.1
    right = max(box.x + box.width / 2 for box in boxes.values()) + 0.1
    bottom = min(box.y - box.height / 2 for box in boxes.values()) - 0.1
    top = boxes[0].height / 2 + 0.1
    legend_room = 0.3 if words.of_classes else 0.0
    note = _truncation_note(tree, boxes)
    bottom -= legend_room + (0.25 if note else 0.0)
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
    colours = node_colours(words)
    _draw_edges(ax, tree, boxes, children, scale)
    for node, box in boxes.items():
        _draw_box(ax, words, node, box, colours[node], scale)
    if words.of_classes:
        _draw_legend(ax, words, bottom + (0.25 if note else 0.0), (left + right) / 2, scale)
    if note:
        ax.text((left + right) / 2, bottom + 0.13, note, ha="center", va="center",
                fontsize=_FONT * scale, color=_FAINT, style="italic")  # fmt: skip
    return ax


def _depth_to_draw(tree: TreeArrays, max_depth: int | None) -> int:
    if max_depth is not None:
        if max_depth < 0:
            raise ValueError(f"max_depth is {max_depth}; it must not be negative")
        return max_depth
    # By depth: the leaves up to there, and the inner nodes that would be cut off at it.
    levels = tree.depth + 1
    leaves = np.cumsum(np.bincount(tree.depths[tree.is_leaf], minlength=levels))
    drawn = leaves + np.bincount(tree.depths[~tree.is_leaf], minlength=levels)
    return int(np.flatnonzero(drawn <= MOST_LEAVES)[-1])


def _truncation_note(tree: TreeArrays, boxes: dict[int, _Box]) -> str:
    if not any(box.hidden for box in boxes.values()):
        return ""
    shown = sum(box.is_leaf and not box.hidden for box in boxes.values())
    depth = max(int(tree.depths[node]) for node in boxes)
    return f"{shown} of {tree.n_leaves} leaves shown, to depth {depth} of {tree.depth}"


def _boxes(
    words: Wording, depth: int, show_missing: bool
) -> tuple[dict[int, _Box], dict[int, tuple[int, int]]]:
    tree = words.tree
    boxes: dict[int, _Box] = {}
    children: dict[int, tuple[int, int]] = {}
    stack = [0]
    while stack:
        node = stack.pop()
        end = bool(tree.is_leaf[node]) or int(tree.depths[node]) >= depth
        hidden = end and not tree.is_leaf[node]
        lines = _leaf_lines(words, node, hidden) if end else _question(words, node, show_missing)
        width = max(_text_width(text, main) for text, main in lines) + 0.2
        height = _LINE * len(lines) + _MARGIN + (_BAR if end and words.of_classes else 0)
        boxes[node] = _Box(lines, max(width, 0.85), height, end, hidden)
        if not end:
            children[node] = (int(tree.left[node]), int(tree.right[node]))
            stack += children[node]
    return boxes, children


def _question(words: Wording, node: int, show_missing: bool) -> list[tuple[str, bool]]:
    split = words.question(node)
    text = words.condition(split, True, most=3).replace("<=", "≤")
    name = words.name(split.feature)
    rest = text[len(name) :].strip()
    short = textwrap.shorten(name, 26, placeholder="…") if " " in name else name[:26]
    lines = [(short, True)]
    lines += [(part, True) for part in textwrap.wrap(rest, 28)[:3]]
    lines.append((words.size(node).replace("n ", "n = ", 1), False))
    if show_missing:
        way = "left" if words.tree.missing_left[node] else "right"
        surrogates = "surrogates, " if words.tree.surrogates[node] else ""
        lines.append((f"missing: {surrogates}{way}", False))
    return lines


def _leaf_lines(words: Wording, node: int, hidden: bool) -> list[tuple[str, bool]]:
    answer = words.answer(node)
    lines = [(answer if len(answer) <= 18 else answer[:17] + "…", True)]
    lines.append((words.size(node).replace("n ", "n = ", 1), False))
    if hidden:
        lines.append((f"… {words.tree.branch_leaves[node]} leaves", False))
    return lines


def _text_width(text: str, main: bool) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(weight="bold" if main else "normal", size=_size(main))
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] / 72


def _size(main: bool) -> float:
    return _FONT if main else _FONT - 1


def _draw_edges(
    ax: Any, tree: TreeArrays, boxes: dict[int, _Box], children: Any, scale: float
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
                        fontsize=_size(False) * scale, color=_FAINT)  # fmt: skip


def _draw_box(ax: Any, words: Wording, node: int, box: _Box, colour: str, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    low, left = box.y - box.height / 2, box.x - box.width / 2
    ax.add_patch(
        FancyBboxPatch(
            (left, low), box.width, box.height, zorder=2, facecolor=colour,
            boxstyle=f"round,pad=0,rounding_size={0.03 if box.is_leaf else 0.12}",
            edgecolor=_INK, linewidth=(1.0 if box.is_leaf else 0.6) * scale,
            linestyle="--" if box.hidden else "-",
        )
    )  # fmt: skip
    bar = _BAR if box.is_leaf and words.of_classes else 0.0
    for k, (text, main) in enumerate(box.lines):
        ax.text(box.x, box.y + (box.height - _MARGIN) / 2 - _LINE * (k + 0.5), text, zorder=4,
                ha="center", va="center", fontsize=_size(main) * scale,
                color=_INK if main else "#444444",
                weight="bold" if main and (box.is_leaf or k == 0) else "normal",
                parse_math=False)  # fmt: skip
    if bar:
        _draw_shares(ax, words.tree.value[node], left + 0.06, low + 0.06, box.width - 0.12)


def _draw_shares(ax: Any, shares: np.ndarray, left: float, low: float, width: float) -> None:
    from matplotlib.patches import Rectangle

    for k, share in enumerate(shares.tolist()):
        if share > 0:
            ax.add_patch(
                Rectangle(
                    (left, low),
                    width * share,
                    _BAR - 0.04,
                    zorder=3,
                    linewidth=0,
                    facecolor=class_colour(k),
                )
            )
            left += width * share


def _draw_legend(ax: Any, words: Wording, y: float, x: float, scale: float) -> None:
    """Hues of the classes, in a line below the tree; of many classes the first ones."""
    assert words.class_names is not None
    names = [str(name) for name in words.class_names]
    room = ax.get_xlim()[1] - ax.get_xlim()[0] - 0.2
    widths = [_text_width(name, False) + 0.42 for name in names]
    fitting = int(np.searchsorted(np.cumsum(widths), room - 0.3 if sum(widths) > room else room))
    shown = [*names[:fitting], *(["…"] if fitting < len(names) else [])]
    at = x - (sum(widths[:fitting]) + (0.2 if fitting < len(names) else 0)) / 2
    for k, name in enumerate(shown):
        if name != "…":
            ax.plot(
                [at + 0.06], [y + 0.15], marker="s", color=class_colour(k), markersize=7 * scale
            )
        ax.text(at + (0.17 if name != "…" else 0), y + 0.15, name, va="center",
                fontsize=_size(False) * scale, color=_INK, parse_math=False)  # fmt: skip
        at += widths[k] if name != "…" else 0
