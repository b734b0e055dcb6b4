"""How good a detector is: its detection rate against its false positives, on images of known objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, integer, number
from bosquet.vision.cascade import Cascade
from bosquet.vision.detection import Detections, detect, grouped
from bosquet.vision.images import readable

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
    """Operating points of a cascade, a row each: the ROC table of Viola and Jones.

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
        """The points that no other beats, by false positives: (false positives, detection rate)."""
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
    """Area common to two boxes over that of both together, for all pairs."""
    a, b = np.asarray(boxes, float)[:, None], np.asarray(others, float)[None]
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    common = np.clip(high - low, 0, None).prod(axis=-1)
    return common / (a[..., 2:].prod(axis=-1) + b[..., 2:].prod(axis=-1) - common)


def matched(found: Detections, truth: np.ndarray, overlap: float) -> int:
    """How many objects are found: detections in order of their agreement, each object once."""
    if len(found) == 0 or len(truth) == 0:
        return 0
    shared = overlaps(found.boxes, truth)
    free = np.ones(len(truth), bool)
    for detection in np.lexsort((-found.score, -found.neighbors)):
        candidates = np.where(free, shared[detection], -1.0)
        best = int(np.argmax(candidates))
        if candidates[best] >= overlap:
            free[best] = False
    return int((~free).sum())


def evaluate(
    cascade: Cascade,
    images: Sequence[Any],
    boxes: Sequence[Any],
    *,
    overlap: float = 0.5,
    min_neighbors: Sequence[int] = (1, 2, 3, 5, 8, 12),
    fewer_stages: int = 3,
    scale_factor: float = 1.1,
    min_size: tuple[int, int] | None = None,
    max_size: tuple[int, int] | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Detection rate against false positives at many operating points.

    A cascade has two knobs once it is trained: leaving out its last stages finds more objects and
    more of what is none, and asking more windows to agree finds less of both. Every combination is a
    row of the table; each image is searched once.

    Parameters
    ----------
    cascade : Cascade
    images : sequence of images or paths
        A file that cannot be read is named in a warning and left out.
    boxes : sequence of arrays, shape (n_i, 4)
        x, y, width and height of the objects in each image.
    overlap : float, default=0.5
        An object is found by a detection with which it has at least this share of their common area.
    min_neighbors : sequence of int
    fewer_stages : int, default=3
        How many of the last stages to leave out, one after the other.
    scale_factor, min_size, max_size, n_jobs : see :meth:`Cascade.detect`

    Returns
    -------
    Evaluation
    """
    check_value("overlap", overlap, number(0, 1, open_low=True))
    check_value("fewer_stages", fewer_stages, integer(0))
    if len(images) != len(boxes):
        raise ValueError(
            f"{len(images)} images have {len(boxes)} lists of boxes; one each is needed"
        )
    for neighbors in min_neighbors:
        check_value("min_neighbors", neighbors, integer(0))
    deepest = len(cascade.stages)
    least = max(min(1, deepest), deepest - int(fewer_stages))
    points = [(stages, int(n)) for stages in range(deepest, least - 1, -1) for n in min_neighbors]
    hits = np.zeros(len(points), int)
    total = np.zeros(len(points), int)
    objects = 0
    n_images = 0
    for image, known in zip(readable(images), boxes, strict=True):
        if image is None:
            continue
        n_images += 1
        truth = np.asarray(known, float).reshape(-1, 4)
        objects += len(truth)
        windows = detect(
            cascade,
            image,
            min_neighbors=0,
            min_depth=least,
            cut=False,  # grouping comes first
            scale_factor=scale_factor,
            min_size=min_size,
            max_size=max_size,
            n_jobs=n_jobs,
        )
        for place, (stages, neighbors) in enumerate(points):
            kept = windows.depth >= stages
            found = grouped(
                Detections(
                    windows.boxes[kept],
                    windows.neighbors[kept],
                    windows.depth[kept],
                    windows.score[kept],
                ),
                neighbors,
            )
            total[place] += len(found)
            hits[place] += matched(found, truth, overlap)
    table = np.zeros(len(points), list(COLUMNS))
    table["stages"], table["min_neighbors"] = np.array(points).reshape(-1, 2).T
    table["hits"], table["false_positives"] = hits, total - hits
    table["detection_rate"] = hits / max(objects, 1)
    table["false_positives_per_image"] = (total - hits) / max(n_images, 1)
    table["precision"] = hits / np.maximum(total, 1)
    return Evaluation(table, n_images, objects)
