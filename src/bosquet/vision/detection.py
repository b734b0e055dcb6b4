"""Detection with a cascade: the native detector and its results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet._parameters import check_value, integer, number
from bosquet._sklearn import effective_threads
from bosquet.vision.cascade import Cascade
from bosquet.vision.images import as_stack, grey_image

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet.vision.images import ImageLike


# Windows are grouped if their borders differ by at most this fraction of their sides.
TOLERANCE = 0.2
SHOWN = 20  # number of detections that __repr__ lists


@dataclass(frozen=True, eq=False, repr=False)
class Detections:
    """Objects found in an image.

    Attributes
    ----------
    boxes : array of int32, shape (n, 4)
        x, y, width and height of each detection.
    neighbors : array of int32, shape (n,)
        Number of windows in the group of each detection.
    depth : array of int32, shape (n,)
        Number of stages that the best window of the group passed.
    score : array of float64, shape (n,)
        Sum of the last stage for that window.
    """

    boxes: np.ndarray
    neighbors: np.ndarray
    depth: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.boxes)

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        """Iterate over the boxes, like OpenCV's detectMultiScale: ``for x, y, width, height in found``."""
        return (tuple(box) for box in self.boxes.tolist())

    def __repr__(self) -> str:
        lines = [f"{len(self)} detections (x, y, width, height: number of grouped windows)"]
        lines += [
            f"{x:5} {y:5} {width:5} {height:5}: {n_windows}"
            for (x, y, width, height), n_windows in zip(self, self.neighbors[:SHOWN], strict=False)
        ]
        return "\n".join(lines + ["  ..."] * (len(self) > SHOWN))


def native_detector(cascade: Cascade) -> _core.Detector:
    """Return the cascade as an object of the C++ core."""
    trees = [tree for stage in cascade.stages for tree in stage.trees]

    def joined(name: str, kind: Any) -> np.ndarray:
        arrays = [getattr(tree, name) for tree in trees]
        return np.concatenate(arrays).astype(kind) if arrays else np.zeros(0, kind)

    return _core.Detector(
        cascade.window[0],
        cascade.window[1],
        cascade.rectangles,
        cascade.weights,
        cascade.tilted.astype(np.uint8),
        joined("feature", np.int32),
        joined("threshold", np.float32),
        joined("left", np.int32),
        joined("right", np.int32),
        joined("leaves", np.float32),
        np.array([tree.n_nodes for tree in trees], np.uint32),
        np.array([len(stage.trees) for stage in cascade.stages], np.uint32),
        np.array([stage.threshold for stage in cascade.stages], np.float32),
    )


def _check_size(name: str, size: tuple[int, int] | None) -> tuple[int, int]:
    if size is None:
        return 0, 0
    width, height = size
    check_value(f"{name} (width)", width, integer(0, 1 << 16))
    check_value(f"{name} (height)", height, integer(0, 1 << 16))
    return int(width), int(height)


def scan_options(
    scale_factor: float,
    min_size: tuple[int, int] | None,
    max_size: tuple[int, int] | None,
    n_jobs: int | None,
    isa: str = "auto",
) -> dict[str, Any]:
    """Return checked options of a multi-scale search, as the C++ core expects them."""
    check_value("scale_factor", scale_factor, number(1, open_low=True))
    smallest, largest = _check_size("min_size", min_size), _check_size("max_size", max_size)
    return {
        "scale_factor": float(scale_factor),
        "min_width": smallest[0],
        "min_height": smallest[1],
        "max_width": largest[0],
        "max_height": largest[1],
        "threads": effective_threads(n_jobs),
        "isa": instruction_set() if isa == "auto" else isa,
    }


def detect(
    cascade: Cascade,
    image: ImageLike,
    *,
    scale_factor: float = 1.1,
    min_neighbors: int = 3,
    min_size: tuple[int, int] | None = None,
    max_size: tuple[int, int] | None = None,
    min_depth: int | None = None,
    cut: bool = True,
    n_jobs: int | None = None,
) -> Detections:
    """Detect objects; see :meth:`Cascade.detect` for the other parameters.

    Windows count if they pass at least `min_depth` stages (default: all stages). Rounding may move a border
    one pixel outside the image; with `cut`, boxes are clipped to the image.
    """
    check_value("min_neighbors", min_neighbors, integer(0, 1 << 30))
    pixels = grey_image(image)
    options = scan_options(scale_factor, min_size, max_size, n_jobs)
    if min_depth is not None:
        options["min_depth"] = int(min_depth)
    windows = cascade._native.detect(pixels, int(min_neighbors), TOLERANCE, options, cut)
    return Detections(*windows)


def group_detections(windows: Detections, min_neighbors: int) -> Detections:
    """Merge overlapping windows into one detection each, if a group has more than `min_neighbors` windows."""
    groups = _core.group_windows(
        windows.boxes, windows.depth, windows.score, int(min_neighbors), TOLERANCE
    )
    return Detections(*groups)


def count_passed_stages(
    cascade: Cascade, images: ArrayLike, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of stages that each window-sized image passes (-1 if flat), and its last sum."""
    images = as_stack(images, cascade.window)
    return cascade._native.depths(images, effective_threads(n_jobs))
