"""Images as arrays of grey levels: from NumPy arrays, from files, at other sizes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._warnings import warn_user

# Shares of red, green and blue in a grey level (ITU-R BT.601) in 2^15ths, rounded as OpenCV rounds.
LUMA_BITS = 15
LUMA = np.array([9798, 19235, 3735], np.int64)
LARGEST_SIDE = 1 << 16
FILES = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".pnm", ".tif", ".tiff", ".gif", ".webp"}


class ImageConversionWarning(UserWarning):
    """An image was not of grey levels from 0 to 255, and has been turned into one."""


def grey_image(image: Any) -> np.ndarray:
    """A uint8 array (height, width) of any image: an array, a path or a Pillow image.

    Colours (red, green, blue and perhaps alpha as the last axis; OpenCV's are the other way round)
    become their luma. Real numbers are taken as levels from 0 to 1 if none is larger, and otherwise
    from 0 to 255. A warning says so.

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
        pixels = pixels[:, :, 0] if pixels.shape[2] == 1 else _luma(pixels[:, :, :3])
    elif pixels.ndim != 2:
        raise ValueError(
            f"an image has shape (height, width), or (height, width, 3) with colours, not {pixels.shape}"
        )
    if not (1 <= pixels.shape[0] <= LARGEST_SIDE and 1 <= pixels.shape[1] <= LARGEST_SIDE):
        raise ValueError(f"an image has 1 to {LARGEST_SIDE} rows and columns, not {pixels.shape}")
    if pixels.dtype != np.uint8:
        pixels = _levels(pixels)
    return pixels if pixels.strides[1] == 1 else np.ascontiguousarray(pixels)


def _luma(pixels: np.ndarray) -> np.ndarray:
    warn_user(
        "a colour image was turned into grey levels (channels as red, green, blue)",
        ImageConversionWarning,
    )
    levels = luma(pixels)
    return levels.astype(np.uint8) if pixels.dtype == np.uint8 else levels


def luma(colours: np.ndarray) -> np.ndarray:
    """How bright colours are: of whole numbers as OpenCV rounds it, of real ones without rounding."""
    if colours.dtype.kind == "f":
        return colours.astype(float) @ (LUMA / (1 << LUMA_BITS))
    return (colours.astype(np.int64) @ LUMA + (1 << LUMA_BITS - 1)) >> LUMA_BITS


def _levels(pixels: np.ndarray) -> np.ndarray:
    """Grey levels from 0 to 255 of numbers of any other kind."""
    if pixels.dtype == bool:
        return np.where(pixels, np.uint8(255), np.uint8(0))
    if pixels.dtype.kind not in "iuf":
        raise ValueError(f"an image must hold numbers, not {pixels.dtype}")
    values = pixels.astype(float)
    low, high = values.min(), values.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("an image must hold finite numbers")
    if low < 0:
        raise ValueError(f"an image must not hold levels below 0, such as {low:g}")
    factor = 255.0 if pixels.dtype.kind == "f" and high <= 1 else 1.0
    if high * factor > 255:
        factor = 1 / 257 if high <= 65535 else 255 / high
    # Without the image's own range: a warning of another text would be said again.
    warn_user(
        f"an image of {pixels.dtype} was turned into levels from 0 to 255 ({_said(factor)})",
        ImageConversionWarning,
    )
    return np.rint(values * factor).astype(np.uint8)


def _said(factor: float) -> str:
    if factor == 1:
        return "its numbers rounded"
    if factor == 255:
        return "its range is 0 to 1"
    return "its range is 0 to 65535" if factor == 1 / 257 else "its largest number becomes 255"


def pillow() -> Any:
    """Pillow's Image module, or one line on how to get it."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("image files need Pillow: pip install bosquet[vision]") from None
    return Image


def read_image(path: str | os.PathLike[str]) -> np.ndarray:
    """The grey levels of an image file."""
    with pillow().open(path) as image:
        return np.array(image.convert("L"))


def read_images(
    paths: str | os.PathLike[str] | Iterable[Any], window: tuple[int, int] | None = None
) -> list[np.ndarray]:
    """Grey levels of many images; a folder stands for the image files in it, in order of name.

    A file that cannot be read is named in a warning and left out.

    Parameters
    ----------
    paths : folder, or iterable of paths and images
    window : (width, height), optional
        A size to bring every image to.

    Returns
    -------
    list of uint8 arrays of shape (height, width)
    """
    images = [image for image in readable(_listed(paths)) if image is not None]
    return images if window is None else [resized(image, window) for image in images]


def _listed(paths: str | os.PathLike[str] | Iterable[Any]) -> Iterable[Any]:
    """The image files of a folder, or what is given."""
    if not isinstance(paths, str | os.PathLike):
        return paths
    folder = Path(paths)
    if not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is no folder of images")
    found = sorted(file for file in folder.iterdir() if file.suffix.lower() in FILES)
    if not found:
        raise ValueError(
            f"the folder {str(folder)!r} has no images (files {', '.join(sorted(FILES))})"
        )
    return found


def readable(images: Iterable[Any]) -> Iterator[np.ndarray | None]:
    """Grey levels of one image after the other, None for a file that cannot be read; when all are
    through, a warning names these."""
    unread = []
    for image in images:
        try:
            levels = grey_image(image)
        except ImportError:
            raise
        except Exception as error:  # Pillow raises many kinds for a damaged file
            if not isinstance(image, str | os.PathLike):
                raise
            unread.append(f"{os.fspath(image)} ({type(error).__name__})")
            yield None
        else:
            yield levels
    if unread:
        several = (
            "files could not be read and are"
            if len(unread) > 1
            else "file could not be read and is"
        )
        warn_user(
            f"{len(unread)} {several} left out: {', '.join(unread[:10])}"
            + (", ..." if len(unread) > 10 else ""),
        )


def resized(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A grey image at another size (width, height), by the linear rule that the detector uses."""
    return _core.resize_image(image, int(size[0]), int(size[1]))


def as_stack(images: Any, window: tuple[int, int], what: str = "images") -> np.ndarray:
    """Images of the window's size as one uint8 array (n, height, width)."""
    width, height = window
    if isinstance(images, np.ndarray) and images.ndim == 3 and images.dtype == np.uint8:
        stack = np.ascontiguousarray(images)
    else:
        parts: Sequence[np.ndarray] = [grey_image(image) for image in images]
        for number, part in enumerate(parts):
            if part.shape != (height, width):
                raise ValueError(
                    f"{what}[{number}] is {part.shape[1]} × {part.shape[0]} pixels, not {width} × {height}: "
                    "resize the images (read_images, make_samples and crop_samples take a window)"
                )
        stack = np.stack(parts) if parts else np.zeros((0, height, width), np.uint8)
    if stack.shape[1:] != (height, width):
        raise ValueError(
            f"{what} are {stack.shape[2]} × {stack.shape[1]} pixels, not {width} × {height}"
        )
    return stack
