"""The attentional cascade: a sequence of stages, each a sum of weak trees."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._lazy import cached_property

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet.vision.detection import Detections
    from bosquet.vision.evaluation import Evaluation
    from bosquet.vision.features import HaarFeatures
    from bosquet.vision.images import ImageLike

RECTANGLES = 3  # maximum number of rectangles of a feature


class CascadeFileError(ValueError):
    """Raised for a file that does not hold a valid cascade."""


@dataclass(frozen=True, eq=False)
class WeakTree:
    """A tree on Haar features, usually a stump, in the layout of OpenCV's files.

    Node 0 is the root. A window goes left at node i if its value of feature ``feature[i]``, divided by
    the standard deviation of the window, is less than ``threshold[i]``. A positive ``left[i]`` or
    ``right[i]`` is the number of a node. Otherwise it is minus the number of a leaf: 0 is leaf 0, -1 is
    leaf 1.

    Parameters
    ----------
    feature : array of int32, shape (n_nodes,)
        Index of the feature of each node, among the features of the cascade.
    threshold : array of float32, shape (n_nodes,)
    left, right : arrays of int32, shape (n_nodes,)
    leaves : array of float32, shape (n_nodes + 1,)
        Values that the leaves add to the sum of the stage.

    Examples
    --------
    >>> from bosquet.vision.cascade import WeakTree
    >>> tree = WeakTree.stump(3, 0.25, left=-0.5, right=0.75)
    >>> tree.left, tree.right, tree.leaves
    (array([0], dtype=int32), array([-1], dtype=int32), array([-0.5 ,  0.75], dtype=float32))
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    leaves: np.ndarray

    def __post_init__(self) -> None:
        for name, kind in (
            ("feature", np.int32),
            ("threshold", np.float32),
            ("left", np.int32),
            ("right", np.int32),
            ("leaves", np.float32),
        ):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind).ravel())
        self._check()

    @classmethod
    def stump(cls, feature: int, threshold: float, left: float, right: float) -> WeakTree:
        """Return a tree with one split: `left` if the feature value is below the threshold, else `right`."""
        return cls(
            np.array([feature]),
            np.array([threshold]),
            np.array([0]),
            np.array([-1]),
            np.array([left, right]),
        )

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    def _check(self) -> None:
        nodes = self.n_nodes
        if nodes == 0 or not (
            len(self.threshold) == len(self.left) == len(self.right) == nodes
            and len(self.leaves) == nodes + 1
        ):
            raise ValueError(
                f"a tree with n nodes needs n >= 1 features, thresholds, left and right children, and n + 1"
                f" leaves; got {nodes} features, {len(self.threshold)} thresholds, {len(self.left)} left and"
                f" {len(self.right)} right children, {len(self.leaves)} leaves"
            )
        for name, values in (("threshold", self.threshold), ("leaves", self.leaves)):
            if not np.isfinite(values).all():
                at = int(np.flatnonzero(~np.isfinite(values))[0])
                raise ValueError(
                    f"{name}[{at}] is {values[at]:g}; the thresholds and leaves of a tree must be finite"
                )
        children = np.concatenate([self.left, self.right])
        expected = np.concatenate([np.arange(1, nodes), -np.arange(nodes + 1)])
        if not np.array_equal(np.sort(children), np.sort(expected)):
            raise ValueError(
                "every leaf, and every node except the root, must be the child of exactly one node"
            )
        # Each node has one parent, so nodes that cannot be reached from the root form a cycle.
        n_reached, stack = 0, [0]
        while stack:
            node = stack.pop()
            n_reached += 1
            stack += [int(c[node]) for c in (self.left, self.right) if c[node] > 0]
        if n_reached != nodes:
            raise ValueError("the nodes of a tree form a cycle")


@dataclass(frozen=True, eq=False)
class Stage:
    """A sum of trees that accepts or rejects a window.

    A window passes if Σ leaf ≥ threshold − 10⁻⁵. The leaf values are added in order and in double
    precision. OpenCV uses the same tolerance of 10⁻⁵, because decimal numbers in files are rounded.

    Parameters
    ----------
    trees : sequence of WeakTree
    threshold : float
        Rounded to single precision.
    """

    trees: tuple[WeakTree, ...]
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        object.__setattr__(self, "threshold", float(np.float32(self.threshold)))
        if not self.trees:
            raise ValueError("trees is empty; a stage needs at least one tree")
        if not np.isfinite(self.threshold):
            raise ValueError(
                f"threshold={self.threshold} is not finite; the threshold of a stage must be a finite number"
            )

    @property
    def features(self) -> np.ndarray:
        """Indices of the features that the stage uses, in ascending order."""
        return np.unique(np.concatenate([tree.feature for tree in self.trees]))


@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """A sequence of stages that a window must pass (the attentional cascade of Viola and Jones).

    Let f_s and d_s be the false alarm rate and the hit rate of stage s on the windows that reach it. The
    rates of the cascade are F = Π f_s and D = Π d_s: twenty stages with f = 1/2 and d = 0.995 let one
    background window in a million pass and miss a tenth of the objects. The first stages use a few
    features and reject most windows.

    Parameters
    ----------
    window : (width, height)
        Size of the classified windows in pixels.
    rectangles : array of int32, shape (n_features, 3, 4)
        x, y, width and height of the rectangles of each feature within a window; an unused third
        rectangle is all zeros. For a tilted feature, (x, y) is the top corner, and the sides run down at
        45 degrees.
    weights : array of float32, shape (n_features, 3)
    tilted : array of bool, shape (n_features,)
    stages : sequence of Stage

    References
    ----------
    Viola, Jones (2001), Rapid object detection using a boosted cascade of simple features.
    Lienhart, Maydt (2002), An extended set of Haar-like features for rapid object detection.
    """

    window: tuple[int, int]
    rectangles: np.ndarray
    weights: np.ndarray
    tilted: np.ndarray
    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        width, height = (int(side) for side in self.window)
        object.__setattr__(self, "window", (width, height))
        for name, kind in (("rectangles", np.int32), ("weights", np.float32), ("tilted", bool)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))
        object.__setattr__(self, "stages", tuple(self.stages))
        self._check()

    @classmethod
    def empty(cls, window: tuple[int, int]) -> Cascade:
        """Return a cascade without stages, which accepts every window that is not flat."""
        return cls(window, np.zeros((0, 3, 4)), np.zeros((0, 3)), np.zeros(0), ())

    @cached_property
    def _native(self) -> Any:
        from bosquet.vision.detection import native_detector

        return native_detector(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    def __repr__(self) -> str:
        size = "{} × {}".format(*self.window)
        return (
            f"<Cascade of {len(self.stages)} stages and {self.n_trees} trees for windows of {size}>"
        )

    @property
    def n_features(self) -> int:
        return len(self.rectangles)

    @property
    def n_trees(self) -> int:
        return sum(len(stage.trees) for stage in self.stages)

    def with_stage(self, stage: Stage, features: HaarFeatures) -> Cascade:
        """Return a copy of this cascade with one more stage.

        Only the features that the stage uses are added; features that the cascade already has are
        shared.

        Parameters
        ----------
        stage : Stage
            Its trees refer to the rows of `features`.
        features : HaarFeatures
        """
        if tuple(features.window) != self.window:
            raise ValueError(
                f"features are for windows of size {tuple(features.window)}, but the cascade has windows of"
                f" size {self.window}; pass features of this size"
            )
        used_features = stage.features
        index = {
            key: i
            for i, key in enumerate(_feature_keys(self.rectangles, self.weights, self.tilted))
        }
        new: list[int] = []
        new_index = {}
        keys = _feature_keys(
            features.rectangles[used_features],
            features.weights[used_features],
            features.tilted[used_features],
        )
        for feature, key in zip(used_features.tolist(), keys, strict=True):
            if key not in index:
                index[key] = self.n_features + len(new)
                new.append(feature)
            new_index[feature] = index[key]
        trees = [
            WeakTree(
                np.array([new_index[int(feature)] for feature in tree.feature]),
                tree.threshold,
                tree.left,
                tree.right,
                tree.leaves,
            )
            for tree in stage.trees
        ]
        return Cascade(
            self.window,
            np.concatenate([self.rectangles, features.rectangles[new]]),
            np.concatenate([self.weights, features.weights[new]]),
            np.concatenate([self.tilted, features.tilted[new]]),
            (*self.stages, Stage(tuple(trees), stage.threshold)),
        )

    def first(self, stages: int) -> Cascade:
        """Return a cascade of the first `stages` stages."""
        return Cascade(
            self.window, self.rectangles, self.weights, self.tilted, self.stages[:stages]
        )

    def detect(
        self,
        image: ImageLike,
        *,
        scale_factor: float = 1.1,
        min_neighbors: int = 3,
        min_size: tuple[int, int] | None = None,
        max_size: tuple[int, int] | None = None,
        n_jobs: int | None = None,
    ) -> Detections:
        """Detect objects in an image at multiple scales.

        The search evaluates the same windows as ``cv2.CascadeClassifier.detectMultiScale``, with the same
        image sizes, steps, sums and grouping. The result does not depend on the number of threads.

        Parameters
        ----------
        image : array, path or Pillow image
            Grey levels (uint8); other images are converted with a warning.
        scale_factor : float, default=1.1
            Ratio of the object sizes of consecutive scales.
        min_neighbors : int, default=3
            A group of overlapping windows is a detection if it has more windows than this; 0 returns the
            windows without grouping.
        min_size, max_size : (width, height), optional
            Smallest and largest size of the objects.
        n_jobs : int or None
            Number of threads; None uses all processors.

        Examples
        --------
        >>> import numpy as np
        >>> from bosquet.vision import Cascade, Stage, WeakTree
        >>> halves = [[[0, 0, 8, 8], [4, 0, 4, 8], [0, 0, 0, 0]]]  # whole window, right half
        >>> edge = Stage((WeakTree.stump(0, 1.0, left=-1, right=1),), threshold=0)
        >>> cascade = Cascade((8, 8), halves, [[-1, 2, 0]], [False], (edge,))
        >>> image = np.zeros((60, 60), np.uint8)
        >>> image[20:28, 34:38] = 250
        >>> cascade.detect(image, max_size=(8, 8), min_neighbors=0).boxes
        array([[28, 20,  8,  8],
               [30, 20,  8,  8]], dtype=int32)
        """
        from bosquet.vision.detection import detect

        return detect(
            self,
            image,
            scale_factor=scale_factor,
            min_neighbors=min_neighbors,
            min_size=min_size,
            max_size=max_size,
            n_jobs=n_jobs,
        )

    def passes(self, images: ArrayLike, n_jobs: int | None = None) -> np.ndarray:
        """Whether each image of the window's size passes all stages.

        Parameters
        ----------
        images : array of uint8, shape (n_images, height, width)
        """
        from bosquet.vision.detection import count_passed_stages

        return count_passed_stages(self, images, n_jobs)[0] == len(self.stages)

    def evaluate(
        self, images: Sequence[ImageLike], boxes: Sequence[ArrayLike], **settings: Any
    ) -> Evaluation:
        """Return the detection rate and false positives on images with known objects.

        See :func:`bosquet.vision.evaluation.evaluate` for the parameters.
        """
        from bosquet.vision.evaluation import evaluate

        return evaluate(self, images, boxes, **settings)

    def to_opencv(self, path: str | os.PathLike[str]) -> None:
        """Write an XML file that ``cv2.CascadeClassifier(path)`` loads, with identical decisions."""
        from bosquet.vision.opencv_xml import write_opencv

        write_opencv(self, path)

    @classmethod
    def from_opencv(cls, path: str | os.PathLike[str]) -> Cascade:
        """Read a cascade from an OpenCV XML file, in the current or the old format.

        Raises
        ------
        CascadeFileError
            If the file does not hold a valid cascade of Haar features.
        """
        from bosquet.vision.opencv_xml import read_opencv

        return read_opencv(path)

    def _check(self) -> None:
        width, height = self.window
        if not 3 <= min(width, height) <= max(width, height) <= 4096:
            raise ValueError(
                f"window={self.window} is not valid: window must be (width, height), two integers in"
                " [3, 4096]"
            )
        n = len(self.rectangles)
        if not (
            self.rectangles.shape == (n, RECTANGLES, 4)
            and self.weights.shape == (n, RECTANGLES)
            and self.tilted.shape == (n,)
        ):
            raise ValueError(
                "rectangles, weights and tilted must have shapes (n, 3, 4), (n, 3) and (n,), but have"
                f" {self.rectangles.shape}, {self.weights.shape} and {self.tilted.shape}"
            )
        if not np.isfinite(self.weights).all():
            feature, rectangle = np.argwhere(~np.isfinite(self.weights))[0]
            raise ValueError(
                f"weights[{feature}, {rectangle}] is {self.weights[feature, rectangle]:g}; weights must be"
                " finite"
            )
        outside = rectangles_outside(self.rectangles, self.weights, self.tilted, self.window)
        if len(outside):
            raise ValueError(
                f"feature {outside[0]} has a rectangle outside the window of {width} × {height}"
            )
        for number, stage in enumerate(self.stages):
            used = stage.features
            if used[0] < 0 or used[-1] >= n:
                raise ValueError(
                    f"stage {number} uses feature {used[0] if used[0] < 0 else used[-1]}, "
                    f"but the cascade has {n} features"
                )


def rectangles_outside(
    rectangles: np.ndarray, weights: np.ndarray, tilted: np.ndarray, window: tuple[int, int]
) -> np.ndarray:
    """Return indices of the features with a rectangle outside the window.

    An unused second or third rectangle, with weight 0 and all zeros, is not checked.
    """
    x, y, w, h = np.moveaxis(rectangles.astype(np.int64), -1, 0)
    width, height = window
    sides = (w > 0) & (h > 0) & (y >= 0)
    upright = sides & (x >= 0) & (x + w <= width) & (y + h <= height)
    leaning = sides & (x - h >= 0) & (x + w <= width) & (y + w + h <= height)
    inside = np.where(tilted[:, None], leaning, upright)
    unused = (weights == 0) & (rectangles == 0).all(axis=-1)
    unused[:, 0] = False
    return np.flatnonzero(~(inside | unused).all(axis=1))


def _feature_keys(rectangles: np.ndarray, weights: np.ndarray, tilted: np.ndarray) -> list[bytes]:
    """Return a key per feature; two features are equal if their keys are equal."""
    return [
        r.tobytes() + w.tobytes() + bool(t).to_bytes(1, "little")
        for r, w, t in zip(rectangles, weights, tilted, strict=True)
    ]
