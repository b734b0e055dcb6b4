"""Fitting a conformal model: the wrapped models, and scores of rows that they have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._parameters import boolean, check_parameters, choice, count_or_share
from bosquet._sklearn import (
    BaseEstimator,
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
from bosquet._warnings import warn_user
from bosquet.trust._groups import check_groups
from bosquet.trust._held_out import ByBags, fit_by_folds
from bosquet.trust._intervals import PlusIntervals, QuantileIntervals, SplitIntervals
from bosquet.trust._levels import QuantileModel, fit_levels, fitted_levels
from bosquet.trust._sets import PlusSets, SplitSets, class_scores
from bosquet.trust._wrapping import (
    check_model,
    copy_input,
    fit_clone,
    probabilities_by_class,
    rows_can_be_taken,
    single_output,
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
_CALIBRATION_ROWS, NEW_ROWS = 0, 1


def is_classifier(model: Any) -> bool:
    return tags_of(model).estimator_type == "classifier"


class ConformalFitting(BaseEstimator):
    """What `ConformalModel.fit` does; the parameters are described there."""

    model: Any
    method: str
    calibration_size: Any
    quantiles: Any
    sets: str
    randomize: bool
    per_class: bool
    prefit: bool
    random_state: Any

    _levels: QuantileModel
    _calibration: Any
    models_: list[Any]

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        check_parameters(self, CHECKS)
        self._check_model()
        target = self._check_target(y)
        X = rows_can_be_taken(X, target.size)
        weight = check_sample_weight(sample_weight, target.size, scale_matters=True)
        if groups is not None:
            groups = check_groups(groups, target.size)
        if weight.size and not weight.all():
            kept = np.flatnonzero(weight)
            X, target, weight = rows_of(X, kept), target[kept], weight[kept]
            groups = None if groups is None else groups[kept]
        if weight.size and not takes_weights(self.model) and not self.prefit:
            warn_user(
                f"{type(self.model).__name__} takes no sample_weight: the weights are not used",
                UserWarning,
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
        if isinstance(self.cv, str):
            raise ValueError(
                f"cv={self.cv!r} is no way to fold rows; a model that is fitted already is told by"
                " prefit=True, and out-of-bag residuals by method='oob'"
            )
        check_model(self.model, self.prefit)
        if self.prefit and self.method not in ("split", "cqr"):
            raise ValueError(f"prefit=True has no meaning for method={self.method!r}; use 'split'")
        if is_classifier(self.model):
            if self.method == "cqr":
                raise ValueError(
                    "method='cqr' is about quantiles of numbers, and so for regressors; a classifier"
                    " takes method='split', 'cv+', 'jackknife+' or 'oob', and has predict_set"
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
        if not is_classifier(self.model):
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
        if not is_classifier(self.model):
            residual = np.abs(truth - single_output(model, model.predict(held)))
            self._calibration = SplitIntervals(residual, groups)
            return
        said = probabilities_by_class(model, held, self.classes_)
        self._calibration = SplitSets(*self._own_scores(said, truth), groups)

    def _fit_together(
        self, X: Any, y: np.ndarray, weight: np.ndarray, groups: np.ndarray | None
    ) -> None:
        """Every row both fits and calibrates, by models that have not seen it."""
        classes = self.classes_ if is_classifier(self.model) else None
        if self.method == "oob":
            held_out: Any = ByBags.of_fitted(fit_clone(self.model, X, y, weight), y.size, classes)
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

        labels = y if is_classifier(self.model) else None
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
