"""The native detector matches its reference, for any number of threads and any instruction set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_sets import ISAS
from random_cascades import picture, random_cascade, windows_of

from bosquet.reference import cascade as reference
from bosquet.vision import Cascade
from bosquet.vision.detection import count_passed_stages, detect, group_detections, scan_options

KINDS = [
    {"nodes": 1},
    {"nodes": 1, "tilted": True},
    {"nodes": 4},
    {"nodes": 5, "tilted": True},
    {"nodes": 80, "trees": 2, "n_features": 4},
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_window_passes_as_many_stages_as_in_the_reference(kind):
    image = picture(1, 24, 18)
    for seed in range(2):
        cascade = random_cascade(seed, **kind)
        windows = windows_of(image, cascade.window)[::7]
        expected = [reference.stages_passed(cascade, window) for window in windows]
        np.testing.assert_array_equal(count_passed_stages(cascade, windows)[0], expected)
        assert len(set(expected)) > 1


@pytest.mark.parametrize("kind", KINDS[:4])
def test_a_search_at_one_scale_matches_the_reference(kind):
    image = picture(2, 36, 22)
    cascade = random_cascade(5, **kind)
    expected = reference.passing_windows(cascade, image, step=2)
    for isa in ISAS:
        options = scan_options(1.1, None, cascade.window, 1, isa)
        _, hits, _ = cascade._native.scan(image, options)
        # OpenCV's strips may end one row early; see test_cascade_opencv.py.
        wanted = [place for place in expected if place[1] <= hits[:, 2].max()]
        assert [tuple(hit) for hit in hits[:, 1:].tolist()] == wanted
        assert len(wanted) > 5


@pytest.mark.parametrize("isa", ISAS)
def test_threads_and_instruction_sets_give_the_same_detections(isa):
    image = picture(3, 200, 150)
    cascade = random_cascade(8, window=(12, 12), nodes=3, tilted=True)
    expected = detect(cascade, image, min_neighbors=0, n_jobs=1)
    assert len(expected) > 20
    for threads in (1, 2, 5):
        options = {**scan_options(1.1, None, None, threads, isa)}
        boxes, _, depth, score = cascade._native.detect(image, 0, 0.2, options)
        np.testing.assert_array_equal(boxes, expected.boxes)
        np.testing.assert_array_equal(depth, expected.depth)
        np.testing.assert_array_equal(score, expected.score)


def test_a_search_does_not_change_its_options():
    # An earlier version cleared them, so that they applied only to the first of many images.
    cascade, image = random_cascade(8, window=(12, 12)), picture(3, 60, 50)
    options = scan_options(1.7, None, None, 1)
    before = dict(options)
    first = cascade._native.scan(image, options)
    assert options == before
    np.testing.assert_array_equal(cascade._native.scan(image, options)[0], first[0])


def test_min_depth_is_equivalent_to_a_shorter_cascade():
    image, cascade = picture(4, 120, 90), random_cascade(2, stages=4)
    windows = detect(cascade, image, min_neighbors=0, min_depth=2)
    for stages in (2, 3, 4):
        shorter = detect(cascade.first(stages), image, min_neighbors=0)
        np.testing.assert_array_equal(windows.boxes[windows.depth >= stages], shorter.boxes)


def test_detections_can_be_iterated_and_printed():
    found = detect(random_cascade(8, window=(12, 12)), picture(3, 200, 150), min_neighbors=0)
    assert len(found) > 20
    assert [list(box) for box in found] == found.boxes.tolist()
    assert all(type(side) is int for box in found for side in box)
    assert repr(found).startswith(f"{len(found)} detections")
    assert len(repr(found).splitlines()) == 22  # header, 20 detections, "..."


def test_flat_windows_never_pass():
    cascade = Cascade.empty((10, 8))
    images = np.stack([np.full((8, 10), 77), picture(0, 10, 8)]).astype(np.uint8)
    np.testing.assert_array_equal(cascade.passes(images), [False, True])
    assert len(cascade.detect(np.zeros((40, 40), np.uint8), min_neighbors=0)) == 0


def test_strided_images_give_the_same_detections():
    large = picture(5, 120, 90)
    cascade = random_cascade(1)
    view, copy = large[10:70, 20:100], large[10:70, 20:100].copy()
    expected = cascade.detect(copy, min_neighbors=0).boxes
    np.testing.assert_array_equal(cascade.detect(view, min_neighbors=0).boxes, expected)
    np.testing.assert_array_equal(
        cascade.detect(np.asfortranarray(copy), min_neighbors=0).boxes, expected
    )


def test_concurrent_detections_match_sequential_ones():
    from concurrent.futures import ThreadPoolExecutor

    images = [picture(seed, 90 + 7 * seed, 80) for seed in range(6)]
    cascade = random_cascade(6, tilted=True)
    expected = [cascade.detect(image, min_neighbors=0).boxes for image in images]
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda i: cascade.detect(images[i % 6], min_neighbors=0).boxes, range(48))
        )
    for number, boxes in enumerate(found):
        np.testing.assert_array_equal(boxes, expected[number % 6])


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_tilted_sums_match_the_reference(seed):
    cascade = random_cascade(seed, window=(9, 9), n_features=3, stages=1, trees=2, tilted=True)
    window = picture(seed, 9, 9)
    assert count_passed_stages(cascade, window[None])[0][0] == reference.stages_passed(
        cascade, window
    )


def test_grouping_merges_overlapping_windows_and_drops_single_ones():
    found = detect(random_cascade(0), picture(0), min_neighbors=0)
    boxes = np.array(
        [[10, 10, 20, 20], [11, 10, 20, 20], [10, 12, 21, 21], [60, 60, 20, 20]], np.int32
    )
    windows = type(found)(boxes, np.ones(4, np.int32), np.full(4, 3, np.int32), np.arange(4.0))
    one = group_detections(windows, 1)
    np.testing.assert_array_equal(one.boxes, [[10, 11, 20, 20]])
    assert one.neighbors[0] == 3
    assert one.score[0] == 2
    assert len(group_detections(windows, 3)) == 0
