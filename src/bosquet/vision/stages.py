"""Training of one cascade stage: stumps are added until enough negatives are rejected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, choice, integer, number
from bosquet._sklearn import effective_threads
from bosquet.boosting.adaboost.stagewise import VARIANTS, boost
from bosquet.vision.cascade import Stage, WeakTree
from bosquet.vision.features import HaarFeatures
from bosquet.vision.haar_stumps import HaarLearner, HaarVote
from bosquet.vision.integral import window_contrasts
from bosquet.vision.stacks import image_array

# A detector accepts a window if its sum is at most this much below the threshold.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class StageReport:
    """Results of a stage on its training images.

    Attributes
    ----------
    n_stumps : int
    hit_rate : float
        Fraction of the positives that pass, not counting flat ones.
    false_alarm : float
        Fraction of the negatives that pass; flat ones never pass.
    reached : bool
        Whether the rates meet `min_hit_rate` and `max_false_alarm`.
    n_flat_positives, n_flat_negatives : int
        Number of images with too little contrast, which a detector skips; they were not used for
        training.
    message : str
        Reason why training of the stage ended.
    """

    n_stumps: int
    hit_rate: float
    false_alarm: float
    reached: bool
    n_flat_positives: int
    n_flat_negatives: int
    message: str


Progress = Callable[[int, float, float], object]


def boost_stage(
    images: np.ndarray,
    labels: np.ndarray,
    features: HaarFeatures,
    *,
    boost: str = "gentle",
    min_hit_rate: float = 0.995,
    max_false_alarm: float = 0.5,
    max_stumps: int = 100,
    weight_trim: float = 0.95,
    memory: float = 2.0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Stage, StageReport]:
    """Train one stage of a cascade: a boosted sum of Haar stumps with a threshold.

    After each round, the threshold is the largest one that lets a fraction `min_hit_rate` of the positives
    pass. Training ends when at most a fraction `max_false_alarm` of the negatives passes.

    Parameters
    ----------
    images : array of uint8, shape (n_images, height, width)
        Images of the window size of the features.
    labels : array of bool, shape (n_images,)
        True for images of the object to detect.
    features : HaarFeatures
    boost : {"gentle", "discrete", "real"}, default="gentle"
        Variant of AdaBoost (OpenCV's GAB, DAB and RAB).
    min_hit_rate, max_false_alarm : float
        Targets of the stage.
    max_stumps : int, default=100
        Maximum number of stumps; training ends there even if too many negatives pass.
    weight_trim : float, default=0.95
        Search each stump on the images with the largest weights that sum to this fraction of the total
        weight.
    memory : float, default=2.0
        Memory in gigabytes for binned feature values.
    n_jobs : int or None
        Number of threads; it does not change the stage.
    progress : callable, optional
        Called after each round with the number of stumps, the hit rate and the false alarm rate.
        Training ends if it returns True.

    Returns
    -------
    Stage
        Its trees refer to the rows of `features`.
    StageReport

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.vision import boost_stage, haar_features
    >>> rng = np.random.default_rng(0)
    >>> images = rng.integers(0, 256, size=(300, 8, 8), dtype=np.uint8)
    >>> labels = np.arange(300) < 100
    >>> images[labels, 2:4, 1:7] //= 3
    >>> stage, report = boost_stage(images, labels, haar_features((8, 8)))
    >>> report.reached, len(stage.trees), f"{report.hit_rate:.2f}"
    (True, 3, '1.00')
    """
    _check_targets(boost, min_hit_rate, max_false_alarm, max_stumps, weight_trim, memory)
    images, labels = _check_images(images, labels, features)
    _, flat = window_contrasts(images, n_jobs)
    usable_windows = np.flatnonzero(~flat)
    positive = labels[usable_windows]
    _check_both_classes(positive, flat)
    builder = _StageBuilder(
        images[usable_windows],
        positive,
        features,
        boost,
        weight_trim,
        memory,
        effective_threads(n_jobs),
    )
    flat_counts = {
        "n_flat_positives": int((flat & labels).sum()),
        "n_flat_negatives": int((flat & ~labels).sum()),
    }
    n_negatives = int((~labels).sum())
    message = "no stump has an edge any more"
    for _ in builder:
        threshold = builder.threshold_for(min_hit_rate)
        hits, alarms = builder.count_passing(threshold)
        rates = (hits / int(positive.sum()), alarms / n_negatives)
        if rates[1] <= max_false_alarm:
            message = "the targets are reached"
            break
        stopped = progress is not None and progress(len(builder.trees), *rates) is True
        if stopped or len(builder.trees) == max_stumps:
            message = "stopped by progress" if stopped else f"max_stumps={max_stumps} is reached"
            break
    reached = rates[0] >= min_hit_rate and rates[1] <= max_false_alarm
    report = StageReport(len(builder.trees), *rates, reached, **flat_counts, message=message)
    return Stage(tuple(builder.trees), threshold), report


class _StageBuilder:
    """Iterator that adds one stump per step, and sums the leaf values exactly as a detector does."""

    def __init__(
        self,
        images: np.ndarray,
        positive: np.ndarray,
        features: HaarFeatures,
        boost_name: str,
        trim: float,
        memory: float,
        threads: int,
    ):
        variant = VARIANTS[boost_name](
            np.where(positive, 1.0, -1.0), np.full(positive.size, 1 / positive.size)
        )
        self.positive = positive
        self.learner = HaarLearner(
            images,
            positive,
            features,
            output_kind=variant.output_kind,
            normalise=True,
            trim=trim,
            memory=memory,
            threads=threads,
        )
        self.vote = HaarVote(features, True, variant.output_kind, variant.as_vote)
        self.rounds = boost(self.learner, variant, self.vote)  # type: ignore[arg-type]
        self.trees: list[WeakTree] = []
        self.sums = np.zeros(positive.size)

    def __iter__(self) -> Any:
        for _ in self.rounds:
            stump = self.vote.stumps[-1]
            left, right = self.vote.leaves[-1].astype(np.float32)
            self.trees.append(WeakTree.stump(stump.feature, stump.threshold, left, right))
            self.sums += np.where(self.learner.is_below(stump), np.float64(left), np.float64(right))
            yield self.trees[-1]

    def threshold_for(self, hit_rate: float) -> float:
        """Return the largest float32 threshold that lets a fraction `hit_rate` of the positives pass."""
        sums = np.sort(self.sums[self.positive])
        n_missed = sums.size - math.ceil(hit_rate * sums.size - 1e-9)
        smallest = sums[n_missed]
        threshold = np.float32(smallest)
        return float(
            threshold if threshold <= smallest else np.nextafter(threshold, np.float32(-np.inf))
        )

    def count_passing(self, threshold: float) -> tuple[int, int]:
        """Return the number of positives and negatives that pass."""
        passes = self.sums >= threshold - TOLERANCE
        return int((passes & self.positive).sum()), int((passes & ~self.positive).sum())


def _check_targets(
    boost_name: str,
    min_hit_rate: float,
    max_false_alarm: float,
    max_stumps: int,
    weight_trim: float,
    memory: float,
) -> None:
    fraction = number(0, 1, open_low=True)
    check_value("boost", boost_name, choice("gentle", "discrete", "real"))
    check_value("min_hit_rate", min_hit_rate, fraction)
    check_value("max_false_alarm", max_false_alarm, fraction)
    check_value("max_stumps", max_stumps, integer(1))
    check_value("weight_trim", weight_trim, fraction)
    check_value("memory", memory, number(0))


def _check_images(
    images: Any, labels: Any, features: HaarFeatures
) -> tuple[np.ndarray, np.ndarray]:
    array = image_array(images, features.window, "images")
    if array.dtype != np.uint8 or array.ndim != 3:
        raise ValueError(
            f"images has dtype {array.dtype} and shape {array.shape}; it must hold grey levels as uint8, of"
            " shape (n_images, height, width)"
        )
    truth = np.asarray(labels)
    if truth.dtype != bool or truth.shape != (len(array),):
        raise ValueError(
            f"labels has dtype {truth.dtype} and shape {truth.shape}; it must hold one bool per image,"
            f" of shape ({len(array)},)"
        )
    return array, truth


def _check_both_classes(positive: np.ndarray, flat: np.ndarray) -> None:
    for label, name in ((True, "positive"), (False, "negative")):
        if not (positive == label).any():
            skipped = f" ({int(flat.sum())} flat images are skipped)" if flat.any() else ""
            raise ValueError(
                f"there are no {name} images to train on{skipped}; pass images of both labels"
            )
