"""Intervals and sets of classes that hold the truth as often as they claim."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bosquet._parameters import boolean, check_parameters, choice, count_or_share
from bosquet._sklearn import (
    BaseEstimator,
    available_if,
    check_is_fitted,
    check_random_state,
    rows_of,
    seed_from,
    tags_of,
)
from bosquet._targets import (
    NO_WEIGHT,
    check_finite_target,
    check_labels,
    check_sample_weight,
    class_numbers,
    learn_classes,
    warn_of_column_vector,
)
from bosquet.trust._groups import check_groups
from bosquet.trust._held_out import ByBags, fit_by_folds
from bosquet.trust._intervals import PlusIntervals, QuantileIntervals, SplitIntervals
from bosquet.trust._levels import QuantileModel, fit_levels, fitted_levels
from bosquet.trust._ranks import check_coverage
from bosquet.trust._sets import PlusSets, SplitSets, class_scores
from bosquet.trust._wrapping import (
    check_model,
    copy_input,
    copy_input_tags,
    fit_clone,
    probabilities_by_class,
    rows_can_be_taken,
    takes_weights,
)

METHODS = ("split", "cv+", "jackknife+", "cqr", "oob")
CHECKS = {
    "method": choice(*METHODS),
    "calibration_size": count_or_share(1, "rows"),
    "sets": choice("adaptive", "score"),
    "randomize": boolean(),
    "per_class": boolean(),
    "prefit": boolean(),
}
# Streams of the random numbers that a model draws, all from one seed.
_CALIBRATION_ROWS, _NEW_ROWS = 0, 1


def _is_classifier(model: Any) -> bool:
    return tags_of(model).estimator_type == "classifier"


def _of_classifiers(owner: Any) -> bool:
    return _is_classifier(owner.model)


class ConformalModel(BaseEstimator):
    r"""Prediction intervals of a regressor, sets of classes of a classifier, with promised coverage.

    Whatever the model is, if rows come independently from one source, the truth of a new row lies in
    its interval (or set) with probability c or more. Scores say how badly a model does on rows it has
    not seen, for instance sᵢ = |yᵢ - f(xᵢ)|; a new row's score is equally likely to take any rank among
    them, so that

    .. math:: P\left(s_{n+1} \le s_{(\lceil (n+1) c \rceil)}\right) \ge c ,

    and the interval holds all y whose score is that small. The promise is for the average row; with
    `groups` or `per_class` it is for the rows of each group or class.

    Parameters
    ----------
    model : regressor or classifier
        Bosquet's, scikit-learn's, or any in their manner.
    method : {"split", "cv+", "jackknife+", "cqr", "oob"}, default="split"
        - "split": some rows are set aside to calibrate. One fit; intervals of one width.
        - "cv+": folds, so that all rows serve both ends. K fits.
        - "jackknife+": as many folds as rows.
        - "cqr": split, about quantiles in place of one prediction: intervals as wide as the noise is
          there. The model is a quantile forest, or boosted with loss="quantile".
        - "oob": the jackknife+ after the bootstrap. The learners of a forest or of bagging that did
          not draw a row are the model without it. One fit, all rows.

        "split" and "cqr" promise c; "cv+", "jackknife+" and "oob" have c in practice, and promise
        1 - 2(1 - c) whatever the model does (less a little for folds and bags).
    calibration_size : float or int, default=0.25
        Rows that "split" and "cqr" set aside: a share or a number.
    cv : int or splitter, default=10
        Folds of "cv+".
    quantiles : levels, default=(0.05, 0.5, 0.95)
        For "cqr", unless the model's own `quantile` is a list: the levels to fit. The intervals are
        best where coverage is the span of two of them, and valid for any.
    sets : {"adaptive", "score"}, default="adaptive"
        For classes. "adaptive": classes are taken in order of their probability until enough is
        reached, so that difficult rows get larger sets. "score": all classes above one threshold,
        which gives the smallest sets on average.
    randomize : bool, default=True
        For sets="adaptive": whether the last class of a set is in it by chance, so that coverage is
        exact and not above. Sets may then be empty, as they may with sets="score"; without chance the
        most probable class is always in the set, which is larger.
    per_class : bool, default=False
        For classes: coverage within each class, by its own calibration rows.
    prefit : bool, default=False
        For "split" and "cqr": the model is fitted, and `fit` is given rows that it has not seen.
    n_jobs : int or None, default=None
        Folds fitted at a time.
    random_state : int, RandomState or None, default=None
        Which rows are set aside, the folds, and the chance of `randomize`. An integer gives the same
        sets at every call.

    Attributes
    ----------
    models_ : list
        The fitted models: one, one a fold ("cv+", "jackknife+") or one a level ("cqr").
    n_calibration_ : int
        Calibration rows.
    classes_ : array
        Of a classifier: the classes, in the order of the columns of `predict_set`.
    n_features_in_, feature_names_in_ : as in scikit-learn, where the model has them.

    Examples
    --------
    >>> from bosquet import ConformalModel, GradientBoostingRegressor
    >>> from bosquet.datasets import Friedman1
    >>> X, y = Friedman1().sample(1000, random_state=0)
    >>> X_new, y_new = Friedman1().sample(5000, random_state=1)
    >>> model = ConformalModel(GradientBoostingRegressor(random_state=0), random_state=0).fit(X, y)
    >>> low, high = model.predict_interval(X_new, coverage=0.9).T
    >>> print(f"{((low <= y_new) & (y_new <= high)).mean():.2f}")
    0.90

    References
    ----------
    Vovk, Gammerman and Shafer, "Algorithmic learning in a random world", 2005.
    Romano, Patterson and Candès, "Conformalized quantile regression", NeurIPS 2019.
    Romano, Sesia and Candès, "Classification with valid and adaptive coverage", NeurIPS 2020.
    Barber, Candès, Ramdas and Tibshirani, "Predictive inference with the jackknife+", Annals of
    Statistics 49, 2021.
    Kim, Xu and Barber, "Predictive inference is free with the jackknife+-after-bootstrap", NeurIPS 2020.
    """

    def __init__(
        self,
        model: Any,
        method: str = "split",
        *,
        calibration_size: Any = 0.25,
        cv: Any = 10,
        quantiles: Any = (0.05, 0.5, 0.95),
        sets: str = "adaptive",
        randomize: bool = True,
        per_class: bool = False,
        prefit: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.model = model
        self.method = method
        self.calibration_size = calibration_size
        self.cv = cv
        self.quantiles = quantiles
        self.sets = sets
        self.randomize = randomize
        self.per_class = per_class
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> ConformalModel:
        """Fit the model, and score rows that it has not seen.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Whatever the model takes.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            For the model. Coverage counts rows, whatever their weight; rows of weight 0 are left out.
        groups : array of shape (n_samples,), optional
            Coverage is then promised within each group; predictions ask for the groups too.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, sample_weight, groups)
        except BaseException:
            self.__dict__ = before  # a fit that fails leaves the estimator as it was
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> ConformalModel:
        check_parameters(self, CHECKS)
        self._check_model()
        target = self._check_target(y)
        X = rows_can_be_taken(X, target.size)
        weight = check_sample_weight(sample_weight, target.size)
        if groups is not None:
            groups = check_groups(groups, target.size)
        if weight.size and not weight.all():
            kept = np.flatnonzero(weight)
            X, target, weight = rows_of(X, kept), target[kept], weight[kept]
            groups = None if groups is None else groups[kept]
        if weight.size and not takes_weights(self.model) and not self.prefit:
            warnings.warn(
                f"{type(self.model).__name__} takes no sample_weight: the weights are not used",
                UserWarning,
                stacklevel=3,
            )
            weight = NO_WEIGHT
        self._seed = seed_from(self.random_state)
        if self.method in ("split", "cqr"):
            self._fit_apart(X, target, weight, groups)
        else:
            self._fit_together(X, target, weight, groups)
        copy_input(self, self.models_[0])
        return self

    def _check_model(self) -> None:
        check_model(self.model, self.prefit)
        if self.prefit and self.method not in ("split", "cqr"):
            raise ValueError(f"prefit=True has no meaning for method={self.method!r}; use 'split'")
        if _is_classifier(self.model):
            if self.method == "cqr":
                raise ValueError(
                    "method='cqr' is for regressors; a classifier takes 'split' or 'cv+'"
                )
            if not hasattr(self.model, "predict_proba"):
                raise ValueError(
                    f"{type(self.model).__name__} has no predict_proba to build sets from; wrap it in a"
                    " CalibratedModel"
                )
        elif self.per_class:
            raise ValueError("per_class=True is for classifiers; give groups to fit instead")
        if self.prefit:
            check_is_fitted(self.model)

    def _check_target(self, y: Any) -> np.ndarray:
        if not _is_classifier(self.model):
            target = check_finite_target(y)
            if len(target) != 1:
                raise ValueError(f"y has {len(target)} columns; intervals are of one target")
            if np.asarray(y).ndim == 2:
                warn_of_column_vector()
            return target[0]
        labels = check_labels(y)
        if labels.size == 0:
            raise ValueError("y is empty: found array with 0 sample(s)")
        known = learn_classes(labels)
        if known.size < 2:
            raise ValueError(
                f"y holds one class only, {known.tolist()[0]!r}: calibration needs rows of at least two"
                " classes (with 1 class every set would be the same)"
            )
        self.classes_ = np.asarray(self.model.classes_) if self.prefit else known
        class_numbers(labels, self.classes_)
        return labels

    def _fit_apart(
        self, X: Any, y: np.ndarray, weight: np.ndarray, groups: np.ndarray | None
    ) -> None:
        """One part of the rows to fit, one to calibrate."""
        fitting, calibrating = self._two_parts(y)
        self.n_calibration_ = calibrating.size
        groups = None if groups is None else groups[calibrating]
        held, truth = rows_of(X, calibrating), y[calibrating]
        if self.method == "cqr":
            if self.prefit:
                self._levels = fitted_levels(self.model, self.quantiles)
            else:
                self._levels = fit_levels(self.model, self.quantiles, X, y, weight, fitting)
            self.models_ = self._levels.models
            self._calibration = QuantileIntervals(
                self._levels.levels, self._levels.predict(held), truth, groups
            )
            return
        model = self.model if self.prefit else fit_clone(self.model, X, y, weight, fitting)
        self.models_ = [model]
        if not _is_classifier(self.model):
            residual = np.abs(truth - np.asarray(model.predict(held), dtype=float))
            self._calibration = SplitIntervals(residual, groups)
            return
        said = probabilities_by_class(model, held, self.classes_)
        self._calibration = SplitSets(*self._own_scores(said, truth), groups)

    def _fit_together(
        self, X: Any, y: np.ndarray, weight: np.ndarray, groups: np.ndarray | None
    ) -> None:
        """Every row both fits and calibrates, by models that have not seen it."""
        classes = self.classes_ if _is_classifier(self.model) else None
        if self.method == "oob":
            held_out: Any = ByBags(fit_clone(self.model, X, y, weight), y.size, classes)
        else:
            held_out = fit_by_folds(self, X, y, weight, classes)
        self.models_, self.n_calibration_ = held_out.models, held_out.rows.size
        truth = y[held_out.rows]
        groups = None if groups is None else groups[held_out.rows]
        said = held_out.of_calibration_rows(X)
        if classes is None:
            self._calibration = PlusIntervals(held_out, np.abs(truth - said), groups)
        else:
            self._calibration = PlusSets(held_out, *self._own_scores(said, truth), groups)

    def _two_parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the rows to fit, and of those to calibrate with."""
        every = np.arange(y.size)
        if self.prefit:
            return every[:0], every
        from sklearn.model_selection import train_test_split

        labels = y if _is_classifier(self.model) else None
        size = self.calibration_size
        number = int(size) if isinstance(size, int | np.integer) else max(1, round(size * y.size))
        if number >= y.size:
            raise ValueError(
                f"calibration_size={size!r} sets {number} of n_samples={y.size} aside: none is left to fit"
            )
        if labels is not None:
            counts = np.unique(labels, return_counts=True)[1]
            # With too few rows to have each class in both parts chance decides.
            if counts.min() < 2 or min(number, y.size - number) < counts.size:
                labels = None
        random = check_random_state(self._seed)
        fitting, held = train_test_split(
            every, test_size=number, stratify=labels, random_state=random
        )
        return np.sort(fitting), np.sort(held)

    def _own_scores(
        self, said: np.ndarray, truth: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Score of each calibration row's own class; and what else a calibration of classes is made of."""
        numbers = class_numbers(truth, self.classes_)
        scores = class_scores(said, self.sets, self._chance(numbers.size, _CALIBRATION_ROWS))
        own = scores[np.arange(numbers.size), numbers]
        return own, numbers, self.classes_, bool(self.per_class)

    def _chance(self, n_rows: int, stream: int) -> np.ndarray | None:
        if not self.randomize or self.sets != "adaptive":
            return None
        return np.random.default_rng([self._seed, stream]).random(n_rows)

    # --------------------------------------------------------------- predicting
    def predict(self, X: Any) -> np.ndarray:
        """What the model says: the mean over folds, the median of "cqr", the most probable class."""
        check_is_fitted(self, "models_")
        if hasattr(self, "classes_"):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        if self.method == "cqr":
            return self._levels.middle(X)
        if isinstance(self._calibration, PlusIntervals):
            return self._calibration.held_out.together(X)
        return self.models_[0].predict(X)

    @available_if(_of_classifiers)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The model's probabilities of the classes, the mean over folds."""
        check_is_fitted(self, "models_")
        if isinstance(self._calibration, PlusSets):
            return self._calibration.held_out.together(X)
        return probabilities_by_class(self.models_[0], X, self.classes_)

    def predict_interval(self, X: Any, coverage: float = 0.9, groups: Any = None) -> np.ndarray:
        """Intervals that hold the truth of a share `coverage` of the rows.

        Parameters
        ----------
        X : table
        coverage : float, default=0.9
            Between 0 and 1.
        groups : array of shape (n_samples,), optional
            The group of each row, of a model that was fitted with groups.

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper bounds.
        """
        self._check_fitted()
        coverage = check_coverage(coverage)
        if "classes_" in self.__dict__:
            raise ValueError("predict_interval is for regressors; a classifier has predict_set")
        return self._calibration.interval(self._said(X), coverage, groups)

    def predict_set(self, X: Any, coverage: float = 0.9, groups: Any = None) -> np.ndarray:
        """Sets of classes that hold the true one for a share `coverage` of the rows.

        Parameters
        ----------
        X : table
        coverage : float, default=0.9
            Between 0 and 1.
        groups : array of shape (n_samples,), optional
            The group of each row, of a model that was fitted with groups.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            True for the classes in the set, in the order of `classes_`.
        """
        self._check_fitted()
        coverage = check_coverage(coverage)
        if not hasattr(self, "classes_"):
            raise ValueError("predict_set is for classifiers; a regressor has predict_interval")
        said = self._said(X)
        chance = self._chance(said.shape[-2], _NEW_ROWS)
        if isinstance(self._calibration, PlusSets):
            within = self._calibration.sets(said, self.sets, chance, coverage, groups)
            said = said.mean(axis=0)
        else:
            scores = class_scores(said, self.sets, chance)
            within = self._calibration.sets(scores, coverage, groups)
        if self.sets == "adaptive" and not self.randomize:
            # A class so probable that it alone exceeds the threshold would leave the set empty.
            within[np.arange(len(within)), said.argmax(axis=1)] = True
        return within

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of `predict` for classes, its coefficient of determination for numbers."""
        from sklearn.metrics import accuracy_score, r2_score

        judge = accuracy_score if _is_classifier(self.model) else r2_score
        return float(judge(y, self.predict(X), sample_weight=sample_weight))

    def _check_fitted(self) -> None:
        if (
            "models_" not in self.__dict__
        ):  # asked first: scikit-learn's check takes longer than a row
            check_is_fitted(self, "models_")

    def _said(self, X: Any) -> np.ndarray:
        if isinstance(self._calibration, PlusIntervals | PlusSets):
            return self._calibration.held_out.of_new_rows(X)
        if isinstance(self._calibration, QuantileIntervals):
            return self._levels.predict(X)
        if "classes_" in self.__dict__:
            return self.predict_proba(X)
        return np.asarray(self.models_[0].predict(X), dtype=float)

    _levels: QuantileModel
    _calibration: Any
    models_: list[Any]

    # -------------------------------------------------------------------- seams
    def save(self, path: Any) -> None:
        """Write the model to a file that `bosquet.load` reads; the wrapped one must be Bosquet's."""
        from bosquet.io import save_model

        save_model(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "models_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if _is_classifier(self.model):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        copy_input_tags(tags, self.model)
        return tags
