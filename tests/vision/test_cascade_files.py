"""A damaged or malicious cascade file raises a one-line error; it never crashes, hangs or fills memory."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from random_cascades import OLD_FORMAT, picture, random_cascade

from bosquet.vision import Cascade, CascadeFileError, read_vec
from bosquet.vision.opencv_xml import cascade_from_xml, cascade_to_xml

GOOD = cascade_to_xml(random_cascade(1, stages=2, trees=2, nodes=3, n_features=4, tilted=True))


def test_the_old_format_is_read_with_its_trees():
    cascade = cascade_from_xml(OLD_FORMAT.encode())
    assert cascade.window == (12, 10)
    tree = cascade.stages[0].trees[0]
    np.testing.assert_array_equal(tree.left, [0, -1])
    np.testing.assert_array_equal(tree.right, [1, -2])
    np.testing.assert_allclose(tree.leaves, [-0.5, 0.25, 1.5])


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"<opencv_storage>", '<!DOCTYPE a [<!ENTITY b "c">]><opencv_storage>', "document type"),
        (r"<opencv_storage>", "<storage>", "not valid XML"),
        (r"<width>10</width>", "<width>2</width>", "window=.* is not valid"),
        (r"<width>10</width>", "<width>1_0</width>", "not an integer"),
        (r"<width>10</width>", "<width>99999999999999999999</width>", "not an integer"),
        (r"<width>10</width>", "", "has no <width>"),
        (r"<stageThreshold>[^<]*", "<stageThreshold>nan", "not a finite number"),
        (r"<stageThreshold>[^<]*", "<stageThreshold>1e400", "not a finite number"),
        (r"<leafValues>[^<]*", "<leafValues>", "leaves|tree"),
        (r"<internalNodes>[^<]*", "<internalNodes> 1 2 3", "left, right, feature"),
        (r"<internalNodes>[^<]*", "<internalNodes> 0 -1 77 0.5", "leaves|features"),
        (r"<rects>", "<rects><_>0 0 999 1 1.</_>", "outside|rectangles"),
        (r"<stages>.*</stages>", "<stages></stages>", "stages"),
        (r"(?s)<features>.*</features>", "<features></features>", "feature"),
    ],
)
def test_a_damaged_file_raises_an_error_of_one_line(pattern, replacement, message):
    text = re.sub(pattern, lambda _: replacement, GOOD, count=1, flags=re.DOTALL)
    assert text != GOOD
    with pytest.raises(CascadeFileError, match=message) as caught:
        cascade_from_xml(text.encode())
    assert "\n" not in str(caught.value)


def test_entities_are_never_expanded():
    bomb = "<!DOCTYPE a [" + '<!ENTITY e0 "ha">'
    bomb += "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12)) + "]>"
    text = GOOD.replace("<opencv_storage>", bomb + "<opencv_storage>&e11;", 1)
    with pytest.raises(CascadeFileError, match="document type"):
        cascade_from_xml(text.encode())


@pytest.mark.parametrize(
    "encoding", ["utf-7", "gb18030", "idna", "undefined", "zlib", "rot13", "no-such"]
)
def test_an_unsupported_encoding_raises(encoding, tmp_path):
    path = tmp_path / "faces.xml"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?><opencv_storage/>')
    with pytest.raises(CascadeFileError, match=r"faces\.xml: not valid XML") as caught:
        Cascade.from_opencv(path)
    assert "\n" not in str(caught.value)


def test_the_largest_numbers_survive_writing_and_reading():
    most = float(np.finfo(np.float32).max)
    text = re.sub(r"<stageThreshold>[^<]*", f"<stageThreshold>{most!r}", GOOD, count=1)
    text = re.sub(r"(<leafValues>\s*)\S*", r"\g<1>3e38", text, count=1)
    once = cascade_to_xml(cascade_from_xml(text.encode()))
    assert cascade_to_xml(cascade_from_xml(once.encode())) == once
    with pytest.raises(CascadeFileError, match="not a finite number"):
        cascade_from_xml(re.sub(r"<stageThreshold>[^<]*", "<stageThreshold>3.5e38", GOOD).encode())


def test_deep_nesting_raises():
    deep = "<a>" * 100_000
    with pytest.raises(CascadeFileError, match="nested more than 32 levels"):
        cascade_from_xml(f"<opencv_storage>{deep}".encode())


def test_a_tree_of_stages_raises():
    with pytest.raises(CascadeFileError, match="stage 0 has parent 4, expected -1"):
        cascade_from_xml(OLD_FORMAT.replace("<parent>-1", "<parent>4").encode())


def mutated(text: bytes, chance: random.Random) -> bytes:
    """A file with a few bytes changed, deleted or duplicated, or numbers replaced by extreme ones."""
    data = bytearray(text)
    for _ in range(chance.randint(1, 4)):
        kind = chance.randrange(5)
        at = chance.randrange(len(data))
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at : at + chance.randrange(1, 200)]
        elif kind == 2:
            data[at:at] = data[chance.randrange(len(data)) :][: chance.randrange(1, 200)]
        else:
            numbers = list(re.finditer(rb"-?\d+(\.\d+)?(e[+-]\d+)?", bytes(data)))
            if numbers:
                spot = chance.choice(numbers)
                wild = [
                    b"0",
                    b"-1",
                    b"1e39",
                    b"nan",
                    b"2147483648",
                    b"-2147483649",
                    b"1",
                    b"7",
                    b"64",
                    b"",
                ]
                data[spot.start() : spot.end()] = chance.choice(wild)
        if not data:
            return b""
    return bytes(data)


@pytest.mark.parametrize("text", [GOOD, OLD_FORMAT], ids=["current format", "old format"])
def test_mutated_files_are_read_or_raise(text):
    chance, image = random.Random(0), picture(0, 40, 30)
    messages = []
    for _ in range(1000):
        try:
            cascade = cascade_from_xml(mutated(text.encode(), chance))
        except CascadeFileError as error:
            messages.append(str(error))
        else:  # a cascade that was read can run, and can be written again
            if cascade.window[0] <= 40 and cascade.window[1] <= 30:
                cascade.detect(image, n_jobs=1, max_size=cascade.window)
            cascade_to_xml(cascade)
    assert 300 < len(messages) < 995
    assert not any("\n" in message for message in messages)


def vec_bytes(samples, pixels, images):
    head = np.array([samples, pixels], "<i4").tobytes() + np.zeros(2, "<i2").tobytes()
    return head + b"".join(b"\0" + image.astype("<i2").tobytes() for image in images)


def test_samples_of_a_vec_file_are_read(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (5, 6, 4))
    (tmp_path / "some.vec").write_bytes(vec_bytes(5, 24, images))
    np.testing.assert_array_equal(read_vec(tmp_path / "some.vec", (4, 6)), images)
    with pytest.raises(CascadeFileError, match="not square"):
        read_vec(tmp_path / "some.vec")
    with pytest.raises(CascadeFileError, match=r"24 pixels, but window=\(5, 5\) has 25"):
        read_vec(tmp_path / "some.vec", (5, 5))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "too few for the header"),
        (vec_bytes(5, 16, [np.zeros((4, 4))]), "bytes"),
        (vec_bytes(-1, 16, []), "not a .vec file"),
        (vec_bytes(2**31 - 1, 2**24, []), "bytes"),
        (vec_bytes(1, 16, [np.full((4, 4), 300)]), "grey levels"),
    ],
)
def test_a_damaged_vec_file_raises(tmp_path, data, message):
    (tmp_path / "bad.vec").write_bytes(data)
    with pytest.raises(CascadeFileError, match=message):
        read_vec(tmp_path / "bad.vec")


def test_a_missing_file_raises_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Cascade.from_opencv(tmp_path / "none.xml")
