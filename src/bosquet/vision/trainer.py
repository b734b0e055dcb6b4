"""Training of an attentional cascade: boosted stages, each on what the stages before let pass."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from bosquet._fitted import fits_aside
from bosquet._parameters import Check, check_parameters, choice, integer, number
from bosquet._progress import Bar
from bosquet._warnings import warn_user
from bosquet.vision.cascade import Cascade
from bosquet.vision.checkpoint import (
    TrainedStage,
    fingerprint,
    load_checkpoint,
    save_checkpoint,
)
from bosquet.vision.features import KINDS, check_window, haar_features
from bosquet.vision.images import as_stack, read_images
from bosquet.vision.mining import Mined, mine_negatives
from bosquet.vision.stages import boost_stage

# A stage on fewer negatives than this share of those asked for would learn them by heart.
FEWEST_NEGATIVES = 0.05
# A stage that lets more than this pass tells nothing apart; none is added any more.
HOPELESS = 0.98

CHECKS: dict[str, Check] = {
    "n_stages": integer(1, 1000),
    "min_hit_rate": number(0, 1, open_low=True),
    "max_false_alarm": number(0, 1, open_low=True),
    "n_negatives": integer(2),
    "max_stumps": integer(1),
    "features": choice(*KINDS),
    "boost": choice("gentle", "discrete", "real"),
    "weight_trim": number(0, 1, open_low=True),
    "scale_factor": number(1, open_low=True),
    "memory": number(0),
    "n_jobs": integer(-64, none=True),
    "random_state": integer(0),
    "verbose": integer(0),
}


class CascadeTrainer(BaseEstimator):
    """Trains a cascade that detects an object in images.

    Stage s is a boosted sum of Haar stumps, trained on the positives and on negatives that all stages
    before take for objects. Its threshold is the largest that lets a share d (`min_hit_rate`) of the
    positives pass, and stumps are added until at most a share f (`max_false_alarm`) of the negatives
    does. After S stages about d^S of the objects are found and f^S of all other windows pass.

    Windows are normalised by their variance exactly as OpenCV's detector does it, and
    ``trainer.cascade_.to_opencv(path)`` writes what ``cv2.CascadeClassifier`` loads.
    (OpenCV's ``opencv_traincascade`` calls the parameters -numStages, -minHitRate, -maxFalseAlarmRate,
    -numNeg, -maxWeakCount, -mode and -bt.)

    Parameters
    ----------
    window : (width, height), optional
        Of the windows; by default the size of the positives.
    n_stages : int, default=20
        Training also ends once the false alarm rate is f^n_stages (one window in a million), or when
        no window of the backgrounds passes any more.
    min_hit_rate : float, default=0.995
    max_false_alarm : float, default=0.5
    n_negatives : int, default=1000
        For each stage.
    max_stumps : int, default=100
        In a stage.
    features : {"basic", "core", "all"}, default="basic"
    boost : {"gentle", "discrete", "real"}, default="gentle"
    weight_trim : float, default=0.95
        Share of the weight that stumps are looked for with.
    scale_factor : float, default=1.2
        Between the scales at which backgrounds are looked through.
    checkpoint : path, optional
        A file that is written after each stage. If it is there, training goes on from it; the result
        is that of a training that was never interrupted.
    memory : float, default=2.0
        Gigabytes for codes of feature values.
    random_state : int, default=0
    n_jobs : int or None
        Threads; the cascade is the same for any number.
    verbose : int, default=0
        1 shows a bar with the stage, its hit rate and false alarms and the time left.

    Attributes
    ----------
    cascade_ : Cascade
    stages_ : list of TrainedStage
        What each stage was trained on and achieves.
    message_ : str
        Why training ended.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.vision import CascadeTrainer
    >>> random = np.random.default_rng(0)
    >>> objects = random.integers(0, 120, (200, 12, 12)).astype(np.uint8)
    >>> objects[:, 3:9, 3:9] += 100
    >>> scenes = random.integers(0, 220, (5, 60, 80)).astype(np.uint8)
    >>> trainer = CascadeTrainer(n_stages=12, n_negatives=200).fit(objects, scenes)
    >>> [stage.n_stumps for stage in trainer.stages_]
    [1, 1]
    >>> scene = scenes[0].copy()
    >>> scene[20:32, 40:52] = objects[0]
    >>> trainer.cascade_.detect(scene, min_neighbors=0, max_size=(12, 12)).boxes
    array([[40, 20, 12, 12]], dtype=int32)

    References
    ----------
    Viola, Jones (2004), Robust real-time face detection.
    """

    def __init__(
        self,
        window: tuple[int, int] | None = None,
        *,
        n_stages: int = 20,
        min_hit_rate: float = 0.995,
        max_false_alarm: float = 0.5,
        n_negatives: int = 1000,
        max_stumps: int = 100,
        features: str = "basic",
        boost: str = "gentle",
        weight_trim: float = 0.95,
        scale_factor: float = 1.2,
        checkpoint: Any = None,
        memory: float = 2.0,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.window = window
        self.n_stages = n_stages
        self.min_hit_rate = min_hit_rate
        self.max_false_alarm = max_false_alarm
        self.n_negatives = n_negatives
        self.max_stumps = max_stumps
        self.features = features
        self.boost = boost
        self.weight_trim = weight_trim
        self.scale_factor = scale_factor
        self.checkpoint = checkpoint
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fits_aside
    def fit(self, positives: Any, backgrounds: Any, negatives: Any = None) -> CascadeTrainer:
        """Train a cascade.

        Parameters
        ----------
        positives : array of uint8 of shape (n, height, width), sequence of images or paths, or a folder
            The objects, each filling a window; see :func:`make_samples` and :func:`crop_samples`. Files
            are brought to the size of `window`, where it is given.
        backgrounds : sequence of images or paths, or a folder
            Images of any size without an object.
        negatives : as positives, optional
            Windows that are no object, used before the backgrounds are looked through.
        """
        check_parameters(self, CHECKS)
        objects, scenes, crops = self._images(positives, backgrounds, negatives)
        training = _Training(self, objects, scenes, crops)
        training.run()
        self.cascade_ = training.cascade
        self.stages_ = training.stages
        self.message_ = training.message
        return self

    def _images(
        self, positives: Any, backgrounds: Any, negatives: Any
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Everything as grey levels, or a message on what is missing."""
        window = None if self.window is None else check_window(self.window)
        positives = _from_files(positives, window)
        if len(positives) == 0:
            raise ValueError("there are no positives to train on")
        if window is None:
            height, width = np.shape(positives[0])[:2]
            window = check_window((width, height))
        objects = as_stack(positives, window, "positives")
        negatives = [] if negatives is None else _from_files(negatives, window)
        crops = as_stack(negatives, window, "negatives")
        scenes = read_images(backgrounds)
        large = [s for s in scenes if s.shape[0] >= window[1] and s.shape[1] >= window[0]]
        if len(large) < len(scenes):
            warn_user(
                f"{len(scenes) - len(large)} of {len(scenes)} backgrounds are smaller than the window of "
                f"{window[0]} × {window[1]} and are left out",
            )
        if not large and len(crops) == 0:
            raise ValueError(
                f"there are no backgrounds of at least {window[0]} × {window[1]} pixels, and no negatives"
            )
        return objects, large, crops


def _from_files(images: Any, window: tuple[int, int] | None) -> Any:
    """Images read at the window's size where they are files; otherwise as they are."""
    if isinstance(images, str | os.PathLike):
        return read_images(images, window)
    if any(isinstance(image, str | os.PathLike) for image in images):
        return read_images(images, window)
    return images


class _Training:
    """The loop over stages."""

    def __init__(
        self,
        trainer: CascadeTrainer,
        objects: np.ndarray,
        scenes: list[np.ndarray],
        crops: np.ndarray,
    ):
        self.of = trainer
        self.objects, self.scenes, self.crops = objects, scenes, crops
        window = (objects.shape[2], objects.shape[1])
        self.features = haar_features(window, trainer.features)
        self.cascade = Cascade.empty(window)
        self.stages: list[TrainedStage] = []
        self.message = ""
        self.checkpoint = None if trainer.checkpoint is None else Path(trainer.checkpoint)
        self.bar = Bar(trainer.n_stages) if trainer.verbose else None

    def run(self) -> None:
        known: dict[str, str] = {}
        if self.checkpoint is not None:
            known = fingerprint(self._what_decides(), [self.objects, self.crops, *self.scenes])
            before = load_checkpoint(self.checkpoint, known)
            if before is not None:
                self.cascade, self.stages = before
                if self.bar is not None:  # the time left is judged by all stages
                    self.bar.started -= sum(stage.seconds for stage in self.stages)
        # A rate that rounding keeps a hair above the target would cost a stage more.
        target = self.of.max_false_alarm**self.of.n_stages * (1 + 1e-9)
        self.message = f"all {self.of.n_stages} stages are trained"
        while len(self.stages) < self.of.n_stages:
            if not self._add_stage(target):
                break
            if self.checkpoint is not None:
                save_checkpoint(self.checkpoint, self.cascade, self.stages, known)
        if self.bar is not None:
            self.bar.total = max(len(self.stages), 1)  # done, though fewer than were asked for
            self._show("")
            self.bar.close(self.message.ljust(62))
        self._tell_shortfalls()

    def _what_decides(self) -> dict[str, Any]:
        others = {"checkpoint", "n_jobs", "verbose", "memory", "window", "n_stages"}
        given = self.of.get_params(deep=False)
        return {name: value for name, value in given.items() if name not in others}

    def _add_stage(self, target: float) -> bool:
        """Whether a stage was added; if not, the message says why not."""
        started = time.monotonic()
        # A seed for each stage: a training that goes on draws what it would have drawn.
        random = np.random.default_rng([self.of.random_state, len(self.stages)])
        objects = self.objects[self.cascade.passes(self.objects, self.of.n_jobs)]
        mined = self._mine(random)
        if not self._can_go_on(objects, mined, target):
            return False
        stage, report = boost_stage(
            np.concatenate([objects, mined.images]),
            np.arange(len(objects) + len(mined.images)) < len(objects),
            self.features,
            boost=self.of.boost,
            min_hit_rate=self.of.min_hit_rate,
            max_false_alarm=self.of.max_false_alarm,
            max_stumps=self.of.max_stumps,
            weight_trim=self.of.weight_trim,
            memory=self.of.memory,
            n_jobs=self.of.n_jobs,
            progress=lambda stumps, hits, alarms: self._show(
                f"{stumps} stumps, hit rate {hits:.4f}, false alarms {alarms:.3f}"
            ),
        )
        if report.false_alarm > HOPELESS:
            self.message = (
                f"stage {len(self.stages) + 1} would let {report.false_alarm:.0%} of the negatives pass "
                f"after {report.n_stumps} stumps: what is left cannot be told from the positives"
            )
            return False
        self.cascade = self.cascade.with_stage(stage, self.features)
        self.stages.append(
            TrainedStage(
                stage=len(self.stages) + 1,
                n_stumps=report.n_stumps,
                hit_rate=float(report.hit_rate),
                false_alarm=float(report.false_alarm),
                reached=bool(report.reached),
                n_positives=len(objects),
                n_negatives=len(mined.images),
                acceptance=mined.acceptance,
                seconds=time.monotonic() - started,
            )
        )
        self._show(f"hit rate {report.hit_rate:.4f}, false alarms {report.false_alarm:.3f}")
        return True

    def _mine(self, random: np.random.Generator) -> Mined:
        return mine_negatives(
            self.cascade,
            self.scenes,
            self.of.n_negatives,
            random,
            crops=self.crops,
            scale_factor=self.of.scale_factor,
            n_jobs=self.of.n_jobs,
            progress=lambda found: self._show(f"{found} negatives"),
        )

    def _can_go_on(self, objects: np.ndarray, mined: Mined, target: float) -> bool:
        n_stages = len(self.stages)
        if len(objects) == 0:
            raise ValueError("no positive has any contrast: there is nothing to learn")
        if n_stages == 0 and len(mined.images) == 0:
            raise ValueError(
                "no window of the backgrounds has any contrast: there is nothing to learn"
            )
        if n_stages > 0 and 0 < mined.acceptance <= target:
            self.message = (
                f"{n_stages} stages let {mined.acceptance:.2g} of the background windows pass, no more than"
                f" the {target:.2g} that n_stages={self.of.n_stages} were to do; more stages for fewer false"
                " alarms"
            )
            return False
        least = max(2, int(FEWEST_NEGATIVES * self.of.n_negatives))
        if n_stages > 0 and len(mined.images) < least:
            self.message = (
                f"no negatives are left to mine: {len(mined.images)} of {mined.looked_at} background "
                f"windows pass {n_stages} stages; more backgrounds would allow for more stages"
            )
            return False
        return True

    def _show(self, note: str) -> None:
        if self.bar is not None:
            stage = min(len(self.stages) + 1, self.of.n_stages)
            # As wide as the longest, so that it covers what the bar showed before.
            self.bar.show(len(self.stages), f"stage {stage}: {note}".ljust(62) if note else "")

    def _tell_shortfalls(self) -> None:
        if not self.stages:
            warn_user(f"no stage was trained: {self.message}")
        short = [stage for stage in self.stages if not stage.reached]
        if short:
            worst = max(short, key=lambda stage: stage.false_alarm)
            warn_user(
                f"{len(short)} of {len(self.stages)} stages did not reach max_false_alarm="
                f"{self.of.max_false_alarm:g} with max_stumps={self.of.max_stumps}; stage {worst.stage} lets "
                f"{worst.false_alarm:.0%} of its negatives pass",
            )
