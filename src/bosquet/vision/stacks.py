"""Stacks of grey images of one size, from what users have: colour, floats, flattened rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._warnings import warn_user
from bosquet.vision.images import ImageConversionWarning, luma


@dataclass(frozen=True)
class GreyScale:
    """How pixels become grey levels 0 to 255: learned from the images of a fit, used for all others."""

    factor: float = 1.0  # of floats: 255 where they run from 0 to 1

    @classmethod
    def learn(cls, images: np.ndarray) -> GreyScale:
        """Warns of a conversion, once; a ValueError for what cannot be converted."""
        told = []
        if images.ndim == 4:
            told.append("colour becomes grey by 0.299 R + 0.587 G + 0.114 B")
        factor = 1.0
        if images.dtype.kind == "f":
            _refuse_missing(images)
            factor = 255.0 if images.size and float(images.max()) <= 1 else 1.0
            told.append(
                "floats of 0 to 1 are multiplied by 255 and rounded"
                if factor == 255
                else "floats are rounded to whole grey levels"
            )
        if told:
            warn_user(
                f"images should be grey levels, uint8: {', and '.join(told)}",
                ImageConversionWarning,
            )
        return cls(factor)

    def convert(self, images: np.ndarray) -> np.ndarray:
        """Contiguous uint8 of shape (n, height, width)."""
        if images.ndim == 4:
            colours = images[..., :3]
            images = luma(255 * colours.astype(np.uint8) if colours.dtype.kind == "b" else colours)
        if images.dtype == np.uint8:
            return np.ascontiguousarray(images)
        if images.dtype.kind == "f":
            _refuse_missing(images)
            images = np.rint(images * self.factor)
        elif images.dtype.kind == "b":
            images = images * np.uint8(255)
        wrong = np.flatnonzero(((images < 0) | (images > 255)).reshape(len(images), -1).any(axis=1))
        if wrong.size:
            image = images[wrong[0]]
            raise ValueError(
                f"image {wrong[0]} has pixels from {image.min():g} to {image.max():g}: grey levels are"
                " 0 to 255; rescale the images"
            )
        return np.ascontiguousarray(images, dtype=np.uint8)


def image_array(images: Any, window: tuple[int, int] | None = None, name: str = "X") -> np.ndarray:
    """Images of one size, (n, height, width) or with colours last; rows of pixels get their `window`.

    A ValueError says what is wrong with anything else.
    """
    try:
        array = np.asarray(images)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must be a stack of images of one size, an array of numbers of shape"
            " (n_images, height, width)"
        )
    if array.ndim == 2:
        array = _unflattened(array, window, name)
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    if array.ndim not in (3, 4) or (array.ndim == 4 and array.shape[3] not in (3, 4)):
        raise ValueError(
            f"{name} has shape {array.shape}; a stack of grey images has (n_images, height, width), of"
            " colour images (n_images, height, width, 3)"
        )
    if len(array) == 0:
        raise ValueError(f"{name} is empty: found array with 0 sample(s)")
    if window is not None and array.shape[1:3] != (window[1], window[0]):
        _refuse_size(array, window, name)
    if min(array.shape[1:3]) < 3:
        raise ValueError(
            f"images of {array.shape[2]} × {array.shape[1]} pixels are too small: a window has at least"
            " 3 × 3"
        )
    return array


def _unflattened(array: np.ndarray, window: tuple[int, int] | None, name: str) -> np.ndarray:
    if window is None:
        raise ValueError(
            f"{name} has two dimensions, {array.shape}: give images as (n_images, height, width), or say"
            " by window=(width, height) how the pixels of a row make an image"
        )
    if array.shape[1] != window[0] * window[1]:
        raise ValueError(
            f"{name} has {array.shape[1]} pixels a row, and a window of {window[0]} × {window[1]} has"
            f" {window[0] * window[1]}"
        )
    return array.reshape(len(array), window[1], window[0])


def _refuse_size(array: np.ndarray, window: tuple[int, int], name: str) -> None:
    height, width = array.shape[1:3]
    smaller = width < window[0] or height < window[1]
    raise ValueError(
        f"{name} holds images of {width} × {height} pixels, "
        + ("smaller than" if smaller else "and not of the size of")
        + f" the window of {window[0]} × {window[1]}: crop or resize them to it"
    )


def _refuse_missing(images: np.ndarray) -> None:
    finite = np.isfinite(images).reshape(len(images), -1).all(axis=1)
    if not finite.all():
        raise ValueError(f"image {int(np.flatnonzero(~finite)[0])} has NaN or infinite pixels")
