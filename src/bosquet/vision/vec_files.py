"""OpenCV's ``.vec`` files: samples of equal size, as ``opencv_createsamples`` writes them."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from bosquet.vision.cascade import CascadeFileError

# Number of samples, number of pixels per sample, and two unused numbers.
HEADER = np.dtype([("samples", "<i4"), ("pixels", "<i4"), ("unused", "<i2", (2,))])


def read_vec(path: str | os.PathLike[str], window: tuple[int, int] | None = None) -> np.ndarray:
    """Read the samples of a ``.vec`` file.

    Parameters
    ----------
    path : path of the file
    window : (width, height), optional
        Size of the samples (default: square). The file contains only their number of pixels.

    Returns
    -------
    array of uint8, shape (n_samples, height, width)

    Raises
    ------
    CascadeFileError
        If the file is truncated or not a ``.vec`` file.
    """
    path = Path(path)
    data = path.read_bytes()
    if len(data) < HEADER.itemsize:
        raise CascadeFileError(
            f"{path.name}: {len(data)} bytes are too few for the header of a .vec file"
        )
    header = np.frombuffer(data, HEADER, count=1)[0]
    samples, pixels = int(header["samples"]), int(header["pixels"])
    if samples < 0 or not 1 <= pixels <= 1 << 24:
        raise CascadeFileError(
            f"{path.name}: not a .vec file (the header gives {samples} samples of {pixels} pixels)"
        )
    if window is None:
        side = math.isqrt(pixels)
        if side * side != pixels:
            raise CascadeFileError(
                f"{path.name}: samples of {pixels} pixels are not square; pass window=(width, height)"
            )
        window = (side, side)
    width, height = window
    if width * height != pixels:
        raise CascadeFileError(
            f"{path.name}: samples have {pixels} pixels, but window={window} has {width * height}"
        )
    record = np.dtype([("none", "u1"), ("pixels", "<i2", (height, width))])
    if len(data) - HEADER.itemsize != samples * record.itemsize:
        raise CascadeFileError(
            f"{path.name}: the file has {len(data)} bytes, but {samples} samples of {pixels} pixels need"
            f" {HEADER.itemsize + samples * record.itemsize}"
        )
    levels = np.frombuffer(data, record, count=samples, offset=HEADER.itemsize)["pixels"]
    if samples and (levels.min() < 0 or levels.max() > 255):
        raise CascadeFileError(f"{path.name}: pixels must be grey levels from 0 to 255")
    return levels.astype(np.uint8)
