"""Negatives for the next stage: windows of background images that the cascade so far lets pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bosquet.vision.cascade import Cascade
from bosquet.vision.detection import depths, scan_options
from bosquet.vision.images import resized

# Stop looking once this many times the windows asked for have been found, in this many images:
# those that are kept are drawn from them, so that they do not all come from one place.
PLENTY = 2
SEVERAL_IMAGES = 20


@dataclass(frozen=True, eq=False)
class Mined:
    """Windows that pass for an object and are none.

    Attributes
    ----------
    images : array of uint8, shape (n, height, width)
    looked_at : int
        Windows that were looked at to find them.
    found : int
        Windows of these that passed, those not kept included.
    """

    images: np.ndarray
    looked_at: int
    found: int

    @property
    def acceptance(self) -> float:
        """The share of windows that pass: the cascade's false alarm rate so far."""
        return self.found / max(self.looked_at, 1)


def mine_negatives(
    cascade: Cascade,
    backgrounds: Sequence[np.ndarray],
    count: int,
    random: np.random.Generator,
    *,
    crops: np.ndarray | None = None,
    scale_factor: float = 1.2,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Mined:
    """Up to `count` windows without an object that the cascade lets pass.

    Parameters
    ----------
    cascade : Cascade
    backgrounds : sequence of uint8 arrays
        Images that hold no object, of any size. Where a pass over them finds too few, they are looked
        through again mirrored, and with the grid of windows shifted by a pixel.
    count : int
    random : Generator
    crops : array of uint8, shape (n, height, width), optional
        Windows that are no object; those that pass are taken first.
    scale_factor : float, default=1.2
    n_jobs : int or None
    progress : callable, optional
        Told how many have been found so far.
    """
    taken, looked, found = [], 0, 0
    if crops is not None and len(crops):
        passing = crops[depths(cascade, crops, n_jobs)[0] == len(cascade.stages)]
        looked, found = len(crops), len(passing)
        taken.append(random.permutation(passing)[:count])
        count -= len(taken[0])
    if count > 0 and len(backgrounds):
        if cascade.stages:
            more = _scanned(cascade, backgrounds, count, random, scale_factor, n_jobs, progress)
        else:
            more = _drawn(cascade, backgrounds, count, random, scale_factor)
        taken.append(more.images)
        looked, found = looked + more.looked_at, found + more.found
    width, height = cascade.window
    images = np.concatenate(taken) if taken else np.zeros((0, height, width), np.uint8)
    return Mined(images, looked, found)


def _scanned(
    cascade: Cascade,
    backgrounds: Sequence[np.ndarray],
    count: int,
    random: np.random.Generator,
    scale_factor: float,
    n_jobs: int | None,
    progress: Callable[[int], None] | None,
) -> Mined:
    """Windows drawn from all that pass in enough images."""
    options = scan_options(scale_factor, None, None, n_jobs)
    places, views, looked = [], [], 0
    for number, view in enumerate(_views(backgrounds, random)):
        sizes, hits, seen = cascade._native.scan(view, options)
        looked += seen
        if len(hits):
            places.append(np.column_stack([np.full(len(hits), len(views)), hits]))
            views.append((view, sizes))
        found = sum(map(len, places))
        if progress is not None:
            progress(found)
        enough = number + 1 >= min(SEVERAL_IMAGES, len(backgrounds))
        if found >= PLENTY * count and enough:
            break
    width, height = cascade.window
    if not places:
        return Mined(np.zeros((0, height, width), np.uint8), looked, 0)
    hits = np.concatenate(places)
    chosen = hits[np.sort(random.permutation(len(hits))[:count])]
    out = np.empty((len(chosen), height, width), np.uint8)
    before, layer = (-1, -1), np.zeros((0, 0), np.uint8)
    for number, (view, size, x, y) in enumerate(chosen.tolist()):
        if (view, size) != before:  # they come in order of view and layer
            image, sizes = views[view]
            before, layer = (view, size), resized(image, tuple(sizes[size]))
        out[number] = layer[y : y + height, x : x + width]
    return Mined(out, looked, len(hits))


def _views(backgrounds: Sequence[np.ndarray], random: np.random.Generator):
    """Each image in random order; then all mirrored; then with the grid of windows a pixel further."""
    for shift in (0, 1):
        for mirror in (False, True):
            for number in random.permutation(len(backgrounds)):
                image = backgrounds[number][shift:, shift:]
                if image.size:
                    yield np.ascontiguousarray(image[:, ::-1]) if mirror else image


def _drawn(
    cascade: Cascade,
    backgrounds: Sequence[np.ndarray],
    count: int,
    random: np.random.Generator,
    scale_factor: float,
) -> Mined:
    """Windows at random places and scales, for the first stage: every window that is not flat passes."""
    width, height = cascade.window
    fitting = [image for image in backgrounds if image.shape[0] >= height and image.shape[1] >= width]
    out: list[np.ndarray] = []
    looked = 0
    while fitting and len(out) < count and looked < 20 * count:
        image = fitting[random.integers(len(fitting))]
        largest = min(image.shape[0] / height, image.shape[1] / width)
        steps = int(np.log(largest) / np.log(scale_factor)) + 1 if largest > 1 else 1
        scale = min(scale_factor ** int(random.integers(steps)), largest)
        w, h = int(width * scale), int(height * scale)
        x = int(random.integers(image.shape[1] - w + 1))
        y = int(random.integers(image.shape[0] - h + 1))
        crop = resized(image[y : y + h, x : x + w], (width, height))
        looked += 1
        if depths(cascade, crop[None], 1)[0][0] >= 0:
            out.append(crop)
    images = np.stack(out) if out else np.zeros((0, height, width), np.uint8)
    return Mined(images, looked, len(out))
