"""Cascades in XML and samples in `.vec` files: their mutations, and the checks of the readers."""

from __future__ import annotations

import json
import re
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import mutate_bytes
import mutate_metadata
import numpy as np
from limits import FAST, MEGABYTE, Meter
from random_cascades import OLD_FORMAT
from rows import expect

from bosquet.vision import Cascade, CascadeFileError, Stage, WeakTree, read_vec
from bosquet.vision.checkpoint import TrainedStage, load_checkpoint, save_checkpoint
from bosquet.vision.opencv_xml import cascade_from_xml, cascade_to_xml

READ = {"seconds": 1.0, "virtual": 256 * MEGABYTE}
USE = {"memory": 64 * MEGABYTE, "seconds": 5.0, "virtual": 1024 * MEGABYTE}
BYTES_PER_BYTE, CONSTANT_BYTES = 200, 8 * MEGABYTE

NUMBERS = (
    "0", "-0", "1", "-1", "2", "3", "7", "64", "4096", "4097", "65536", "2147483647", "2147483648",
    "-2147483649", "999999999", "1e39", "3e38", "1e-400", "nan", "inf", "1_0", "0x1", "", "1 2", "٣",
)  # fmt: skip
HEADERS = (
    '<?xml version="1.0" encoding="{}"?>',
    '<?xml version="1.1"?>',
    "<?xml?>",
    "",
    "<!DOCTYPE a>",
    '<!DOCTYPE a [<!ENTITY b "c">]>',
    "<!-- a comment -->",
    "<?php ?>",
)
ENCODINGS = (
    "utf-7", "utf-8", "utf-16", "utf-32", "latin-1", "cp1252", "ascii", "shift_jis", "gb18030", "hz",
    "rot13", "base64", "zlib", "idna", "punycode", "undefined", "mbcs", "unicode_escape", "utf_8_sig",
    "iso2022_kr", "none", "", "é", "x" * 300, "utf-8\x00",
)  # fmt: skip
_MARKUP = re.compile(r"<[^<>]*>|[^<>]+")
_WORD = re.compile(r"[^\s<>]+")


def seeds() -> list[bytes]:
    """Return cascades of stumps, of trees, with tilted features, and in the old format."""
    rectangles = np.zeros((3, 3, 4), int)
    rectangles[:, 0], rectangles[:, 1] = (1, 1, 6, 4), (1, 1, 3, 4)
    rectangles[2, :2] = (5, 1, 2, 2), (5, 1, 1, 2)
    weights = np.zeros((3, 3), np.float32)
    weights[:, 0], weights[:, 1] = -1, 2
    stump = WeakTree(
        np.array([0]), np.array([0.01]), np.array([0]), np.array([-1]), np.array([-1.0, 1])
    )
    tree = WeakTree(
        np.array([1, 2]),
        np.array([0.1, -0.1]),
        np.array([1, 0]),
        np.array([-1, -2]),
        np.arange(3.0),
    )
    window, tilted = (12, 10), np.array([False, False, True])
    made = [
        Cascade(
            window, rectangles, weights, tilted, (Stage((stump,), 0.5), Stage((tree, stump), 0.0))
        ),
        Cascade(window, rectangles[:2], weights[:2], tilted[:2], (Stage((stump,) * 3, -1.0),)),
    ]
    return [*(cascade_to_xml(one).encode() for one in made), OLD_FORMAT.encode()]


class CascadeMutator:
    """Mutations of elements, numbers and bytes of cascade files."""

    def __init__(self) -> None:
        self.seeds = seeds()

    def make(self, rng: Random) -> bytes:
        data = rng.choice(self.seeds)
        way = rng.random()
        if way < 0.2:
            return mutate_bytes.mutated(data, rng.choice(self.seeds), rng)
        text = data.decode()
        for _ in range(rng.choice((1, 1, 2, 3))):
            text = rng.choice((_other_number, _other_number, _other_elements, _other_header))(
                text, rng
            )
        if way < 0.25:
            return text.encode(rng.choice(("utf-16", "utf-32", "utf-7", "latin-1")), "replace")
        return text.encode("utf-8", "surrogatepass")


def _other_number(text: str, rng: Random) -> str:
    words = [found for found in _WORD.finditer(text) if text[found.start() - 1] in "> \n"]
    if not words:
        return text
    word = rng.choice(words)
    return text[: word.start()] + rng.choice(NUMBERS) + text[word.end() :]


def _other_elements(text: str, rng: Random) -> str:
    """Remove, duplicate, swap or rename tags and texts; duplicate or remove whole elements."""
    pieces = _MARKUP.findall(text)
    if not pieces:
        return text
    way, one, two = rng.randrange(6), rng.randrange(len(pieces)), rng.randrange(len(pieces))
    start, end = min(one, two), max(one, two)
    if way == 0:
        pieces[one], pieces[two] = pieces[two], pieces[one]
    elif way == 1:
        pieces[one] = rng.choice(
            ("", "<_>", "</_>", "<a b='c'>", "&lt;", "&#0;", "&x;", "<![CDATA[1]]>")
        )
    elif way == 2:
        pieces[end:end] = pieces[start : min(end, start + 40)]
    elif way == 3:
        del pieces[start : min(end, start + 40)]
    elif way == 4:
        pieces[one] *= rng.choice((2, 40, 1000))
    else:
        pieces[one] = pieces[one].replace("_", rng.choice(("__", "stage", "é")))
    return "".join(pieces)


def _other_header(text: str, rng: Random) -> str:
    header = rng.choice((HEADERS[0], *HEADERS)).format(rng.choice(ENCODINGS))
    return header + text.removeprefix('<?xml version="1.0"?>')


def check_cascade(data: bytes, rng: Random, meter: Meter, phase: Callable[[str], None]) -> str:
    """Check that a cascade file is rejected with one line, or that it runs and can be written again."""
    meter.start()
    phase("read")
    limits = {"memory": CONSTANT_BYTES + BYTES_PER_BYTE * len(data), **READ}
    try:
        cascade = cascade_from_xml(data)
    except CascadeFileError as error:
        expect("\n" not in str(error), "the message has several lines")
        meter.check("reading a cascade", **limits)
        return "rejected"
    meter.check("reading a cascade", **limits)
    meter.start()
    phase("use")
    width, height = cascade.window
    if width * height <= 10_000:
        image = (np.arange((width + 4) * (height + 4)) % 251).astype(np.uint8)
        image = image.reshape(height + 4, width + 4)
        found = cascade.detect(image, n_jobs=1, max_size=cascade.window)
        expect(np.isfinite(found.score).all(), "a score is not finite")
    phase("write")
    text = cascade_to_xml(cascade)
    expect(cascade_to_xml(cascade_from_xml(text.encode())) == text, "written twice, it differs")
    meter.check("using a cascade", **USE)
    return "loaded"


# ------------------------------------------------------------------------------------------ samples
COUNTS = (0, 1, -1, 2, 5, 16, 24, 25, 2**15, 2**24, 2**24 + 1, 2**31 - 1, -(2**31))


def make_vec(rng: Random) -> bytes:
    """Return a `.vec` file with another header, other samples, or changed bytes."""
    side, samples = rng.choice((1, 4, 5)), rng.choice((0, 1, 3))
    pixels = side * side
    body = b"".join(
        b"\0" + struct.pack(f"<{pixels}h", *(rng.randrange(256) for _ in range(pixels)))
        for _ in range(samples)
    )
    head = [samples, pixels]
    if rng.random() < 0.5:
        head[rng.randrange(2)] = rng.choice(COUNTS)
    data = struct.pack("<iihh", *head, 0, 0) + body
    return data if rng.random() < 0.3 else mutate_bytes.mutated(data, data, rng)


def check_vec(data: bytes, rng: Random, meter: Meter, phase: Callable[[str], None]) -> str:
    """Check that a file gives samples of grey levels, or an error of one line."""
    window = rng.choice((None, None, (4, 4), (5, 5), (1, 24), (2**12, 2**12)))
    with tempfile.NamedTemporaryFile(dir=FAST, suffix=".vec") as file:
        file.write(data)
        file.flush()
        meter.start()
        phase("read")
        limits = {"memory": CONSTANT_BYTES + BYTES_PER_BYTE * len(data), **READ}
        try:
            samples = read_vec(file.name, window)
        except CascadeFileError as error:
            expect("\n" not in str(error), "the message has several lines")
            meter.check("reading samples", **limits)
            return "rejected"
    meter.check("reading samples", **limits)
    expect(samples.dtype == np.uint8 and samples.ndim == 3, "samples are not images")
    return "loaded"


# -------------------------------------------------------------------------------------- checkpoints
class CheckpointMutator:
    """Mutations of the checkpoint of the training of a cascade."""

    def __init__(self) -> None:
        cascades = [cascade_from_xml(data) for data in seeds()]
        self.seeds = [_checkpoint_of(cascade) for cascade in cascades]
        self.pool = mutate_metadata.Pool([json.loads(data) for data in self.seeds])

    def make(self, rng: Random) -> bytes:
        data = rng.choice(self.seeds)
        if rng.random() < 0.1:
            return mutate_bytes.mutated(data, rng.choice(self.seeds), rng)
        return mutate_metadata.mutated(data, self.pool, rng)


def _checkpoint_of(cascade: Cascade) -> bytes:
    stages = [
        TrainedStage(number, len(stage.trees), 1.0, 0.5, True, 10, 20, 0.5**number, 1.5)
        for number, stage in enumerate(cascade.stages, start=1)
    ]
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        path = Path(folder) / "checkpoint"
        save_checkpoint(path, cascade, stages, KNOWN)
        return path.read_bytes()


KNOWN = {"images": "0123", "n_negatives": "100"}


def check_checkpoint(data: bytes, rng: Random, meter: Meter, phase: Callable[[str], None]) -> str:
    """Check that a checkpoint is resumed, or rejected with one line."""
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        path = Path(folder) / "checkpoint"
        path.write_bytes(data)
        meter.start()
        phase("read")
        limits = {"memory": CONSTANT_BYTES + BYTES_PER_BYTE * len(data), **READ}
        try:
            reached = load_checkpoint(path, KNOWN)
        except ValueError as error:
            other_training = "checkpoint of a training with different" in str(error)
            expect(isinstance(error, CascadeFileError) or other_training, f"{error!r}")
            expect("\n" not in str(error), "the message has several lines")
            reached = None
        meter.check("reading a checkpoint", **limits)
        if reached is None:
            return "rejected"
        phase("write")
        save_checkpoint(path, *reached, KNOWN)
        once = path.read_bytes()
        again = load_checkpoint(path, KNOWN)
        expect(again is not None, "written again, it is none")
        save_checkpoint(path, *again, KNOWN)
        expect(path.read_bytes() == once, "written twice, it differs")
    return "loaded"
