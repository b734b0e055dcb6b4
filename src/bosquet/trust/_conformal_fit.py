"""Fitting of a conformal model: the wrapped models, and the scores of rows they were not fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bosquet._parameters import boolean, check_parameters, choice, count_or_fraction
from bosquet._sklearn import (
    BaseEstimator,
    check_is_fitted,
    check_random_state,
    rows_of,
    seed_from,
    tags_of,
)
from bosquet._targets import (
    check_finite_target,
    check_labels,
    class_numbers,
    unique_classes,
    warn_of_column_vector,
)
from bosquet._warnings import warn_user
from bosquet._weights import NO_WEIGHT, check_sample_weight
from bosquet.trust._groups import check_groups
from bosquet.trust._held_out import OutOfBagModels, fit_by_folds
from bosquet.trust._intervals import PlusIntervals, QuantileIntervals, SplitIntervals
from bosquet.trust._quantile_models import QuantileModel, fit_quantile_model, from_fitted_model
from bosquet.trust._sets import PlusSets, SplitSets, class_scores
from bosquet.trust._wrapping import (
    accepts_weights,
    check_model,
    check_single_output,
    check_table,
    copy_feature_attributes,
    fit_clone,
    probabilities_by_class,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, TableLike


METHODS = ("split", "cv+", "jackknife+", "cqr", "oob")
CHECKS = {
    "method": choice(*METHODS),
    "calibration_size": count_or_fraction(1, "rows"),
    "sets": choice("adaptive", "score"),
    "randomize": boolean(),
    "per_class": boolean(),
    "prefit": boolean(),
}
# Independent random streams of one seed, for the calibration rows and for the rows to predict.
_CALIBRATION_ROWS, NEW_ROWS = 0, 1


def is_classifier(model: Estimator) -> bool:
    return tags_of(model).estimator_type == "classifier"


class ConformalFitting(BaseEstimator):
    """Implementation of `ConformalModel.fit`; the parameters are described there."""

    model: Any  # a regressor or a classifier
    method: str
    calibration_size: float
    quantiles: Any
    sets: str
    randomize: bool
    per_class: bool
    prefit: bool
    random_state: Any

    _quantile_model: QuantileModel
    _calibration: Any
    models_: list[Any]

    def _fit(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> Self:
        check_parameters(self, CHECKS)
        self._check_model()
        target = self._check_target(y)
        X = check_table(X, target.size)
        weight = check_sample_weight(sample_weight, target.size, scale_matters=True)
        if groups is not None:
            groups = check_groups(groups, target.size)
        if weight.size and not weight.all():
            weighted_rows = np.flatnonzero(weight)
            X = rows_of(X, weighted_rows)
            target, weight = target[weighted_rows], weight[weighted_rows]
            groups = None if groups is None else groups[weighted_rows]
        if weight.size and not accepts_weights(self.model) and not self.prefit:
            warn_user(
                f"fit of {type(self.model).__name__} has no parameter sample_weight; the weights are ignored",
                UserWarning,
            )
            weight = NO_WEIGHT
        self._seed = seed_from(self.random_state)
        if self.method in ("split", "cqr"):
            self._fit_with_calibration_set(X, target, weight, groups)
        else:
            self._fit_with_all_rows(X, target, weight, groups)
        copy_feature_attributes(self, self.models_[0])
        return self

    def _check_model(self) -> None:
        if isinstance(self.cv, str):
            raise ValueError(
                f"cv={self.cv!r} is not valid: cv must be a number of folds or a splitter; for a fitted"
                " model use prefit=True, for out-of-bag residuals method='oob'"
            )
        check_model(self.model, self.prefit)
        if self.prefit and self.method not in ("split", "cqr"):
            raise ValueError(
                f"prefit=True is not supported with method={self.method!r}; use method='split' or 'cqr'"
            )
        if is_classifier(self.model):
            if self.method == "cqr":
                raise ValueError(
                    "method='cqr' is for regressors, but the model is a classifier; use method='split',"
                    " 'cv+', 'jackknife+' or 'oob' with predict_set"
                )
            if not hasattr(self.model, "predict_proba"):
                raise ValueError(
                    f"{type(self.model).__name__} has no predict_proba, which prediction sets need; wrap it"
                    " in a CalibratedModel"
                )
        elif self.per_class:
            raise ValueError(
                "per_class=True is for classifiers, but the model is a regressor; pass groups to fit instead"
            )
        if self.prefit:
            check_is_fitted(self.model)

    def _check_target(self, y: ArrayLike) -> np.ndarray:
        if not is_classifier(self.model):
            target = check_finite_target(y, owner=type(self).__name__)
            if len(target) != 1:
                raise ValueError(
                    f"y has {len(target)} columns, but intervals support one target; fit one"
                    " ConformalModel per column"
                )
            if np.asarray(y).ndim == 2:
                warn_of_column_vector()
            return target[0]
        labels = check_labels(y, owner=type(self).__name__)
        if labels.size == 0:
            raise ValueError("y is empty (0 sample(s)); at least 1 row is required")
        classes = unique_classes(labels)
        if classes.size < 2:
            raise ValueError(
                f"y has 1 class, {classes.tolist()[0]!r}; calibration needs rows of at least two classes"
            )
        self.classes_ = np.asarray(self.model.classes_) if self.prefit else classes
        class_numbers(labels, self.classes_)
        return labels

    def _fit_with_calibration_set(
        self, X: TableLike, y: np.ndarray, weight: np.ndarray, groups: np.ndarray | None
    ) -> None:
        """Fit to the training rows, and compute the scores of the other rows, the calibration set."""
        training, calibration = self._split_rows(y)
        self.n_calibration_ = calibration.size
        groups = None if groups is None else groups[calibration]
        X_calibration, y_calibration = rows_of(X, calibration), y[calibration]
        if self.method == "cqr":
            if self.prefit:
                self._quantile_model = from_fitted_model(self.model, self.quantiles)
            else:
                self._quantile_model = fit_quantile_model(
                    self.model, self.quantiles, X, y, weight, training
                )
            self.models_ = self._quantile_model.models
            self._calibration = QuantileIntervals(
                self._quantile_model.levels,
                self._quantile_model.predict(X_calibration),
                y_calibration,
                groups,
            )
            return
        model = self.model if self.prefit else fit_clone(self.model, X, y, weight, training)
        self.models_ = [model]
        if not is_classifier(self.model):
            predictions = check_single_output(model, model.predict(X_calibration))
            self._calibration = SplitIntervals(np.abs(y_calibration - predictions), groups)
            return
        probabilities = probabilities_by_class(model, X_calibration, self.classes_)
        scores = self._true_class_scores(probabilities, y_calibration)
        self._calibration = SplitSets(*scores, groups)

    def _fit_with_all_rows(
        self, X: TableLike, y: np.ndarray, weight: np.ndarray, groups: np.ndarray | None
    ) -> None:
        """Use every row for training and for calibration, with models that were not fitted to it."""
        classes = self.classes_ if is_classifier(self.model) else None
        if self.method == "oob":
            model = fit_clone(self.model, X, y, weight)
            held_out: Any = OutOfBagModels.from_fitted(model, y.size, classes)
        else:
            held_out = fit_by_folds(self, X, y, weight, classes)
        self.models_, self.n_calibration_ = held_out.models, held_out.rows.size
        y_calibration = y[held_out.rows]
        groups = None if groups is None else groups[held_out.rows]
        predictions = held_out.predict_calibration_rows(X)
        if classes is None:
            residual = np.abs(y_calibration - predictions)
            self._calibration = PlusIntervals(held_out, residual, groups)
        else:
            scores = self._true_class_scores(predictions, y_calibration)
            self._calibration = PlusSets(held_out, *scores, groups)

    def _split_rows(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return indices of the training rows and of the calibration rows."""
        all_rows = np.arange(y.size)
        if self.prefit:
            return all_rows[:0], all_rows
        from sklearn.model_selection import train_test_split

        labels = y if is_classifier(self.model) else None
        size = self.calibration_size
        number = int(size) if isinstance(size, int | np.integer) else max(1, round(size * y.size))
        if number >= y.size:
            raise ValueError(
                f"calibration_size={size!r} leaves no row to fit: it asks for {number} of n_samples={y.size}"
                " rows; pass a smaller value"
            )
        if labels is not None:
            counts = np.unique(labels, return_counts=True)[1]
            # Too few rows to have each class in both parts: split without stratification.
            if counts.min() < 2 or min(number, y.size - number) < counts.size:
                labels = None
        rng = check_random_state(self._seed)
        training, calibration = train_test_split(
            all_rows, test_size=number, stratify=labels, random_state=rng
        )
        return np.sort(training), np.sort(calibration)

    def _true_class_scores(
        self, probabilities: np.ndarray, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Score of each calibration row's true class, and the other arguments of a `_SetCalibration`."""
        numbers = class_numbers(labels, self.classes_)
        uniform = self._uniform_draws(numbers.size, _CALIBRATION_ROWS)
        scores = class_scores(probabilities, self.sets, uniform)
        true_class = scores[np.arange(numbers.size), numbers]
        return true_class, numbers, self.classes_, bool(self.per_class)

    def _uniform_draws(self, n_rows: int, stream: int) -> np.ndarray | None:
        """Return one uniform random number per row for `randomize`, or None if it does not apply."""
        if not self.randomize or self.sets != "adaptive":
            return None
        return np.random.default_rng([self._seed, stream]).random(n_rows)
