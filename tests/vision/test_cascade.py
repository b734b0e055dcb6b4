"""Cascade, Stage and WeakTree: validation, and adding of stages."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from random_cascades import picture, random_cascade

from bosquet.vision import Cascade, Stage, WeakTree, haar_features


def test_a_tree_with_a_cycle_raises():
    with pytest.raises(ValueError, match="cycle"):
        WeakTree([0, 0, 0], [0, 0, 0], [0, 2, 1], [-1, -2, -3], [1, 2, 3, 4])


def test_a_leaf_with_two_parents_raises():
    with pytest.raises(ValueError, match="child of exactly one node"):
        WeakTree([0, 0], [0, 0], [1, 0], [0, -1], [1, 2, 3])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_raise(value):
    with pytest.raises(ValueError, match="finite"):
        WeakTree.stump(0, value, -1, 1)
    with pytest.raises(ValueError, match="finite"):
        Stage((WeakTree.stump(0, 0, -1, 1),), value)
    with pytest.raises(ValueError, match="finite"):
        Cascade((8, 8), [[[0, 0, 4, 4], [0] * 4, [0] * 4]], [[value, 0, 0]], [False], ())


@pytest.mark.parametrize(
    ("box", "tilted"),
    [
        ([5, 0, 4, 4], False),
        ([-1, 0, 4, 4], False),
        ([0, 0, 0, 4], False),
        ([0, 6, 4, 3], False),
        ([1, 0, 2, 2], True),
        ([4, 0, 4, 5], True),
        ([2**31 - 1, 2**31 - 1, 2**31 - 1, 2**31 - 1], False),
    ],
)
def test_a_rectangle_outside_the_window_raises(box, tilted):
    with pytest.raises(ValueError, match="feature 0 has a rectangle outside the window of 8 × 8"):
        Cascade((8, 8), [[box, [0] * 4, [0] * 4]], [[1, 0, 0]], [tilted], ())


def test_a_stage_that_uses_a_missing_feature_raises():
    stage = Stage((WeakTree.stump(3, 0, -1, 1),), 0)
    with pytest.raises(ValueError, match="stage 0 uses feature 3, but the cascade has 1 features"):
        Cascade((8, 8), [[[0, 0, 4, 4], [0] * 4, [0] * 4]], [[1, 0, 0]], [False], (stage,))


def test_with_stage_adds_the_features_that_the_cascade_lacks():
    features = haar_features((8, 8))
    first = Stage((WeakTree.stump(40, 0, -1, 1), WeakTree.stump(7, 0, -1, 1)), 0)
    second = Stage((WeakTree.stump(7, 0.5, -1, 1), WeakTree.stump(11, 0, -1, 1)), 0)
    cascade = Cascade.empty((8, 8)).with_stage(first, features).with_stage(second, features)
    assert cascade.n_features == 3
    assert cascade.n_trees == 4
    used = [int(tree.feature[0]) for stage in cascade.stages for tree in stage.trees]
    np.testing.assert_array_equal(cascade.rectangles[used], features.rectangles[[40, 7, 7, 11]])


def test_features_of_another_window_raise():
    stage = Stage((WeakTree.stump(0, 0, -1, 1),), 0)
    with pytest.raises(ValueError, match="windows of"):
        Cascade.empty((8, 8)).with_stage(stage, haar_features((9, 8)))


def test_a_pickled_cascade_detects_the_same():
    cascade, image = random_cascade(3), picture(0)
    before = cascade.detect(image, min_neighbors=0).boxes
    again = pickle.loads(pickle.dumps(cascade))
    np.testing.assert_array_equal(again.detect(image, min_neighbors=0).boxes, before)


def test_an_image_smaller_than_the_window_has_no_detections():
    assert len(random_cascade(0).detect(np.zeros((5, 5), np.uint8))) == 0


def test_a_parameter_out_of_range_raises():
    cascade, image = random_cascade(0), picture(0)
    with pytest.raises(ValueError, match=r"scale_factor=1\.0"):
        cascade.detect(image, scale_factor=1.0)
    with pytest.raises(ValueError, match="min_neighbors=-1"):
        cascade.detect(image, min_neighbors=-1)
    with pytest.raises(ValueError, match="min_size"):
        cascade.detect(image, min_size=(-3, 4))
    with pytest.raises(ValueError, match="images have 3 × 3"):
        cascade.passes(np.zeros((2, 3, 3), np.uint8))
