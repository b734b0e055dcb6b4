"""Integral images and Haar features: counts, order and values, compared with the reference and OpenCV."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.reference import haar as reference
from bosquet.vision import (
    feature_blocks,
    feature_values,
    haar_features,
    integral_image,
    window_contrasts,
)


def random_images(n, height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, size=(n, height, width), dtype=np.uint8)


@pytest.mark.parametrize(("kind", "count"), [("basic", 162336), ("core", 210400), ("all", 261600)])
def test_a_window_of_24_by_24_has_as_many_features_as_opencv_counts(kind, count):
    assert len(haar_features((24, 24), kind)) == count


@pytest.mark.parametrize("kind", ["basic", "core", "all"])
@pytest.mark.parametrize("window", [(3, 3), (9, 7), (6, 11)])
def test_features_and_their_order_match_the_reference(window, kind):
    features = haar_features(window, kind)
    wanted = reference.enumerate_features(*window, kind)
    assert len(features) == len(wanted)
    for i, (tilted, rectangles) in enumerate(wanted):
        assert features.tilted[i] == tilted
        for k in range(3):
            there = (*features.rectangles[i, k], features.weights[i, k])
            assert there == (rectangles[k] if k < len(rectangles) else (0, 0, 0, 0, 0))


def test_every_feature_is_zero_on_a_constant_image():
    features = haar_features((10, 12), "all")
    grey = np.full((1, 12, 10), 77, dtype=np.uint8)
    assert np.abs(feature_values(grey, features, normalise=False)).max() < 1e-3


@given(
    st.integers(1, 12),
    st.integers(1, 12),
    st.sampled_from(["plain", "squared", "tilted"]),
    st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_integral_images_match_the_reference(height, width, kind, seed):
    image = random_images(1, height, width, seed)[0]
    if kind == "tilted":
        wanted = reference.tilted_integral(image)
    else:
        wanted = reference.integral(image.astype(float) ** (2 if kind == "squared" else 1))
    assert np.array_equal(integral_image(image, kind), wanted)


def test_integral_images_match_opencv():
    cv2 = pytest.importorskip("cv2")
    image = random_images(1, 31, 44)[0]
    plain, squared, tilted = cv2.integral3(image)
    assert np.array_equal(integral_image(image), plain)
    assert np.array_equal(integral_image(image, "squared"), squared)
    assert np.array_equal(integral_image(image, "tilted"), tilted)


@pytest.mark.parametrize("kind", ["basic", "all"])
def test_values_are_the_weighted_sums_of_the_reference(kind):
    images = random_images(5, 8, 9, seed=1)
    features = haar_features((9, 8), kind)
    values = feature_values(images, features, normalise=False)
    wanted = reference.enumerate_features(9, 8, kind)
    tables = [(reference.integral(image), reference.tilted_integral(image)) for image in images]
    for i in range(0, len(features), 7):
        assert values[i].tolist() == [
            reference.feature_value(of_image, wanted[i]) for of_image in tables
        ]


def test_normalised_values_are_divided_by_the_contrast_without_the_border():
    images = random_images(6, 8, 9, seed=2)
    features = haar_features((9, 8))[::50]
    plain = feature_values(images, features, normalise=False)
    contrast = np.array([reference.contrast(image) for image in images])
    np.testing.assert_allclose(feature_values(images, features), plain / contrast, rtol=2e-7)


@given(st.integers(-60, 60), st.integers(1, 2))
@settings(max_examples=20, deadline=None)
def test_normalised_values_do_not_depend_on_brightness_and_contrast(brightness, contrast):
    images = np.random.default_rng(3).integers(60, 95, size=(4, 8, 8))
    lit = (images * contrast + brightness).astype(np.uint8)
    features = haar_features((8, 8))[::10]
    np.testing.assert_allclose(
        feature_values(lit, features), feature_values(images.astype(np.uint8), features), atol=1e-6
    )


def test_a_window_is_flat_up_to_a_deviation_of_ten_grey_levels():
    noise = np.where(np.indices((10, 10)).sum(axis=0) % 2, 1, -1)
    images = np.array([100 + depth * noise for depth in (0, 9, 10, 11)], dtype=np.uint8)
    factors, flat = window_contrasts(images)
    assert flat.tolist() == [True, True, True, False]
    assert factors[0] == 1
    assert factors[3] == pytest.approx(1 / (64 * 11))


def test_values_are_the_same_for_any_number_of_threads_and_instruction_set(monkeypatch):
    images, features = random_images(1100, 6, 7, seed=4), haar_features((7, 6), "all")
    wanted = feature_values(images, features, n_jobs=1)
    assert np.array_equal(feature_values(images, features, n_jobs=3), wanted)
    monkeypatch.setenv("BOSQUET_ISA", "baseline")
    assert np.array_equal(feature_values(images, features), wanted)


def test_the_blocks_contain_all_values():
    images, features = random_images(9, 6, 7, seed=5), haar_features((7, 6))
    blocks = list(feature_blocks(images, features, block=100))
    assert [first for first, _ in blocks] == list(range(0, len(features), 100))
    assert np.array_equal(
        np.concatenate([values for _, values in blocks]), feature_values(images, features)
    )


@pytest.mark.parametrize("window", [(2, 8), (8,), (8.0, 8.0), (5000, 5000), "24x24"])
def test_an_invalid_window_raises(window):
    with pytest.raises(ValueError, match="window="):
        haar_features(window)


def test_an_invalid_kind_raises():
    with pytest.raises(ValueError, match="kind='tilted' is not valid"):
        haar_features((8, 8), "tilted")


@pytest.mark.parametrize(
    ("rectangle", "tilted"), [((5, 0, 4, 4), False), ((-1, 0, 3, 3), False), ((1, 0, 2, 2), True)]
)
def test_a_rectangle_outside_the_window_raises(rectangle, tilted):
    features = haar_features((8, 8))[:3]
    features.rectangles[1, 1] = rectangle
    features.tilted[1] = tilted
    with pytest.raises(ValueError, match=r"rectangle \d of feature 1 is not inside the window"):
        feature_values(random_images(1, 8, 8), features)


def test_an_image_of_another_size_than_the_window_raises():
    features = haar_features((8, 8))
    with pytest.raises(ValueError, match="7 × 6 pixels, but the window has 8 × 8"):
        feature_values(random_images(1, 6, 7), features)
    with pytest.raises(ValueError, match="8 × 9 pixels, but the window has 8 × 8"):
        feature_values(random_images(1, 9, 8), features)
