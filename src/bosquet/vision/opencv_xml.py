"""OpenCV's cascade files: written in the current format, read in the current and the old one.

Files are not trusted: XML entities are not expanded, every number has a limit, and a file that does not
describe a valid cascade raises a :class:`~bosquet.vision.cascade.CascadeFileError`.
"""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import numpy as np

from bosquet._files import atomic_write
from bosquet.vision.cascade import RECTANGLES, Cascade, CascadeFileError, Stage, WeakTree

# For comparison: the largest file of OpenCV has 3.5 MB, 2,913 stumps and 47 stages.
MAX_FILE_SIZE = 1 << 28
MAX_STAGES = 10_000
MAX_NODES = 2_000_000
_SINGLE_OVERFLOW = 2.0**128 - 2.0**103  # numbers from here on are infinite in single precision
MAX_DEPTH = 32  # nesting of elements; a cascade needs 9 levels


def read_opencv(path: str | os.PathLike[str]) -> Cascade:
    """Read the cascade of an OpenCV XML file."""
    path = Path(path)
    size = path.stat().st_size
    if size > MAX_FILE_SIZE:
        raise CascadeFileError(
            f"{path.name}: the file has {size} bytes, more than the limit of {MAX_FILE_SIZE}"
        )
    try:
        return cascade_from_xml(path.read_bytes())
    except CascadeFileError as error:
        raise CascadeFileError(f"{path.name}: {error}") from None


def cascade_from_xml(data: bytes) -> Cascade:
    """Return the cascade described by the content of an XML file."""
    root = _parse(data)
    if root.tag != "opencv_storage" or len(root) == 0:
        raise CascadeFileError("the root must be an <opencv_storage> that contains a cascade")
    top = root[0]
    try:
        if top.find("size") is not None and top.find("stageType") is None:
            return _parse_old_cascade(top)
        return _parse_current_cascade(top)
    except CascadeFileError:
        raise
    except (ValueError, OverflowError) as error:
        raise CascadeFileError(" ".join(str(error).split())) from None


def write_opencv(cascade: Cascade, path: str | os.PathLike[str]) -> None:
    """Write the cascade as XML that ``cv2.CascadeClassifier`` loads."""
    if not cascade.stages:
        raise ValueError("the cascade has no stages; OpenCV cannot load such a file")
    with atomic_write(path) as draft:
        draft.write_text(cascade_to_xml(cascade), encoding="ascii")


def cascade_to_xml(cascade: Cascade) -> str:
    return "\n".join(_xml_lines(cascade)) + "\n"


# Reading.


def _parse(data: bytes) -> ElementTree.Element:
    """Parse XML. A document type is an error, because it can define entities that expand without limit."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    depth = 0

    def refuse(*_: object) -> None:
        raise CascadeFileError("a document type (DOCTYPE) is not allowed in a cascade file")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise CascadeFileError(f"elements are nested more than {MAX_DEPTH} levels deep")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(data, True)
        return builder.close()
    except CascadeFileError:
        raise
    except (expat.ExpatError, LookupError, AssertionError, ValueError) as error:
        # ValueError and LookupError: Python has no codec for the encoding that the file declares.
        raise CascadeFileError(f"not valid XML: {' '.join(str(error).split())}") from None


def _required_child(element: ElementTree.Element, tag: str) -> ElementTree.Element:
    child = element.find(tag)
    if child is None:
        raise CascadeFileError(f"<{element.tag}> has no <{tag}>")
    return child


def _words_of(element: ElementTree.Element) -> list[str]:
    return (element.text or "").split()


def _parse_integer(word: str) -> int:
    # Python's int also accepts underscores, digits of any script, and numbers of any length.
    digits = word.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise CascadeFileError(f"{word[:40]!r} is not an integer of at most 9 digits")
    return int(word)


def _parse_number(word: str) -> float:
    try:
        value = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if not abs(value) < _SINGLE_OVERFLOW:
        raise CascadeFileError(f"{word[:40]!r} is not a finite number in single precision")
    return value


def _single_word(element: ElementTree.Element, tag: str) -> str:
    words = _words_of(_required_child(element, tag))
    if len(words) != 1:
        raise CascadeFileError(
            f"<{tag}> of <{element.tag}> has {len(words)} values, expected exactly one"
        )
    return words[0]


def _read_feature(element: ElementTree.Element) -> tuple[list[list[int]], list[float], bool]:
    rectangles = [[0] * 4 for _ in range(RECTANGLES)]
    weights = [0.0] * RECTANGLES
    elements = list(_required_child(element, "rects"))
    if not 1 <= len(elements) <= RECTANGLES:
        raise CascadeFileError(
            f"a feature has {len(elements)} rectangles; it must have 1 to {RECTANGLES}"
        )
    for i, rectangle in enumerate(elements):
        words = _words_of(rectangle)
        if len(words) != 5:
            raise CascadeFileError(
                f"a rectangle has {len(words)} values; it must have 5: x, y, width, height and weight"
            )
        rectangles[i] = [_parse_integer(word) for word in words[:4]]
        weights[i] = _parse_number(words[4])
    is_tilted = (
        element.find("tilted") is not None and _parse_integer(_single_word(element, "tilted")) != 0
    )
    return rectangles, weights, is_tilted


class _FeatureList:
    """Features of a file, in the order in which they are read."""

    def __init__(self) -> None:
        self.rectangles: list[list[list[int]]] = []
        self.weights: list[list[float]] = []
        self.tilted: list[bool] = []

    def add(self, element: ElementTree.Element) -> int:
        rectangles, weights, tilted = _read_feature(element)
        self.rectangles.append(rectangles)
        self.weights.append(weights)
        self.tilted.append(tilted)
        return len(self.tilted) - 1

    def cascade(self, window: tuple[int, int], stages: list[Stage]) -> Cascade:
        return Cascade(
            window,
            np.array(self.rectangles, np.int32).reshape(-1, RECTANGLES, 4),
            np.array(self.weights, np.float32).reshape(-1, RECTANGLES),
            np.array(self.tilted, bool),
            tuple(stages),
        )


def _stages_of(element: ElementTree.Element) -> ElementTree.Element:
    stages = _required_child(element, "stages")
    if not 1 <= len(stages) <= MAX_STAGES:
        raise CascadeFileError(
            f"the cascade has {len(stages)} stages; it must have 1 to {MAX_STAGES}"
        )
    return stages


def _parse_current_cascade(top: ElementTree.Element) -> Cascade:
    kind, features = _single_word(top, "stageType"), _single_word(top, "featureType")
    if kind != "BOOST" or features != "HAAR":
        raise CascadeFileError(
            f"the cascade has stageType {kind[:20]!r} and featureType {features[:20]!r}; only 'BOOST' and"
            " 'HAAR' are supported"
        )
    categories = top.find("featureParams/maxCatCount")
    if categories is not None and _words_of(categories) != ["0"]:
        raise CascadeFileError("<maxCatCount> must be 0 for Haar features")
    window = (
        _parse_integer(_single_word(top, "width")),
        _parse_integer(_single_word(top, "height")),
    )
    stages, nodes = [], 0
    for number, stage in enumerate(_stages_of(top)):
        trees = [_parse_current_tree(weak) for weak in _required_child(stage, "weakClassifiers")]
        nodes += sum(tree.n_nodes for tree in trees)
        if nodes > MAX_NODES:
            raise CascadeFileError(f"the cascade has more than {MAX_NODES} nodes")
        if not trees:
            raise CascadeFileError(f"stage {number} has no trees")
        stages.append(Stage(tuple(trees), _parse_number(_single_word(stage, "stageThreshold"))))
    features_read = _FeatureList()
    for feature in _required_child(top, "features"):
        features_read.add(feature)
    return features_read.cascade(window, stages)


def _parse_current_tree(weak: ElementTree.Element) -> WeakTree:
    inner = _words_of(_required_child(weak, "internalNodes"))
    leaves = [_parse_number(word) for word in _words_of(_required_child(weak, "leafValues"))]
    if not inner or len(inner) % 4 != 0:
        raise CascadeFileError(
            f"<internalNodes> has {len(inner)} values; each node needs 4: left, right, feature, threshold"
        )
    return WeakTree(
        np.array([_parse_integer(word) for word in inner[2::4]]),
        np.array([_parse_number(word) for word in inner[3::4]]),
        np.array([_parse_integer(word) for word in inner[0::4]]),
        np.array([_parse_integer(word) for word in inner[1::4]]),
        np.array(leaves),
    )


def _parse_old_cascade(top: ElementTree.Element) -> Cascade:
    size = _words_of(_required_child(top, "size"))
    if len(size) != 2:
        raise CascadeFileError(f"<size> has {len(size)} values, expected width and height")
    features, stages = _FeatureList(), []
    for number, stage in enumerate(_stages_of(top)):
        if stage.find("parent") is not None:
            parent = _parse_integer(_single_word(stage, "parent"))
            if parent != number - 1:
                raise CascadeFileError(
                    f"stage {number} has parent {parent}, expected {number - 1}; trees of stages are not"
                    " supported"
                )
        trees = [_parse_old_tree(tree, features) for tree in _required_child(stage, "trees")]
        if len(features.tilted) > MAX_NODES:
            raise CascadeFileError(f"the cascade has more than {MAX_NODES} nodes")
        stages.append(Stage(tuple(trees), _parse_number(_single_word(stage, "stage_threshold"))))
    return features.cascade((_parse_integer(size[0]), _parse_integer(size[1])), stages)


def _parse_old_tree(tree: ElementTree.Element, features: _FeatureList) -> WeakTree:
    feature, threshold = [], []
    leaves: list[float] = []
    children: dict[str, list[int]] = {"left": [], "right": []}
    for node in tree:
        feature.append(features.add(_required_child(node, "feature")))
        threshold.append(_parse_number(_single_word(node, "threshold")))
        for side, links in children.items():
            if node.find(f"{side}_val") is not None:
                links.append(-len(leaves))
                leaves.append(_parse_number(_single_word(node, f"{side}_val")))
            else:
                links.append(_parse_integer(_single_word(node, f"{side}_node")))
                if links[-1] <= 0:
                    raise CascadeFileError(
                        f"<{side}_node> is {links[-1]}; it must be positive (node 0 is the root)"
                    )
    return WeakTree(
        np.array(feature),
        np.array(threshold),
        np.array(children["left"]),
        np.array(children["right"]),
        np.array(leaves),
    )


# Writing.


def _xml_lines(cascade: Cascade) -> Iterator[str]:
    width, height = cascade.window
    trees = max(len(stage.trees) for stage in cascade.stages)
    yield '<?xml version="1.0"?>'
    yield "<opencv_storage>"
    yield '<cascade type_id="opencv-cascade-classifier"><stageType>BOOST</stageType>'
    yield "  <featureType>HAAR</featureType>"
    yield f"  <height>{height}</height>"
    yield f"  <width>{width}</width>"
    yield f"  <stageParams>\n    <maxWeakCount>{trees}</maxWeakCount></stageParams>"
    yield "  <featureParams>\n    <maxCatCount>0</maxCatCount></featureParams>"
    yield f"  <stageNum>{len(cascade.stages)}</stageNum>"
    yield "  <stages>"
    for stage in cascade.stages:
        yield "    <_>"
        yield f"      <maxWeakCount>{len(stage.trees)}</maxWeakCount>"
        yield f"      <stageThreshold>{_format_number(stage.threshold)}</stageThreshold>"
        yield "      <weakClassifiers>"
        for tree in stage.trees:
            nodes = zip(tree.left, tree.right, tree.feature, tree.threshold, strict=True)
            inner = " ".join(f"{a} {b} {f} {_format_number(t)}" for a, b, f, t in nodes)
            leaves = " ".join(_format_number(leaf) for leaf in tree.leaves)
            yield f"        <_>\n          <internalNodes>\n            {inner}</internalNodes>"
            yield f"          <leafValues>\n            {leaves}</leafValues></_>"
        yield "      </weakClassifiers></_>"
    yield "  </stages>"
    yield "  <features>"
    for rectangles, weights, tilted in zip(
        cascade.rectangles, cascade.weights, cascade.tilted, strict=True
    ):
        yield "    <_>\n      <rects>"
        for rectangle, weight in zip(rectangles, weights, strict=True):
            if rectangle.any():
                yield f"        <_>\n          {' '.join(map(str, rectangle))} {_format_number(weight)}</_>"
        yield f"      </rects>\n      <tilted>{int(tilted)}</tilted></_>"
    yield "  </features></cascade>"
    yield "</opencv_storage>"


def _format_number(value: float) -> str:
    """Return a single-precision number with enough digits to be read back exactly."""
    return f"{float(value):.8e}"
