"""Conformal prediction: intervals and sets of classes with guaranteed coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._fitted import SaveMixin, publishes_fit_atomically, reads_fit_snapshot
from bosquet._sklearn import available_if, check_is_fitted
from bosquet.trust._conformal_fit import NEW_ROWS, ConformalFitting, is_classifier
from bosquet.trust._intervals import PlusIntervals, QuantileIntervals
from bosquet.trust._ranks import check_coverage
from bosquet.trust._sets import PlusSets, class_scores
from bosquet.trust._wrapping import check_single_output, copy_input_tags, probabilities_by_class

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import Estimator, RandomState, Splitter, TableLike


def _wraps_classifier(owner: Any) -> bool:
    return is_classifier(owner.model)


class ConformalModel(SaveMixin, ConformalFitting):
    r"""Prediction intervals for a regressor, or prediction sets for a classifier, with guaranteed coverage.

    If the rows are independent draws from one distribution, the target of a new row lies in its interval
    (or set) with probability c or more, whatever the model is. A score measures the error of the model on
    a row that it was not fitted to, for instance sᵢ = |yᵢ - f(xᵢ)|. The score of a new row is equally
    likely to take any rank among the scores of the calibration rows, so that

    .. math:: P\left(s_{n+1} \le s_{(\lceil (n+1) c \rceil)}\right) \ge c ,

    and the interval contains all y with a score up to that bound. The guarantee holds on average over
    all rows; with `groups` or `per_class` it holds on average over the rows of each group or class.

    Guide: the page "Calibration of probabilities and conformal prediction" of the documentation

    Parameters
    ----------
    model : regressor or classifier
        A model of Bosquet, of scikit-learn, or one with the same interface.
    method : {"split", "cv+", "jackknife+", "cqr", "oob"}, default="split"
        - "split": a part of the rows is the calibration set, and the model is fitted once to the other
          rows. All intervals have the same width.
        - "cv+": cross-validation, so that all rows serve for training and for calibration. K fits.
        - "jackknife+": "cv+" with as many folds as rows.
        - "cqr": conformalised quantile regression. As "split", but around predicted quantiles, so that
          the intervals are wide where the noise is large. The model must predict quantiles:
          `RandomForestRegressor`, `ExtraTreesRegressor`, ``GradientBoostingRegressor(loss="quantile")``,
          or any model with a parameter for the quantile level.
        - "oob": the jackknife+ after the bootstrap. The model without a row consists of the members of
          a forest or bagging model that did not draw the row. One fit to all rows.

        "split" and "cqr" guarantee a coverage of c. "cv+", "jackknife+" and "oob" reach about c in
        practice and guarantee 1 - 2(1 - c) for any model (slightly less with folds and bags).
    calibration_size : float or int, default=0.25
        Size of the calibration set of "split" and "cqr", as a fraction or a number of rows.
    cv : int or splitter, default=10
        Folds of "cv+".
    quantiles : levels, default=(0.05, 0.5, 0.95)
        Quantile levels that "cqr" fits, unless the model's own `quantile` is a list. The coverage is
        guaranteed for any levels. The intervals are best if two of the levels differ by the coverage, as
        0.05 and 0.95 do for a coverage of 0.9.
    sets : {"adaptive", "score"}, default="adaptive"
        How a classifier's sets are built. "adaptive": add classes in order of decreasing probability
        until a threshold is reached, so that difficult rows get larger sets. "score": all classes whose
        probability exceeds a threshold, which gives the smallest sets on average.
    randomize : bool, default=True
        For sets="adaptive": include the last class of a set at random, so that the coverage is exactly c
        instead of larger. **With the default, sets may be empty.** An empty set is one of the allowed
        errors, a fraction 1 - c of the rows; it occurs for rows with a confident prediction. (With
        sets="score", a set is empty if no class is probable enough.) With ``randomize=False`` every set
        contains the most probable class. No set is empty then, but sets are larger and the coverage
        exceeds c.
    per_class : bool, default=False
        For classifiers: guarantee the coverage within each class, with the calibration rows of the class.
    prefit : bool, default=False
        For "split" and "cqr": the model is already fitted, and `fit` receives rows that the model was not
        fitted to.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel by joblib. None: 1, unless set by ``joblib.parallel_config``; -1:
        all processors.
    random_state : int, RandomState or None, default=None
        Seed of the choice of the calibration rows, of the folds, and of `randomize`. With an integer,
        repeated calls return the same sets.

    Attributes
    ----------
    models_ : list
        The fitted models: one, or one per fold ("cv+", "jackknife+"), or one per level ("cqr").
    n_calibration_ : int
        Number of calibration rows.
    classes_ : array
        The classes, in the order of the columns of `predict_set`. Classifiers only.
    n_features_in_, feature_names_in_ : as in scikit-learn, if the model has them.

    See Also
    --------
    CalibratedModel : Calibrated probabilities.
    RandomForestRegressor : Quantiles of the target by `predict_quantiles`.

    Examples
    --------
    >>> from bosquet import ConformalModel, GradientBoostingRegressor
    >>> from bosquet.datasets import Friedman1
    >>> X, y = Friedman1().sample(1000, random_state=0)
    >>> X_new, y_new = Friedman1().sample(5000, random_state=1)
    >>> model = ConformalModel(GradientBoostingRegressor(random_state=0), random_state=0).fit(X, y)
    >>> low, high = model.predict_interval(X_new, coverage=0.9).T
    >>> print(f"{((low <= y_new) & (y_new <= high)).mean():.2f}")
    0.92

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
        model: Estimator,
        method: str = "split",
        *,
        calibration_size: float = 0.25,
        cv: int | str | Splitter = 10,
        quantiles: ArrayLike = (0.05, 0.5, 0.95),
        sets: str = "adaptive",
        randomize: bool = True,
        per_class: bool = False,
        prefit: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
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
    @publishes_fit_atomically
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> ConformalModel:
        """Fit the model, and compute the scores of the calibration rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Any input that the model accepts.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Passed to the model. The coverage does not depend on weights; rows of weight 0 are dropped.
        groups : array of shape (n_samples,), optional
            Guarantee the coverage within each group. `predict_interval` and `predict_set` then need the
            groups of the new rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups)

    # --------------------------------------------------------------- predicting
    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X.

        This is the prediction of the model, the mean over folds, the median of "cqr", or the most probable
        class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self, "models_")
        if hasattr(self, "classes_"):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        if self.method == "cqr":
            return self._quantile_model.predict_centre(X)
        if isinstance(self._calibration, PlusIntervals):
            return self._calibration.held_out.predict_mean(X)
        return self.models_[0].predict(X)

    @available_if(_wraps_classifier)
    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class, as the mean over the folds.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        check_is_fitted(self, "models_")
        if isinstance(self._calibration, PlusSets):
            return self._calibration.held_out.predict_mean(X)
        return probabilities_by_class(self.models_[0], X, self.classes_)

    @reads_fit_snapshot
    def predict_interval(
        self, X: TableLike, coverage: float = 0.9, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Predict intervals that contain the target with probability `coverage`.

        Parameters
        ----------
        X : table
        coverage : float, default=0.9
            Between 0 and 1.
        groups : array of shape (n_samples,), optional
            The group of each row; required if the model was fitted with groups.

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper bounds.
        """
        check_is_fitted(self, "models_")
        coverage = check_coverage(coverage)
        if "classes_" in self.__dict__:
            raise ValueError(
                "predict_interval is for regressors, but the model is a classifier; use predict_set"
            )
        return self._calibration.interval(self._predict_outputs(X), coverage, groups)

    @reads_fit_snapshot
    def predict_set(
        self, X: TableLike, coverage: float = 0.9, groups: ArrayLike | None = None
    ) -> np.ndarray:
        """Predict sets of classes that contain the true class with probability `coverage`.

        Parameters
        ----------
        X : table
        coverage : float, default=0.9
            Between 0 and 1.
        groups : array of shape (n_samples,), optional
            The group of each row; required if the model was fitted with groups.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            True for the classes in the set, in the order of `classes_`. A row without any True is an
            empty set, which cannot contain the true class; ``randomize=False`` avoids empty sets.
        """
        check_is_fitted(self, "models_")
        coverage = check_coverage(coverage)
        if not hasattr(self, "classes_"):
            raise ValueError(
                "predict_set is for classifiers, but the model is a regressor; use predict_interval"
            )
        probabilities = self._predict_outputs(X)
        uniform = self._uniform_draws(probabilities.shape[-2], NEW_ROWS)
        if isinstance(self._calibration, PlusSets):
            within = self._calibration.sets(probabilities, self.sets, uniform, coverage, groups)
            probabilities = probabilities.mean(axis=0)
        else:
            scores = class_scores(probabilities, self.sets, uniform)
            within = self._calibration.sets(scores, coverage, groups)
        if self.sets == "adaptive" and not self.randomize:
            # Without this, a set is empty if its most probable class alone exceeds the threshold.
            within[np.arange(len(within)), probabilities.argmax(axis=1)] = True
        return within

    @reads_fit_snapshot
    def score(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of `predict` for a classifier, R² for a regressor.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score, r2_score

        metric = accuracy_score if is_classifier(self.model) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def _predict_outputs(self, X: TableLike) -> np.ndarray:
        """Return the predictions that the calibration needs for the rows of X."""
        if isinstance(self._calibration, PlusIntervals | PlusSets):
            return self._calibration.held_out.predict_all(X)
        if isinstance(self._calibration, QuantileIntervals):
            return self._quantile_model.predict(X)
        if "classes_" in self.__dict__:
            return self.predict_proba(X)
        return check_single_output(self.models_[0], self.models_[0].predict(X))

    # ------------------------------------------------------------- scikit-learn
    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "models_")

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if is_classifier(self.model):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        copy_input_tags(tags, self.model)
        return tags
