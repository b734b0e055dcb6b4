"""Where the nodes of a drawn tree stand: as narrow as can be, children centred below parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def tidy_layout(
    children: Mapping[int, Sequence[int]], widths: Mapping[int, float], gap: float, root: int = 0
) -> dict[int, float]:
    """The horizontal place of the middle of each node.

    After Reingold and Tilford: branches are laid out by themselves, then moved together until they
    are `gap` apart on the level where they come closest. Branches of the same shape look the same
    wherever they stand.

    Parameters
    ----------
    children : for each node that has any, its children from left to right
    widths : of all nodes
    gap : between neighbours on a level
    """
    offsets: dict[int, float] = {root: 0.0}  # of a node from its parent
    contours: dict[int, list[tuple[float, float]]] = {}  # by level, seen from the branch's root
    for node in _children_first(children, root):
        half = widths[node] / 2
        below = list(children.get(node, ()))
        if not below:
            contours[node] = [(-half, half)]
            continue
        places, together = [0.0], contours.pop(below[0])
        for child in below[1:]:
            contour = contours.pop(child)
            levels = zip(together, contour, strict=False)
            place = max(left[1] - right[0] for left, right in levels) + gap
            places.append(place)
            together = _joined(together, contour, place)
        middle = (places[0] + places[-1]) / 2
        for child, place in zip(below, places, strict=True):
            offsets[child] = place - middle
        contours[node] = [(-half, half), *[(low - middle, high - middle) for low, high in together]]
    return _absolute(offsets, children, root)


def _children_first(children: Mapping[int, Sequence[int]], root: int) -> list[int]:
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += children.get(node, ())
    return order[::-1]


def _joined(
    left: list[tuple[float, float]], right: list[tuple[float, float]], place: float
) -> list[tuple[float, float]]:
    """The contour of two branches side by side; the deeper one's goes on alone."""
    moved = [(low + place, high + place) for low, high in right]
    shared = [(a[0], b[1]) for a, b in zip(left, moved, strict=False)]
    return shared + left[len(shared) :] + moved[len(shared) :]


def _absolute(
    offsets: dict[int, float], children: Mapping[int, Sequence[int]], root: int
) -> dict[int, float]:
    places = {root: 0.0}
    stack = [root]
    while stack:
        node = stack.pop()
        for child in children.get(node, ()):
            places[child] = places[node] + offsets[child]
            stack.append(child)
    return places
