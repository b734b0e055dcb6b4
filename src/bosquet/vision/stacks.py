"""Conversion of user input to an array of grey images of equal size: colour, floats, flattened rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._warnings import warn_user
from bosquet.vision.images import ImageConversionWarning, luma

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class GreyScale:
    """Conversion of pixels to grey levels 0 to 255, fitted to the training images."""

    factor: float = 1.0  # for floats: 255 if they range from 0 to 1

    @classmethod
    def learn(cls, images: np.ndarray) -> GreyScale:
        """Choose the conversion for these images; warns of a conversion, raises ValueError for NaN."""
        conversions = []
        if images.ndim == 4:
            conversions.append("colour becomes grey by 0.299 R + 0.587 G + 0.114 B")
        factor = 1.0
        if images.dtype.kind == "f":
            _check_finite(images)
            factor = 255.0 if images.size and float(images.max()) <= 1 else 1.0
            conversions.append(
                "floats from 0 to 1 are multiplied by 255 and rounded"
                if factor == 255
                else "floats are rounded to integer grey levels"
            )
        if conversions:
            warn_user(
                f"images are not uint8 grey levels and are converted: {', and '.join(conversions)}",
                ImageConversionWarning,
            )
        return cls(factor)

    def convert(self, images: np.ndarray) -> np.ndarray:
        """Convert images to a contiguous uint8 array of shape (n, height, width)."""
        if images.ndim == 4:
            colours = images[..., :3]
            images = luma(255 * colours.astype(np.uint8) if colours.dtype.kind == "b" else colours)
        if images.dtype == np.uint8:
            return np.ascontiguousarray(images)
        if images.dtype.kind == "f":
            _check_finite(images)
            images = np.rint(images * self.factor)
        elif images.dtype.kind == "b":
            images = images * np.uint8(255)
        wrong = np.flatnonzero(((images < 0) | (images > 255)).reshape(len(images), -1).any(axis=1))
        if wrong.size:
            image = images[wrong[0]]
            raise ValueError(
                f"image {wrong[0]} has pixels from {image.min():g} to {image.max():g}; grey levels must be"
                " from 0 to 255, so rescale the images"
            )
        return np.ascontiguousarray(images, dtype=np.uint8)


def image_array(
    images: ArrayLike, window: tuple[int, int] | None = None, name: str = "X"
) -> np.ndarray:
    """Return images of equal size as an array (n, height, width), or (n, height, width, 3 or 4) for colours.

    Flat rows of pixels are reshaped to `window`. Raises ValueError for any other input.
    """
    try:
        array = np.asarray(images)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must be an array of numbers of shape (n_images, height, width), with images of equal"
            " size"
        )
    if array.ndim == 2:
        array = _reshape_rows(array, window, name)
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    if array.ndim not in (3, 4) or (array.ndim == 4 and array.shape[3] not in (3, 4)):
        raise ValueError(
            f"{name} has shape {array.shape}; pass an array of shape (n_images, height, width) for grey"
            " images or (n_images, height, width, 3) for colour images"
        )
    if len(array) == 0:
        raise ValueError(f"{name} is empty (0 sample(s)); at least 1 image is required")
    if window is not None and array.shape[1:3] != (window[1], window[0]):
        height, width = array.shape[1:3]
        raise ValueError(
            f"the images in {name} have {width} × {height} pixels, but the window has"
            f" {window[0]} × {window[1]}; crop or resize the images"
        )
    if min(array.shape[1:3]) < 3:
        raise ValueError(
            f"the images in {name} have {array.shape[2]} × {array.shape[1]} pixels; at least 3 × 3 are needed"
        )
    return array


def _reshape_rows(array: np.ndarray, window: tuple[int, int] | None, name: str) -> np.ndarray:
    if window is None:
        raise ValueError(
            f"{name} has shape {array.shape}; pass images of shape (n_images, height, width), or set"
            " window=(width, height) if each row holds the pixels of an image"
        )
    if array.shape[1] != window[0] * window[1]:
        raise ValueError(
            f"{name} has {array.shape[1]} pixels per row, but a window of {window[0]} × {window[1]} has"
            f" {window[0] * window[1]}"
        )
    return array.reshape(len(array), window[1], window[0])


def _check_finite(images: np.ndarray) -> None:
    finite = np.isfinite(images).reshape(len(images), -1).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"image {int(np.flatnonzero(~finite)[0])} has NaN or infinite pixels; all pixels must be finite"
        )
