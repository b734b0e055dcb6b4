"""Intervals and sets of classes that hold the truth as often as they claim."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._fitted import Saved, fits_aside, reads_one_fit
from bosquet._sklearn import available_if, check_is_fitted
from bosquet.trust._conformal_fit import NEW_ROWS, ConformalFitting, is_classifier
from bosquet.trust._intervals import PlusIntervals, QuantileIntervals
from bosquet.trust._ranks import check_coverage
from bosquet.trust._sets import PlusSets, class_scores
from bosquet.trust._wrapping import copy_input_tags, probabilities_by_class, single_output


def _of_classifiers(owner: Any) -> bool:
    return is_classifier(owner.model)


class ConformalModel(Saved, ConformalFitting):
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
        - "split": some rows are held out as calibration rows. One fit; intervals of one width.
        - "cv+": folds, so that all rows serve both ends. K fits.
        - "jackknife+": as many folds as rows.
        - "cqr": split, about quantiles in place of one prediction: intervals as wide as the noise is
          there. The model is a forest for numbers (`RandomForestRegressor`, `ExtraTreesRegressor`),
          ``GradientBoostingRegressor(loss="quantile")``, or any with a level of its own.
        - "oob": the jackknife+ after the bootstrap. The learners of a forest or of bagging that did
          not draw a row are the model without it. One fit, all rows.

        "split" and "cqr" promise c; "cv+", "jackknife+" and "oob" have c in practice, and promise
        1 - 2(1 - c) whatever the model does (less a little for folds and bags).
    calibration_size : float or int, default=0.25
        Calibration rows of "split" and "cqr": a fraction or a number.
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
        exact and not above. **By default sets may therefore be empty**: an empty set is one of the
        misses that are allowed, a share 1 - c of the rows, drawn among those that the model is sure of.
        (With sets="score" a set is empty where no class is probable enough.) With ``randomize=False``
        the most probable class is always in the set: none is empty, sets are larger and cover more
        often than asked.
    per_class : bool, default=False
        For classes: coverage within each class, by its own calibration rows.
    prefit : bool, default=False
        For "split" and "cqr": the model is fitted, and `fit` is given rows that it has not seen.
    n_jobs : int or None, default=None
        Folds fitted at a time.
    random_state : int, RandomState or None, default=None
        Which rows are calibration rows, the folds, and the chance of `randomize`. An integer gives the same
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
    @fits_aside
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
        return self._fit(X, y, sample_weight, groups)

    # --------------------------------------------------------------- predicting
    @reads_one_fit
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
    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """The model's probabilities of the classes, the mean over folds."""
        check_is_fitted(self, "models_")
        if isinstance(self._calibration, PlusSets):
            return self._calibration.held_out.together(X)
        return probabilities_by_class(self.models_[0], X, self.classes_)

    @reads_one_fit
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
        check_is_fitted(self, "models_")
        coverage = check_coverage(coverage)
        if "classes_" in self.__dict__:
            raise ValueError("predict_interval is for regressors; a classifier has predict_set")
        return self._calibration.interval(self._said(X), coverage, groups)

    @reads_one_fit
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
            True for the classes in the set, in the order of `classes_`. A row without any True is an
            empty set, which is a miss for certain; ``randomize=False`` gives none.
        """
        check_is_fitted(self, "models_")
        coverage = check_coverage(coverage)
        if not hasattr(self, "classes_"):
            raise ValueError("predict_set is for classifiers; a regressor has predict_interval")
        said = self._said(X)
        chance = self._chance(said.shape[-2], NEW_ROWS)
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

    @reads_one_fit
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of `predict` for classes, its coefficient of determination for numbers."""
        from sklearn.metrics import accuracy_score, r2_score

        judge = accuracy_score if is_classifier(self.model) else r2_score
        return float(judge(y, self.predict(X), sample_weight=sample_weight))

    def _said(self, X: Any) -> np.ndarray:
        if isinstance(self._calibration, PlusIntervals | PlusSets):
            return self._calibration.held_out.of_new_rows(X)
        if isinstance(self._calibration, QuantileIntervals):
            return self._levels.predict(X)
        if "classes_" in self.__dict__:
            return self.predict_proba(X)
        return single_output(self.models_[0], self.models_[0].predict(X))

    # -------------------------------------------------------------------- seams
    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "models_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if is_classifier(self.model):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        copy_input_tags(tags, self.model)
        return tags
