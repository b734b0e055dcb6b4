"""Bounding boxes of objects in images, in the list format of OpenCV's tools."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bosquet.vision.features import check_window
from bosquet.vision.images import readable_images
from bosquet.vision.samples import crop_samples

# Path of the image, number of boxes, four numbers per box.
LINE = re.compile(r"(?P<image>.+?)\s+(?P<count>\d{1,9})(?P<numbers>(?:\s+-?\d{1,9})*)")


@dataclass(frozen=True, eq=False)
class Annotations:
    """Images, and the bounding boxes of the objects in each.

    Attributes
    ----------
    images : list of Path
    boxes : list of int arrays, shape (n_objects, 4)
        x, y, width and height.
    """

    images: list[Path]
    boxes: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.images)

    def crops(self, window: tuple[int, int], margin: float = 0.0) -> np.ndarray:
        """Return all objects, cropped by `crop_samples` and resized: (n_objects, height, width).

        Images that cannot be read are skipped with a warning that lists them.
        """
        window = check_window(window)
        stacks = [np.zeros((0, window[1], window[0]), np.uint8)]
        for path, image, boxes in zip(
            self.images, readable_images(self.images), self.boxes, strict=True
        ):
            if image is None:
                continue
            try:
                stacks.append(crop_samples(image, boxes, window, margin))
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
        return np.concatenate(stacks)


def read_annotations(path: str | os.PathLike[str]) -> Annotations:
    """Read a list of images as ``opencv_annotation`` writes it (info.dat), or of backgrounds (bg.txt).

    A line holds the path of an image, relative to the list, then the number of objects, then x, y, width
    and height of each object. A line with a path only is an image without objects.

    Parameters
    ----------
    path : path of the list

    Returns
    -------
    Annotations

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bosquet.vision import read_annotations
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "info.dat").write_text("a.png 2 140 100 45 45 10 20 50 50\\nb.png\\n")
    ...     marked = read_annotations(Path(folder) / "info.dat")
    >>> [image.name for image in marked.images], marked.boxes[0].tolist()
    (['a.png', 'b.png'], [[140, 100, 45, 45], [10, 20, 50, 50]])
    """
    path = Path(path)
    images, boxes = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        line = line.strip()
        if not line:
            continue
        match = LINE.fullmatch(line)
        name, count, numbers = (line, 0, []) if match is None else _fields_of_line(match)
        if len(numbers) != 4 * count:
            raise ValueError(
                f"{path.name}, line {number}: {count} objects need {4 * count} numbers (x, y, width, height"
                f" of each), but the line has {len(numbers)}"
            )
        box = np.array(numbers, int).reshape(-1, 4)
        if (box[:, 2:] <= 0).any():
            raise ValueError(
                f"{path.name}, line {number}: the width and height of a box must be at least 1"
            )
        images.append(path.parent / name.replace("\\", "/"))
        boxes.append(box)
    return Annotations(images, boxes)


def _fields_of_line(match: re.Match[str]) -> tuple[str, int, list[int]]:
    return match["image"], int(match["count"]), [int(word) for word in match["numbers"].split()]
