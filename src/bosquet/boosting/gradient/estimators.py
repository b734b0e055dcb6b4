"""Gradient boosting with trees of the core or any learner, for any loss."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bosquet._fitted import reads_fit_snapshot
from bosquet._sklearn import ClassifierMixin, RegressorMixin, check_is_fitted
from bosquet._targets import (
    apply_class_weight,
    check_finite_target,
    check_labels,
    check_same_length,
    check_sample_weight,
    class_numbers,
    single_class_message,
    unique_classes,
)
from bosquet.boosting.gradient._base import BaseGradientBoosting
from bosquet.boosting.gradient._parameters import with_common_docs
from bosquet.boosting.gradient._target_statistics import class_indicators, quantile_ranks
from bosquet.losses import classification_loss, regression_loss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import (
        CategoricalFeatures,
        ClassWeight,
        Estimator,
        MonotoneConstraint,
        RandomState,
        Splitter,
        TableLike,
    )
    from bosquet.boosting.rounds import Callback
    from bosquet.data import Columns
    from bosquet.losses import CustomLoss, NativeLoss


@with_common_docs
class GradientBoostingClassifier(ClassifierMixin, BaseGradientBoosting):
    """Gradient boosting for classification.

    The model is a sum of trees, F = F₀ + ν Σ T_t, fitted one after the other. Each tree is fitted to the
    gradient g and the hessian h of the loss at the current F, with leaf values -G/(H + λ). A round adds
    one tree for two classes, and one tree per class for more.

    Parameters
    ----------
    loss : {"log_loss", "exponential", "squared_hinge"} or loss object, default="log_loss"
        The latter two are for two classes. A custom loss is an object with
        ``gradient_hessian(y, raw)`` or ``value(y, raw)``: see `bosquet.losses.CustomLoss`.
    {parameters}
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import GradientBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = GradientBoostingClassifier(random_state=0).fit(X_train, y_train)
    >>> print(f"{model.score(X_test, y_test):.2f}")
    0.98

    References
    ----------
    Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 2001.
    Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.
    """

    def __init__(
        self,
        loss: object = "log_loss",
        *,
        learning_rate: float = 0.05,
        n_estimators: int | str = "auto",
        n_runs: int = 1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        l2_regularization: float = 1.0,
        min_split_gain: float = 0.0,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling: str = "uniform",
        max_features: float | str | None = 0.5,
        max_features_per_level: float | str | None = None,
        max_features_per_tree: float | str | None = None,
        growth: str = "best",
        step: str = "newton",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_encoding: str = "auto",
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_cat_threshold: int = 32,
        min_samples_category: int = 30,
        monotonic_cst: MonotoneConstraint = None,
        interaction_cst: str | Sequence[Collection[int | str]] | None = None,
        estimator: Estimator | None = None,
        early_stopping: bool | str = "auto",
        cv: int | Splitter = 5,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 40,
        refit: bool = True,
        tol: float = 1e-7,
        scoring: str | Callable[..., float] | None = None,
        class_weight: ClassWeight = None,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.n_runs = n_runs
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l2_regularization = l2_regularization
        self.min_split_gain = min_split_gain
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling = sampling
        self.max_features = max_features
        self.max_features_per_level = max_features_per_level
        self.max_features_per_tree = max_features_per_tree
        self.growth = growth
        self.step = step
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_encoding = categorical_encoding
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.max_cat_threshold = max_cat_threshold
        self.min_samples_category = min_samples_category
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.estimator = estimator
        self.early_stopping = early_stopping
        self.cv = cv
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.tol = tol
        self.scoring = scoring
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_target(
        self, y: ArrayLike, columns: Columns, continuing: bool
    ) -> tuple[np.ndarray, int]:
        labels = check_labels(y, owner=type(self).__name__)
        check_same_length(labels.size, self._row_count(columns))
        if not continuing:
            self.classes_ = unique_classes(labels)
        if self.classes_.size < 2:
            raise ValueError(
                f"{single_class_message(self.classes_)}: a classifier needs at least two classes"
            )
        return self._encode_target(labels), labels.size

    def _encode_target(self, y: ArrayLike) -> np.ndarray:
        return class_numbers(check_labels(y), self.classes_)[None, :].astype(float)

    def _check_weight(
        self, sample_weight: ArrayLike | None, target: np.ndarray, n: int
    ) -> np.ndarray:
        labels = self.classes_[target[0].astype(np.intp)]
        weight = check_sample_weight(sample_weight, n, keep_scale=True)
        return apply_class_weight(self.class_weight, labels, weight, keep_scale=True)

    def _make_loss(self, target: np.ndarray) -> NativeLoss | CustomLoss:
        return classification_loss(self.loss, self.classes_.size)

    def _statistic_targets(self, target: np.ndarray) -> np.ndarray:
        return class_indicators(target, self.classes_.size)

    def _strata(self, target: np.ndarray) -> np.ndarray:
        return target[0].astype(np.intp)

    @reads_fit_snapshot
    def decision_function(self, X: TableLike) -> np.ndarray:
        """Compute the raw predictions, before the link function.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, (n_samples, n_classes) for more
        """
        raw = self._raw(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        return self._probabilities(self._raw(X))

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X: the most probable class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._most_probable(self._raw(X))

    @reads_fit_snapshot
    def predict_log_proba(self, X: TableLike) -> np.ndarray:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @reads_fit_snapshot
    def staged_decision_function(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the raw predictions after each round.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,) for two classes, (n_samples, n_classes) for more
        """
        for raw in self._staged_raw(X):
            yield raw[:, 0] if raw.shape[1] == 1 else raw

    @reads_fit_snapshot
    def staged_predict_proba(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the probability of each class after each round.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples, n_classes)
        """
        for raw in self._staged_raw(X):
            yield self._probabilities(raw)

    @reads_fit_snapshot
    def staged_predict(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the class of each row of X after each round.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,)
        """
        for raw in self._staged_raw(X):
            yield self._most_probable(raw)

    def _probabilities(self, raw: np.ndarray) -> np.ndarray:
        return self._loss.inverse_link(raw)

    def _most_probable(self, raw: np.ndarray) -> np.ndarray:
        number = raw.argmax(axis=1) if raw.shape[1] > 1 else (raw[:, 0] > 0).astype(np.intp)
        return self.classes_[number]


@with_common_docs
class GradientBoostingRegressor(RegressorMixin, BaseGradientBoosting):
    """Gradient boosting for regression, with one target or several.

    The model is a sum of trees, F = F₀ + ν Σ T_t, fitted one after the other. Each tree is fitted to the
    gradient g and the hessian h of the loss at the current F, with leaf values -G/(H + λ).

    Parameters
    ----------
    loss : str or loss object, default="squared_error"
        One of "squared_error", "absolute_error", "huber", "quantile", "expectile", "log_cosh",
        "poisson", "gamma", "tweedie". A custom loss is an object with ``gradient_hessian(y, raw)`` or
        ``value(y, raw)``: see `bosquet.losses.CustomLoss`.
    {parameters}
    quantile : float or list of floats, default=0.5
        Level of loss="quantile"; with several levels, predictions have a column for each.
    expectile : float or list of floats, default=0.5
        Level q of loss="expectile", q (y - f)² where f < y and (1 - q)(y - f)² where f > y; with several
        levels, predictions have a column for each. 0.5 is the mean.
    alpha : float, default=0.9
        For loss="huber": the fraction of residuals in the squared part of the loss. Its boundary is set in
        each round to this quantile of the absolute residuals.
    tweedie_power : float, default=1.5
        Variance power of loss="tweedie", between 1 and 2.

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = GradientBoostingRegressor(n_estimators=50, max_leaf_nodes=4, random_state=0)
    >>> print(f"{model.fit(X_train, y_train).score(X_test, y_test):.2f}")
    0.30

    Several quantiles at once:

    >>> band = GradientBoostingRegressor("quantile", quantile=[0.1, 0.5, 0.9], n_estimators=20)
    >>> band.fit(X_train, y_train).predict(X_test).shape
    (111, 3)

    References
    ----------
    Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 2001.
    Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.
    """

    def __init__(
        self,
        loss: object = "squared_error",
        *,
        learning_rate: float = 0.05,
        n_estimators: int | str = "auto",
        n_runs: int = 1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        l2_regularization: float = 1.0,
        min_split_gain: float = 0.0,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling: str = "uniform",
        max_features: float | str | None = 0.5,
        max_features_per_level: float | str | None = None,
        max_features_per_tree: float | str | None = None,
        growth: str = "best",
        step: str = "newton",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_encoding: str = "auto",
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_cat_threshold: int = 32,
        min_samples_category: int = 30,
        monotonic_cst: MonotoneConstraint = None,
        interaction_cst: str | Sequence[Collection[int | str]] | None = None,
        estimator: Estimator | None = None,
        quantile: ArrayLike = 0.5,
        expectile: ArrayLike = 0.5,
        alpha: float = 0.9,
        tweedie_power: float = 1.5,
        early_stopping: bool | str = "auto",
        cv: int | Splitter = 5,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 40,
        refit: bool = True,
        tol: float = 1e-7,
        scoring: str | Callable[..., float] | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.n_runs = n_runs
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l2_regularization = l2_regularization
        self.min_split_gain = min_split_gain
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling = sampling
        self.max_features = max_features
        self.max_features_per_level = max_features_per_level
        self.max_features_per_tree = max_features_per_tree
        self.growth = growth
        self.step = step
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_encoding = categorical_encoding
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.max_cat_threshold = max_cat_threshold
        self.min_samples_category = min_samples_category
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.estimator = estimator
        self.quantile = quantile
        self.expectile = expectile
        self.alpha = alpha
        self.tweedie_power = tweedie_power
        self.early_stopping = early_stopping
        self.cv = cv
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.refit = refit
        self.tol = tol
        self.scoring = scoring
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_target(
        self, y: ArrayLike, columns: Columns, continuing: bool
    ) -> tuple[np.ndarray, int]:
        target = check_finite_target(y, owner=type(self).__name__)
        rows = target.shape[1]
        check_same_length(rows, self._row_count(columns))
        if continuing and target.shape[0] != self._loss.targets:
            raise ValueError(
                f"y has {target.shape[0]} targets, but the model was fitted to {self._loss.targets};"
                " pass the same number, or fit with warm_start=False"
            )
        return target, rows

    def _encode_target(self, y: ArrayLike) -> np.ndarray:
        return check_finite_target(y, "the target of eval_set")

    def _make_loss(self, target: np.ndarray) -> NativeLoss | CustomLoss:
        return regression_loss(
            self.loss,
            target.shape[0],
            quantile=self.quantile,
            expectile=self.expectile,
            alpha=self.alpha,
            power=self.tweedie_power,
        )

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
            With several targets or quantile levels, one column for each.
        """
        return self._predictions(self._raw(X))

    @reads_fit_snapshot
    def staged_predict(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the target of each row of X after each round.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        for raw in self._staged_raw(X):
            yield self._predictions(raw)

    def _statistic_targets(self, target: np.ndarray) -> np.ndarray:
        return quantile_ranks(target)

    def _predictions(self, raw: np.ndarray) -> np.ndarray:
        check_is_fitted(self, "_terms")
        result = self._loss.inverse_link(raw)
        return result[:, 0] if result.shape[1] == 1 else result

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
