"""Images as arrays of grey levels: conversion of arrays, reading of files, resizing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bosquet import _core
from bosquet._optional import import_optional
from bosquet._warnings import warn_user

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import ArrayLike
    from PIL.Image import Image


# Weights of red, green and blue in a grey level (ITU-R BT.601), times 2^15 and rounded as in OpenCV.
LUMA_BITS = 15
LUMA = np.array([9798, 19235, 3735], np.int64)
LARGEST_SIDE = 1 << 16
FILES = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".pnm", ".tif", ".tiff", ".gif", ".webp"}


class ImageConversionWarning(UserWarning):
    """Warning that an image was converted to grey levels from 0 to 255."""


# An array of grey levels or colours, the path of an image file, or an image of Pillow.
ImageLike: TypeAlias = "ArrayLike | str | os.PathLike[str] | Image"


def grey_image(image: ImageLike) -> np.ndarray:
    """Convert an array, a path or a Pillow image to a uint8 array of shape (height, width).

    Colours (red, green, blue and optionally alpha in the last axis) become their luma. OpenCV's order is
    blue, green, red. Floats are levels from 0 to 1 if none is larger, otherwise from 0 to 255.
    Conversions raise an `ImageConversionWarning`.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.vision.images import grey_image
    >>> grey_image(np.array([[0, 128], [255, 7]], np.uint8))
    array([[  0, 128],
           [255,   7]], dtype=uint8)
    """
    if isinstance(image, str | os.PathLike):
        return read_image(image)
    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4):
        pixels = pixels[:, :, 0] if pixels.shape[2] == 1 else _convert_to_luma(pixels[:, :, :3])
    elif pixels.ndim != 2:
        raise ValueError(
            f"image has shape {pixels.shape}; pass an image of shape (height, width), or (height, width,"
            " 3) for colours"
        )
    if not (1 <= pixels.shape[0] <= LARGEST_SIDE and 1 <= pixels.shape[1] <= LARGEST_SIDE):
        raise ValueError(
            f"image has shape {pixels.shape}; height and width must be from 1 to {LARGEST_SIDE}"
        )
    if pixels.dtype != np.uint8:
        pixels = _to_grey_levels(pixels)
    return pixels if pixels.strides[1] == 1 else np.ascontiguousarray(pixels)


def _convert_to_luma(pixels: np.ndarray) -> np.ndarray:
    warn_user(
        "a colour image was converted to grey levels (channels read as red, green, blue)",
        ImageConversionWarning,
    )
    levels = luma(pixels)
    return levels.astype(np.uint8) if pixels.dtype == np.uint8 else levels


def luma(colours: np.ndarray) -> np.ndarray:
    """Return the luma of colours: rounded as in OpenCV for integers, not rounded for floats."""
    if colours.dtype.kind == "f":
        return colours.astype(float) @ (LUMA / (1 << LUMA_BITS))
    return (colours.astype(np.int64) @ LUMA + (1 << LUMA_BITS - 1)) >> LUMA_BITS


def _to_grey_levels(pixels: np.ndarray) -> np.ndarray:
    """Convert numbers of any type to grey levels from 0 to 255."""
    if pixels.dtype == bool:
        return np.where(pixels, np.uint8(255), np.uint8(0))
    if pixels.dtype.kind not in "iuf":
        raise ValueError(f"image has dtype {pixels.dtype}; an image must contain numbers")
    values = pixels.astype(float)
    low, high = values.min(), values.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise ValueError(
            f"image[{', '.join(map(str, index))}] is {values[index]:g}; all pixels must be finite"
        )
    if low < 0:
        raise ValueError(f"image contains the negative pixel {low:g}; pixels must be at least 0")
    factor = 255.0 if pixels.dtype.kind == "f" and high <= 1 else 1.0
    if high * factor > 255:
        factor = 1 / 257 if high <= 65535 else 255 / high
    # The text does not contain the range of the image: Python shows a warning with the same text only once.
    warn_user(
        f"an image of {pixels.dtype} was converted to levels from 0 to 255 ({_describe_conversion(factor)})",
        ImageConversionWarning,
    )
    return np.rint(values * factor).astype(np.uint8)


def _describe_conversion(factor: float) -> str:
    if factor == 1:
        return "its numbers rounded"
    if factor == 255:
        return "from the range 0 to 1"
    return "from the range 0 to 65535" if factor == 1 / 257 else "scaled so that its maximum is 255"


def import_pillow() -> ModuleType:
    """Import Pillow's Image module; raise an ImportError with the install command if it is missing."""
    return import_optional("PIL.Image", "reading image files", "bosquet[vision]")


def read_image(path: str | os.PathLike[str]) -> np.ndarray:
    """Read an image file as grey levels."""
    with import_pillow().open(path) as image:
        return np.array(image.convert("L"))


def read_images(
    paths: str | os.PathLike[str] | Iterable[ImageLike], window: tuple[int, int] | None = None
) -> list[np.ndarray]:
    """Read many images as grey levels.

    Files that cannot be read are skipped with a warning that lists them.

    Parameters
    ----------
    paths : folder, or iterable of paths and images
        For a folder, all image files in it are read, sorted by name.
    window : (width, height), optional
        Size to which all images are resized.

    Returns
    -------
    list of uint8 arrays of shape (height, width)
    """
    images = [image for image in readable_images(_image_files(paths)) if image is not None]
    return images if window is None else [resize(image, window) for image in images]


def _image_files(paths: str | os.PathLike[str] | Iterable[ImageLike]) -> Iterable[ImageLike]:
    """Return the image files of a folder; any other argument unchanged."""
    if not isinstance(paths, str | os.PathLike):
        return paths
    folder = Path(paths)
    if not folder.is_dir():
        raise ValueError(
            f"{str(folder)!r} is not a folder; pass a folder of images, or a list of paths"
        )
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in FILES)
    if not files:
        raise ValueError(
            f"the folder {str(folder)!r} has no image files ({', '.join(sorted(FILES))})"
        )
    return files


def readable_images(images: Iterable[ImageLike]) -> Iterator[np.ndarray | None]:
    """Yield each image as grey levels, or None for a file that cannot be read.

    After the last image, a warning lists the files that could not be read.
    """
    unread = []
    for image in images:
        try:
            levels = grey_image(image)
        except ImportError:
            raise
        except Exception as error:  # Pillow raises many types of exceptions for a damaged file
            if not isinstance(image, str | os.PathLike):
                raise
            unread.append(f"{os.fspath(image)} ({type(error).__name__})")
            yield None
        else:
            yield levels
    if unread:
        subject = (
            "files could not be read and are"
            if len(unread) > 1
            else "file could not be read and is"
        )
        warn_user(
            f"{len(unread)} {subject} skipped: {', '.join(unread[:10])}"
            + (", ..." if len(unread) > 10 else ""),
        )


def resize(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resize a grey image to (width, height) by linear interpolation, as the detector does."""
    return _core.resize_image(image, int(size[0]), int(size[1]))


def as_stack(images: Any, window: tuple[int, int], name: str = "images") -> np.ndarray:
    """Convert images of the window's size to one uint8 array (n, height, width)."""
    width, height = window
    if isinstance(images, np.ndarray) and images.ndim == 3 and images.dtype == np.uint8:
        stack = np.ascontiguousarray(images)
    else:
        grey_images: Sequence[np.ndarray] = [grey_image(image) for image in images]
        for number, grey in enumerate(grey_images):
            if grey.shape != (height, width):
                raise ValueError(
                    f"{name}[{number}] has {grey.shape[1]} × {grey.shape[0]} pixels, but the window has"
                    f" {width} × {height}; resize the images, for example with read_images(paths, window)"
                )
        stack = np.stack(grey_images) if grey_images else np.zeros((0, height, width), np.uint8)
    if stack.shape[1:] != (height, width):
        raise ValueError(
            f"{name} have {stack.shape[2]} × {stack.shape[1]} pixels, but the window has {width} × {height};"
            " resize the images"
        )
    return stack
