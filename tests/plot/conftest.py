"""Pictures held to stored ones.

A figure is rendered by Agg at a low resolution, and compared with a stored picture after both are
averaged over small blocks: what is drawn where, and in which colour, counts; the last pixel of a
letter does not. Text and lines move a little between releases of Matplotlib, so that another minor
release than that of the stored pictures is not compared. To store them anew, after looking at them:

    BOSQUET_STORE_PICTURES=1 python -m pytest tests/plot
"""

import os
from pathlib import Path

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.image import imread  # noqa: E402

STORED = Path(__file__).parent / "baseline"
DRAWN_BY = (STORED / "matplotlib-version.txt").read_text().strip()
BLOCK, FARTHEST_MEAN, FARTHEST_BLOCK = 6, 0.012, 0.35


def release(version):
    return tuple(version.split(".")[:2])


def rendered(figure):
    figure.set_dpi(50)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3] / 255.0


def blocks(picture):
    rows, columns = (side // BLOCK * BLOCK for side in picture.shape[:2])
    parts = picture[:rows, :columns].reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK, 3)
    return parts.mean(axis=(1, 3))


@pytest.fixture(autouse=True)
def plain_style():
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.use("Agg")
        yield
    plt.close("all")


@pytest.fixture
def assert_looks_as_stored():
    def check(figure, name):
        path = STORED / f"{name}.png"
        drawn = rendered(figure)
        if os.environ.get("BOSQUET_STORE_PICTURES"):
            plt.imsave(path, drawn, metadata={"Software": None}, pil_kwargs={"optimize": True})
            (STORED / "matplotlib-version.txt").write_text(matplotlib.__version__ + "\n")
            return
        if release(matplotlib.__version__) != release(DRAWN_BY):
            pytest.skip(f"stored pictures are of Matplotlib {DRAWN_BY}, not {matplotlib.__version__}")
        stored = imread(path)[..., :3]
        assert drawn.shape == stored.shape
        apart = np.abs(blocks(drawn) - blocks(stored))
        assert apart.mean() < FARTHEST_MEAN, f"{name} differs by {apart.mean():.4f} on average"
        assert apart.max() < FARTHEST_BLOCK, f"{name} differs by {apart.max():.3f} somewhere"

    return check
