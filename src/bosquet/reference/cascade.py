"""Detection with a cascade of trees on Haar features (Viola and Jones 2001; Lienhart and Maydt 2002).

A feature is a weighted sum of pixels in up to three rectangles. It is divided by σ, so that it does not
depend on brightness and contrast. σ is the standard deviation of the pixels x of the window without its
border of one pixel, times the number A of these pixels:

    σ = sqrt(A Σ x² − (Σ x)²).

A tree compares such values with thresholds and returns the value of a leaf. A stage accepts a window if
the sum of its trees reaches the threshold of the stage. A cascade accepts a window if all its stages do;
it evaluates them in order, and the first stage that rejects the window ends the evaluation.

`cascade` is any object with the attributes `window` (width, height), `rectangles` (n, 3, 4), `weights`
(n, 3), `tilted` (n,) and `stages`, each with `trees` and `threshold`. A tree has `feature`, `threshold`,
`left`, `right` and `leaves`; a child c <= 0 is the leaf -c.
"""

from __future__ import annotations

from typing import Any

import numpy as np

THRESHOLD_TOLERANCE = np.float32(1e-5)  # for the rounding of thresholds to decimal text


def integral(image: np.ndarray) -> np.ndarray:
    """Return the integral image: s[y, x] is the sum of the pixels above row y and left of column x."""
    return np.pad(image.astype(np.int64).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))


def box_sum(sums: np.ndarray, x: int, y: int, width: int, height: int) -> int:
    """Return the sum of the pixels in an upright rectangle, from four corners of the integral image."""
    return int(sums[y, x] - sums[y, x + width] - sums[y + height, x] + sums[y + height, x + width])


def tilted_sum(image: np.ndarray, x: int, y: int, width: int, height: int) -> int:
    """Return the sum of the pixels in a rectangle rotated by 45 degrees with top corner (x, y).

    It contains the pixels between two pairs of diagonals. With u = column + row and v = column − row, they
    satisfy x + y ≤ u + 1 < x + y + 2 width and x − y − 2 height ≤ v < x − y.
    """
    rows, columns = np.indices(image.shape)
    along, across = columns + rows + 1 - (x + y), columns - rows - (x - y)
    inside = (along >= 0) & (along < 2 * width) & (-2 * height <= across) & (across < 0)
    return int(image[inside].sum(dtype=np.int64))


def deviation_factor(window: np.ndarray) -> np.float32 | None:
    """Return 1 / σ in single precision; None for a window of almost constant brightness, which is skipped."""
    inner = window[1:-1, 1:-1].astype(np.float64)
    sigma_squared = inner.size * (inner**2).sum() - inner.sum() ** 2
    if sigma_squared <= 0:
        return None
    factor = np.float32(1 / np.sqrt(sigma_squared))
    return factor if inner.size * float(factor) < 0.1 else None


def feature_value(cascade: Any, feature: int, window: np.ndarray) -> np.float32:
    """Return the weighted sum of the rectangles of a feature, added in their order in single precision."""
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


def tree_value(cascade: Any, tree: Any, window: np.ndarray, factor: np.float32) -> float:
    """Return the value of the leaf that a window reaches."""
    node = 0
    while True:
        value = feature_value(cascade, int(tree.feature[node]), window) * factor
        node = int((tree.left if value < tree.threshold[node] else tree.right)[node])
        if node <= 0:
            return float(tree.leaves[-node])


def stages_passed(cascade: Any, window: np.ndarray) -> int:
    """Return the number of stages that accept the window; -1 if its brightness is almost constant."""
    factor = deviation_factor(window)
    if factor is None:
        return -1
    for number, stage in enumerate(cascade.stages):
        total = 0.0
        for tree in stage.trees:
            total += tree_value(cascade, tree, window, factor)
        if total < np.float32(stage.threshold) - THRESHOLD_TOLERANCE:
            return number
    return len(cascade.stages)


def passing_windows(cascade: Any, image: np.ndarray, step: int = 1) -> list[tuple[int, int]]:
    """Return (x, y) of the accepted windows at one scale.

    If the first stage rejects a window, its right neighbour is skipped: it hardly ever contains an object.
    """
    width, height = cascade.window
    corners = []
    for y in range(0, image.shape[0] - height + 1, step):
        x = 0
        while x <= image.shape[1] - width:
            passed = stages_passed(cascade, image[y : y + height, x : x + width])
            if passed == len(cascade.stages):
                corners.append((x, y))
            x += 2 * step if passed == 0 and cascade.stages else step
    return corners
