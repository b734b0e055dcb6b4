"""A classifier whose probabilities can be taken at their word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bosquet._fitted import Saved, fits_aside, reads_one_fit
from bosquet._parameters import boolean, check_parameters, choice
from bosquet._sklearn import (
    BaseEstimator,
    ClassifierMixin,
    check_is_fitted,
    in_parallel,
    rows_of,
    tags_of,
)
from bosquet._targets import (
    NO_WEIGHT,
    check_labels,
    check_sample_weight,
    class_numbers,
    learn_classes,
)
from bosquet._warnings import warn_user
from bosquet._weights import warn_of_scale
from bosquet.trust._wrapping import (
    check_model,
    copy_input,
    copy_input_tags,
    fit_clone,
    probabilities_by_class,
    rows_can_be_taken,
    takes_weights,
)
from bosquet.trust.calibrators import CALIBRATORS, Calibrator
from bosquet.trust.costs import check_costs, least_costly

CHECKS = {"method": choice("isotonic", "platt", "sigmoid", "beta"), "ensemble": boolean()}


@dataclass
class CalibratedMember:
    """A fitted model and the maps from its scores to probabilities: one, or one a class."""

    model: Any
    calibrators: list[Calibrator]
    floor: float | None  # probabilities nearer to 0 or 1 count as this; None: scores are log-odds

    def probabilities(self, X: Any, classes: np.ndarray) -> np.ndarray:
        scores = log_odds(score_rows(self.model, X, classes), self.floor)
        mapped = np.column_stack(
            [calibrate(scores[:, k]) for k, calibrate in enumerate(self.calibrators)]
        )
        if mapped.shape[1] == 1:
            return np.column_stack([1 - mapped[:, 0], mapped[:, 0]])
        # Where no class is thought possible the model's own opinion is all there is.
        nowhere = mapped.sum(axis=1) == 0
        mapped[nowhere] = expit(scores[nowhere])
        return mapped / mapped.sum(axis=1, keepdims=True)


class CalibratedModel(Saved, ClassifierMixin, BaseEstimator):
    r"""A classifier with calibrated probabilities: among rows said to be of a class with
    probability p, a share p is.

    Each row is scored by a model that was not fitted to it, and a rising map from those scores to
    probabilities is learned from all rows. The model is then fitted once more to all of them. Several
    classes are calibrated one against the rest, and the results divided by their sum:

    .. math:: q_k(x) = \frac{g_k(s_k(x))}{\sum_j g_j(s_j(x))} .

    Scores are log-odds of `predict_proba`, or `decision_function` where there are no probabilities.
    Probabilities of 0 and 1 count as half of the smallest distance from them that is otherwise seen.

    Parameters
    ----------
    model : classifier
        Bosquet's, scikit-learn's, or any in their manner. (A regressor has no probabilities; its
        intervals are `ConformalModel`'s.)
    method : {"isotonic", "platt", "sigmoid", "beta"}, default="isotonic"
        The kind of map. Platt's sigmoid ("sigmoid", as scikit-learn calls it, is the same as "platt") has
        two numbers and beta three: right for few rows. Isotonic can take any rising shape, from about
        1,000 rows on.
    cv : int, splitter, "oob" or "prefit", default=5
        Where the scores of unseen rows come from: that many folds; the out-of-bag votes of a forest
        or of bagging, at no further fits; or "prefit": the model is fitted already, and `fit` is
        given rows that it has not seen.
    ensemble : bool, default=False
        With folds: keep the model and the map of each fold, and predict by their mean, instead of
        one map and a model of all rows.
    costs : array of shape (n_classes, n_classes), default=None
        What it costs to take the class of the line for that of the column; `predict` then names the
        class of least expected cost.
    n_jobs : int or None, default=None
        Folds fitted at a time.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    members_ : list of CalibratedMember
        The fitted models, each with its `calibrators`.
    n_features_in_, feature_names_in_ : as in scikit-learn, where the model has them.

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
        model: Any,
        method: str = "isotonic",
        *,
        cv: Any = 5,
        ensemble: bool = False,
        costs: Any = None,
        n_jobs: int | None = None,
    ):
        self.model = model
        self.method = method
        self.cv = cv
        self.ensemble = ensemble
        self.costs = costs
        self.n_jobs = n_jobs

    # ------------------------------------------------------------------ fitting
    @fits_aside
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CalibratedModel:
        """Fit the model and its calibration.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Whatever the model takes.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Used by the calibration, and by the model if it takes weights. "platt" and "beta" count rows
            by them; weights with a mean of 1 are safe.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> CalibratedModel:
        check_parameters(self, CHECKS)
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        check_model(self.model, prefit)
        if tags_of(self.model).estimator_type == "regressor":
            raise ValueError(
                f"{type(self.model).__name__} is a regressor, and CalibratedModel calibrates the"
                " probabilities of a classifier: for intervals around a regressor's numbers use"
                " bosquet.ConformalModel(model).fit(X, y).predict_interval(X_new); for probabilities of"
                " classes give a classifier"
            )
        labels = check_labels(y)
        X = rows_can_be_taken(X, labels.size)
        weight = check_sample_weight(sample_weight, labels.size, scale_matters=True)
        if self.method != "isotonic":
            # Their targets are those of one more row of each class; large weights make it none.
            warn_of_scale(weight, {f"the extra row of method={self.method!r}": 1.0}, least=2.0)
        if prefit:
            check_is_fitted(self.model)
            self.classes_ = np.asarray(self.model.classes_)
        else:
            self.classes_ = learn_classes(labels)
        numbers = class_numbers(labels, self.classes_)
        self._check_classes(numbers, weight)
        if self.costs is not None:
            check_costs(self.costs, self.classes_.size)
        if prefit:
            scores = score_rows(self.model, X, self.classes_)
            self.members_ = [self._calibrated(self.model, scores, numbers, weight)]
        elif isinstance(self.cv, str):
            if self.cv != "oob":
                raise ValueError(
                    f"cv={self.cv!r} must be a number of folds, a splitter, 'oob' or 'prefit'"
                )
            self.members_ = [self._out_of_bag(X, labels, numbers, weight)]
        else:
            self.members_ = self._cross_fitted(X, labels, numbers, weight)
        copy_input(self, self.members_[0].model)
        return self

    def _check_classes(self, numbers: np.ndarray, weight: np.ndarray) -> None:
        counted = numbers[weight > 0] if weight.size else numbers
        counts = np.bincount(counted, minlength=self.classes_.size)
        if (counts > 0).sum() < 2:
            only = self.classes_.tolist()[counts.argmax()]
            raise ValueError(
                f"y holds one class only, {only!r}: a calibration needs rows of at least two classes (with"
                " 1 class there is nothing to tell apart)"
            )
        fewest = int(counts.argmin())
        label = self.classes_.tolist()[fewest]
        if counts[fewest] == 0:
            raise ValueError(
                f"y holds no row of the class {label!r}, which the model knows: its probability cannot be"
                " calibrated"
            )
        if isinstance(self.cv, int | np.integer) and counts[fewest] < self.cv:
            raise ValueError(
                f"class {label!r} has {counts[fewest]} row(s), too few for cv={self.cv}: every class needs"
                f" one in each fold; give at least {self.cv}, or fewer folds"
            )

    def _weight_for_model(self, weight: np.ndarray) -> np.ndarray:
        if weight.size and not takes_weights(self.model):
            warn_user(
                f"{type(self.model).__name__} takes no sample_weight: the weights count in the calibration"
                " alone",
                UserWarning,
            )
            return NO_WEIGHT
        return weight

    def _cross_fitted(
        self, X: Any, labels: np.ndarray, numbers: np.ndarray, weight: np.ndarray
    ) -> list[CalibratedMember]:
        from sklearn.model_selection import check_cv

        try:
            folds = list(check_cv(self.cv, labels, classifier=True).split(X, labels))
        except (TypeError, AttributeError) as error:
            raise ValueError(
                f"cv={self.cv!r} must be a number of folds, a splitter, 'oob' or 'prefit'"
            ) from error
        own_weight = self._weight_for_model(weight)
        calls = [(self.model, X, labels, own_weight, train) for train, _ in folds]
        models = in_parallel(fit_clone, calls, n_jobs=self.n_jobs)
        held_out = [test for _, test in folds]
        if self.ensemble:
            return [
                self._calibrated(
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
                score_rows(model, rows_of(X, some), self.classes_)
                for model, some in zip(models, held_out, strict=True)
            ]
        )
        model = fit_clone(self.model, X, labels, own_weight)
        own = weight[rows] if weight.size else weight
        return [self._calibrated(model, scores, numbers[rows], own)]

    def _out_of_bag(
        self, X: Any, labels: np.ndarray, numbers: np.ndarray, weight: np.ndarray
    ) -> CalibratedMember:
        if "oob_score" not in self.model.get_params():
            raise ValueError(
                f"cv='oob' takes a model of bags, and {type(self.model).__name__} has no out-of-bag votes;"
                " use a forest, BaggingClassifier, or a number of folds"
            )
        own_weight = self._weight_for_model(weight)
        model = fit_clone(self.model, X, labels, own_weight, oob_score=True)
        votes = np.asarray(model.oob_decision_function_)
        judged = np.flatnonzero(np.nan_to_num(votes).sum(axis=1) > 0)
        if np.unique(numbers[judged]).size < self.classes_.size:
            raise ValueError(
                "the rows that some bag left out are not of all classes: fit more trees or learners"
            )
        own = weight[judged] if weight.size else weight
        return self._calibrated(model, votes[judged], numbers[judged], own)

    def _calibrated(
        self, model: Any, scores: np.ndarray, numbers: np.ndarray, weight: np.ndarray
    ) -> CalibratedMember:
        """A fitted model with the maps that follow from its scores of unseen rows."""
        floor = _floor(scores) if hasattr(model, "predict_proba") else None
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
    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated probabilities of the classes, in the order of `classes_`."""
        check_is_fitted(self, "members_")
        total = self.members_[0].probabilities(X, self.classes_)
        for member in self.members_[1:]:
            total = total + member.probabilities(X, self.classes_)
        return total / len(self.members_)

    @reads_one_fit
    def predict(self, X: Any, costs: Any = None) -> np.ndarray:
        """The most probable class of each row, or the one of least expected cost.

        Parameters
        ----------
        X : table
        costs : array of shape (n_classes, n_classes), optional
            In place of the `costs` that the model was made with.
        """
        probabilities = self.predict_proba(X)
        costs = self.costs if costs is None else costs
        if costs is None:
            return self.classes_[probabilities.argmax(axis=1)]
        return self.classes_[least_costly(probabilities, costs)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "members_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self.model)
        return tags


# ------------------------------------------------------------------------------------------ scores
def score_rows(model: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Probabilities (rows, classes), or decisions (rows, 1) and of several classes (rows, classes)."""
    if hasattr(model, "predict_proba"):
        return probabilities_by_class(model, X, classes)
    if not hasattr(model, "decision_function"):
        raise ValueError(
            f"{type(model).__name__} has neither predict_proba nor decision_function: there is no score"
            " to calibrate"
        )
    scores = np.asarray(model.decision_function(X), dtype=float)
    return scores[:, None] if scores.ndim == 1 else scores


def log_odds(scores: np.ndarray, floor: float | None) -> np.ndarray:
    """Log-odds of shape (rows, 1) for two classes, (rows, classes) for more."""
    if floor is None:
        return scores
    columns = scores[:, 1:] if scores.shape[1] == 2 else scores
    return logit(np.clip(columns, floor, 1 - floor))


def _floor(probabilities: np.ndarray) -> float:
    """Half of the smallest distance from 0 and 1 that a probability has, other than none."""
    distance = np.minimum(probabilities, 1 - probabilities)
    distance = distance[distance > 0]
    if not distance.size:
        return 1 / (2 * len(probabilities) + 2)
    return max(float(distance.min()) / 2, 1e-15)  # 1 less that is still a number below 1
