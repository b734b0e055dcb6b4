"""What an attentional cascade is: weak trees that make a stage, stages that make a detector."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._lazy import cached_property

if TYPE_CHECKING:
    from bosquet.vision.detection import Detections
    from bosquet.vision.evaluation import Evaluation

RECTANGLES = 3  # of a feature, at most


class CascadeFileError(ValueError):
    """A file that is no cascade, or one that no detector could run."""


@dataclass(frozen=True, eq=False)
class WeakTree:
    """A tree on Haar features, most often a stump, as OpenCV's files lay it out.

    Node 0 is the root. A window goes left at node i if its value of feature ``feature[i]``, divided by
    the window's deviation, is less than ``threshold[i]``. ``left[i]`` and ``right[i]`` are nodes where
    positive, and otherwise the leaf of that number with its sign turned: 0 is leaf 0, -1 leaf 1.

    Parameters
    ----------
    feature : array of int32, shape (n_nodes,)
        Rows of the cascade's (or of the given) features.
    threshold : array of float32, shape (n_nodes,)
    left, right : arrays of int32, shape (n_nodes,)
    leaves : array of float32, shape (n_nodes + 1,)
        What the tree adds to the stage's sum.

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
        """One question: `left` if the value is less than the threshold, else `right`."""
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
                f"a tree of {nodes} nodes needs as many features, thresholds, left and right children, "
                f"at least one, and {nodes + 1} leaves"
            )
        if not (np.isfinite(self.threshold).all() and np.isfinite(self.leaves).all()):
            raise ValueError("thresholds and leaves of a tree must be finite numbers")
        children = np.concatenate([self.left, self.right])
        wanted = np.concatenate([np.arange(1, nodes), -np.arange(nodes + 1)])
        if not np.array_equal(np.sort(children), np.sort(wanted)):
            raise ValueError(
                "every node but the root, and every leaf, must be the child of one node"
            )
        # Each has one parent, so what the root does not reach goes round in a circle.
        reached, waiting = 0, [0]
        while waiting:
            node = waiting.pop()
            reached += 1
            waiting += [int(c[node]) for c in (self.left, self.right) if c[node] > 0]
        if reached != nodes:
            raise ValueError("the nodes of a tree go round in a circle")


@dataclass(frozen=True, eq=False)
class Stage:
    """A sum of trees that lets a window pass, or rejects it for good.

    A window passes if Σ leaf ≥ threshold − 10⁻⁵, the trees' answers added in order and in double
    precision; OpenCV allows the same 10⁻⁵ for what is lost by writing numbers in decimal.

    Parameters
    ----------
    trees : sequence of WeakTree
    threshold : float
        Kept as a number of single precision.
    """

    trees: tuple[WeakTree, ...]
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        object.__setattr__(self, "threshold", float(np.float32(self.threshold)))
        if not self.trees:
            raise ValueError("a stage needs at least one tree")
        if not np.isfinite(self.threshold):
            raise ValueError(
                f"the threshold of a stage must be a finite number, not {self.threshold}"
            )

    @property
    def features(self) -> np.ndarray:
        """The features that the stage asks for, ascending."""
        return np.unique(np.concatenate([tree.feature for tree in self.trees]))


@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """Stages that a window has to pass one after the other (Viola and Jones' attentional cascade).

    With f_s and d_s the false alarm rate and hit rate of stage s on what reaches it, the cascade's are
    F = Π f_s and D = Π d_s: twenty stages of f = 1/2 and d = 0.995 let one window in a million pass
    and lose a tenth of the objects. The first stages look at a handful of features and reject nearly
    everything.

    Parameters
    ----------
    window : (width, height)
        Of the windows it decides on, in pixels.
    rectangles : array of int32, shape (n_features, 3, 4)
        x, y, width and height of each feature's rectangles, in a window; an unused third is zeros.
        Of a tilted feature (x, y) is the top corner, and the sides run down at 45 degrees.
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
        """A cascade without stages, which lets every window pass that is not flat."""
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

    def with_stage(self, stage: Stage, features: Any) -> Cascade:
        """This cascade and one more stage, whose trees speak of rows of `features`.

        Only the features that the stage asks for are taken over, and those that are there already
        are used again.

        Parameters
        ----------
        stage : Stage
        features : HaarFeatures
        """
        if tuple(features.window) != self.window:
            raise ValueError(
                f"the features are for windows of {tuple(features.window)}, the cascade's of {self.window}"
            )
        asked = stage.features
        own = _rows(self.rectangles, self.weights, self.tilted)
        place = {row: number for number, row in enumerate(own)}
        new: list[int] = []
        renamed = {}
        rows = _rows(features.rectangles[asked], features.weights[asked], features.tilted[asked])
        for feature, row in zip(asked.tolist(), rows, strict=True):
            if row not in place:
                place[row] = self.n_features + len(new)
                new.append(feature)
            renamed[feature] = place[row]
        trees = [
            WeakTree(
                np.array([renamed[int(feature)] for feature in tree.feature]),
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
        """The cascade of the first stages alone."""
        return Cascade(
            self.window, self.rectangles, self.weights, self.tilted, self.stages[:stages]
        )

    def detect(
        self,
        image: Any,
        *,
        scale_factor: float = 1.1,
        min_neighbors: int = 3,
        min_size: tuple[int, int] | None = None,
        max_size: tuple[int, int] | None = None,
        n_jobs: int | None = None,
    ) -> Detections:
        """The objects in an image, looked for at many scales.

        The search is that of ``cv2.CascadeClassifier.detectMultiScale``, window by window: the same
        sizes of the image, steps, sums and grouping. The result is the same for any number of threads.

        Parameters
        ----------
        image : array, path or Pillow image
            Grey levels (uint8); others are converted, and a warning says so.
        scale_factor : float, default=1.1
            How much larger the objects of the next scale are.
        min_neighbors : int, default=3
            An object is where more windows than this agree; 0 gives the windows themselves.
        min_size, max_size : (width, height), optional
            Of the objects.
        n_jobs : int or None
            Threads; None for all processors.

        Examples
        --------
        >>> import numpy as np
        >>> from bosquet.vision import Cascade, Stage, WeakTree
        >>> halves = [[[0, 0, 8, 8], [4, 0, 4, 8], [0, 0, 0, 0]]]  # the whole, and its right half
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

    def passes(self, images: Any, n_jobs: int | None = None) -> np.ndarray:
        """Which images of the window's size go through all stages.

        Parameters
        ----------
        images : array of uint8, shape (n_images, height, width)
        """
        from bosquet.vision.detection import depths

        return depths(self, images, n_jobs)[0] == len(self.stages)

    def evaluate(self, images: Any, boxes: Any, **settings: Any) -> Evaluation:
        """Detection rate against false positives, on images whose objects are known.

        See :func:`bosquet.vision.evaluation.evaluate` for the parameters.
        """
        from bosquet.vision.evaluation import evaluate

        return evaluate(self, images, boxes, **settings)

    def to_opencv(self, path: str | os.PathLike[str]) -> None:
        """Writes XML that ``cv2.CascadeClassifier(path)`` loads, and that decides as this cascade does."""
        from bosquet.vision.opencv_xml import write_opencv

        write_opencv(self, path)

    @classmethod
    def from_opencv(cls, path: str | os.PathLike[str]) -> Cascade:
        """The cascade in an XML file of OpenCV's, in today's format or the one before it.

        Raises
        ------
        CascadeFileError
            Where the file is no cascade of Haar features that could run.
        """
        from bosquet.vision.opencv_xml import read_opencv

        return read_opencv(path)

    def _check(self) -> None:
        width, height = self.window
        if not 3 <= min(width, height) <= max(width, height) <= 4096:
            raise ValueError(f"a window has sides of 3 to 4096 pixels, not {width} × {height}")
        n = len(self.rectangles)
        if not (
            self.rectangles.shape == (n, RECTANGLES, 4)
            and self.weights.shape == (n, RECTANGLES)
            and self.tilted.shape == (n,)
        ):
            raise ValueError(
                "n features have rectangles of shape (n, 3, 4), weights (n, 3) and tilted (n,); given "
                f"are {self.rectangles.shape}, {self.weights.shape} and {self.tilted.shape}"
            )
        if not np.isfinite(self.weights).all():
            raise ValueError("the weights of rectangles must be finite numbers")
        outside = rectangles_outside(self.rectangles, self.weights, self.tilted, self.window)
        if len(outside):
            raise ValueError(
                f"feature {outside[0]} has a rectangle outside the window of {width} × {height}"
            )
        for number, stage in enumerate(self.stages):
            asked = stage.features
            if asked[0] < 0 or asked[-1] >= n:
                raise ValueError(
                    f"stage {number} asks for feature {asked[0] if asked[0] < 0 else asked[-1]}, "
                    f"but the cascade has {n} features"
                )


def rectangles_outside(
    rectangles: np.ndarray, weights: np.ndarray, tilted: np.ndarray, window: tuple[int, int]
) -> np.ndarray:
    """The features with a rectangle that does not lie in the window; one of weight 0 may lie anywhere
    if it is all zeros."""
    x, y, w, h = np.moveaxis(rectangles.astype(np.int64), -1, 0)
    width, height = window
    sides = (w > 0) & (h > 0) & (y >= 0)
    upright = sides & (x >= 0) & (x + w <= width) & (y + h <= height)
    leaning = sides & (x - h >= 0) & (x + w <= width) & (y + w + h <= height)
    inside = np.where(tilted[:, None], leaning, upright)
    unused = (weights == 0) & (rectangles == 0).all(axis=-1)
    unused[:, 0] = False
    return np.flatnonzero(~(inside | unused).all(axis=1))


def _rows(rectangles: np.ndarray, weights: np.ndarray, tilted: np.ndarray) -> list[bytes]:
    """Each feature as bytes: two are the same if these are."""
    return [
        r.tobytes() + w.tobytes() + bool(t).to_bytes(1, "little")
        for r, w, t in zip(rectangles, weights, tilted, strict=True)
    ]
