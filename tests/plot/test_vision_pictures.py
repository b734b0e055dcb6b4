"""Chosen Haar features drawn on the mean image: where their rectangles are, what is added, subtracted."""

import numpy as np
import pytest
from stored_pictures import assert_looks_as_stored, plain_style

from bosquet import plot
from bosquet.plot.vision import corners_of
from bosquet.vision import HaarBoostClassifier

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


def test_every_rectangle_of_a_chosen_feature_is_drawn_in_its_place(model):
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
        assert ax.get_xlabel() == f"less: {below}"


def test_a_tilted_rectangle_goes_down_to_both_sides_of_its_top():
    assert corners_of([5, 1, 3, 2], True).tolist() == [[5, 1], [8, 4], [6, 6], [3, 3]]


def test_features_are_drawn_on_the_mean_image_of_the_second_class(model):
    ax = plot.haar_features_chosen(model, 1).flat[0]
    assert np.array_equal(ax.images[0].get_array(), model.mean_image_)
    other = np.zeros((10, 12))
    assert np.array_equal(
        plot.haar_features_chosen(model, 1, image=other).flat[0].images[0].get_array(), other
    )


def test_no_more_features_are_drawn_than_were_chosen(model):
    axes = plot.haar_features_chosen(model, 100)
    assert sum(bool(ax.patches) for ax in axes.flat) == model.n_estimators_
    with pytest.raises(ValueError, match="first=0 is out of range"):
        plot.haar_features_chosen(model, 0)


def test_chosen_features_look_as_stored(model):
    assert_looks_as_stored(model.plot(7).flat[0].figure, "haar_features_chosen")
