"""A stage of a cascade: stumps are added until enough negatives are rejected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._parameters import check_value, choice, integer, number
from bosquet._sklearn import effective_threads
from bosquet.boosting._stagewise import boost
from bosquet.boosting._variants import VARIANTS
from bosquet.vision.cascade import Stage, WeakTree
from bosquet.vision.features import HaarFeatures
from bosquet.vision.haar_stumps import HaarLearner, HaarVote
from bosquet.vision.integral import window_contrasts
from bosquet.vision.stacks import image_array

# A detector lets a window pass if its sum is no further than this below the threshold.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class StageReport:
    """What a stage achieves on the images it was trained on.

    Attributes
    ----------
    n_stumps : int
    hit_rate : float
        Share of the positives that pass, those that are flat left out.
    false_alarm : float
        Share of the negatives that pass; flat ones never do.
    reached : bool
        Whether both are as asked.
    n_flat_positives, n_flat_negatives : int
        Images that a detector passes by for want of contrast; nothing was learned from them.
    message : str
        Why the stage ended.
    """

    n_stumps: int
    hit_rate: float
    false_alarm: float
    reached: bool
    n_flat_positives: int
    n_flat_negatives: int
    message: str


Progress = Callable[[int, float, float], Any]


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
    """A boosted sum of Haar stumps, and the threshold that lets `min_hit_rate` of the positives pass.

    After each round the threshold is the largest that keeps the hit rate; the stage is ready once at
    most `max_false_alarm` of the negatives pass it too.

    Parameters
    ----------
    images : array of uint8, shape (n_images, height, width)
        Of the features' window size.
    labels : array of bool, shape (n_images,)
        True for what is to be detected.
    features : HaarFeatures
    boost : {"gentle", "discrete", "real"}, default="gentle"
        How a stump's answers are weighed (OpenCV's GAB, DAB and RAB).
    min_hit_rate, max_false_alarm : float
        The stage's targets.
    max_stumps : int, default=100
        Stop here even if too many negatives pass.
    weight_trim : float, default=0.95
        Look for stumps among the heaviest images that hold this share of the weight.
    memory : float, default=2.0
        Gigabytes for codes of feature values.
    n_jobs : int or None
        Threads; the stage is the same for any number.
    progress : callable, optional
        Called after each round with the number of stumps, the hit rate and the false alarm rate;
        returning True ends the stage.

    Returns
    -------
    Stage
        Its trees number the features given.
    StageReport

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.vision import boost_stage, haar_features
    >>> random = np.random.default_rng(0)
    >>> images = random.integers(0, 256, size=(300, 8, 8), dtype=np.uint8)
    >>> labels = np.arange(300) < 100
    >>> images[labels, 2:4, 1:7] //= 3
    >>> stage, report = boost_stage(images, labels, haar_features((8, 8)))
    >>> report.reached, len(stage.trees), f"{report.hit_rate:.2f}"
    (True, 3, '1.00')
    """
    _check_targets(boost, min_hit_rate, max_false_alarm, max_stumps, weight_trim, memory)
    images, labels = _checked(images, labels, features)
    _, flat = window_contrasts(images, n_jobs)
    counting = np.flatnonzero(~flat)
    positive = labels[counting]
    _refuse_one_class(positive, flat)
    maker = _StageMaker(
        images[counting], positive, features, boost, weight_trim, memory, effective_threads(n_jobs)
    )
    told = {
        "n_flat_positives": int((flat & labels).sum()),
        "n_flat_negatives": int((flat & ~labels).sum()),
    }
    total = int((~labels).sum())
    message = "the learner has no edge any more"
    for _ in maker:
        threshold = maker.threshold_for(min_hit_rate)
        hits, alarms = maker.passing(threshold)
        rates = (hits / int(positive.sum()), alarms / total)
        if rates[1] <= max_false_alarm:
            message = "the targets are reached"
            break
        stopped = progress is not None and progress(len(maker.trees), *rates) is True
        if stopped or len(maker.trees) == max_stumps:
            message = "it was stopped" if stopped else f"it has max_stumps={max_stumps} stumps"
            break
    reached = rates[0] >= min_hit_rate and rates[1] <= max_false_alarm
    report = StageReport(len(maker.trees), *rates, reached, **told, message=message)
    return Stage(tuple(maker.trees), threshold), report


class _StageMaker:
    """Adds a stump each time it is asked for the next, and keeps the sums as a detector adds them."""

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
        variant: Any = VARIANTS[boost_name](
            np.where(positive, 1.0, -1.0), np.full(positive.size, 1 / positive.size)
        )
        self.positive = positive
        self.learner = HaarLearner(
            images,
            positive,
            features,
            says=variant.says,
            normalise=True,
            trim=trim,
            memory=memory,
            threads=threads,
        )
        self.vote = HaarVote(features, True, variant.says, variant.as_vote)
        self.rounds = boost(self.learner, variant, self.vote)  # type: ignore[arg-type]
        self.trees: list[WeakTree] = []
        self.sums = np.zeros(positive.size)

    def __iter__(self) -> Any:
        for _ in self.rounds:
            rule = self.vote.rules[-1]
            left, right = self.vote.leaves[-1].astype(np.float32)
            self.trees.append(WeakTree.stump(rule.feature, rule.threshold, left, right))
            self.sums += np.where(self.learner.below(rule), np.float64(left), np.float64(right))
            yield self.trees[-1]

    def threshold_for(self, hit_rate: float) -> float:
        """The largest that lets this share of the positives pass, in single precision."""
        sums = np.sort(self.sums[self.positive])
        lost = sums.size - math.ceil(hit_rate * sums.size - 1e-9)
        threshold = np.float32(sums[lost])
        return float(
            threshold if threshold <= sums[lost] else np.nextafter(threshold, np.float32(-np.inf))
        )

    def passing(self, threshold: float) -> tuple[int, int]:
        """How many positives and negatives pass."""
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
    share = number(0, 1, open_low=True)
    check_value("boost", boost_name, choice("gentle", "discrete", "real"))
    check_value("min_hit_rate", min_hit_rate, share)
    check_value("max_false_alarm", max_false_alarm, share)
    check_value("max_stumps", max_stumps, integer(1))
    check_value("weight_trim", weight_trim, share)
    check_value("memory", memory, number(0))


def _checked(images: Any, labels: Any, features: HaarFeatures) -> tuple[np.ndarray, np.ndarray]:
    array = image_array(images, features.window, "images")
    if array.dtype != np.uint8 or array.ndim != 3:
        raise ValueError("images must be grey levels, an array of uint8 (n_images, height, width)")
    truth = np.asarray(labels)
    if truth.dtype != bool or truth.shape != (len(array),):
        raise ValueError("labels must be True or False for each image")
    return array, truth


def _refuse_one_class(positive: np.ndarray, flat: np.ndarray) -> None:
    for wanted, name in ((True, "positives"), (False, "negatives")):
        if not (positive == wanted).any():
            why = f" ({int(flat.sum())} flat images were left out)" if flat.any() else ""
            raise ValueError(f"there are no {name} to learn from{why}")
