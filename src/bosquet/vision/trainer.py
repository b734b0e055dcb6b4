"""Training of an attentional cascade: each stage is trained on the windows that pass all earlier stages."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from bosquet._fitted import publishes_fit_atomically
from bosquet._parameters import Check, check_parameters, choice, integer, number
from bosquet._progress import ProgressBar
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
from bosquet.vision.mining import MinedNegatives, mine_negatives
from bosquet.vision.stages import boost_stage

# Training ends if less than this fraction of n_negatives is found: a stage would overfit so few negatives.
MIN_NEGATIVES = 0.05
# Training ends if a stage has a higher false alarm rate than this: it does not separate the classes.
USELESS_FALSE_ALARM = 0.98

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
    """Trainer of a cascade that detects an object in images.

    Stage s is a boosted sum of Haar stumps. It is trained on the positives, and on negatives that pass all
    earlier stages. Its threshold is the largest one that lets a fraction d (`min_hit_rate`) of the
    positives pass. Stumps are added until at most a fraction f (`max_false_alarm`) of the negatives passes.
    After S stages, about d^S of the objects are detected, and f^S of all other windows pass.

    Windows are normalised by their variance exactly as in OpenCV's detector.
    ``trainer.cascade_.to_opencv(path)`` writes a file that ``cv2.CascadeClassifier`` loads.
    (OpenCV's ``opencv_traincascade`` calls the parameters -numStages, -minHitRate, -maxFalseAlarmRate,
    -numNeg, -maxWeakCount, -mode and -bt.)

    Parameters
    ----------
    window : (width, height) or None, default=None
        Size of the windows. None: the size of the positives.
    n_stages : int, default=20
        Maximum number of stages. Training ends earlier if the false alarm rate reaches f^n_stages (about
        one window in a million by default), or if too few windows of the backgrounds pass.
    min_hit_rate : float, default=0.995
        Target hit rate of each stage.
    max_false_alarm : float, default=0.5
        Target false alarm rate of each stage.
    n_negatives : int, default=1000
        Number of negatives per stage.
    max_stumps : int, default=100
        Maximum number of stumps per stage.
    features : {"basic", "core", "all"}, default="basic"
        Set of Haar features, as in `haar_features`.
    boost : {"gentle", "discrete", "real"}, default="gentle"
        Variant of AdaBoost.
    weight_trim : float, default=0.95
        Search each stump on the images with the largest weights that sum to this fraction of the total
        weight.
    scale_factor : float, default=1.2
        Ratio of consecutive scales at which the backgrounds are scanned.
    checkpoint : path or None, default=None
        File that is written after each stage. If it exists, training resumes from it, with the same
        result as an uninterrupted training.
    memory : float, default=2.0
        Memory in gigabytes for binned feature values.
    random_state : int, default=0
        Random seed of the search for negatives.
    n_jobs : int or None, default=None
        Number of threads; it does not change the cascade.
    verbose : int, default=0
        0 prints nothing, 1 shows a progress bar with the stage, its hit rate and false alarm rate, and the
        remaining time.

    Attributes
    ----------
    cascade_ : Cascade
    stages_ : list of TrainedStage
        Size and training results of each stage.
    message_ : str
        Reason why training ended.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.vision import CascadeTrainer
    >>> rng = np.random.default_rng(0)
    >>> objects = rng.integers(0, 120, (200, 12, 12)).astype(np.uint8)
    >>> objects[:, 3:9, 3:9] += 100
    >>> scenes = rng.integers(0, 220, (5, 60, 80)).astype(np.uint8)
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
        checkpoint: str | os.PathLike[str] | None = None,
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

    @publishes_fit_atomically
    def fit(self, positives: Any, backgrounds: Any, negatives: Any = None) -> CascadeTrainer:
        """Train a cascade.

        Parameters
        ----------
        positives : array of uint8 of shape (n, height, width), sequence of images or paths, or a folder
            Images of the object, each filling a window; see :func:`make_samples` and
            :func:`crop_samples`. Files are resized to `window` if it is set.
        backgrounds : sequence of images or paths, or a folder
            Images of any size without an object.
        negatives : as positives, optional
            Windows without an object, used before windows of the backgrounds.
        """
        check_parameters(self, CHECKS)
        objects, scenes, crops = self._read_images(positives, backgrounds, negatives)
        training = _CascadeTraining(self, objects, scenes, crops)
        training.run()
        self.cascade_ = training.cascade
        self.stages_ = training.stages
        self.message_ = training.message
        return self

    def _read_images(
        self, positives: Any, backgrounds: Any, negatives: Any
    ) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
        """Check the images, and convert them to grey levels."""
        window = None if self.window is None else check_window(self.window)
        positives = _read_files(positives, window)
        if len(positives) == 0:
            raise ValueError("positives is empty; pass at least one image of the object")
        if window is None:
            height, width = np.shape(positives[0])[:2]
            window = check_window((width, height))
        objects = as_stack(positives, window, "positives")
        negatives = [] if negatives is None else _read_files(negatives, window)
        crops = as_stack(negatives, window, "negatives")
        scenes = read_images(backgrounds)
        large = [s for s in scenes if s.shape[0] >= window[1] and s.shape[1] >= window[0]]
        if len(large) < len(scenes):
            warn_user(
                f"{len(scenes) - len(large)} of {len(scenes)} backgrounds are smaller than the window of "
                f"{window[0]} × {window[1]} pixels and are skipped",
            )
        if not large and len(crops) == 0:
            raise ValueError(
                f"there are no backgrounds of at least {window[0]} × {window[1]} pixels and no negatives;"
                " pass one of them"
            )
        return objects, large, crops


def _read_files(images: Any, window: tuple[int, int] | None) -> Any:
    """Read and resize images that are files; return other images unchanged."""
    if isinstance(images, str | os.PathLike):
        return read_images(images, window)
    if any(isinstance(image, str | os.PathLike) for image in images):
        return read_images(images, window)
    return images


class _CascadeTraining:
    """The training loop over stages."""

    def __init__(
        self,
        trainer: CascadeTrainer,
        objects: np.ndarray,
        scenes: list[np.ndarray],
        crops: np.ndarray,
    ):
        self.trainer = trainer
        self.objects, self.scenes, self.crops = objects, scenes, crops
        window = (objects.shape[2], objects.shape[1])
        self.features = haar_features(window, trainer.features)
        self.cascade = Cascade.empty(window)
        self.stages: list[TrainedStage] = []
        self.message = ""
        self.checkpoint = None if trainer.checkpoint is None else Path(trainer.checkpoint)
        self.bar = ProgressBar(trainer.n_stages) if trainer.verbose else None

    def run(self) -> None:
        current: dict[str, str] = {}
        if self.checkpoint is not None:
            images = [self.objects, self.crops, *self.scenes]
            current = fingerprint(self._result_parameters(), images)
            saved = load_checkpoint(self.checkpoint, current)
            if saved is not None:
                self.cascade, self.stages = saved
                if self.bar is not None:  # the estimate of the remaining time uses all stages
                    self.bar.started -= sum(stage.seconds for stage in self.stages)
        # The tolerance avoids one more stage if rounding leaves the rate slightly above the target.
        target = self.trainer.max_false_alarm**self.trainer.n_stages * (1 + 1e-9)
        self.message = f"all {self.trainer.n_stages} stages are trained"
        while len(self.stages) < self.trainer.n_stages:
            if not self._add_stage(target):
                break
            if self.checkpoint is not None:
                save_checkpoint(self.checkpoint, self.cascade, self.stages, current)
        if self.bar is not None:
            self.bar.total = max(len(self.stages), 1)  # training may end before n_stages
            self._show_progress("")
            self.bar.close(self.message.ljust(62))
        self._warn_of_missed_targets()

    def _result_parameters(self) -> dict[str, Any]:
        """Return the parameters that a resumed training must share, because they change the stages."""
        ignored = {"checkpoint", "n_jobs", "verbose", "memory", "window", "n_stages"}
        parameters = self.trainer.get_params(deep=False)
        return {name: value for name, value in parameters.items() if name not in ignored}

    def _add_stage(self, target: float) -> bool:
        """Train and add one stage; return False, with the reason in `message`, if training ends."""
        started = time.monotonic()
        # One seed per stage, so that a resumed training draws the same windows as an uninterrupted one.
        rng = np.random.default_rng([self.trainer.random_state, len(self.stages)])
        objects = self.objects[self.cascade.passes(self.objects, self.trainer.n_jobs)]
        mined = self._mine_negatives(rng)
        if not self._can_continue(objects, mined, target):
            return False
        stage, report = boost_stage(
            np.concatenate([objects, mined.images]),
            np.arange(len(objects) + len(mined.images)) < len(objects),
            self.features,
            boost=self.trainer.boost,
            min_hit_rate=self.trainer.min_hit_rate,
            max_false_alarm=self.trainer.max_false_alarm,
            max_stumps=self.trainer.max_stumps,
            weight_trim=self.trainer.weight_trim,
            memory=self.trainer.memory,
            n_jobs=self.trainer.n_jobs,
            progress=lambda stumps, hits, alarms: self._show_progress(
                f"{stumps} stumps, hit rate {hits:.4f}, false alarms {alarms:.3f}"
            ),
        )
        if report.false_alarm > USELESS_FALSE_ALARM:
            self.message = (
                f"stage {len(self.stages) + 1} accepts {report.false_alarm:.0%} of the negatives after"
                f" {report.n_stumps} stumps: the remaining negatives cannot be separated from the positives"
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
        self._show_progress(
            f"hit rate {report.hit_rate:.4f}, false alarms {report.false_alarm:.3f}"
        )
        return True

    def _mine_negatives(self, rng: np.random.Generator) -> MinedNegatives:
        return mine_negatives(
            self.cascade,
            self.scenes,
            self.trainer.n_negatives,
            rng,
            crops=self.crops,
            scale_factor=self.trainer.scale_factor,
            n_jobs=self.trainer.n_jobs,
            progress=lambda count: self._show_progress(f"{count} negatives"),
        )

    def _can_continue(self, objects: np.ndarray, mined: MinedNegatives, target: float) -> bool:
        n_stages = len(self.stages)
        if len(objects) == 0:
            raise ValueError(
                "all positives are flat (standard deviation of at most 10 grey levels); pass images with"
                " more contrast"
            )
        if n_stages == 0 and len(mined.images) == 0:
            raise ValueError(
                "all windows of the backgrounds are flat (standard deviation of at most 10 grey levels);"
                " pass backgrounds with more contrast"
            )
        if n_stages > 0 and 0 < mined.acceptance <= target:
            self.message = (
                f"{n_stages} stages accept a fraction {mined.acceptance:.2g} of the background windows, which"
                f" reaches the target max_false_alarm ** n_stages = {target:.2g}; increase n_stages for fewer"
                " false alarms"
            )
            return False
        fewest = max(2, int(MIN_NEGATIVES * self.trainer.n_negatives))
        if n_stages > 0 and len(mined.images) < fewest:
            self.message = (
                f"too few negatives: {len(mined.images)} of {mined.n_scanned} background windows pass"
                f" {n_stages} stages; pass more backgrounds to train more stages"
            )
            return False
        return True

    def _show_progress(self, note: str) -> None:
        if self.bar is not None:
            stage = min(len(self.stages) + 1, self.trainer.n_stages)
            # Padded to the longest note, so that it overwrites the previous one completely.
            self.bar.show(len(self.stages), f"stage {stage}: {note}".ljust(62) if note else "")

    def _warn_of_missed_targets(self) -> None:
        if not self.stages:
            warn_user(f"no stage was trained: {self.message}")
        short = [stage for stage in self.stages if not stage.reached]
        if short:
            worst = max(short, key=lambda stage: stage.false_alarm)
            warn_user(
                f"{len(short)} of {len(self.stages)} stages did not reach max_false_alarm="
                f"{self.trainer.max_false_alarm:g} with max_stumps={self.trainer.max_stumps}; stage"
                f" {worst.stage} accepts {worst.false_alarm:.0%} of its negatives; increase max_stumps or"
                " max_false_alarm",
            )
