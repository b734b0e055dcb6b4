"""Pictures held to stored ones.

A figure is rendered by Agg at a low resolution, and compared with a stored picture after both are
averaged over small blocks: what is drawn where, and in which colour, counts; the last pixel of a
letter does not. Text and lines move a little between releases of Matplotlib, so that another minor
release than that of the stored pictures is not compared. To store them anew, and then look at them:

    BOSQUET_STORE_PICTURES=1 python -m pytest tests/plot -k stored
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
DRAWN_BY = STORED / "matplotlib-version.txt"
COLOURS = 128
BLOCK, FARTHEST_MEAN, FARTHEST_BLOCK = 5, 0.004, 0.12


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
    """Matplotlib as it comes, whatever the user's own settings; figures are closed at the end."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.use("Agg")
        yield
    plt.close("all")


def store(picture, path):
    # Few colours make a small file, and next to no difference to the mean of a block.
    image = Image.fromarray((255 * picture).round().astype(np.uint8))
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    DRAWN_BY.write_text(matplotlib.__version__ + "\n")


def assert_looks_as_stored(figure, name):
    """Fails if the figure differs from the stored picture of that name on average or somewhere."""
    path = STORED / f"{name}.png"
    drawn = rendered(figure)
    if os.environ.get("BOSQUET_STORE_PICTURES"):
        store(drawn, path)
        return
    drawn_by = DRAWN_BY.read_text().strip()
    if release(matplotlib.__version__) != release(drawn_by):
        pytest.skip(f"stored pictures are of Matplotlib {drawn_by}, not {matplotlib.__version__}")
    stored = np.asarray(Image.open(path).convert("RGB")) / 255.0
    assert drawn.shape == stored.shape
    apart = np.abs(blocks(drawn) - blocks(stored))
    assert apart.mean() < FARTHEST_MEAN, f"{name} differs by {apart.mean():.4f} on average"
    assert apart.max() < FARTHEST_BLOCK, f"{name} differs by {apart.max():.3f} somewhere"
