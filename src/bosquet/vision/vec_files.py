"""OpenCV's ``.vec`` files: samples of one size, as ``opencv_createsamples`` packs them."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from bosquet.vision.cascade import CascadeFileError

# Number of samples, pixels of each, and two numbers that are no longer used.
HEADER = np.dtype([("samples", "<i4"), ("pixels", "<i4"), ("unused", "<i2", (2,))])


def read_vec(path: str | os.PathLike[str], window: tuple[int, int] | None = None) -> np.ndarray:
    """The samples in a ``.vec`` file.

    Parameters
    ----------
    path : path of the file
    window : (width, height), optional
        The file says how many pixels a sample has, not how wide it is. Without it samples must be
        square.

    Returns
    -------
    array of uint8, shape (n_samples, height, width)

    Raises
    ------
    CascadeFileError
        Where the file is cut off, or is no such file.
    """
    path = Path(path)
    data = path.read_bytes()
    if len(data) < HEADER.itemsize:
        raise CascadeFileError(f"{path.name}: too short for a .vec file")
    header = np.frombuffer(data, HEADER, count=1)[0]
    samples, pixels = int(header["samples"]), int(header["pixels"])
    if samples < 0 or not 1 <= pixels <= 1 << 24:
        raise CascadeFileError(f"{path.name}: {samples} samples of {pixels} pixels make no sense")
    if window is None:
        side = math.isqrt(pixels)
        if side * side != pixels:
            raise CascadeFileError(
                f"{path.name}: samples of {pixels} pixels are not square: give window=(width, height)"
            )
        window = (side, side)
    width, height = window
    if width * height != pixels:
        raise CascadeFileError(f"{path.name}: samples have {pixels} pixels, not {width} × {height}")
    record = np.dtype([("none", "u1"), ("pixels", "<i2", (height, width))])
    if len(data) - HEADER.itemsize != samples * record.itemsize:
        raise CascadeFileError(
            f"{path.name}: {len(data)} bytes are not what {samples} samples of {pixels} pixels take"
        )
    levels = np.frombuffer(data, record, count=samples, offset=HEADER.itemsize)["pixels"]
    if samples and (levels.min() < 0 or levels.max() > 255):
        raise CascadeFileError(f"{path.name}: pixels are not grey levels from 0 to 255")
    return levels.astype(np.uint8)
