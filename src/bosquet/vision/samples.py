"""Training samples of an object: cropping, and augmentation by shift, mirroring, rotation and brightness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import affine_transform

from bosquet._parameters import boolean, check_value, integer, number
from bosquet.vision.images import as_stack, grey_image, read_images, resize

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet.vision.images import ImageLike


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
    """Return random variations of images (data augmentation); sample i is made from image i modulo n_images.

    With angle a, shift t and image centre c, the pixel p of a sample is the pixel R(a)(p − c) + c + t of
    the image. Values between pixels are interpolated linearly; outside the image the nearest pixel is
    used. The levels are then multiplied by 1 + b, and 128 b' is added.

    Parameters
    ----------
    images : sequence of images or paths, or a folder
        Images of equal size, or of any size if `window` is given: they are then resized to it first.
    n_samples : int
    window : (width, height), optional
    shift : float, default=0.05
        Largest shift, as a fraction of the side.
    mirror : bool, default=True
        Mirror each sample left to right with probability 1/2.
    rotation : float, default=5.0
        Largest absolute angle in degrees.
    brightness : float, default=0.2
        Largest absolute value of b and b'.
    random_state : int or None
        Random seed (default: 0).

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
        raise ValueError("images is empty; pass at least one image")
    height, width = np.shape(images[0])[:2]
    stack = as_stack(images, (width, height))
    rng = np.random.default_rng(random_state)
    centre = (np.array([height, width]) - 1) / 2
    out = np.empty((n_samples, height, width), np.uint8)
    for i in range(n_samples):
        image = stack[i % len(stack)]
        if mirror and rng.random() < 0.5:
            image = image[:, ::-1]
        angle = np.deg2rad(rng.uniform(-rotation, rotation))
        rotate = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        translation = rng.uniform(-shift, shift, 2) * (height, width)
        offset = centre - rotate @ centre + translation
        pixels = affine_transform(image.astype(float), rotate, offset, order=1, mode="nearest")
        contrast, light = rng.uniform(-brightness, brightness, 2)
        out[i] = np.clip(np.rint(pixels * (1 + contrast) + 128 * light), 0, 255)
    return out


def crop_samples(
    image: ImageLike, boxes: ArrayLike, window: tuple[int, int], margin: float = 0.0
) -> np.ndarray:
    """Crop the objects of an image, and resize them to the window.

    Parameters
    ----------
    image : image
    boxes : array, shape (n, 4)
        x, y, width and height of each object.
    window : (width, height)
    margin : float, default=0.0
        Margin to add around each box, as a fraction of its sides; clipped at the border of the image.

    Returns
    -------
    array of uint8, shape (n, height, width)
    """
    pixels = grey_image(image)
    rows, columns = pixels.shape
    out = []
    for i, (x, y, w, h) in enumerate(np.asarray(boxes).reshape(-1, 4)):
        left, top = max(round(x - margin * w), 0), max(round(y - margin * h), 0)
        right, bottom = (
            min(round(x + w + margin * w), columns),
            min(round(y + h + margin * h), rows),
        )
        if right <= left or bottom <= top:
            raise ValueError(
                f"boxes[{i}] lies outside the image of {columns} × {rows} pixels; boxes are x, y, width,"
                " height"
            )
        out.append(resize(pixels[top:bottom, left:right], window))
    return np.stack(out) if out else np.zeros((0, window[1], window[0]), np.uint8)
