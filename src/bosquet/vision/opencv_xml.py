"""OpenCV's cascade files: written in today's format, read in today's and in the old one.

A file is somebody else's: no entity is expanded, every number is read with a limit, and what does
not describe a cascade that can run is a :class:`~bosquet.vision.cascade.CascadeFileError` of one line.
"""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import numpy as np

from bosquet._files import written_whole
from bosquet.vision.cascade import RECTANGLES, Cascade, CascadeFileError, Stage, WeakTree

# The largest file that OpenCV ships has 3.5 MB, 2,913 stumps and 47 stages.
LARGEST_FILE = 1 << 28
MOST_STAGES = 10_000
MOST_NODES = 2_000_000
_TOO_LARGE = 2.0**128 - 2.0**103  # from here on a number is infinite in single precision
DEEPEST = 32  # levels of elements; a cascade needs nine


def read_opencv(path: str | os.PathLike[str]) -> Cascade:
    """The cascade in an XML file of OpenCV's."""
    path = Path(path)
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise CascadeFileError(f"{path.name}: {size} bytes are too many for a cascade")
    try:
        return cascade_from_xml(path.read_bytes())
    except CascadeFileError as error:
        raise CascadeFileError(f"{path.name}: {error}") from None


def cascade_from_xml(data: bytes) -> Cascade:
    """The cascade that the bytes of an XML file describe."""
    root = _parsed(data)
    if root.tag != "opencv_storage" or len(root) == 0:
        raise CascadeFileError("no <opencv_storage> with a cascade in it")
    top = root[0]
    try:
        if top.find("size") is not None and top.find("stageType") is None:
            return _old_cascade(top)
        return _new_cascade(top)
    except CascadeFileError:
        raise
    except (ValueError, OverflowError) as error:
        raise CascadeFileError(" ".join(str(error).split())) from None


def write_opencv(cascade: Cascade, path: str | os.PathLike[str]) -> None:
    """Writes the cascade as XML that ``cv2.CascadeClassifier`` loads."""
    if not cascade.stages:
        raise ValueError("a cascade without stages cannot be written: OpenCV loads none")
    with written_whole(path) as draft:
        draft.write_text(cascade_to_xml(cascade), encoding="ascii")


def cascade_to_xml(cascade: Cascade) -> str:
    return "\n".join(_lines(cascade)) + "\n"


# Reading.


def _parsed(data: bytes) -> ElementTree.Element:
    """The file's elements. A document type is refused: it could define entities that blow up."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    depth = 0

    def refuse(*_: object) -> None:
        raise CascadeFileError("a document type is not allowed in a cascade file")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise CascadeFileError("elements are nested too deeply")
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
        # A ValueError is of the encoding that the file declares: Python's codecs are asked for it.
        raise CascadeFileError(f"no XML: {' '.join(str(error).split())}") from None


def _child(element: ElementTree.Element, tag: str) -> ElementTree.Element:
    found = element.find(tag)
    if found is None:
        raise CascadeFileError(f"<{element.tag}> has no <{tag}>")
    return found


def _words(element: ElementTree.Element) -> list[str]:
    return (element.text or "").split()


def _integer(word: str) -> int:
    # Python's int takes underscores and any script's digits, and a number of any length.
    digits = word.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise CascadeFileError(f"{word[:40]!r} is no integer")
    return int(word)


def _number(word: str) -> float:
    try:
        value = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if not abs(value) < _TOO_LARGE:
        raise CascadeFileError(f"{word[:40]!r} is no number")
    return value


def _one(element: ElementTree.Element, tag: str) -> str:
    words = _words(_child(element, tag))
    if len(words) != 1:
        raise CascadeFileError(f"<{tag}> of <{element.tag}> holds {len(words)} values, not one")
    return words[0]


def _feature(element: ElementTree.Element) -> tuple[list[list[int]], list[float], bool]:
    rectangles = [[0] * 4 for _ in range(RECTANGLES)]
    weights = [0.0] * RECTANGLES
    given = list(_child(element, "rects"))
    if not 1 <= len(given) <= RECTANGLES:
        raise CascadeFileError(
            f"a feature has {len(given)} rectangles; it may have 1 to {RECTANGLES}"
        )
    for place, rectangle in enumerate(given):
        words = _words(rectangle)
        if len(words) != 5:
            raise CascadeFileError("a rectangle is x, y, width, height and weight")
        rectangles[place] = [_integer(word) for word in words[:4]]
        weights[place] = _number(words[4])
    leaning = element.find("tilted")
    return rectangles, weights, leaning is not None and _integer(_one(element, "tilted")) != 0


class _Features:
    """Features as they are met in a file."""

    def __init__(self) -> None:
        self.rectangles: list[list[list[int]]] = []
        self.weights: list[list[float]] = []
        self.tilted: list[bool] = []

    def add(self, element: ElementTree.Element) -> int:
        rectangles, weights, tilted = _feature(element)
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
    stages = _child(element, "stages")
    if not 1 <= len(stages) <= MOST_STAGES:
        raise CascadeFileError(f"a cascade has 1 to {MOST_STAGES} stages, not {len(stages)}")
    return stages


def _new_cascade(top: ElementTree.Element) -> Cascade:
    kind, features = _one(top, "stageType"), _one(top, "featureType")
    if kind != "BOOST" or features != "HAAR":
        raise CascadeFileError(
            f"stages of type {kind[:20]!r} on features of type {features[:20]!r}; read are boosted stages "
            "on Haar features"
        )
    categories = top.find("featureParams/maxCatCount")
    if categories is not None and _words(categories) != ["0"]:
        raise CascadeFileError("Haar features are numbers, but maxCatCount is not 0")
    window = (_integer(_one(top, "width")), _integer(_one(top, "height")))
    stages, nodes = [], 0
    for number, stage in enumerate(_stages_of(top)):
        trees = [_new_tree(weak) for weak in _child(stage, "weakClassifiers")]
        nodes += sum(tree.n_nodes for tree in trees)
        if nodes > MOST_NODES:
            raise CascadeFileError(f"more than {MOST_NODES} nodes")
        if not trees:
            raise CascadeFileError(f"stage {number} has no trees")
        stages.append(Stage(tuple(trees), _number(_one(stage, "stageThreshold"))))
    found = _Features()
    for feature in _child(top, "features"):
        found.add(feature)
    return found.cascade(window, stages)


def _new_tree(weak: ElementTree.Element) -> WeakTree:
    inner = _words(_child(weak, "internalNodes"))
    leaves = [_number(word) for word in _words(_child(weak, "leafValues"))]
    if not inner or len(inner) % 4 != 0:
        raise CascadeFileError("a node is left, right, feature and threshold")
    return WeakTree(
        np.array([_integer(word) for word in inner[2::4]]),
        np.array([_number(word) for word in inner[3::4]]),
        np.array([_integer(word) for word in inner[0::4]]),
        np.array([_integer(word) for word in inner[1::4]]),
        np.array(leaves),
    )


def _old_cascade(top: ElementTree.Element) -> Cascade:
    size = _words(_child(top, "size"))
    if len(size) != 2:
        raise CascadeFileError("<size> is a width and a height")
    found, stages = _Features(), []
    for number, stage in enumerate(_stages_of(top)):
        before = stage.find("parent")
        if before is not None and _integer(_one(stage, "parent")) != number - 1:
            raise CascadeFileError(
                "stages that branch into a tree are not read, only a chain of them"
            )
        trees = [_old_tree(tree, found) for tree in _child(stage, "trees")]
        if len(found.tilted) > MOST_NODES:
            raise CascadeFileError(f"more than {MOST_NODES} nodes")
        stages.append(Stage(tuple(trees), _number(_one(stage, "stage_threshold"))))
    return found.cascade((_integer(size[0]), _integer(size[1])), stages)


def _old_tree(tree: ElementTree.Element, found: _Features) -> WeakTree:
    feature, threshold = [], []
    leaves: list[float] = []
    children: dict[str, list[int]] = {"left": [], "right": []}
    for node in tree:
        feature.append(found.add(_child(node, "feature")))
        threshold.append(_number(_one(node, "threshold")))
        for side, links in children.items():
            if node.find(f"{side}_val") is not None:
                links.append(-len(leaves))
                leaves.append(_number(_one(node, f"{side}_val")))
            else:
                links.append(_integer(_one(node, f"{side}_node")))
                if links[-1] <= 0:
                    raise CascadeFileError("the child of a node must come after the root")
    return WeakTree(
        np.array(feature),
        np.array(threshold),
        np.array(children["left"]),
        np.array(children["right"]),
        np.array(leaves),
    )


# Writing.


def _lines(cascade: Cascade) -> Iterator[str]:
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
        yield f"      <stageThreshold>{_written(stage.threshold)}</stageThreshold>"
        yield "      <weakClassifiers>"
        for tree in stage.trees:
            nodes = zip(tree.left, tree.right, tree.feature, tree.threshold, strict=True)
            inner = " ".join(f"{a} {b} {f} {_written(t)}" for a, b, f, t in nodes)
            leaves = " ".join(_written(leaf) for leaf in tree.leaves)
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
                yield f"        <_>\n          {' '.join(map(str, rectangle))} {_written(weight)}</_>"
        yield f"      </rects>\n      <tilted>{int(tilted)}</tilted></_>"
    yield "  </features></cascade>"
    yield "</opencv_storage>"


def _written(value: float) -> str:
    """A number of single precision with digits enough to be read back as the same bits."""
    return f"{float(value):.8e}"
