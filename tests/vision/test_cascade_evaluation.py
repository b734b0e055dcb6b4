"""Cascade.evaluate: detection rates and false positives."""

from __future__ import annotations

import numpy as np
import pytest
from random_cascades import picture, random_cascade

from bosquet.vision.detection import Detections, detect, group_detections
from bosquet.vision.evaluation import count_matches, overlaps


def found_at(boxes):
    n = len(boxes)
    return Detections(
        np.array(boxes, np.int32).reshape(-1, 4), np.arange(n, 0, -1), np.ones(n, int), np.zeros(n)
    )


def test_overlap_is_intersection_over_union():
    shared = overlaps(
        np.array([[0, 0, 10, 10]]), np.array([[0, 0, 10, 10], [5, 0, 10, 10], [20, 0, 5, 5]])
    )
    np.testing.assert_allclose(shared, [[1, 1 / 3, 0]])


def test_an_object_is_matched_at_most_once():
    truth = np.array([[0, 0, 10, 10], [30, 30, 10, 10]])
    assert count_matches(found_at([[1, 0, 10, 10], [0, 1, 10, 10]]), truth, 0.5) == 1
    assert count_matches(found_at([[1, 0, 10, 10], [30, 31, 10, 10]]), truth, 0.5) == 2
    assert count_matches(found_at([[7, 7, 10, 10]]), truth, 0.5) == 0
    assert count_matches(found_at([]), truth, 0.5) == 0


def test_the_table_agrees_with_detect():
    cascade = random_cascade(4, stages=4)
    images = [picture(seed, 90, 70) for seed in range(3)]
    # The objects are the detections of the cascade itself in the first two images.
    truth = [detect(cascade, image, min_neighbors=2, cut=False).boxes for image in images[:2]] + [
        []
    ]
    result = cascade.evaluate(images, truth, min_neighbors=(2, 4), fewer_stages=1)
    assert [(row["stages"], row["min_neighbors"]) for row in result.table] == [
        (4, 2),
        (4, 4),
        (3, 2),
        (3, 4),
    ]
    full = result.table[0]
    assert full["hits"] == result.n_objects == sum(map(len, truth)) > 0
    assert full["detection_rate"] == 1
    assert full["false_positives"] == len(detect(cascade, images[2], min_neighbors=2))
    assert result.table[1]["hits"] <= full["hits"]
    assert (np.diff(result.roc(), axis=0) > 0).all()
    assert "detection rate" in str(result)


def test_grouped_agrees_with_detect():
    cascade, image = random_cascade(4), picture(0, 90, 70)
    windows = detect(cascade, image, min_neighbors=0, cut=False)
    again, direct = group_detections(windows, 3), detect(cascade, image, min_neighbors=3, cut=False)
    assert len(direct) > 1
    np.testing.assert_array_equal(again.boxes, direct.boxes)
    np.testing.assert_array_equal(again.neighbors, direct.neighbors)


def test_a_different_number_of_images_and_boxes_raises():
    with pytest.raises(ValueError, match="boxes has 1 entries, but there are 2 images"):
        random_cascade(0).evaluate([picture(0), picture(1)], [[]])
