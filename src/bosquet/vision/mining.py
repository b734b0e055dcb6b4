"""Hard negatives for the next stage: background windows that pass all stages of the cascade so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bosquet.vision.cascade import Cascade
from bosquet.vision.detection import count_passed_stages, scan_options
from bosquet.vision.images import resize

# The search stops when it has found OVERSAMPLING times the requested number of windows, in at least
# MIN_IMAGES images. The negatives are drawn from them at random, so that they do not all come from one image.
OVERSAMPLING = 2
MIN_IMAGES = 20


@dataclass(frozen=True, eq=False)
class MinedNegatives:
    """Background windows that the cascade accepts.

    Attributes
    ----------
    images : array of uint8, shape (n, height, width)
    n_scanned : int
        Number of windows that were scanned.
    n_passing : int
        Number of scanned windows that passed, including those that are not in `images`.
    """

    images: np.ndarray
    n_scanned: int
    n_passing: int

    @property
    def acceptance(self) -> float:
        """Fraction of the windows that pass, which is the false alarm rate of the cascade so far."""
        return self.n_passing / max(self.n_scanned, 1)


def mine_negatives(
    cascade: Cascade,
    backgrounds: Sequence[np.ndarray],
    count: int,
    rng: np.random.Generator,
    *,
    crops: np.ndarray | None = None,
    scale_factor: float = 1.2,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> MinedNegatives:
    """Find up to `count` windows without an object that the cascade accepts.

    Parameters
    ----------
    cascade : Cascade
    backgrounds : sequence of uint8 arrays
        Images without an object, of any size. If one pass over them finds too few windows, they are
        scanned again mirrored, and with the grid of windows shifted by one pixel.
    count : int
    rng : Generator
    crops : array of uint8, shape (n, height, width), optional
        Windows without an object; those that pass are used first.
    scale_factor : float, default=1.2
    n_jobs : int or None
    progress : callable, optional
        Called with the number of windows found so far.
    """
    mined, n_scanned, n_passing = [], 0, 0
    if crops is not None and len(crops):
        passing = crops[count_passed_stages(cascade, crops, n_jobs)[0] == len(cascade.stages)]
        n_scanned, n_passing = len(crops), len(passing)
        mined.append(rng.permutation(passing)[:count])
        count -= len(mined[0])
    if count > 0 and len(backgrounds):
        if cascade.stages:
            scanned = _scan_backgrounds(
                cascade, backgrounds, count, rng, scale_factor, n_jobs, progress
            )
        else:
            scanned = _draw_random_windows(cascade, backgrounds, count, rng, scale_factor)
        mined.append(scanned.images)
        n_scanned, n_passing = n_scanned + scanned.n_scanned, n_passing + scanned.n_passing
    width, height = cascade.window
    images = np.concatenate(mined) if mined else np.zeros((0, height, width), np.uint8)
    return MinedNegatives(images, n_scanned, n_passing)


def _scan_backgrounds(
    cascade: Cascade,
    backgrounds: Sequence[np.ndarray],
    count: int,
    rng: np.random.Generator,
    scale_factor: float,
    n_jobs: int | None,
    progress: Callable[[int], None] | None,
) -> MinedNegatives:
    """Scan the backgrounds at all scales, and draw `count` of the windows that pass."""
    options = scan_options(scale_factor, None, None, n_jobs)
    passing, n_scanned = [], 0
    views: list[tuple[np.ndarray, np.ndarray]] = []
    for n_views, view in enumerate(_augmented_images(backgrounds, rng), start=1):
        sizes, hits, n_windows = cascade._native.scan(view, options)
        n_scanned += n_windows
        if len(hits):
            passing.append(np.column_stack([np.full(len(hits), len(views)), hits]))
            views.append((view, sizes))
        n_found = sum(map(len, passing))
        if progress is not None:
            progress(n_found)
        enough_images = n_views >= min(MIN_IMAGES, len(backgrounds))
        if n_found >= OVERSAMPLING * count and enough_images:
            break
    width, height = cascade.window
    if not passing:
        return MinedNegatives(np.zeros((0, height, width), np.uint8), n_scanned, 0)
    hits = np.concatenate(passing)
    drawn = hits[np.sort(rng.permutation(len(hits))[:count])]
    out = np.empty((len(drawn), height, width), np.uint8)
    current, layer = (-1, -1), np.zeros((0, 0), np.uint8)
    for i, (view, size, x, y) in enumerate(drawn.tolist()):
        if (view, size) != current:  # the windows are sorted by view and size: resize once for each
            image, sizes = views[view]
            current, layer = (view, size), resize(image, tuple(sizes[size]))
        out[i] = layer[y : y + height, x : x + width]
    return MinedNegatives(out, n_scanned, len(hits))


def _augmented_images(
    backgrounds: Sequence[np.ndarray], rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield all images in random order, then mirrored, then both again shifted by one pixel."""
    for shift in (0, 1):
        for mirror in (False, True):
            for number in rng.permutation(len(backgrounds)):
                image = backgrounds[number][shift:, shift:]
                if image.size:
                    yield np.ascontiguousarray(image[:, ::-1]) if mirror else image


def _draw_random_windows(
    cascade: Cascade,
    backgrounds: Sequence[np.ndarray],
    count: int,
    rng: np.random.Generator,
    scale_factor: float,
) -> MinedNegatives:
    """Return windows at random positions and scales, for the first stage: each that is not flat passes."""
    width, height = cascade.window
    large = [image for image in backgrounds if image.shape[0] >= height and image.shape[1] >= width]
    out: list[np.ndarray] = []
    n_scanned = 0
    while large and len(out) < count and n_scanned < 20 * count:
        image = large[rng.integers(len(large))]
        largest = min(image.shape[0] / height, image.shape[1] / width)
        steps = int(np.log(largest) / np.log(scale_factor)) + 1 if largest > 1 else 1
        scale = min(scale_factor ** int(rng.integers(steps)), largest)
        w, h = int(width * scale), int(height * scale)
        x = int(rng.integers(image.shape[1] - w + 1))
        y = int(rng.integers(image.shape[0] - h + 1))
        crop = resize(image[y : y + h, x : x + w], (width, height))
        n_scanned += 1
        if count_passed_stages(cascade, crop[None], 1)[0][0] >= 0:
            out.append(crop)
    images = np.stack(out) if out else np.zeros((0, height, width), np.uint8)
    return MinedNegatives(images, n_scanned, len(out))
