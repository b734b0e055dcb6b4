"""Plots of Haar features, of detections in an image, and of detection rates."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pyplot
from bosquet.plot._style import BLUE, FAINT, GREEN, ORANGE, hide_spines, new_axes
from bosquet.vision.images import import_pillow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bosquet.vision.evaluation import Evaluation
    from bosquet.vision.haar_boost import HaarBoostClassifier
    from bosquet.vision.images import ImageLike


def haar_features_chosen(
    model: HaarBoostClassifier, first: int = 6, image: ImageLike | None = None, axes: Any = None
) -> np.ndarray:
    """Draw the first features that a fitted HaarBoostClassifier selected, on the mean image.

    Pixels in blue rectangles are added, those in orange ones subtracted. The label below each panel is
    the class that a feature value below the threshold votes for.

    Parameters
    ----------
    model : fitted HaarBoostClassifier
    first : int, default=6
        Number of features to draw.
    image : array of shape (height, width), optional
        Background (default: mean of the training images of the second class).
    axes : array of axes, optional

    Returns
    -------
    array of axes
    """
    features, leaves = model.features_, model.leaves_
    count = min(int(first), len(features))
    if count < 1:
        raise ValueError(f"first={first!r} is not valid: first must be an integer >= 1")
    if axes is None:
        across = min(count, 6)
        down = -(-count // across)
        _, axes = import_pyplot().subplots(
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
        ax.set_xlabel(f"below: {below}", fontsize=8)
    return axes


def draw_feature(ax: Axes, rectangles: np.ndarray, weights: np.ndarray, tilted: bool) -> None:
    """Draw a feature as coloured rectangles: first the whole, then its inner rectangles."""
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
    """Return the four corners (x, y) of an upright rectangle, or of one rotated by 45 degrees."""
    x, y, w, h = (int(side) for side in rectangle)
    if tilted:
        return np.array([(x, y), (x + w, y + w), (x + w - h, y + w + h), (x - h, y + h)])
    return np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)])


def detections(image: ImageLike, found: Any, truth: Any = None, ax: Any = None) -> Axes:
    """Draw an image with a solid frame around each detection, and a dashed one around each known object.

    Parameters
    ----------
    image : array, path or Pillow image
        The searched image; colours are kept.
    found : Detections, or array of shape (n, 4)
        x, y, width and height of each detection. For `Detections`, the number of grouped windows is drawn
        above each frame.
    truth : array of shape (n, 4), optional
        Boxes of the known objects.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if isinstance(image, str | os.PathLike):
        with import_pillow().open(image) as opened:
            image = opened.convert("L" if opened.mode in ("1", "L", "I;16") else "RGB")
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or 0 in pixels.shape:
        raise ValueError(
            f"image has shape {pixels.shape}; pass an image with at least one pixel, of shape (height, width)"
            " or (height, width, 3)"
        )
    height, width = pixels.shape[:2]
    ax = new_axes(ax, (6, max(1.0, 6 * height / width)))
    ax.imshow(pixels, cmap="gray", vmin=0, vmax=1 if pixels.max() <= 1 else 255)
    boxes = np.asarray(getattr(found, "boxes", found), float).reshape(-1, 4)
    for box in [] if truth is None else np.asarray(truth, float).reshape(-1, 4):
        _draw_frame(ax, box, GREEN, "--")
    for box in boxes:
        _draw_frame(ax, box, ORANGE, "-")
    text_box = {"facecolor": "black", "alpha": 0.6, "edgecolor": "none", "pad": 0.8}
    for box, n_windows in zip(boxes, getattr(found, "neighbors", ()), strict=False):
        ax.annotate(
            str(n_windows),
            box[:2],
            (1, 3),
            textcoords="offset points",
            color="white",
            fontsize=8,
            bbox=text_box,
        )
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{len(boxes)} detection{'s' * (len(boxes) != 1)}")
    return ax


def _draw_frame(ax: Axes, box: np.ndarray, colour: str, style: str) -> None:
    from matplotlib.patches import Rectangle

    x, y, width, height = box
    # Matplotlib centres a pixel on its integer coordinates.
    corner = (x - 0.5, y - 0.5)
    ax.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=colour, lw=1.8, ls=style))


def detection_roc(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the detection rate against false positives: all operating points, and the ROC curve of the best.

    Parameters
    ----------
    evaluation : Evaluation
        Result of `Cascade.evaluate`.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax, (5.2, 3.8))
    table, best = evaluation.table, evaluation.roc()
    ax.scatter(table["false_positives"], table["detection_rate"], s=14, color=FAINT, edgecolor=BLUE)
    ax.step(best[:, 0], best[:, 1], where="post", color=BLUE, marker="o", ms=4)
    # On a linear scale, the points of a good cascade would all be in one corner.
    ax.set_xscale("symlog", linthresh=10)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlim(left=-0.5)
    ax.set(
        xlabel=f"false positives in {evaluation.n_images} images",
        ylabel=f"detection rate ({evaluation.n_objects} objects)",
    )
    ax.grid(color=FAINT)
    hide_spines(ax)
    return ax
