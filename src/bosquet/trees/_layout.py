"""Positions of the nodes of a drawn tree: narrow, with parents centred above their children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def tidy_layout(
    children: Mapping[int, Sequence[int]], widths: Mapping[int, float], gap: float, root: int = 0
) -> dict[int, float]:
    """Return the horizontal position of the centre of each node.

    The algorithm is that of Reingold and Tilford. Each branch is laid out separately; then sibling branches
    are moved together until their distance is `gap` on the level where they are closest. Branches of the
    same shape get the same layout.

    Parameters
    ----------
    children : mapping from each inner node to its children, from left to right
    widths : mapping from each node to its width
    gap : minimum distance between neighbours on a level
    root : number of the root
    """
    offsets: dict[int, float] = {root: 0.0}  # position of a node relative to its parent
    # Left and right edge of a branch on each level, relative to its root.
    contours: dict[int, list[tuple[float, float]]] = {}
    for node in _children_first(children, root):
        half = widths[node] / 2
        below = list(children.get(node, ()))
        if not below:
            contours[node] = [(-half, half)]
            continue
        positions, combined = [0.0], contours.pop(below[0])
        for child in below[1:]:
            contour = contours.pop(child)
            levels = zip(combined, contour, strict=False)
            position = max(left[1] - right[0] for left, right in levels) + gap
            positions.append(position)
            combined = _join_contours(combined, contour, position)
        middle = (positions[0] + positions[-1]) / 2
        for child, position in zip(below, positions, strict=True):
            offsets[child] = position - middle
        contours[node] = [(-half, half), *[(low - middle, high - middle) for low, high in combined]]
    return _absolute_positions(offsets, children, root)


def _children_first(children: Mapping[int, Sequence[int]], root: int) -> list[int]:
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += children.get(node, ())
    return order[::-1]


def _join_contours(
    left: list[tuple[float, float]], right: list[tuple[float, float]], position: float
) -> list[tuple[float, float]]:
    """Return the contour of two neighbouring branches, the right one moved to `position`."""
    moved = [(low + position, high + position) for low, high in right]
    shared = [(a[0], b[1]) for a, b in zip(left, moved, strict=False)]
    return shared + left[len(shared) :] + moved[len(shared) :]


def _absolute_positions(
    offsets: dict[int, float], children: Mapping[int, Sequence[int]], root: int
) -> dict[int, float]:
    positions = {root: 0.0}
    stack = [root]
    while stack:
        node = stack.pop()
        for child in children.get(node, ()):
            positions[child] = positions[node] + offsets[child]
            stack.append(child)
    return positions
