"""Comparison of figures with stored images.

A figure is rendered by Agg at a low resolution. It is compared with a stored image after both are averaged
over small blocks, so that positions and colours count, but single pixels of letters do not. Text and lines
move slightly between releases of Matplotlib, so the comparison is skipped unless the minor release is that
of the stored images. To store the expected images again, and then inspect them:

    BOSQUET_STORE_IMAGES=1 python -m pytest tests/plot -k stored
"""

import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402

STORED = Path(__file__).parent / "baseline"
VERSION_FILE = STORED / "matplotlib-version.txt"
COLOURS = 128
BLOCK, MAX_MEAN_DIFFERENCE, MAX_BLOCK_DIFFERENCE = 5, 0.004, 0.12


def release(version):
    return tuple(version.split(".")[:2])


def rendered(figure):
    figure.set_dpi(40)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3] / 255.0


def blocks(picture):
    rows, columns = (side // BLOCK * BLOCK for side in picture.shape[:2])
    parts = picture[:rows, :columns].reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK, 3)
    return parts.mean(axis=(1, 3))


@contextmanager
def plain_style():
    """Use Matplotlib's default settings; close all figures at the end."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.use("Agg")
        yield
    plt.close("all")


def store(picture, path):
    # Few colours make a small file and hardly change the mean of a block.
    image = Image.fromarray((255 * picture).round().astype(np.uint8))
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    VERSION_FILE.write_text(matplotlib.__version__ + "\n")


def assert_looks_as_stored(figure, name):
    """Fail if the figure differs from the stored image of that name, on average or in one block."""
    path = STORED / f"{name}.png"
    drawn = rendered(figure)
    if os.environ.get("BOSQUET_STORE_IMAGES"):
        store(drawn, path)
        return
    version = VERSION_FILE.read_text().strip()
    if release(matplotlib.__version__) != release(version):
        pytest.skip(f"the images were stored by Matplotlib {version}, not {matplotlib.__version__}")
    stored = np.asarray(Image.open(path).convert("RGB")) / 255.0
    assert drawn.shape == stored.shape
    difference = np.abs(blocks(drawn) - blocks(stored))
    mean, largest = difference.mean(), difference.max()
    assert mean < MAX_MEAN_DIFFERENCE, f"{name} differs by {mean:.4f} on average"
    assert largest < MAX_BLOCK_DIFFERENCE, f"{name} differs by {largest:.3f} in one block"
