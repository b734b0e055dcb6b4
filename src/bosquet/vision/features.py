"""Haar features: their rectangles and weights, and the list of all features of a window."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bosquet._parameters import check_value, choice

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


KINDS = ("basic", "core", "all")
MAX_SIDE = 1024


class Pattern(NamedTuple):
    """Shape of a feature on a grid of `columns` × `rows` cells.

    The whole rectangle has weight -1. The `inner` rectangles (column, row, columns, rows) have a positive
    weight, chosen so that the feature is 0 on a constant image.
    """

    name: str
    columns: int
    rows: int
    inner: tuple[tuple[int, int, int, int], ...]
    kind: str
    tilted: bool = False

    @property
    def inner_weight(self) -> float:
        inside = sum(columns * rows for _, _, columns, rows in self.inner)
        return self.columns * self.rows / inside


# In the order in which opencv_traincascade numbers them at each position and size.
PATTERNS = (
    Pattern("edge-x", 2, 1, ((1, 0, 1, 1),), "basic"),
    Pattern("edge-y", 1, 2, ((0, 1, 1, 1),), "basic"),
    Pattern("line-x", 3, 1, ((1, 0, 1, 1),), "basic"),
    Pattern("line-y", 1, 3, ((0, 1, 1, 1),), "basic"),
    Pattern("wide-line-x", 4, 1, ((1, 0, 2, 1),), "core"),
    Pattern("wide-line-y", 1, 4, ((0, 1, 1, 2),), "core"),
    Pattern("checker", 2, 2, ((0, 0, 1, 1), (1, 1, 1, 1)), "basic"),
    Pattern("centre", 3, 3, ((1, 1, 1, 1),), "core"),
    Pattern("tilted-edge-x", 2, 1, ((0, 0, 1, 1),), "all", tilted=True),
    Pattern("tilted-edge-y", 1, 2, ((0, 0, 1, 1),), "all", tilted=True),
    Pattern("tilted-line-x", 3, 1, ((1, 0, 1, 1),), "all", tilted=True),
    Pattern("tilted-line-y", 1, 3, ((0, 1, 1, 1),), "all", tilted=True),
    Pattern("tilted-wide-line-x", 4, 1, ((1, 0, 2, 1),), "all", tilted=True),
    Pattern("tilted-wide-line-y", 1, 4, ((0, 1, 1, 2),), "all", tilted=True),
)


@dataclass(frozen=True, eq=False)
class HaarFeatures:
    """Arrays of Haar features: feature i is Σ_k weights[i, k] × (sum of the pixels in rectangles[i, k]).

    A tilted rectangle (x, y, width, height) has its top corner at (x, y). It extends `width` steps to the
    lower right and `height` steps to the lower left, as in OpenCV.

    Attributes
    ----------
    rectangles : ndarray of int32, shape (n_features, 3, 4)
        x, y, width and height; zeros for unused rectangles.
    weights : ndarray of float32, shape (n_features, 3)
        Factor of each rectangle's sum; 0 for unused rectangles.
    tilted : ndarray of bool, shape (n_features,)
        Whether the rectangles are rotated by 45 degrees.
    window : tuple (width, height)
        Size of the images that the features apply to.
    kind : str
        "basic", "core" or "all"; "chosen" for a selection.
    """

    rectangles: np.ndarray
    weights: np.ndarray
    tilted: np.ndarray
    window: tuple[int, int]
    kind: str = "chosen"

    def __post_init__(self) -> None:
        shapes = (self.rectangles.shape[1:], self.weights.shape[1:], self.tilted.shape[1:])
        counts = {len(self.rectangles), len(self.weights), len(self.tilted)}
        if shapes != ((3, 4), (3,), ()) or len(counts) > 1:
            raise ValueError(
                "rectangles, weights and tilted must have shapes (n, 3, 4), (n, 3) and (n,), but have"
                f" {self.rectangles.shape}, {self.weights.shape} and {self.tilted.shape}"
            )

    def __len__(self) -> int:
        return len(self.rectangles)

    def __getitem__(self, which: ArrayLike | slice) -> HaarFeatures:
        """Return the features selected by a slice, a mask or a list of indices."""
        which = np.atleast_1d(which) if not isinstance(which, slice) else which
        return replace(
            self,
            rectangles=self.rectangles[which],
            weights=self.weights[which],
            tilted=self.tilted[which],
            kind="chosen",
        )


def haar_features(window: tuple[int, int] = (24, 24), kind: str = "basic") -> HaarFeatures:
    """Return all Haar features of a window, in the order of ``opencv_traincascade``.

    Each pattern is placed at every position and in every size that fits. "basic": edges of two halves,
    lines of three thirds and a checkerboard of four quarters. "core": also lines with a wide middle, and a
    centre with its surround. "all": also edges and lines rotated by 45 degrees.

    Parameters
    ----------
    window : tuple of int, default=(24, 24)
        Width and height in pixels.
    kind : {"basic", "core", "all"}, default="basic"
        Set of patterns.

    Returns
    -------
    HaarFeatures

    Examples
    --------
    >>> from bosquet.vision import haar_features
    >>> [len(haar_features((24, 24), kind)) for kind in ("basic", "core", "all")]
    [162336, 210400, 261600]

    References
    ----------
    P. Viola and M. Jones, "Rapid object detection using a boosted cascade of simple features", 2001.
    R. Lienhart and J. Maydt, "An extended set of Haar-like features for rapid object detection", 2002.
    """
    check_value("kind", kind, choice(*KINDS))
    width, height = check_window(window)
    patterns = [p for p in PATTERNS if KINDS.index(p.kind) <= KINDS.index(kind)]
    by_column = list(_features_by_column(width, height, patterns))
    rectangles = np.concatenate([column[0] for column in by_column])
    pattern = np.concatenate([column[1] for column in by_column])
    weights = np.zeros((len(patterns), 3), dtype=np.float32)
    for row, shape in zip(weights, patterns, strict=True):
        row[0] = -1
        row[1 : 1 + len(shape.inner)] = shape.inner_weight
    tilted = np.array([shape.tilted for shape in patterns])
    return HaarFeatures(rectangles, weights[pattern], tilted[pattern], (width, height), kind)


def check_window(window: Sequence[int]) -> tuple[int, int]:
    """Return the width and height as integers; raises ValueError for anything else."""
    sides = np.asarray(window)
    if sides.shape != (2,) or sides.dtype.kind not in "iu" or not (sides >= 3).all():
        raise ValueError(
            f"window={window!r} is not valid: window must be (width, height), two integers >= 3"
        )
    if math.prod(int(side) for side in sides) > MAX_SIDE * MAX_SIDE:
        raise ValueError(
            f"window={window!r} is too large; width × height must be at most {MAX_SIDE * MAX_SIDE} pixels"
        )
    return int(sides[0]), int(sides[1])


def _features_by_column(
    width: int, height: int, patterns: list[Pattern]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each x, rectangles and pattern numbers of the features whose first rectangle starts at x.

    One x at a time saves memory: the grid of all positions and sizes is large for a large window.
    """
    for x in range(width):
        # A rectangle, tilted or not, extends at most width - x pixels to the right.
        grid = np.meshgrid(
            np.arange(height), np.arange(1, width - x + 1), np.arange(1, height + 1), indexing="ij"
        )
        y, dx, dy = (side.ravel() for side in grid)
        fits = np.column_stack([_fits_in_window(p, x, y, dx, dy, width, height) for p in patterns])
        position, pattern = np.nonzero(fits)
        rectangles = np.zeros((len(position), 3, 4), dtype=np.int32)
        for number, shape in enumerate(patterns):
            of_shape = pattern == number
            at = position[of_shape]
            rectangles[of_shape] = _pattern_rectangles(shape, x, y[at], dx[at], dy[at])
        yield rectangles, pattern


def _fits_in_window(
    shape: Pattern,
    x: int,
    y: np.ndarray,
    dx: np.ndarray,
    dy: np.ndarray,
    width: int,
    height: int,
) -> np.ndarray:
    across, down = shape.columns * dx, shape.rows * dy
    if shape.tilted:
        fits = (x + across <= width) & (y + across + down <= height) & (x - down >= 0)
    else:
        fits = (x + across <= width) & (y + down <= height)
    return np.asarray(fits)


def _pattern_rectangles(
    shape: Pattern, x: int, y: np.ndarray, dx: np.ndarray, dy: np.ndarray
) -> np.ndarray:
    out = np.zeros((len(y), 3, 4), dtype=np.int32)
    cells = ((0, 0, shape.columns, shape.rows), *shape.inner)
    for k, (column, row, columns, rows) in enumerate(cells):
        right, down = column * dx, row * dy
        out[:, k, 0] = x + right - (down if shape.tilted else 0)
        out[:, k, 1] = y + down + (right if shape.tilted else 0)
        out[:, k, 2] = columns * dx
        out[:, k, 3] = rows * dy
    return out
