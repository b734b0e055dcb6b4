"""Random cascades and images for tests."""

from __future__ import annotations

import numpy as np

from bosquet.vision import Cascade, Stage, WeakTree
from bosquet.vision.detection import count_passed_stages

# A cascade in the format of OpenCV 1.
OLD_FORMAT = """<?xml version="1.0"?>
<opencv_storage>
<plates type_id="opencv-haar-classifier">
  <size>12 10</size>
  <stages><_><trees><_>
    <_><feature><rects><_>1 1 6 4 -1.</_><_>1 1 3 4 2.</_></rects><tilted>0</tilted></feature>
       <threshold>1.5e-2</threshold><left_val>-0.5</left_val><right_node>1</right_node></_>
    <_><feature><rects><_>2 2 4 4 -1.</_><_>2 2 4 2 2.</_></rects><tilted>0</tilted></feature>
       <threshold>-2e-2</threshold><left_val>0.25</left_val><right_val>1.5</right_val></_></_></trees>
    <stage_threshold>0.1</stage_threshold><parent>-1</parent><next>-1</next></_></stages></plates>
</opencv_storage>
"""
WEIGHTS = np.array([-1.0, 2.0, 3.0, 0.5], np.float32)


def random_boxes(random, window, tilted):
    """Two or three rectangles in the window, and weights for which a constant image gives 0."""
    width, height = window
    rectangles, weights = np.zeros((3, 4), int), np.zeros(3, np.float32)
    for i in range(random.integers(2, 4)):
        while True:
            x, y = random.integers(0, width), random.integers(0, height)
            w, h = random.integers(1, width + 1), random.integers(1, height + 1)
            if tilted:
                inside = x - h >= 0 and x + w <= width and y + w + h <= height
            else:
                inside = x + w <= width and y + h <= height
            if inside:
                break
        rectangles[i], weights[i] = (x, y, w, h), random.choice(WEIGHTS)
    areas = rectangles[:, 2] * rectangles[:, 3]
    weights[i] = -(weights[:i] * areas[:i]).sum() / areas[i]
    return rectangles, weights


def random_tree(random, n_features, n_nodes):
    """A tree of random shape: each node is a child of a random earlier node."""
    ends = [(0, 0), (0, 1)]  # (node, side) without a child
    children = np.zeros((n_nodes, 2), int)
    for node in range(1, n_nodes):
        parent, side = ends.pop(random.integers(len(ends)))
        children[parent, side] = node
        ends += [(node, 0), (node, 1)]
    for leaf, (parent, side) in enumerate(ends):
        children[parent, side] = -leaf
    return WeakTree(
        random.integers(0, n_features, n_nodes),
        random.normal(0, 0.3, n_nodes),
        children[:, 0],
        children[:, 1],
        random.normal(0, 1, n_nodes + 1),
    )


def random_cascade(seed, window=(10, 8), n_features=12, stages=3, trees=4, nodes=1, tilted=False):
    """A cascade whose stages each accept about two thirds of the windows of an image."""
    random = np.random.default_rng(seed)
    is_tilted = random.random(n_features) < 0.5 if tilted else np.zeros(n_features, bool)
    boxes = [random_boxes(random, window, tilt) for tilt in is_tilted]
    features = (
        np.array([rectangles for rectangles, _ in boxes]),
        np.array([weights for _, weights in boxes]),
        is_tilted,
    )
    windows = windows_of(picture(seed, window[0] + 20, window[1] + 20), window)[::7]
    made = []
    for _ in range(stages):
        grown = tuple(
            random_tree(random, n_features, int(random.integers(1, nodes + 1)))
            for _ in range(trees)
        )
        sums = count_passed_stages(Cascade(window, *features, (Stage(grown, 0),)), windows, 1)[1]
        made.append(Stage(grown, float(np.quantile(sums, 1 / 3))))
    return Cascade(window, *features, tuple(made))


def windows_of(image, window):
    """All windows of an image, (n, height, width)."""
    width, height = window
    views = np.lib.stride_tricks.sliding_window_view(image, (height, width))
    return views.reshape(-1, height, width)


def picture(seed, width=60, height=45):
    """An image of blobs, edges and noise."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    image = 120 + 60 * np.sin(rows / 5 + seed) * np.cos(columns / 7)
    for _ in range(12):
        x, y = random.integers(0, width), random.integers(0, height)
        image[y : y + random.integers(2, 12), x : x + random.integers(2, 12)] += random.normal(
            0, 70
        )
    return np.clip(image + random.normal(0, 8, image.shape), 0, 255).astype(np.uint8)
