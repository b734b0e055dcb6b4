"""What a vote on Haar features looks at."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.plot._style import BLUE, ORANGE
from bosquet.trees.drawing import pyplot_or_error


def haar_features_chosen(
    model: Any, first: int = 6, image: Any = None, axes: Any = None
) -> np.ndarray:
    """The first features that a fitted HaarBoostClassifier chose, drawn on the mean image.

    Blue is what is added, orange what is subtracted. Under each the round, and what a value below the
    threshold is a vote for.

    Parameters
    ----------
    model : fitted HaarBoostClassifier
    first : int, default=6
        How many.
    image : array of shape (height, width), optional
        What to draw on; by default the mean of the training images of the second class.
    axes : array of axes, optional

    Returns
    -------
    array of axes
    """
    features, leaves = model.features_, model.leaves_
    count = min(int(first), len(features))
    if count < 1:
        raise ValueError(f"first={first!r} is out of range: first must be an integer >= 1")
    if axes is None:
        across = min(count, 6)
        down = -(-count // across)
        _, axes = pyplot_or_error().subplots(
            down, across, figsize=(1.7 * across, 2.1 * down), layout="constrained", squeeze=False
        )
    axes = np.atleast_1d(axes)
    background = model.mean_image_ if image is None else np.asarray(image)
    for t, ax in enumerate(axes.flat):
        if t >= count:
            ax.set_axis_off()
            continue
        ax.imshow(background, cmap="gray", extent=(0, features.window[0], features.window[1], 0))
        draw_feature(ax, features.rectangles[t], features.weights[t], bool(features.tilted[t]))
        below = model.classes_[int(leaves[t, 0] > leaves[t, 1])]
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"round {t + 1}", fontsize=9)
        ax.set_xlabel(f"less: {below}", fontsize=8)
    return axes


def draw_feature(ax: Any, rectangles: np.ndarray, weights: np.ndarray, tilted: bool) -> None:
    """One feature as coloured rectangles; the whole first, then the parts that outweigh it."""
    from matplotlib.patches import Polygon

    for rectangle, weight in zip(rectangles, weights, strict=True):
        if weight:
            ax.add_patch(
                Polygon(
                    corners_of(rectangle, tilted),
                    facecolor=BLUE if weight > 0 else ORANGE,
                    edgecolor="white",
                    linewidth=0.8,
                    alpha=0.75 if weight > 0 else 0.6,
                )
            )


def corners_of(rectangle: np.ndarray, tilted: bool) -> np.ndarray:
    """The four corners of an upright rectangle, or of one turned by 45 degrees, as (x, y)."""
    x, y, w, h = (int(side) for side in rectangle)
    if tilted:
        return np.array([(x, y), (x + w, y + w), (x + w - h, y + w + h), (x - h, y + h)])
    return np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)])
