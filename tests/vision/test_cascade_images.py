"""Images as arrays, files or folders: conversion to grey levels with a warning, samples and crops."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from random_cascades import picture, random_cascade

from bosquet.vision import ImageConversionWarning, crop_samples, make_samples, read_images
from bosquet.vision.images import as_stack, grey_image


def test_colours_become_the_luma_that_opencv_computes():
    cv2 = pytest.importorskip("cv2")
    colours = np.random.default_rng(0).integers(0, 256, (30, 40, 3)).astype(np.uint8)
    with pytest.warns(ImageConversionWarning, match="red, green, blue"):
        grey = grey_image(colours)
    np.testing.assert_array_equal(grey, cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY))


@pytest.mark.parametrize(
    "make",
    [
        lambda image: image / 255,
        lambda image: image.astype(np.float32),
        lambda image: image.astype(np.uint16) * 257,
        lambda image: image.astype(int),
    ],
)
def test_other_number_types_become_the_same_levels(make):
    image = picture(0)
    with pytest.warns(ImageConversionWarning):
        np.testing.assert_array_equal(grey_image(make(image)), image)


@pytest.mark.parametrize(
    "convert", [lambda image: np.dstack([image] * 3), lambda image: image / 255]
)
def test_a_conversion_in_a_loop_warns_once(convert):
    cascade = random_cascade(0)
    cascade.detect(picture(0))  # imports on first use may change the warning filters
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for seed in range(5):  # images of several ranges
            cascade.detect(convert(picture(seed) // (seed + 1)))
    assert len(caught) == 1
    assert caught[0].category is ImageConversionWarning
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((2, 3, 5)), "shape"),
        (np.zeros((0, 5), np.uint8), "height and width must be"),
        (np.array([[0.5, np.nan]]), "finite"),
        (np.array([[-3.0, 1.0]]), "negative pixel -3"),
        (np.array([["a", "b"]]), "numbers"),
    ],
)
def test_an_invalid_image_raises(image, message):
    with pytest.raises(ValueError, match=message):
        grey_image(image)


def test_a_folder_is_read_and_unreadable_files_are_skipped_with_a_warning(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    image = picture(0)
    image_module.fromarray(image).save(tmp_path / "b.png")
    image_module.fromarray(image.T).save(tmp_path / "a.png")
    (tmp_path / "broken.png").write_bytes(b"no image")
    (tmp_path / "notes.txt").write_text("none either")
    with pytest.warns(UserWarning, match=r"1 file could not be read and is skipped: .*broken\.png"):
        images = read_images(tmp_path)
    np.testing.assert_array_equal(images[0], image.T)
    np.testing.assert_array_equal(images[1], image)
    np.testing.assert_array_equal(grey_image(tmp_path / "b.png"), image)
    with pytest.raises(ValueError, match="not a folder"):
        read_images(tmp_path / "none")
    with pytest.warns(UserWarning, match="skipped"):
        assert [part.shape for part in read_images(tmp_path, (8, 6))] == [(6, 8)] * 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty' has no image files \(\.bmp"):
        read_images(tmp_path / "empty")


def test_without_pillow_the_error_gives_the_install_command(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=r"pip install 'bosquet\[vision\]'"):
        read_images([tmp_path / "a.png"])


def test_images_of_different_sizes_raise():
    with pytest.raises(
        ValueError, match=r"samples\[1\] has 6 × 5 pixels, but the window has 4 × 4"
    ):
        as_stack([np.zeros((4, 4), np.uint8), np.zeros((5, 6), np.uint8)], (4, 4), "samples")


def test_samples_without_variation_are_the_images():
    images = np.stack([picture(seed, 12, 10) for seed in range(3)])
    same = make_samples(images, 5, shift=0, mirror=False, rotation=0, brightness=0)
    np.testing.assert_array_equal(same, images[[0, 1, 2, 0, 1]])


def test_samples_depend_on_the_seed_and_vary_within_bounds():
    images = np.stack([picture(seed, 24, 24) for seed in range(2)])
    one = make_samples(images, 40, random_state=3)
    np.testing.assert_array_equal(one, make_samples(images, 40, random_state=3))
    assert not np.array_equal(one, make_samples(images, 40, random_state=4))
    assert len(np.unique(one.reshape(40, -1), axis=0)) == 40
    brighter = make_samples(images, 40, shift=0, mirror=False, rotation=0, brightness=0.1)
    change = brighter.astype(float) - images[np.arange(40) % 2]
    assert np.abs(change).max() <= 0.1 * 255 + 0.1 * 128 + 1


def test_about_half_of_the_samples_are_mirrored():
    image = picture(0, 16, 12)[None]
    made = make_samples(image, 30, shift=0, rotation=0, brightness=0)
    mirrored = [np.array_equal(sample, image[0][:, ::-1]) for sample in made]
    assert all(m or np.array_equal(s, image[0]) for m, s in zip(mirrored, made, strict=True))
    assert 5 < sum(mirrored) < 25


def test_rotation_and_shift_stay_within_their_bounds():
    rows, columns = np.mgrid[:24, :24]
    slope = (20 + 8.0 * columns).astype(np.uint8)[None]  # brighter to the right
    inside = np.s_[6:18, 6:18]
    plane = np.column_stack(
        [np.ones(144), rows[inside].ravel() - 11.5, columns[inside].ravel() - 11.5]
    )

    def planes(**variation):
        made = make_samples(slope, 60, mirror=False, brightness=0, **variation)
        return np.array([np.linalg.lstsq(plane, s[inside].ravel(), rcond=None)[0] for s in made])

    _, down, right = planes(shift=0, rotation=10).T
    angles = np.degrees(np.arctan2(down, right))
    assert 8 < np.abs(angles).max() < 10.3
    assert angles.min() < -5 < 5 < angles.max()
    middle = planes(shift=0.1, rotation=0)[:, 0] - (20 + 8 * 11.5)
    assert 1.5 < np.abs(middle / 8).max() < 2.45  # a tenth of 24 pixels
    assert middle.min() < 0 < middle.max()


def test_crops_have_the_size_of_the_window():
    image = picture(0, 60, 50)
    cut = crop_samples(image, [[10, 12, 8, 6], [0, 0, 16, 12]], (8, 6))
    np.testing.assert_array_equal(cut[0], image[12:18, 10:18])
    assert cut.shape == (2, 6, 8)
    with pytest.raises(ValueError, match=r"boxes\[0\] lies outside"):
        crop_samples(image, [[100, 100, 5, 5]], (8, 6))
