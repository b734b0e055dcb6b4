"""AdaBoost over Haar stumps: is a small grey image of one kind of thing, or of another?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet._fitted import Saved, fits_aside, reads_one_fit
from bosquet._parameters import (
    Check,
    boolean,
    check_parameters,
    choice,
    integer,
    number,
)
from bosquet._sklearn import BaseEstimator, ClassifierMixin, check_is_fitted, effective_threads
from bosquet._targets import (
    check_labels,
    check_same_length,
    check_sample_weight,
    class_numbers,
    learn_classes,
    only_class,
    weigh_classes,
)
from bosquet.boosting._certifying import certify
from bosquet.boosting._decisions import OfTwo
from bosquet.boosting._loop import LoopResult, run_rounds
from bosquet.boosting._stagewise import boost
from bosquet.boosting._variants import VARIANTS
from bosquet.boosting._vote_stepper import Kept, Labelled, VoteStepper
from bosquet.boosting.certificate import Certificate
from bosquet.losses import margin_loss
from bosquet.vision.features import KINDS, HaarFeatures, check_window, haar_features
from bosquet.vision.haar_stumps import HaarLearner, HaarVote, SettledVote
from bosquet.vision.stacks import GreyScale, image_array

CHECKS: dict[str, Check] = {
    "n_estimators": integer(1),
    "features": choice(*KINDS),
    "variant": choice("discrete", "real", "gentle"),
    "learning_rate": number(0, open_low=True),
    "normalise": boolean(),
    "weight_trim": number(0, 1, open_low=True),
    "memory": number(0),
    "verbose": integer(0),
}


class HaarBoostClassifier(Saved, ClassifierMixin, BaseEstimator):
    """AdaBoost over stumps on Haar features, for small grey images of two classes.

    A Haar feature is the difference between sums over neighbouring rectangles, and a stump on it asks
    whether that is below a threshold. Every round finds the best of all stumps on all features (160,000
    features of a 24 × 24 window), under weights that are higher for images that the vote so far gets
    wrong:

        f(x) = Σ α_t h_t(x),   h_t(x) = ±1 by  (Σ_k w_k · sum over rectangle k) / contrast(x) < θ_t

    The sign of f decides. Each search is exact, as if every feature were sorted every round, and takes
    a fraction of the time: values are kept as bytes in their order, weights are added up by byte, and
    only where a bound allows it are windows looked at one by one.

    Parameters
    ----------
    n_estimators : int, default=200
        Rounds, and so features that are chosen.
    features : {"basic", "core", "all"}, default="basic"
        Which features, as `haar_features` has them: edges, lines and checkers; also wide lines and
        centres; also tilted ones.
    variant : {"discrete", "real", "gentle"}, default="discrete"
        As in `AdaBoostClassifier`: votes of ±α, half the log odds on either side, or the mean of y.
    learning_rate : float, default=1.0
        Shrinkage of the votes.
    window : (width, height) or None, default=None
        The size of the images. None: that of the first fit's images. Needed where an image is given
        as a row of width × height pixels.
    normalise : bool, default=True
        Divide values by the contrast of the image, √(n Σ p² - (Σ p)²), as detectors do, so that light
        does not matter.
    weight_trim : float, default=1.0
        Look for each stump among the heaviest images that hold this share of the weight; 0.95 makes
        late rounds faster. Votes, errors and the certificate are of all images.
    class_weight : dict, "balanced" or None, default=None
        "balanced" gives both classes half of the weight to start from, as Viola and Jones do.
    memory : float, default=2.0
        Gigabytes for the values of features as bytes, one for each feature and image. Features that
        do not fit are computed again every round; the model is the same.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo` (the loss is the training error); returning True
        stops.
    verbose : int, default=0
        1: a progress bar.
    n_jobs : int or None, default=None
        Threads. The model is the same for any number.

    Attributes
    ----------
    classes_ : array
        The two classes, sorted; f > 0 is the second.
    features_ : HaarFeatures
        The features that were chosen, in order.
    feature_numbers_ : array of int
        Their places among ``haar_features(window_, features)``.
    thresholds_ : array of float32
        Values below go left.
    leaves_ : array of shape (n_rounds, 2)
        What a round adds to f on the left and on the right.
    window_ : (width, height)
    mean_image_ : array of shape (height, width)
        The mean of the images of the second class, to draw features on.
    estimator_weights_, estimator_errors_ : arrays
        As in `AdaBoostClassifier`: ln((1 - ε) / ε) and ε of each round.
    certificate_ : Certificate
        What the fit guarantees: ε, edge, α and Z of each round, bounds, margins of the training images.
    train_score_ : array
        The training error after each round.
    n_features_in_ : int
        Pixels of an image.

    Examples
    --------
    Dark bars, upright and level, in noise:

    >>> import numpy as np
    >>> from bosquet.vision import HaarBoostClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.integers(60, 200, size=(400, 12, 12), dtype=np.uint8)
    >>> y = np.arange(400) % 2
    >>> X[y == 0, 2:10, 5:7] //= 2
    >>> X[y == 1, 5:7, 2:10] //= 2
    >>> model = HaarBoostClassifier(n_estimators=10).fit(X[:200], y[:200])
    >>> print(f"{model.score(X[200:], y[200:]):.2f}")
    0.98

    References
    ----------
    Viola and Jones, "Rapid object detection using a boosted cascade of simple features", CVPR 2001.
    Lienhart and Maydt, "An extended set of Haar-like features for rapid object detection", ICIP 2002.
    """

    _vote: SettledVote
    _kept: list[Kept]
    classes_: np.ndarray
    certificate_: Certificate

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        features: str = "basic",
        variant: str = "discrete",
        learning_rate: float = 1.0,
        window: Any = None,
        normalise: bool = True,
        weight_trim: float = 1.0,
        class_weight: Any = None,
        memory: float = 2.0,
        callbacks: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ):
        self.n_estimators = n_estimators
        self.features = features
        self.variant = variant
        self.learning_rate = learning_rate
        self.window = window
        self.normalise = normalise
        self.weight_trim = weight_trim
        self.class_weight = class_weight
        self.memory = memory
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ fitting
    @fits_aside
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HaarBoostClassifier:
        """Fit the vote.

        Parameters
        ----------
        X : array of shape (n_images, height, width)
            Grey levels, best as uint8. Colour (a fourth axis) and floats are converted, and a warning
            says so. With `window` also (n_images, width × height).
        y : array of shape (n_images,)
            Labels of any type, of two classes.
        sample_weight : array of shape (n_images,), optional
            The distribution that boosting starts from; an image of weight 0 does not count.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> HaarBoostClassifier:
        check_parameters(self, CHECKS)
        window = None if self.window is None else check_window(self.window)
        images = image_array(X, window)
        labels = check_labels(y)
        check_same_length(labels.size, len(images))
        weight = check_sample_weight(sample_weight, len(images))
        if weight.size and not weight.all():
            counting = np.flatnonzero(weight)
            images, labels, weight = images[counting], labels[counting], weight[counting]
        self.classes_ = _two_classes(labels)
        self._grey = GreyScale.learn(images)
        windows = self._grey.convert(images)
        weight = weigh_classes(self.class_weight, labels, weight)
        share = weight / weight.sum() if weight.size else np.full(labels.size, 1 / labels.size)
        numbers = class_numbers(labels, self.classes_)
        self.window_ = (windows.shape[2], windows.shape[1])
        self.n_features_in_ = windows.shape[1] * windows.shape[2]
        self.mean_image_ = windows[numbers == 1].mean(axis=0)
        self._run(Labelled(windows, numbers, share))
        return self

    def _run(self, train: Labelled) -> None:
        features = haar_features(self.window_, self.features)
        threads = effective_threads(self.n_jobs)
        rows = train.numbers.size
        variant: Any = VARIANTS[self.variant](
            2.0 * train.numbers - 1, train.share, self.learning_rate, rows
        )
        learner = HaarLearner(
            train.table,
            train.numbers == 1,
            features,
            says=variant.says,
            normalise=self.normalise,
            trim=self.weight_trim,
            memory=self.memory,
            threads=threads,
        )
        vote: Any = HaarVote(features, self.normalise, variant.says, variant.as_vote)
        stepper = VoteStepper(
            vote,
            [boost(learner, variant, vote)],
            self._decision,
            train,
            None,
            threads=threads,
            vc_dim=learner.vc_dim,
        )
        history = LoopResult()
        run_rounds(
            stepper,
            model=self,
            n_rounds=self.n_estimators,
            stopping=None,
            score=None,
            callbacks=self.callbacks,
            verbose=bool(self.verbose),
            history=history,
        )
        self._kept, self._vote = stepper.kept, vote.settled()
        self.certificate_ = certify(self, stepper, stepper.scores())
        self.train_score_ = np.asarray(history.train_loss)

    @property
    def _decision(self) -> OfTwo:
        return OfTwo(margin_loss("exponential"))

    # --------------------------------------------------------------- predicting
    def _windows(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "_vote")
        return self._grey.convert(image_array(X, self.window_))

    @reads_one_fit
    def decision_function(self, X: Any) -> np.ndarray:
        """The vote f(x); above 0 it is for the second of `classes_`."""
        windows = self._windows(X)
        f = np.zeros(len(windows))
        for added in self._vote.added(windows, effective_threads(self.n_jobs)):
            f += added
        return f

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class that wins the vote."""
        f = self.decision_function(X)
        return self.classes_[self._decision.numbers(f)]

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes; of the second it is 1 / (1 + exp(-2f))."""
        return self._decision.probabilities(self.decision_function(X))

    @reads_one_fit
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @reads_one_fit
    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The vote after each round."""
        windows = self._windows(X)
        f = np.zeros(len(windows))
        for added in self._vote.added(windows, effective_threads(self.n_jobs)):
            f = f + added
            yield f

    @reads_one_fit
    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The winning class after each round."""
        for f in self.staged_decision_function(X):
            yield self.classes_[self._decision.numbers(f)]

    @reads_one_fit
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Probabilities after each round."""
        for f in self.staged_decision_function(X):
            yield self._decision.probabilities(f)

    @reads_one_fit
    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The accuracy after each round."""
        labels = check_labels(y)
        for said in self.staged_predict(X):
            yield float(np.average(said == labels, weights=sample_weight))

    # ------------------------------------------------------------ what was learned
    @property
    def n_estimators_(self) -> int:
        """Number of rounds in the model; below `n_estimators` where boosting came to an end."""
        check_is_fitted(self, "_vote")
        return self._vote.n_rounds

    def __len__(self) -> int:
        return self.n_estimators_

    @property
    def features_(self) -> HaarFeatures:
        """The features that were chosen, in order."""
        check_is_fitted(self, "_vote")
        return self._vote.features

    @property
    def feature_numbers_(self) -> np.ndarray:
        """Places of the chosen features among all of their kind."""
        check_is_fitted(self, "_vote")
        return self._vote.numbers

    @property
    def thresholds_(self) -> np.ndarray:
        """Thresholds of the rounds; values below go left."""
        check_is_fitted(self, "_vote")
        return self._vote.thresholds

    @property
    def leaves_(self) -> np.ndarray:
        """What each round adds to f below its threshold and from it on."""
        check_is_fitted(self, "_vote")
        return self._vote.leaves

    @property
    @reads_one_fit
    def estimator_weights_(self) -> np.ndarray:
        """Votes as scikit-learn has them: twice α where there is one."""
        check_is_fitted(self, "_vote")
        alphas = np.array([kept.alpha[0] for kept in self._kept])
        scales = np.array([kept.scale[0] for kept in self._kept])
        return scales if np.isnan(alphas).any() else 2 * scales

    @property
    def estimator_errors_(self) -> np.ndarray:
        """ε of each round; NaN for the gentle variant."""
        check_is_fitted(self, "_vote")
        return np.array([kept.error[0] for kept in self._kept])

    @reads_one_fit
    def plot(self, first: int = 6, axes: Any = None) -> Any:
        """Draws the first features that were chosen on the mean image; returns the axes."""
        from bosquet.plot import haar_features_chosen

        check_is_fitted(self, "_vote")
        return haar_features_chosen(self, first, axes=axes)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_vote")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _two_classes(labels: np.ndarray) -> np.ndarray:
    classes = learn_classes(labels)
    if classes.size == 1:
        raise ValueError(f"{only_class(classes)}: a classifier needs at least two classes")
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported: HaarBoostClassifier takes two classes, and y holds"
            f" {classes.size}; wrap it in sklearn.multiclass.OneVsRestClassifier, with window="
        )
    return classes
