"""Integral images, and values of Haar features computed from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet._parameters import check_value, choice, integer
from bosquet._sklearn import effective_threads
from bosquet.vision.features import HaarFeatures
from bosquet.vision.stacks import GreyScale, image_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    pass


# Default number of features whose values are in memory at the same time.
BLOCK = 1024


def integral_image(image: ArrayLike, kind: str = "plain") -> np.ndarray:
    """Compute the integral image (summed-area table) of grey levels.

        s[y, x] = Σ image[j, i]  over j < y, i < x

    The sum over a rectangle of width w and height h at (x, y) is
    s[y, x] - s[y, x + w] - s[y + h, x] + s[y + h, x + w].

    Parameters
    ----------
    image : array of shape (height, width) or (n_images, height, width)
        Grey levels.
    kind : {"plain", "squared", "tilted"}, default="plain"
        "squared": sums of the squared pixels. "tilted": sums over the cone that opens upwards from pixel
        (x - 1, y - 1), for rectangles rotated by 45 degrees (Lienhart and Maydt).

    Returns
    -------
    array of int64, with one more row and one more column than the image

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.vision import integral_image
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> s = integral_image(image)
    >>> int(s[1, 1] - s[1, 3] - s[3, 1] + s[3, 3]), int(image[1:3, 1:3].sum())
    (30, 30)
    """
    check_value("kind", kind, choice("plain", "squared", "tilted"))
    array = np.asarray(image)
    single = array.ndim == 2
    array = array[None] if single else array
    if array.ndim != 3 or array.size == 0:
        raise ValueError(
            f"image has shape {np.shape(image)}; pass an array of shape (height, width) or (n_images,"
            " height, width)"
        )
    sums = _core.integral_image(GreyScale.learn(array).convert(array), kind)
    return sums[0] if single else sums


def window_contrasts(
    images: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return contrast normalisation of each window, and whether the window is flat, as in OpenCV's detector.

    The factor is 1 / √(n Σ p² - (Σ p)²) in single precision, over the n pixels of the window without its
    border of one pixel. OpenCV multiplies feature values by it. A window is flat if its standard deviation
    is at most 10 grey levels; OpenCV's detector skips flat windows.

    Parameters
    ----------
    images : array of uint8, shape (n_images, height, width)
    n_jobs : int or None

    Returns
    -------
    factors : array of float32, shape (n_images,)
    flat : array of bool, shape (n_images,)
    """
    return _core.window_contrasts(np.ascontiguousarray(images), effective_threads(n_jobs))


def feature_values(
    images: ArrayLike, features: HaarFeatures, *, normalise: bool = True, n_jobs: int | None = None
) -> np.ndarray:
    """Return feature values of images of the window's size, of shape (n_features, n_images), float32.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
    features : HaarFeatures
        For all features of a window and many images, use `feature_blocks`, which needs less memory.
    normalise : bool, default=True
        Divide by the contrast of the window, as OpenCV's detector does (`window_contrasts`).
    n_jobs : int or None
        Number of threads; it does not change the values.
    """
    array = image_array(images, features.window, "images")
    grey = GreyScale.learn(array).convert(array)
    return values_of_grey_images(grey, features, normalise, effective_threads(n_jobs))


def values_of_grey_images(
    grey: np.ndarray, features: HaarFeatures, normalise: bool, threads: int
) -> np.ndarray:
    """`feature_values` of grey images that are already checked."""
    return _core.haar_values(
        grey, *feature_arrays(features), bool(normalise), instruction_set(), threads
    )


def feature_arrays(features: HaarFeatures) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of the features, in the types that the C++ core expects."""
    return (
        np.ascontiguousarray(features.rectangles, dtype=np.int32),
        np.ascontiguousarray(features.weights, dtype=np.float32),
        np.ascontiguousarray(features.tilted, dtype=bool).view(np.uint8),
    )


def feature_blocks(
    images: ArrayLike,
    features: HaarFeatures,
    *,
    normalise: bool = True,
    block: int = BLOCK,
    n_jobs: int | None = None,
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the values of all features in blocks: (index of the first feature, array (features, images)).

    The matrix of all 162,336 features of 10,000 windows of 24 × 24 pixels takes 6.5 GB; a block of 1,024
    features takes 41 MB. The values are float32.

    Parameters
    ----------
    images, features, normalise, n_jobs : as in `feature_values`
    block : int, default=1024
        Number of features per block.
    """
    check_value("block", block, integer(1))
    array = image_array(images, features.window, "images")
    grey = GreyScale.learn(array).convert(array)
    threads = effective_threads(n_jobs)
    for first in range(0, len(features), block):
        yield (
            first,
            values_of_grey_images(grey, features[first : first + block], normalise, threads),
        )
