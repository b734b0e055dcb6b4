"""More samples of an object from a few: shifted, mirrored, turned, brighter and darker."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import affine_transform

from bosquet._parameters import boolean, check_value, integer, number
from bosquet.vision.images import as_stack, grey_image, read_images, resized


def make_samples(
    images: Any,
    n_samples: int,
    *,
    window: tuple[int, int] | None = None,
    shift: float = 0.05,
    mirror: bool = True,
    rotation: float = 5.0,
    brightness: float = 0.2,
    random_state: int | None = 0,
) -> np.ndarray:
    """Varied copies of images: sample i is of image i modulo their number.

    With an angle a, a shift t and the centre c, the pixel at p of a sample is the image's at
    R(a)(p − c) + c + t, between pixels by linear interpolation and beyond the border the nearest
    pixel; then levels are multiplied by 1 + b and moved by 128 b'.

    Parameters
    ----------
    images : sequence of images or paths, or a folder
        Of one size, or of any if a window is given: they are then brought to its size first.
    n_samples : int
    window : (width, height), optional
    shift : float, default=0.05
        Largest shift, as a share of the side.
    mirror : bool, default=True
        Whether every other sample, by chance, is mirrored left to right.
    rotation : float, default=5.0
        Largest angle in degrees.
    brightness : float, default=0.2
        Largest b and b'.
    random_state : int or None

    Returns
    -------
    array of uint8, shape (n_samples, height, width)

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.vision import make_samples
    >>> face = np.arange(64, dtype=np.uint8).reshape(1, 8, 8)
    >>> make_samples(face, 5).shape
    (5, 8, 8)
    """
    check_value("n_samples", n_samples, integer(0))
    check_value("shift", shift, number(0, 1))
    check_value("mirror", mirror, boolean())
    check_value("rotation", rotation, number(0, 180))
    check_value("brightness", brightness, number(0, 1))
    if window is not None or not isinstance(images, np.ndarray):
        images = read_images(images, window)
    if len(images) == 0:
        raise ValueError("there are no images to make samples of")
    height, width = np.shape(images[0])[:2]
    stack = as_stack(images, (width, height))
    random = np.random.default_rng(random_state)
    centre = (np.array([height, width]) - 1) / 2
    out = np.empty((n_samples, height, width), np.uint8)
    for number_ in range(n_samples):
        image = stack[number_ % len(stack)]
        if mirror and random.random() < 0.5:
            image = image[:, ::-1]
        angle = np.deg2rad(random.uniform(-rotation, rotation))
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        move = random.uniform(-shift, shift, 2) * (height, width)
        pixels = affine_transform(
            image.astype(float), turn, centre - turn @ centre + move, order=1, mode="nearest"
        )
        contrast, light = random.uniform(-brightness, brightness, 2)
        out[number_] = np.clip(np.rint(pixels * (1 + contrast) + 128 * light), 0, 255)
    return out


def crop_samples(
    image: Any, boxes: Any, window: tuple[int, int], margin: float = 0.0
) -> np.ndarray:
    """The objects of an image at the window's size.

    Parameters
    ----------
    image : image
    boxes : array, shape (n, 4)
        x, y, width and height of each.
    window : (width, height)
    margin : float, default=0.0
        What to add on each side, as a share of it; cut off at the image's border.

    Returns
    -------
    array of uint8, shape (n, height, width)
    """
    pixels = grey_image(image)
    rows, columns = pixels.shape
    out = []
    for number_, (x, y, w, h) in enumerate(np.asarray(boxes).reshape(-1, 4)):
        left, top = max(round(x - margin * w), 0), max(round(y - margin * h), 0)
        right, bottom = (
            min(round(x + w + margin * w), columns),
            min(round(y + h + margin * h), rows),
        )
        if right <= left or bottom <= top:
            raise ValueError(f"box {number_} lies outside the image of {columns} × {rows} pixels")
        out.append(resized(pixels[top:bottom, left:right], window))
    return np.stack(out) if out else np.zeros((0, window[1], window[0]), np.uint8)
