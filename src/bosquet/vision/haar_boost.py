"""AdaBoost over stumps on Haar features: a binary classifier of small grey images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._fitted import SaveMixin, publishes_fit_atomically, reads_fit_snapshot
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
    apply_class_weight,
    check_labels,
    check_same_length,
    class_numbers,
    single_class_message,
    unique_classes,
)
from bosquet._weights import check_sample_weight
from bosquet.boosting.adaboost.certificate import Certificate, certificate_of_rounds
from bosquet.boosting.adaboost.fitting import LabelledRows, RoundRecord, VoteStepper
from bosquet.boosting.adaboost.stagewise import VARIANTS, boost
from bosquet.boosting.adaboost.votes import TwoClassDecoder
from bosquet.boosting.rounds import LossHistory, run_rounds
from bosquet.losses import margin_loss
from bosquet.vision.features import KINDS, HaarFeatures, check_window, haar_features
from bosquet.vision.haar_stumps import FittedVote, HaarLearner, HaarVote
from bosquet.vision.stacks import GreyScale, image_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import ClassWeight
    from bosquet.boosting.rounds import Callback


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


class HaarBoostClassifier(SaveMixin, ClassifierMixin, BaseEstimator):
    """AdaBoost over stumps on Haar features, for small grey images of two classes.

    A Haar feature is the difference between pixel sums over neighbouring rectangles. A stump compares it
    with a threshold. Each round selects the best stump over all features (about 160,000 for a 24 × 24
    window), under weights that are higher for images that the current vote misclassifies:

        f(x) = Σ α_t h_t(x),   h_t(x) = ±1 by  (Σ_k w_k · sum over rectangle k) / contrast(x) < θ_t

    The sign of f is the predicted class. The search finds the same stump as sorting every feature in every
    round, in a fraction of the time: feature values are stored as one-byte bins in ascending order, weights
    are summed per bin, and single images are examined only in bins that a bound cannot exclude.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of rounds. Each round selects one feature.
    features : {"basic", "core", "all"}, default="basic"
        Set of features, as in `haar_features`: "basic": edges, lines and checkerboards; "core": also wide
        lines and centres; "all": also tilted ones.
    variant : {"discrete", "real", "gentle"}, default="discrete"
        As in `AdaBoostClassifier`. Leaf values are ±α, half the log-odds, or the mean of y.
    learning_rate : float, default=1.0
        Shrinkage of the votes.
    window : (width, height) or None, default=None
        Size of the images (default: that of the training images). Required if each image is a flat row
        of width × height pixels.
    normalise : bool, default=True
        Divide feature values by the contrast of the image, √(n Σ p² - (Σ p)²), as detectors do, which
        makes them independent of the lighting.
    weight_trim : float, default=1.0
        Search each stump on the images with the largest weights that sum to this fraction of the total
        weight; 0.95 makes late rounds faster. Votes, errors and the certificate use all images.
    class_weight : dict, "balanced" or None, default=None
        "balanced" gives each class half of the initial weight, as Viola and Jones do.
    memory : float, default=2.0
        Memory in gigabytes for the binned feature values, one byte per feature and image. Features that
        do not fit are computed again in every round; this does not change the model.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo`, whose loss is the training error. Boosting stops if
        one of them returns True.
    verbose : int, default=0
        0 prints nothing, 1 shows a progress bar.
    n_jobs : int or None, default=None
        Number of threads; it does not change the model.

    Attributes
    ----------
    classes_ : array
        The two classes, sorted; f > 0 predicts the second.
    features_ : HaarFeatures
        The selected features, one per round.
    feature_numbers_ : array of int
        Indices of the selected features in ``haar_features(window_, features)``.
    thresholds_ : array of float32
        Thresholds of the stumps; smaller feature values go left.
    leaves_ : array of shape (n_rounds, 2)
        Values that each round adds to f, for the left and the right leaf.
    window_ : (width, height)
    mean_image_ : array of shape (height, width)
        Mean image of the second class, used by `plot`.
    estimator_weights_, estimator_errors_ : arrays
        As in `AdaBoostClassifier`: ln((1 - ε) / ε) and ε of each round.
    certificate_ : Certificate
        Guarantees of the fit: ε, edge, α and Z of each round, bounds, margins of the training images.
    train_score_ : array
        Training error after each round.
    n_features_in_ : int
        Number of pixels of an image.

    Examples
    --------
    Vertical and horizontal dark bars in noise:

    >>> import numpy as np
    >>> from bosquet.vision import HaarBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(60, 200, size=(400, 12, 12), dtype=np.uint8)
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

    _vote: FittedVote
    _round_records: list[RoundRecord]
    classes_: np.ndarray
    certificate_: Certificate

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        features: str = "basic",
        variant: str = "discrete",
        learning_rate: float = 1.0,
        window: tuple[int, int] | None = None,
        normalise: bool = True,
        weight_trim: float = 1.0,
        class_weight: ClassWeight = None,
        memory: float = 2.0,
        callbacks: Sequence[Callback] | None = None,
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
    @publishes_fit_atomically
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> HaarBoostClassifier:
        """Fit the boosted stumps.

        Parameters
        ----------
        X : array of shape (n_images, height, width)
            Grey levels, preferably uint8. Colour images (a fourth axis) and floats are converted with a
            warning. If `window` is set, also (n_images, width × height).
        y : array of shape (n_images,)
            Labels of any type, of two classes.
        sample_weight : array of shape (n_images,), optional
            Initial weights of the images; images of weight 0 are ignored.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> HaarBoostClassifier:
        check_parameters(self, CHECKS)
        window = None if self.window is None else check_window(self.window)
        images = image_array(X, window)
        labels = check_labels(y, owner=type(self).__name__)
        check_same_length(labels.size, len(images))
        weight = check_sample_weight(sample_weight, len(images))
        if weight.size and not weight.all():
            weighted_rows = np.flatnonzero(weight)
            images, labels, weight = (
                images[weighted_rows],
                labels[weighted_rows],
                weight[weighted_rows],
            )
        self.classes_ = _check_two_classes(labels)
        self._grey = GreyScale.learn(images)
        windows = self._grey.convert(images)
        weight = apply_class_weight(self.class_weight, labels, weight)
        distribution = (
            weight / weight.sum() if weight.size else np.full(labels.size, 1 / labels.size)
        )
        numbers = class_numbers(labels, self.classes_)
        self.window_ = (windows.shape[2], windows.shape[1])
        self.n_features_in_ = windows.shape[1] * windows.shape[2]
        self.mean_image_ = windows[numbers == 1].mean(axis=0)
        self._run(LabelledRows(windows, numbers, distribution))
        return self

    def _run(self, train: LabelledRows) -> None:
        features = haar_features(self.window_, self.features)
        threads = effective_threads(self.n_jobs)
        rows = train.class_indices.size
        variant = VARIANTS[self.variant](
            2.0 * train.class_indices - 1, train.distribution, self.learning_rate, rows
        )
        learner = HaarLearner(
            train.table,
            train.class_indices == 1,
            features,
            output_kind=variant.output_kind,
            normalise=self.normalise,
            trim=self.weight_trim,
            memory=self.memory,
            threads=threads,
        )
        vote: Any = HaarVote(features, self.normalise, variant.output_kind, variant.as_vote)
        stepper = VoteStepper(
            vote,
            [boost(learner, variant, vote)],
            self._decoder,
            train,
            None,
            threads=threads,
            vc_dim=learner.vc_dim,
        )
        history = LossHistory()
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
        self._round_records, self._vote = stepper.records, vote.to_fitted_vote()
        self.certificate_ = certificate_of_rounds(
            stepper.records,
            train,
            stepper.decoder.margins,
            stepper.scores(),
            variant=self.variant,
            learning_rate=self.learning_rate,
            vc_dim=stepper.vc_dim,
        )
        self.train_score_ = np.asarray(history.train_loss)

    @property
    def _decoder(self) -> TwoClassDecoder:
        return TwoClassDecoder(margin_loss("exponential"))

    # --------------------------------------------------------------- predicting
    def _convert_windows(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self, "_vote")
        return self._grey.convert(image_array(X, self.window_))

    @reads_fit_snapshot
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute the weighted vote f(x); it is positive for the second of `classes_`.

        Parameters
        ----------
        X : array of shape (n_images, height, width)

        Returns
        -------
        array of shape (n_images,)
        """
        windows = self._convert_windows(X)
        f = np.zeros(len(windows))
        for added in self._vote.contributions(windows, effective_threads(self.n_jobs)):
            f += added
        return f

    @reads_fit_snapshot
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the class of each image.

        Parameters
        ----------
        X : array of shape (n_images, height, width)

        Returns
        -------
        array of shape (n_images,)
        """
        f = self.decision_function(X)
        return self.classes_[self._decoder.class_indices(f)]

    @reads_fit_snapshot
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the probability of each class.

        That of the second class is 1 / (1 + exp(-2f)).

        Parameters
        ----------
        X : array of shape (n_images, height, width)

        Returns
        -------
        array of shape (n_images, 2)
            The columns are in the order of `classes_`.
        """
        return self._decoder.probabilities(self.decision_function(X))

    @reads_fit_snapshot
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : array of shape (n_images, height, width)

        Returns
        -------
        array of shape (n_images, 2)
            The columns are in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @reads_fit_snapshot
    def staged_decision_function(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Yield the vote f(x) after each round.

        Parameters
        ----------
        X : array of shape (n_images, height, width)

        Yields
        ------
        array of shape (n_images,)
        """
        windows = self._convert_windows(X)
        f = np.zeros(len(windows))
        for added in self._vote.contributions(windows, effective_threads(self.n_jobs)):
            f = f + added
            yield f

    @reads_fit_snapshot
    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Yield the class of each image after each round.

        Parameters
        ----------
        X : array of shape (n_images, height, width)

        Yields
        ------
        array of shape (n_images,)
        """
        for f in self.staged_decision_function(X):
            yield self.classes_[self._decoder.class_indices(f)]

    @reads_fit_snapshot
    def staged_predict_proba(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Yield the probability of each class after each round.

        Parameters
        ----------
        X : array of shape (n_images, height, width)

        Yields
        ------
        array of shape (n_images, 2)
        """
        for f in self.staged_decision_function(X):
            yield self._decoder.probabilities(f)

    @reads_fit_snapshot
    def staged_score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None
    ) -> Iterator[float]:
        """Yield the accuracy after each round.

        Parameters
        ----------
        X : array of shape (n_images, height, width)
        y : array of shape (n_images,)
        sample_weight : array of shape (n_images,), optional

        Yields
        ------
        float
        """
        labels = check_labels(y, owner=type(self).__name__)
        for predicted in self.staged_predict(X):
            yield float(np.average(predicted == labels, weights=sample_weight))

    # -------------------------------------------------------- fitted attributes
    @property
    def n_estimators_(self) -> int:
        """Number of fitted rounds; less than `n_estimators` if boosting stopped early."""
        check_is_fitted(self, "_vote")
        return self._vote.n_rounds

    def __len__(self) -> int:
        return self.n_estimators_

    @property
    def features_(self) -> HaarFeatures:
        """The selected features, one per round."""
        check_is_fitted(self, "_vote")
        return self._vote.features

    @property
    def feature_numbers_(self) -> np.ndarray:
        """Indices of the selected features in ``haar_features(window_, features)``."""
        check_is_fitted(self, "_vote")
        return self._vote.numbers

    @property
    def thresholds_(self) -> np.ndarray:
        """Thresholds of the stumps; smaller feature values go left."""
        check_is_fitted(self, "_vote")
        return self._vote.thresholds

    @property
    def leaves_(self) -> np.ndarray:
        """Values that each round adds to f, below its threshold and from the threshold on."""
        check_is_fitted(self, "_vote")
        return self._vote.leaves

    @property
    @reads_fit_snapshot
    def estimator_weights_(self) -> np.ndarray:
        """Weights of the rounds on scikit-learn's scale, which is 2α if the variant has an α."""
        check_is_fitted(self, "_vote")
        alphas = np.array([record.alpha[0] for record in self._round_records])
        scales = np.array([record.scale[0] for record in self._round_records])
        return scales if np.isnan(alphas).any() else 2 * scales

    @property
    def estimator_errors_(self) -> np.ndarray:
        """ε of each round; NaN for the gentle variant."""
        check_is_fitted(self, "_vote")
        return np.array([record.error[0] for record in self._round_records])

    @reads_fit_snapshot
    def plot(self, first: int = 6, axes: Any = None) -> Any:
        """Draw the first selected features on the mean image; return the axes."""
        from bosquet.plot import haar_features_chosen

        check_is_fitted(self, "_vote")
        return haar_features_chosen(self, first, axes=axes)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_vote")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _check_two_classes(labels: np.ndarray) -> np.ndarray:
    classes = unique_classes(labels)
    if classes.size == 1:
        raise ValueError(
            f"{single_class_message(classes)}: a classifier needs at least two classes; pass rows of another"
            " class too"
        )
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported: HaarBoostClassifier needs two classes, but y has"
            f" {classes.size}; set window and wrap it in sklearn.multiclass.OneVsRestClassifier"
        )
    return classes
