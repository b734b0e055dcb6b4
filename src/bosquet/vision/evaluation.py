"""Evaluation of a detector: detection rate and false positives on images with known objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._parameters import check_value, integer, number
from bosquet.vision.cascade import Cascade
from bosquet.vision.detection import Detections, detect, group_detections
from bosquet.vision.images import readable_images

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet.vision.images import ImageLike


COLUMNS = (
    ("stages", int),
    ("min_neighbors", int),
    ("hits", int),
    ("false_positives", int),
    ("detection_rate", float),
    ("false_positives_per_image", float),
    ("precision", float),
)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Operating points of a cascade, one per row: the ROC table of Viola and Jones.

    Attributes
    ----------
    table : structured array
        stages, min_neighbors, hits, false_positives, detection_rate, false_positives_per_image and
        precision of each point.
    n_images, n_objects : int
    """

    table: np.ndarray
    n_images: int
    n_objects: int

    def roc(self) -> np.ndarray:
        """Return the ROC curve: non-dominated points (false positives, detection rate) by false positives."""
        order = np.lexsort((-self.table["detection_rate"], self.table["false_positives"]))
        best, points = -1.0, []
        for row in self.table[order]:
            if row["detection_rate"] > best:
                best = float(row["detection_rate"])
                points.append((int(row["false_positives"]), best))
        return np.array(points, float).reshape(-1, 2)

    def __str__(self) -> str:
        lines = [
            f"{self.n_objects} objects in {self.n_images} images",
            "stages  neighbors  found  false positives  detection rate",
        ]
        lines += [
            f"{row['stages']:6}  {row['min_neighbors']:9}  {row['hits']:5}  {row['false_positives']:15}"
            f"  {row['detection_rate']:14.3f}"
            for row in self.table
        ]
        return "\n".join(lines)


def overlaps(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the intersection over union of all pairs of boxes."""
    a, b = np.asarray(boxes, float)[:, None], np.asarray(others, float)[None]
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    intersection = np.clip(high - low, 0, None).prod(axis=-1)
    return intersection / (a[..., 2:].prod(axis=-1) + b[..., 2:].prod(axis=-1) - intersection)


def count_matches(detections: Detections, truth: np.ndarray, overlap: float) -> int:
    """Return the number of objects that are detected.

    Detections are matched in descending order of their number of windows, each to at most one object.
    """
    if len(detections) == 0 or len(truth) == 0:
        return 0
    overlap_of_pairs = overlaps(detections.boxes, truth)
    is_free = np.ones(len(truth), bool)
    for detection in np.lexsort((-detections.score, -detections.neighbors)):
        candidates = np.where(is_free, overlap_of_pairs[detection], -1.0)
        best = int(np.argmax(candidates))
        if candidates[best] >= overlap:
            is_free[best] = False
    return int((~is_free).sum())


def _detections_at(windows: Detections, stages: int, min_neighbors: int) -> Detections:
    """Return the detections that the windows give with other numbers of stages and neighbors."""
    passed = windows.depth >= stages
    passing = Detections(
        windows.boxes[passed],
        windows.neighbors[passed],
        windows.depth[passed],
        windows.score[passed],
    )
    return group_detections(passing, min_neighbors)


def evaluate(
    cascade: Cascade,
    images: Sequence[ImageLike],
    boxes: Sequence[ArrayLike],
    *,
    overlap: float = 0.5,
    min_neighbors: Sequence[int] = (1, 2, 3, 5, 8, 12),
    fewer_stages: int = 3,
    scale_factor: float = 1.1,
    min_size: tuple[int, int] | None = None,
    max_size: tuple[int, int] | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Return the detection rate and false positives at many operating points.

    Two settings of a trained cascade trade detections for false positives. Fewer stages give more
    detections and more false positives; a larger `min_neighbors` gives fewer of both. Each combination
    is a row of the table. Each image is searched once.

    Parameters
    ----------
    cascade : Cascade
    images : sequence of images or paths
        Files that cannot be read are skipped with a warning that lists them.
    boxes : sequence of arrays, shape (n_i, 4)
        x, y, width and height of the objects in each image.
    overlap : float, default=0.5
        Smallest intersection over union of a detection and an object to count as a hit.
    min_neighbors : sequence of int
        Values of `min_neighbors` to evaluate.
    fewer_stages : int, default=3
        Evaluate the cascade also without its last 1, 2, ..., `fewer_stages` stages.
    scale_factor, min_size, max_size, n_jobs : see :meth:`Cascade.detect`

    Returns
    -------
    Evaluation
    """
    check_value("overlap", overlap, number(0, 1, open_low=True))
    check_value("fewer_stages", fewer_stages, integer(0))
    if len(images) != len(boxes):
        raise ValueError(
            f"boxes has {len(boxes)} entries, but there are {len(images)} images; pass one array of boxes per"
            " image"
        )
    for neighbors in min_neighbors:
        check_value("min_neighbors", neighbors, integer(0))
    max_stages = len(cascade.stages)
    min_stages = max(min(1, max_stages), max_stages - int(fewer_stages))
    points = [
        (stages, int(n)) for stages in range(max_stages, min_stages - 1, -1) for n in min_neighbors
    ]
    hits = np.zeros(len(points), int)
    total = np.zeros(len(points), int)
    n_objects = 0
    n_images = 0
    for image, image_boxes in zip(readable_images(images), boxes, strict=True):
        if image is None:
            continue
        n_images += 1
        truth = np.asarray(image_boxes, float).reshape(-1, 4)
        n_objects += len(truth)
        windows = detect(
            cascade,
            image,
            min_neighbors=0,
            min_depth=min_stages,
            cut=False,  # the windows are grouped below, before clipping
            scale_factor=scale_factor,
            min_size=min_size,
            max_size=max_size,
            n_jobs=n_jobs,
        )
        for point, (stages, neighbors) in enumerate(points):
            detections = _detections_at(windows, stages, neighbors)
            total[point] += len(detections)
            hits[point] += count_matches(detections, truth, overlap)
    table = np.zeros(len(points), list(COLUMNS))
    table["stages"], table["min_neighbors"] = np.array(points).reshape(-1, 2).T
    table["hits"], table["false_positives"] = hits, total - hits
    table["detection_rate"] = hits / max(n_objects, 1)
    table["false_positives_per_image"] = (total - hits) / max(n_images, 1)
    table["precision"] = hits / np.maximum(total, 1)
    return Evaluation(table, n_images, n_objects)
