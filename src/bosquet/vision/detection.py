"""The native detector of a cascade, and what it finds in an image."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._parameters import check_value, integer, number
from bosquet._sklearn import effective_threads
from bosquet.vision.cascade import Cascade
from bosquet.vision.images import as_stack, grey_image

# Windows are of the same object if their borders differ by this share of their sides.
TOLERANCE = 0.2
SHOWN = 20  # detections that are printed


@dataclass(frozen=True, eq=False, repr=False)
class Detections:
    """Objects found in an image.

    Attributes
    ----------
    boxes : array of int32, shape (n, 4)
        x, y, width and height of each.
    neighbors : array of int32, shape (n,)
        How many windows agree on it.
    depth : array of int32, shape (n,)
        How many stages the best of these windows passed.
    score : array of float64, shape (n,)
        The sum that its last stage gave to that window.
    """

    boxes: np.ndarray
    neighbors: np.ndarray
    depth: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.boxes)

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        """The boxes, as OpenCV's detectMultiScale gives them: ``for x, y, width, height in found``."""
        return (tuple(box) for box in self.boxes.tolist())

    def __repr__(self) -> str:
        lines = [f"{len(self)} detections (x, y, width, height: windows that agree)"]
        lines += [
            f"{x:5} {y:5} {width:5} {height:5}: {agree}"
            for (x, y, width, height), agree in zip(self, self.neighbors[:SHOWN], strict=False)
        ]
        return "\n".join(lines + ["  ..."] * (len(self) > SHOWN))


def native_detector(cascade: Cascade) -> _core.Detector:
    """The core's form of a cascade."""
    trees = [tree for stage in cascade.stages for tree in stage.trees]

    def joined(name: str, kind: Any) -> np.ndarray:
        parts = [getattr(tree, name) for tree in trees]
        return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)

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


def _size(name: str, size: tuple[int, int] | None) -> tuple[int, int]:
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
    """What the core wants to know of a search, checked."""
    check_value("scale_factor", scale_factor, number(1, open_low=True))
    smallest, largest = _size("min_size", min_size), _size("max_size", max_size)
    return {
        "scale_factor": float(scale_factor),
        "min_width": smallest[0],
        "min_height": smallest[1],
        "max_width": largest[0],
        "max_height": largest[1],
        "threads": effective_threads(n_jobs),
        "isa": os.environ.get("BOSQUET_ISA", "auto") if isa == "auto" else isa,
    }


def detect(
    cascade: Cascade,
    image: Any,
    *,
    scale_factor: float = 1.1,
    min_neighbors: int = 3,
    min_size: tuple[int, int] | None = None,
    max_size: tuple[int, int] | None = None,
    min_depth: int | None = None,
    cut: bool = True,
    n_jobs: int | None = None,
) -> Detections:
    """See :meth:`Cascade.detect`. Windows that pass `min_depth` stages are taken, by default all; rounding
    may put a border a pixel outside the image, and `cut` says whether to cut it off."""
    check_value("min_neighbors", min_neighbors, integer(0, 1 << 30))
    pixels = grey_image(image)
    options = scan_options(scale_factor, min_size, max_size, n_jobs)
    if min_depth is not None:
        options["min_depth"] = int(min_depth)
    found = cascade._native.detect(pixels, int(min_neighbors), TOLERANCE, options, cut)
    return Detections(*found)


def grouped(windows: Detections, min_neighbors: int) -> Detections:
    """Windows around the same object as one detection, where more than `min_neighbors` agree."""
    found = _core.group_windows(
        windows.boxes, windows.depth, windows.score, int(min_neighbors), TOLERANCE
    )
    return Detections(*found)


def depths(
    cascade: Cascade, images: Any, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """How many stages each image of the window's size passes (-1: it is flat), and its last sum."""
    images = as_stack(images, cascade.window)
    return cascade._native.depths(images, effective_threads(n_jobs))
