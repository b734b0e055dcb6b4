"""Lists of images and boxes, as OpenCV's tools write them."""

from __future__ import annotations

import numpy as np
import pytest
from made_cascades import picture, random_cascade

from bosquet.vision import crop_samples, read_annotations


def written(folder, text, name="info.dat"):
    (folder / name).write_text(text)
    return folder / name


def test_a_line_is_a_path_a_number_and_boxes(tmp_path):
    marked = read_annotations(
        written(
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
        ("a.png 2 1 2 3 4", r"info\.dat, line 2: 2 objects have 8 numbers .*, not 4"),
        ("a.png 1 1 2 3 4 5", "line 2: 1 objects have 4 numbers .*, not 5"),
        ("a.png 1 1 2 0 4", "line 2: a box has no width or no height"),
    ],
)
def test_a_line_that_does_not_add_up_is_refused_by_number(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        read_annotations(written(tmp_path, f"first.png 0\n{line}\n"))


def test_objects_are_cut_out_and_found_again_and_what_cannot_be_read_is_named(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    image = picture(0, 90, 70)
    image_module.fromarray(image).save(tmp_path / "a.png")
    cascade = random_cascade(4, stages=4)
    boxes = cascade.detect(image, min_neighbors=2).boxes
    numbers = " ".join(map(str, boxes.ravel()))
    marked = read_annotations(
        written(tmp_path, f"a.png {len(boxes)} {numbers}\ngone.png 1 1 1 5 5\n")
    )
    with pytest.warns(UserWarning, match=r"1 file could not be read .*gone\.png"):
        crops = marked.crops((10, 8))
    assert np.array_equal(crops, crop_samples(image, boxes, (10, 8)))
    with pytest.warns(UserWarning, match=r"1 file could not be read .*gone\.png"):
        result = cascade.evaluate(marked.images, marked.boxes, min_neighbors=(2,), fewer_stages=0)
    assert (result.n_images, result.n_objects) == (1, len(boxes))
    assert result.table["hits"].tolist() == [len(boxes)]


def test_a_box_outside_its_image_is_refused_with_the_file(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    image_module.fromarray(picture(0)).save(tmp_path / "a.png")
    marked = read_annotations(written(tmp_path, "a.png 1 400 400 10 10\n"))
    with pytest.raises(ValueError, match=r"a\.png: box 0 lies outside the image of 60 × 45"):
        marked.crops((10, 8))
