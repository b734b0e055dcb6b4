"""Plots of selected Haar features, of detections, and of detection rates."""

import numpy as np
import pytest
from baseline_images import assert_looks_as_stored, plain_style

from bosquet import plot
from bosquet.plot.vision import corners_of
from bosquet.vision import Detections, Evaluation, HaarBoostClassifier
from bosquet.vision.evaluation import COLUMNS

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def plain():
    with plain_style():
        yield


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    images = random.integers(60, 200, size=(120, 10, 12), dtype=np.uint8)
    y = np.array(["bar", "field"])[np.arange(120) % 2]
    images[y == "field", 3:7, 2:10] -= 12
    images[y == "bar", :, 5:8] -= 12
    return HaarBoostClassifier(7, features="all").fit(images, y)


def test_every_rectangle_of_a_selected_feature_is_drawn(model):
    axes = model.plot(3)
    for t, ax in enumerate(axes.flat):
        weights = model.features_.weights[t]
        assert len(ax.patches) == np.count_nonzero(weights)
        for k, patch in enumerate(ax.patches):
            wanted = corners_of(model.features_.rectangles[t, k], model.features_.tilted[t])
            assert np.array_equal(patch.get_xy()[:4], wanted)
        added, subtracted = ax.patches[-1].get_facecolor(), ax.patches[0].get_facecolor()
        assert added != subtracted
        below = model.classes_[int(model.leaves_[t, 0] > model.leaves_[t, 1])]
        assert ax.get_xlabel() == f"below: {below}"


def test_the_corners_of_a_tilted_rectangle_are_on_the_diagonals():
    assert corners_of([5, 1, 3, 2], True).tolist() == [[5, 1], [8, 4], [6, 6], [3, 3]]


def test_features_are_drawn_on_the_mean_image_of_the_second_class(model):
    ax = plot.haar_features_chosen(model, 1).flat[0]
    assert np.array_equal(ax.images[0].get_array(), model.mean_image_)
    other = np.zeros((10, 12))
    assert np.array_equal(
        plot.haar_features_chosen(model, 1, image=other).flat[0].images[0].get_array(), other
    )


def test_at_most_the_selected_features_are_drawn(model):
    axes = plot.haar_features_chosen(model, 100)
    assert sum(bool(ax.patches) for ax in axes.flat) == model.n_estimators_
    with pytest.raises(ValueError, match="first=0 is not valid"):
        plot.haar_features_chosen(model, 0)


def test_selected_features_look_as_stored(model):
    assert_looks_as_stored(model.plot(7).flat[0].figure, "haar_features_chosen")


@pytest.fixture(scope="module")
def found():
    boxes = np.array([[10, 20, 24, 24], [60, 8, 30, 20]], np.int32)
    return Detections(boxes, np.array([12, 4]), np.array([7, 7]), np.array([1.5, 0.2]))


def test_each_detection_has_a_frame_and_its_number_of_windows(found):
    ax = plot.detections(np.full((60, 100), 90, np.uint8), found, truth=[[12, 22, 24, 24]])
    frames = [(*patch.get_xy(), patch.get_width(), patch.get_height()) for patch in ax.patches]
    assert frames == [(11.5, 21.5, 24, 24), (9.5, 19.5, 24, 24), (59.5, 7.5, 30, 20)]
    assert [text.get_text() for text in ax.texts] == ["12", "4"]
    assert ax.get_title() == "2 detections"


def test_boxes_of_any_detector_are_drawn_on_a_colour_file(tmp_path):
    colours = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    pytest.importorskip("PIL.Image").fromarray(colours).save(tmp_path / "a.png")
    ax = plot.detections(tmp_path / "a.png", [[1, 2, 3, 4]])
    assert np.array_equal(ax.images[0].get_array(), colours)
    assert (len(ax.patches), len(ax.texts), ax.get_title()) == (1, 0, "1 detection")


def test_the_roc_curve_joins_the_best_operating_points():
    table = np.zeros(4, [(name, kind) for name, kind in COLUMNS])
    table["false_positives"] = [0, 3, 3, 200]
    table["detection_rate"] = [0.5, 0.8, 0.7, 1.0]
    evaluation = Evaluation(table, n_images=9, n_objects=20)
    ax = plot.detection_roc(evaluation)
    assert np.array_equal(ax.lines[0].get_xydata(), [[0, 0.5], [3, 0.8], [200, 1.0]])
    assert len(ax.collections[0].get_offsets()) == 4
    assert ax.get_xlabel() == "false positives in 9 images"
    assert_looks_as_stored(ax.figure, "detection_roc")


def test_detections_look_as_stored(found):
    rows, columns = np.mgrid[:60, :100]
    assert_looks_as_stored(
        plot.detections(((rows + columns) % 256).astype(np.uint8), found).figure, "detections"
    )


def test_an_image_without_pixels_is_rejected():
    with pytest.raises(ValueError, match=r"image has shape \(0, 0\)"):
        plot.detections(np.zeros((0, 0)), np.zeros((0, 4)))
