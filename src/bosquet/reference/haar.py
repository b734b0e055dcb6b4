"""Haar features as Viola and Jones describe them, and AdaBoost over stumps on them.

A feature is a pair (tilted, rectangles): whether it is rotated by 45 degrees, and a list of rectangles
(x, y, width, height, weight). Its value is the weighted sum of the pixels in the rectangles. An image is a
matrix of grey levels, `image[y, x]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

Rectangle: TypeAlias = tuple[int, int, int, int, int]
Feature: TypeAlias = tuple[bool, list[Rectangle]]
Stump: TypeAlias = tuple[float, int, float, float, float]


def integral(image: np.ndarray) -> np.ndarray:
    """Return s with s[y, x] = the sum of the pixels above row y and left of column x."""
    s = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    s[1:, 1:] = image.astype(float).cumsum(axis=0).cumsum(axis=1)
    return s


def tilted_integral(image: np.ndarray) -> np.ndarray:
    """Return t with t[y, x] = the sum over the cone that opens upwards from pixel (x - 1, y - 1)."""
    height, width = image.shape
    t = np.zeros((height + 1, width + 1))
    rows, columns = np.mgrid[:height, :width]
    for y in range(1, height + 1):
        for x in range(width + 1):
            cone = (rows < y) & (np.abs(columns - (x - 1)) <= y - 1 - rows)
            t[y, x] = image[cone].sum(dtype=float)
    return t


def enumerate_features(width: int, height: int, kind: str = "basic") -> list[Feature]:
    """Return every feature of a window, in the order of opencv_traincascade."""
    features = []
    for x in range(width):
        for y in range(height):
            for dx in range(1, width + 1):
                for dy in range(1, height + 1):
                    for tilted, rectangles in feature_shapes(x, y, dx, dy, kind):
                        if all(inside(r, tilted, width, height) for r in rectangles):
                            features.append((tilted, rectangles))
    return features


def feature_shapes(x: int, y: int, dx: int, dy: int, kind: str) -> Iterator[Feature]:
    """Yield the features at (x, y) made of cells of dx by dy pixels.

    The whole rectangle has the weight -1. Some of its cells have a positive weight, so that a feature is the
    difference between the pixels of these cells and the others.
    """
    yield False, [(x, y, 2 * dx, dy, -1), (x + dx, y, dx, dy, 2)]
    yield False, [(x, y, dx, 2 * dy, -1), (x, y + dy, dx, dy, 2)]
    yield False, [(x, y, 3 * dx, dy, -1), (x + dx, y, dx, dy, 3)]
    yield False, [(x, y, dx, 3 * dy, -1), (x, y + dy, dx, dy, 3)]
    if kind != "basic":
        yield False, [(x, y, 4 * dx, dy, -1), (x + dx, y, 2 * dx, dy, 2)]
        yield False, [(x, y, dx, 4 * dy, -1), (x, y + dy, dx, 2 * dy, 2)]
    yield False, [(x, y, 2 * dx, 2 * dy, -1), (x, y, dx, dy, 2), (x + dx, y + dy, dx, dy, 2)]
    if kind != "basic":
        yield False, [(x, y, 3 * dx, 3 * dy, -1), (x + dx, y + dy, dx, dy, 9)]
    if kind == "all":
        yield True, [(x, y, 2 * dx, dy, -1), (x, y, dx, dy, 2)]
        yield True, [(x, y, dx, 2 * dy, -1), (x, y, dx, dy, 2)]
        yield True, [(x, y, 3 * dx, dy, -1), (x + dx, y + dx, dx, dy, 3)]
        yield True, [(x, y, dx, 3 * dy, -1), (x - dy, y + dy, dx, dy, 3)]
        yield True, [(x, y, 4 * dx, dy, -1), (x + dx, y + dx, 2 * dx, dy, 2)]
        yield True, [(x, y, dx, 4 * dy, -1), (x - dy, y + dy, dx, 2 * dy, 2)]


def inside(rectangle: Rectangle, tilted: bool, width: int, height: int) -> bool:
    """Return whether a rectangle lies inside the window."""
    x, y, w, h, _ = rectangle
    if tilted:
        return x - h >= 0 and x + w <= width and y + w + h <= height
    return x + w <= width and y + h <= height


def feature_value(integrals: Sequence[np.ndarray], feature: Feature) -> float:
    """Return the value of a feature; each rectangle takes four entries of an integral image.

    `integrals` is the pair of the upright and the tilted integral image.
    """
    tilted, rectangles = feature
    s = integrals[tilted]
    value = 0.0
    for x, y, w, h, weight in rectangles:
        if tilted:
            pixels = s[y, x] - s[y + h, x - h] - s[y + w, x + w] + s[y + w + h, x + w - h]
        else:
            pixels = s[y, x] - s[y, x + w] - s[y + h, x] + s[y + h, x + w]
        value += weight * pixels
    return value


def contrast(image: np.ndarray) -> float:
    """Return √(n Σ p² - (Σ p)²) over the n pixels p that are not on the border; 1 if they are all equal."""
    inner = image[1:-1, 1:-1].astype(float)
    squared = inner.size * (inner**2).sum() - inner.sum() ** 2
    return np.sqrt(squared) if squared > 0 else 1.0


def best_stump(values: np.ndarray, y: np.ndarray, w: np.ndarray) -> Stump:
    """Return (error, feature, threshold, left, right) of the stump with the smallest weighted error.

    `values` has shape (features, images), y is -1 or +1, and w are the weights of the images. The stump
    predicts the sign `left` below the threshold and `right` from it on. Every threshold between two values
    is tried.
    """
    best = (np.inf, -1, 0.0, 0.0, 0.0)
    for feature, row in enumerate(values):
        order = np.argsort(row, kind="stable")
        response = np.cumsum((w * y)[order])
        cuts = np.flatnonzero(row[order][1:] > row[order][:-1])
        for cut in cuts:
            left, right = response[cut], response[-1] - response[cut]
            error = (w.sum() - abs(left) - abs(right)) / 2
            if error < best[0] - 1e-12:
                threshold = (row[order][cut] + row[order][cut + 1]) / 2
                best = (error, feature, threshold, np.sign(left), np.sign(right))
    return best


def adaboost(
    images: Sequence[np.ndarray],
    y: np.ndarray,
    features: Sequence[Feature],
    rounds: int,
    normalise: bool = True,
) -> list[Stump]:
    """Fit discrete AdaBoost over Haar stumps; return a list of (α, feature, threshold, left, right)."""
    scale = np.array([contrast(image) if normalise else 1.0 for image in images])
    integrals = [(integral(image), tilted_integral(image)) for image in images]
    values = np.array([[feature_value(of, feature) for of in integrals] for feature in features])
    values = values / scale
    w = np.full(len(y), 1 / len(y))
    vote = []
    for _ in range(rounds):
        error, feature, threshold, left, right = best_stump(values, y, w)
        alpha = np.log((1 - error) / error) / 2
        h = np.where(values[feature] < threshold, left, right)
        w = w * np.exp(-alpha * y * h)
        w /= w.sum()
        vote.append((alpha, feature, threshold, left, right))
    return vote
