"""read_annotations: lists of images and boxes in the format of OpenCV's tools."""

from __future__ import annotations

import numpy as np
import pytest
from random_cascades import picture, random_cascade

from bosquet.vision import crop_samples, read_annotations


def write_annotations(folder, text, name="info.dat"):
    (folder / name).write_text(text)
    return folder / name


def test_a_line_is_a_path_a_number_and_boxes(tmp_path):
    marked = read_annotations(
        write_annotations(
            tmp_path, "img/a.png  2 140 100 45 45   10 20 50 60\n\nmy pictures/b 1.png 0\nc.png\n"
        )
    )
    assert marked.images == [
        tmp_path / "img/a.png",
        tmp_path / "my pictures/b 1.png",
        tmp_path / "c.png",
    ]
    assert [boxes.tolist() for boxes in marked.boxes] == [
        [[140, 100, 45, 45], [10, 20, 50, 60]],
        [],
        [],
    ]
    assert len(marked) == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.png 2 1 2 3 4", r"info\.dat, line 2: 2 objects need 8 numbers .* has 4"),
        ("a.png 1 1 2 3 4 5", "line 2: 1 objects need 4 numbers .* has 5"),
        ("a.png 1 1 2 0 4", "line 2: the width and height of a box"),
    ],
)
def test_an_invalid_line_raises_with_its_number(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        read_annotations(write_annotations(tmp_path, f"first.png 0\n{line}\n"))


def test_crops_and_evaluate_skip_unreadable_files_with_a_warning(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    image = picture(0, 90, 70)
    image_module.fromarray(image).save(tmp_path / "a.png")
    cascade = random_cascade(4, stages=4)
    boxes = cascade.detect(image, min_neighbors=2).boxes
    numbers = " ".join(map(str, boxes.ravel()))
    marked = read_annotations(
        write_annotations(tmp_path, f"a.png {len(boxes)} {numbers}\ngone.png 1 1 1 5 5\n")
    )
    with pytest.warns(UserWarning, match=r"1 file could not be read .*gone\.png"):
        crops = marked.crops((10, 8))
    assert np.array_equal(crops, crop_samples(image, boxes, (10, 8)))
    with pytest.warns(UserWarning, match=r"1 file could not be read .*gone\.png"):
        result = cascade.evaluate(marked.images, marked.boxes, min_neighbors=(2,), fewer_stages=0)
    assert (result.n_images, result.n_objects) == (1, len(boxes))
    assert result.table["hits"].tolist() == [len(boxes)]


def test_a_box_outside_its_image_raises_with_the_name_of_the_file(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    image_module.fromarray(picture(0)).save(tmp_path / "a.png")
    marked = read_annotations(write_annotations(tmp_path, "a.png 1 400 400 10 10\n"))
    with pytest.raises(ValueError, match=r"a\.png: boxes\[0\] lies outside the image of 60 × 45"):
        marked.crops((10, 8))
