"""A cascade of Haar stumps and trees, window by window (Viola and Jones 2001; Lienhart and Maydt 2002).

A feature is a weighted sum of pixels in up to three rectangles. It is divided by the window's standard
deviation, so that light and contrast do not matter; the deviation is that of the window without its
border of one pixel, and times the area of this frame:

    σ = sqrt(A Σ x² − (Σ x)²).

A tree asks such values against thresholds and adds the value of the leaf it comes to. A stage passes a
window if the sum of its trees reaches the stage's threshold. A cascade passes a window if all its stages
do, and asks them in order: the first one to say no ends it.

`cascade` is anything with `window` (width, height), `rectangles` (n, 3, 4), `weights` (n, 3), `tilted`
(n,) and `stages`, each with `trees` and `threshold`; a tree has `feature`, `threshold`, `left`, `right`
and `leaves`, and children that are not positive are leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ALLOWANCE = np.float32(1e-5)  # for what a threshold loses when it is written in decimal


def integral(image: np.ndarray) -> np.ndarray:
    """Sum of all pixels above and to the left, with a row and a column of zeros before them."""
    return np.pad(image.astype(np.int64).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))


def box_sum(sums: np.ndarray, x: int, y: int, width: int, height: int) -> int:
    return int(
        sums[y, x] - sums[y, x + width] - sums[y + height, x] + sums[y + height, x + width]
    )


def tilted_sum(image: np.ndarray, x: int, y: int, width: int, height: int) -> int:
    """Pixels in a rectangle turned by 45 degrees whose top corner is (x, y).

    It is the pixels between two pairs of diagonals: with u = column + row and v = column − row, those of
    x + y ≤ u + 1 < x + y + 2 width and x − y − 2 height ≤ v < x − y.
    """
    rows, columns = np.indices(image.shape)
    along, across = columns + rows + 1 - (x + y), columns - rows - (x - y)
    inside = (0 <= along) & (along < 2 * width) & (-2 * height <= across) & (across < 0)
    return int(image[inside].sum(dtype=np.int64))


def deviation_factor(window: np.ndarray) -> np.float32 | None:
    """One over σ in single precision; None for a window so flat that it is passed by."""
    frame = window[1:-1, 1:-1].astype(np.float64)
    scatter = frame.size * (frame**2).sum() - frame.sum() ** 2
    if scatter <= 0:
        return None
    factor = np.float32(1 / np.sqrt(scatter))
    return factor if frame.size * float(factor) < 0.1 else None


def feature_value(cascade: Any, feature: int, window: np.ndarray) -> np.float32:
    """The weighted sum of rectangles, added up in single precision in their order."""
    sums, total = integral(window), np.float32(0)
    for rectangle, weight in zip(
        cascade.rectangles[feature], cascade.weights[feature], strict=True
    ):
        if weight == 0:
            continue
        x, y, width, height = (int(v) for v in rectangle)
        if cascade.tilted[feature]:
            pixels = tilted_sum(window, x, y, width, height)
        else:
            pixels = box_sum(sums, x, y, width, height)
        total = total + np.float32(weight) * np.float32(pixels)
    return total


def tree_answer(cascade: Any, tree: Any, window: np.ndarray, factor: np.float32) -> float:
    node = 0
    while True:
        value = feature_value(cascade, int(tree.feature[node]), window) * factor
        node = int((tree.left if value < tree.threshold[node] else tree.right)[node])
        if node <= 0:
            return float(tree.leaves[-node])


def stages_passed(cascade: Any, window: np.ndarray) -> int:
    """How many stages the window passes; -1 where it is flat."""
    factor = deviation_factor(window)
    if factor is None:
        return -1
    for number, stage in enumerate(cascade.stages):
        total = 0.0
        for tree in stage.trees:
            total += tree_answer(cascade, tree, window, factor)
        if total < np.float32(stage.threshold) - ALLOWANCE:
            return number
    return len(cascade.stages)


def passing_windows(cascade: Any, image: np.ndarray, step: int = 1) -> list[tuple[int, int]]:
    """(x, y) of the windows that pass, at one scale. One that the first stage rejects takes its
    right neighbour with it: next to such a window there is hardly ever an object."""
    width, height = cascade.window
    found = []
    for y in range(0, image.shape[0] - height + 1, step):
        x = 0
        while x <= image.shape[1] - width:
            passed = stages_passed(cascade, image[y : y + height, x : x + width])
            if passed == len(cascade.stages):
                found.append((x, y))
            x += 2 * step if passed == 0 and cascade.stages else step
    return found
