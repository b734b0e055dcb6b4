"""A classifier with calibrated probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from bosquet._fitted import SaveMixin, publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import boolean, check_parameters, choice
from bosquet._sklearn import (
    BaseEstimator,
    ClassifierMixin,
    check_is_fitted,
    in_parallel,
    rows_of,
    tags_of,
)
from bosquet._targets import check_labels, class_numbers, unique_classes
from bosquet._warnings import warn_user
from bosquet._weights import NO_WEIGHT, check_sample_weight, warn_of_scale
from bosquet.trust._wrapping import (
    accepts_weights,
    check_model,
    check_table,
    copy_feature_attributes,
    copy_input_tags,
    fit_clone,
    probabilities_by_class,
)
from bosquet.trust.calibrators import CALIBRATORS, Calibrator
from bosquet.trust.costs import check_costs, least_costly

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import Classifier, Splitter, TableLike


CHECKS = {"method": choice("isotonic", "platt", "sigmoid", "beta"), "ensemble": boolean()}


@dataclass
class CalibratedMember:
    """A fitted model and the maps from its scores to probabilities: one map, or one per class."""

    model: Classifier
    calibrators: list[Calibrator]
    # Probabilities are clipped to [floor, 1 - floor]; None if the scores are not probabilities.
    floor: float | None

    def probabilities(self, X: TableLike, classes: np.ndarray) -> np.ndarray:
        scores = log_odds(score_rows(self.model, X, classes), self.floor)
        mapped = np.column_stack(
            [calibrate(scores[:, k]) for k, calibrate in enumerate(self.calibrators)]
        )
        if mapped.shape[1] == 1:
            return np.column_stack([1 - mapped[:, 0], mapped[:, 0]])
        # If all maps return 0 for a row, use the uncalibrated probabilities of the model.
        all_zero = mapped.sum(axis=1) == 0
        mapped[all_zero] = expit(scores[all_zero])
        return mapped / mapped.sum(axis=1, keepdims=True)


class CalibratedModel(SaveMixin, ClassifierMixin, BaseEstimator):
    r"""A classifier with calibrated probabilities.

    Probabilities are calibrated if, among rows with a predicted probability p of a class, a fraction p
    belongs to that class. Each row is scored by a model that was not fitted to it. An increasing map from
    these scores to probabilities is then fitted to all rows, and the model is fitted once more to all rows.
    More than two classes are calibrated one against the rest, and the results are divided by their sum:

    .. math:: q_k(x) = \frac{g_k(s_k(x))}{\sum_j g_j(s_j(x))} .

    The scores are the log-odds of `predict_proba`, or `decision_function` if the model has no
    probabilities. Probabilities of 0 and 1 have no log-odds. They are replaced by the smallest other
    distance from 0 or 1, divided by 2.

    Guide: the page "Calibration of probabilities and conformal prediction" of the documentation

    Parameters
    ----------
    model : classifier
        A classifier of Bosquet, of scikit-learn, or one with the same interface. (For a regressor, use
        `ConformalModel`, which predicts intervals.)
    method : {"isotonic", "platt", "sigmoid", "beta"}, default="isotonic"
        The kind of map. Platt's sigmoid has two coefficients and the beta map three, which suits few rows.
        The isotonic map can take any increasing shape and needs about 1,000 rows or more. "sigmoid",
        scikit-learn's name, is the same as "platt".
    cv : int, splitter, "oob" or "prefit", default=5
        How held-out scores are obtained: by cross-validation with that many folds or that splitter; "oob":
        by the out-of-bag votes of a forest or bagging model, without further fits; "prefit": the model is
        already fitted, and `fit` receives rows that the model was not fitted to.
    ensemble : bool, default=False
        With cross-validation: keep the model and the map of each fold, and predict their mean, instead
        of one map and one model fitted to all rows.
    costs : array of shape (n_classes, n_classes), default=None
        Entry (j, k) is the cost of predicting class k for a row of class j. If given, `predict` returns
        the class of lowest expected cost.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel by joblib. None: 1, unless set by ``joblib.parallel_config``; -1:
        all processors.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    members_ : list of CalibratedMember
        The fitted models, each with its `calibrators`.
    n_features_in_, feature_names_in_ : as in scikit-learn, if the model has them.

    See Also
    --------
    ConformalModel : Prediction sets and intervals with guaranteed coverage.
    bosquet.trust.reliability_curve : Whether probabilities are calibrated.

    Examples
    --------
    >>> from sklearn.metrics import brier_score_loss
    >>> from bosquet import CalibratedModel, RandomForestClassifier
    >>> from bosquet.datasets import Threenorm
    >>> X, y = Threenorm().sample(2000, random_state=0)
    >>> X_test, y_test = Threenorm().sample(5000, random_state=1)
    >>> forest = RandomForestClassifier(random_state=0)
    >>> calibrated = CalibratedModel(forest, method="beta", cv="oob").fit(X, y)
    >>> for model in (forest.fit(X, y), calibrated):
    ...     print(f"{brier_score_loss(y_test, model.predict_proba(X_test)[:, 1]):.3f}")
    0.125
    0.102

    References
    ----------
    Niculescu-Mizil and Caruana, "Predicting good probabilities with supervised learning", ICML 2005.
    """

    def __init__(
        self,
        model: Classifier,
        method: str = "isotonic",
        *,
        cv: int | str | Splitter = 5,
        ensemble: bool = False,
        costs: ArrayLike | None = None,
        n_jobs: int | None = None,
    ):
        self.model = model
        self.method = method
        self.cv = cv
        self.ensemble = ensemble
        self.costs = costs
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ fitting
    @publishes_fit_atomically
    def fit(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> CalibratedModel:
        """Fit the model and its calibration.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Any input that the model accepts.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Used by the calibration, and by the model if it accepts weights. "platt" and "beta" treat the
            sum of the weights as the number of rows, so use weights with a mean of about 1.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None) -> CalibratedModel:
        check_parameters(self, CHECKS)
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        check_model(self.model, prefit)
        if tags_of(self.model).estimator_type == "regressor":
            raise ValueError(
                f"model is a regressor ({type(self.model).__name__}), but CalibratedModel calibrates the"
                " probabilities of a classifier; pass a classifier, or use bosquet.ConformalModel and its"
                " predict_interval for intervals of a regressor"
            )
        labels = check_labels(y, owner=type(self).__name__)
        X = check_table(X, labels.size)
        weight = check_sample_weight(sample_weight, labels.size, scale_matters=True)
        if self.method != "isotonic":
            # Platt's targets add one row of weight 1 per class, which has no effect if weights are large.
            warn_of_scale(weight, {f"the extra row of method={self.method!r}": 1.0}, least=2.0)
        if prefit:
            check_is_fitted(self.model)
            self.classes_ = np.asarray(self.model.classes_)
        else:
            self.classes_ = unique_classes(labels)
        numbers = class_numbers(labels, self.classes_)
        self._check_classes(numbers, weight)
        if self.costs is not None:
            check_costs(self.costs, self.classes_.size)
        if prefit:
            scores = score_rows(self.model, X, self.classes_)
            self.members_ = [self._fit_calibrators(self.model, scores, numbers, weight)]
        elif isinstance(self.cv, str):
            if self.cv != "oob":
                raise ValueError(
                    f"cv={self.cv!r} is not valid: cv must be a number of folds, a splitter, 'oob' or"
                    " 'prefit'"
                )
            self.members_ = [self._fit_out_of_bag(X, labels, numbers, weight)]
        else:
            self.members_ = self._fit_by_folds(X, labels, numbers, weight)
        copy_feature_attributes(self, self.members_[0].model)
        return self

    def _check_classes(self, numbers: np.ndarray, weight: np.ndarray) -> None:
        counted = numbers[weight > 0] if weight.size else numbers
        counts = np.bincount(counted, minlength=self.classes_.size)
        if (counts > 0).sum() < 2:
            only = self.classes_.tolist()[counts.argmax()]
            raise ValueError(
                f"y has 1 class, {only!r}; calibration needs rows of at least two classes"
            )
        rarest = int(counts.argmin())
        label = self.classes_.tolist()[rarest]
        if counts[rarest] == 0:
            raise ValueError(
                f"y has no row of class {label!r}, which is one of the model's classes; pass rows of every"
                " class to calibrate"
            )
        if isinstance(self.cv, int | np.integer) and counts[rarest] < self.cv:
            raise ValueError(
                f"class {label!r} has {counts[rarest]} row(s), too few for cv={self.cv}; every fold needs a"
                " row of each class, so use fewer folds or more rows"
            )

    def _weight_for_model(self, weight: np.ndarray) -> np.ndarray:
        if weight.size and not accepts_weights(self.model):
            warn_user(
                f"fit of {type(self.model).__name__} has no parameter sample_weight; the weights are used"
                " for the calibration only",
                UserWarning,
            )
            return NO_WEIGHT
        return weight

    def _fit_by_folds(
        self, X: TableLike, labels: np.ndarray, numbers: np.ndarray, weight: np.ndarray
    ) -> list[CalibratedMember]:
        from sklearn.model_selection import check_cv

        try:
            folds = list(check_cv(self.cv, labels, classifier=True).split(X, labels))
        except (TypeError, AttributeError) as error:
            raise ValueError(
                f"cv={self.cv!r} is not valid: cv must be a number of folds, a splitter, 'oob' or 'prefit'"
            ) from error
        own_weight = self._weight_for_model(weight)
        calls = [(self.model, X, labels, own_weight, train) for train, _ in folds]
        models = in_parallel(fit_clone, calls, n_jobs=self.n_jobs)
        held_out = [test for _, test in folds]
        if self.ensemble:
            return [
                self._fit_calibrators(
                    model,
                    score_rows(model, rows_of(X, rows), self.classes_),
                    numbers[rows],
                    weight[rows] if weight.size else weight,
                )
                for model, rows in zip(models, held_out, strict=True)
            ]
        rows = np.concatenate(held_out)
        scores = np.concatenate(
            [
                score_rows(model, rows_of(X, fold), self.classes_)
                for model, fold in zip(models, held_out, strict=True)
            ]
        )
        model = fit_clone(self.model, X, labels, own_weight)
        row_weight = weight[rows] if weight.size else weight
        return [self._fit_calibrators(model, scores, numbers[rows], row_weight)]

    def _fit_out_of_bag(
        self, X: TableLike, labels: np.ndarray, numbers: np.ndarray, weight: np.ndarray
    ) -> CalibratedMember:
        if "oob_score" not in self.model.get_params():
            raise ValueError(
                f"cv='oob' needs a forest or a bagging model, but {type(self.model).__name__} has no"
                " out-of-bag predictions; pass a number of folds as cv"
            )
        own_weight = self._weight_for_model(weight)
        model = fit_clone(self.model, X, labels, own_weight, oob_score=True)
        votes = np.asarray(model.oob_decision_function_)
        rows = np.flatnonzero(np.nan_to_num(votes).sum(axis=1) > 0)
        missing = np.setdiff1d(np.arange(self.classes_.size), numbers[rows])
        if missing.size:
            label = self.classes_.tolist()[missing[0]]
            raise ValueError(
                f"class {label!r} has no out-of-bag row; fit more trees or members, or pass a number of folds"
                " as cv"
            )
        row_weight = weight[rows] if weight.size else weight
        return self._fit_calibrators(model, votes[rows], numbers[rows], row_weight)

    def _fit_calibrators(
        self, model: Classifier, scores: np.ndarray, numbers: np.ndarray, weight: np.ndarray
    ) -> CalibratedMember:
        """Fit the calibration maps to held-out scores, and combine them with the fitted model."""
        floor = _probability_floor(scores) if hasattr(model, "predict_proba") else None
        scores = log_odds(scores, floor)
        weight = weight if weight.size else np.ones(numbers.size)
        events = [1] if self.classes_.size == 2 else range(self.classes_.size)
        kind = CALIBRATORS["platt" if self.method == "sigmoid" else self.method]
        calibrators = [
            kind().fit(scores[:, column], (numbers == k).astype(float), weight)
            for column, k in enumerate(events)
        ]
        return CalibratedMember(model, calibrators, floor)

    # --------------------------------------------------------------- predicting
    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the calibrated probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        check_is_fitted(self, "members_")
        total = self.members_[0].probabilities(X, self.classes_)
        for member in self.members_[1:]:
            total = total + member.probabilities(X, self.classes_)
        return total / len(self.members_)

    @reads_fit_snapshot
    def predict(self, X: TableLike, costs: ArrayLike | None = None) -> np.ndarray:
        """Predict the class of each row of X: the most probable class.

        With costs, this is the class of lowest expected cost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        costs : array of shape (n_classes, n_classes), optional
            Costs to use instead of the parameter `costs`.

        Returns
        -------
        array of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        costs = self.costs if costs is None else costs
        if costs is None:
            return self.classes_[probabilities.argmax(axis=1)]
        return self.classes_[least_costly(probabilities, costs)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "members_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.model)
        return tags


# ------------------------------------------------------------------------------------------ scores
def score_rows(model: Classifier, X: TableLike, classes: np.ndarray) -> np.ndarray:
    """Return probabilities (rows, classes), or decision values, (rows, 1) for two classes."""
    if hasattr(model, "predict_proba"):
        return probabilities_by_class(model, X, classes)
    if not hasattr(model, "decision_function"):
        raise ValueError(
            f"{type(model).__name__} has neither predict_proba nor decision_function; pass a classifier that"
            " has one of them"
        )
    scores = np.asarray(model.decision_function(X), dtype=float)
    return scores[:, None] if scores.ndim == 1 else scores


def log_odds(scores: np.ndarray, floor: float | None) -> np.ndarray:
    """Return log-odds of shape (rows, 1) for two classes, (rows, classes) for more."""
    if floor is None:
        return scores
    columns = scores[:, 1:] if scores.shape[1] == 2 else scores
    return logit(np.clip(columns, floor, 1 - floor))


def _probability_floor(probabilities: np.ndarray) -> float:
    """Return half of the smallest non-zero distance of a probability from 0 or 1."""
    distance = np.minimum(probabilities, 1 - probabilities)
    distance = distance[distance > 0]
    if not distance.size:
        return 1 / (2 * len(probabilities) + 2)
    # So that 1 - floor is still below 1 in floating point.
    return max(float(distance.min()) / 2, 1e-15)
