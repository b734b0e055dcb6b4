"""Cascades give the same detections in Bosquet and in OpenCV, in both directions of conversion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from random_cascades import picture, random_cascade, windows_of

from bosquet import _core
from bosquet.vision import Cascade, CascadeFileError
from bosquet.vision.opencv_xml import cascade_from_xml, cascade_to_xml

cv2 = pytest.importorskip("cv2")
# With stumps, with trees, with trees and tilted features, in the old format.
VARIED = ("eye", "frontalface_alt2", "lefteye_2splits", "license_plate_rus_16stages")
SHIPPED = (
    sorted(Path(cv2.data.haarcascades).glob("haarcascade_*.xml")) if hasattr(cv2, "data") else []
)


def opencv_boxes(cascade_file, image, neighbors=0, **sizes):
    classifier = cv2.CascadeClassifier(str(cascade_file))
    assert not classifier.empty()
    found = classifier.detectMultiScale(image, 1.1, neighbors, **sizes)
    return sorted(map(tuple, np.array(found, int).reshape(-1, 4).tolist()))


def own_boxes(cascade, image, neighbors=0, **sizes):
    found = cascade.detect(image, min_neighbors=neighbors, **sizes)
    return sorted(map(tuple, found.boxes.tolist()))


@pytest.mark.parametrize("nodes", [1, 5])
@pytest.mark.parametrize("tilted", [False, True])
def test_single_windows_get_the_same_decision(tmp_path, nodes, tilted):
    image, path = picture(7, 50, 40), tmp_path / "cascade.xml"
    decided = 0
    for seed in range(3):
        cascade = random_cascade(seed, nodes=nodes, tilted=tilted)
        cascade.to_opencv(path)
        classifier = cv2.CascadeClassifier(str(path))
        windows = windows_of(image, cascade.window)[::7]
        theirs = [len(classifier.detectMultiScale(window, 1.1, 0)) > 0 for window in windows]
        np.testing.assert_array_equal(cascade.passes(windows), theirs)
        decided += sum(theirs)
    assert decided > 20


@pytest.mark.parametrize("size", [(61, 47), (64, 64), (120, 91), (57, 130), (33, 30)])
def test_the_same_windows_are_found_at_all_scales(tmp_path, size):
    path = tmp_path / "cascade.xml"
    for seed, window in enumerate([(10, 8), (24, 24), (9, 15)]):
        cascade = random_cascade(seed + 20, window=window, stages=5, nodes=2, tilted=seed == 1)
        cascade.to_opencv(path)
        image = picture(seed, *size)
        for neighbors in (0, 1, 3):
            assert own_boxes(cascade, image, neighbors) == opencv_boxes(path, image, neighbors)


def test_min_size_and_max_size_match_opencv(tmp_path):
    path, image = tmp_path / "cascade.xml", picture(9, 180, 140)
    cascade = random_cascade(33)
    cascade.to_opencv(path)
    for small, large in [
        ((20, 16), (40, 40)),
        ((30, 30), (30, 30)),
        ((0, 0), (12, 100)),
        ((500, 500), (0, 0)),
    ]:
        theirs = opencv_boxes(path, image, minSize=small, maxSize=large)
        assert own_boxes(cascade, image, min_size=small, max_size=large) == theirs


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem.removeprefix("haarcascade_"))
def test_cascades_that_opencv_ships_find_the_same_windows(path, tmp_path):
    cascade = Cascade.from_opencv(path)
    image = picture(11, 160, 120)
    assert own_boxes(cascade, image) == opencv_boxes(path, image)
    # Few windows of a synthetic image pass all stages, but many pass the first ones.
    start = cascade.first(3)
    start.to_opencv(tmp_path / "start.xml")
    ours = own_boxes(start, image)
    assert ours == opencv_boxes(tmp_path / "start.xml", image)


@pytest.mark.parametrize("name", VARIED)
def test_writing_and_reading_preserves_all_bits(name):
    path = Path(cv2.data.haarcascades) / f"haarcascade_{name}.xml"
    if not path.exists():
        pytest.skip("this release of OpenCV does not include the file")
    cascade = Cascade.from_opencv(path)
    again = cascade_from_xml(cascade_to_xml(cascade).encode())
    assert again.window == cascade.window
    for name in ("rectangles", "weights", "tilted"):
        np.testing.assert_array_equal(getattr(again, name), getattr(cascade, name))
    for one, other in zip(again.stages, cascade.stages, strict=True):
        assert one.threshold == other.threshold
        for tree, reference in zip(one.trees, other.trees, strict=True):
            for name in ("feature", "threshold", "left", "right", "leaves"):
                np.testing.assert_array_equal(getattr(tree, name), getattr(reference, name))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ((640, 480), (581, 436)),
        ((31, 17), (9, 5)),
        ((50, 40), (25, 20)),
        ((20, 20), (33, 27)),
        ((1, 9), (4, 2)),
    ],
)
def test_resizing_matches_opencv_exactly(old, new):
    image = np.random.default_rng(0).integers(0, 256, (old[1], old[0])).astype(np.uint8)
    theirs = cv2.resize(image, new, interpolation=cv2.INTER_LINEAR_EXACT)
    np.testing.assert_array_equal(_core.resize_image(image, *new), theirs)


def test_a_cascade_without_stages_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match="the cascade has no stages"):
        Cascade.empty((8, 8)).to_opencv(tmp_path / "cascade.xml")


def test_a_cascade_of_other_features_raises(tmp_path):
    text = cascade_to_xml(random_cascade(0)).replace("HAAR", "LBP")
    (tmp_path / "lbp.xml").write_text(text)
    with pytest.raises(CascadeFileError, match=r"lbp\.xml: .*'LBP'"):
        Cascade.from_opencv(tmp_path / "lbp.xml")
