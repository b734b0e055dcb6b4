"""Gradient boosting with trees of the core or any learner, for any loss."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._sklearn import ClassifierMixin, RegressorMixin, check_is_fitted
from bosquet._targets import (
    apply_class_weight,
    check_finite_target,
    check_labels,
    check_same_length,
    class_numbers,
    single_class_message,
    unique_classes,
)
from bosquet._weights import check_sample_weight
from bosquet.batches.training import with_batch_docs
from bosquet.boosting.gradient._base import BaseGradientBoosting
from bosquet.boosting.gradient._parameters import with_common_docs
from bosquet.boosting.gradient._target_statistics import class_indicators, quantile_ranks
from bosquet.losses import classification_loss, regression_loss

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import (
        Batches,
        CategoricalFeatures,
        ClassWeight,
        Estimator,
        EvalSet,
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
    gradient g and the Hessian h of the loss at the current F, with leaf values -G/(H + λ). A round adds
    one tree, whose leaves have one value per class if there are more than two (`multi_strategy`).

    Guide: the page "Gradient boosting" of the documentation

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

    See Also
    --------
    RandomForestClassifier : Trees on bootstrap samples, with an out-of-bag error.
    AdaBoostClassifier : Boosting by weights of the rows, with error bounds.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import GradientBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = GradientBoostingClassifier(random_state=0).fit(X_train, y_train)
    >>> print(f"{model.score(X_test, y_test):.2f}")
    0.99

    References
    ----------
    Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 2001.
    Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.
    """

    def __init__(
        self,
        loss: object = "log_loss",
        *,
        quality: str = "default",
        learning_rate: float | str = "auto",
        n_estimators: int | str = "auto",
        n_runs: int | str = "auto",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 1e-3,
        l2_regularization: float | str = "auto",
        min_split_gain: float = 0.0,
        max_delta_step: float = 0.0,
        split_noise: float | str = "auto",
        subsample: float | str = "auto",
        sampling: str = "uniform",
        max_features: float | str | None = "auto",
        max_features_per_level: float | str | None = None,
        max_features_per_tree: float | str | None = None,
        growth: str = "best",
        step: str = "newton",
        multi_strategy: str = "auto",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_encoding: str = "auto",
        cat_smooth: float | str = "auto",
        cat_l2: float | str = "auto",
        max_cat_threshold: int = 32,
        min_samples_category: int | str = "auto",
        monotonic_cst: MonotoneConstraint = None,
        interaction_cst: str | Sequence[Collection[int | str]] | None = None,
        estimator: Estimator | None = None,
        early_stopping: bool | str = "auto",
        cv: int | Splitter | list[tuple[np.ndarray, np.ndarray]] = 5,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | str = "auto",
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
        self.quality = quality
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
        self.split_noise = split_noise
        self.subsample = subsample
        self.sampling = sampling
        self.max_features = max_features
        self.max_features_per_level = max_features_per_level
        self.max_features_per_tree = max_features_per_tree
        self.growth = growth
        self.step = step
        self.multi_strategy = multi_strategy
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

    @with_batch_docs
    @publishes_fit_atomically
    def fit(
        self,
        X: TableLike | Batches,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | str | None = None,
        eval_set: EvalSet = None,
        *,
        offset: ArrayLike | str | None = None,
        target: str | None = None,
        memory_limit: float | str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or table in batches
            {X}
        y : array of shape (n_samples,)
            Class labels. None with `target`.
        sample_weight : array of shape (n_samples,) or name of a column, optional
            A row of weight 2 is equivalent to two equal rows. `l2_regularization`, `min_child_weight`,
            `min_split_gain` and `cat_l2` are compared with sums of weights, so weights of 1/n make them
            n times as strong; pass ``sample_weight / np.mean(sample_weight)`` if only the ratios
            matter. There is a warning if the mean is below 0.1 or above 100 and this has an effect.
        eval_set : (X, y), (X, y, sample_weight) or (X, y, sample_weight, offset), optional
            Validation set for the loss and for early stopping, instead of a part of X. Its sample_weight may
            be None.
        offset : array of shape (n_samples,), or (n_samples, n_classes) for more than two classes, optional
            Known term of the raw prediction of each row, which the trees are added to: log-odds for
            loss="log_loss". For two classes it may be the name of a column.
        {target}
        {memory_limit}
        checkpoint : path of a folder, optional
            Every 30 seconds the rounds so far are written to a file in this folder. If the process ends, the
            same call of `fit` continues from there and gives the same model. Default: no checkpoint.

        Returns
        -------
        self
        """
        return self._fit(
            X,
            y,
            sample_weight,
            eval_set,
            target=target,
            memory_limit=memory_limit,
            checkpoint=checkpoint,
            offset=offset,
        )

    def _check_target(
        self, y: ArrayLike, columns: Columns, continuing: bool
    ) -> tuple[np.ndarray, int]:
        labels = check_labels(y, owner=type(self).__name__)
        check_same_length(labels.size, self._row_count(columns))
        if not continuing:
            self.classes_ = unique_classes(labels)
        if self.classes_.size < 2:
            raise ValueError(
                f"{single_class_message(self.classes_)}: a classifier needs at least two classes; pass rows"
                " of another class too"
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
    def decision_function(self, X: TableLike, *, offset: ArrayLike | None = None) -> np.ndarray:
        """Compute the raw predictions, before the link function.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the raw predictions, as in `fit`.

        Returns
        -------
        array of shape (n_samples,) for two classes, (n_samples, n_classes) for more
        """
        raw = self._raw(X, offset)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike, *, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the raw predictions, as in `fit`.

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        return self._probabilities(self._raw(X, offset))

    @reads_fit_snapshot
    def predict(self, X: TableLike, *, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the class of each row of X: the most probable class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the raw predictions, as in `fit`.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._most_probable(self._raw(X, offset))

    @reads_fit_snapshot
    def predict_log_proba(self, X: TableLike, *, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the raw predictions, as in `fit`.

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, offset=offset))

    @reads_fit_snapshot
    def staged_decision_function(
        self, X: TableLike, *, offset: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """Yield the raw predictions after each round.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the raw predictions, as in `fit`.

        Yields
        ------
        array of shape (n_samples,) for two classes, (n_samples, n_classes) for more
        """
        for raw in self._staged_raw(X, offset):
            yield raw[:, 0] if raw.shape[1] == 1 else raw

    @reads_fit_snapshot
    def staged_predict_proba(
        self, X: TableLike, *, offset: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """Yield the probability of each class after each round.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the raw predictions, as in `fit`.

        Yields
        ------
        array of shape (n_samples, n_classes)
        """
        for raw in self._staged_raw(X, offset):
            yield self._probabilities(raw)

    @reads_fit_snapshot
    def staged_predict(
        self, X: TableLike, *, offset: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """Yield the class of each row of X after each round.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the raw predictions, as in `fit`.

        Yields
        ------
        array of shape (n_samples,)
        """
        for raw in self._staged_raw(X, offset):
            yield self._most_probable(raw)

    @reads_fit_snapshot
    def score(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> float:
        """Compute the accuracy, the share of rows whose class is predicted.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            Added to the raw predictions, as in `fit`.

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X, offset=offset)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _probabilities(self, raw: np.ndarray) -> np.ndarray:
        return self._loss.inverse_link(raw)

    def _most_probable(self, raw: np.ndarray) -> np.ndarray:
        number = raw.argmax(axis=1) if raw.shape[1] > 1 else (raw[:, 0] > 0).astype(np.intp)
        return self.classes_[number]


@with_common_docs
class GradientBoostingRegressor(RegressorMixin, BaseGradientBoosting):
    """Gradient boosting for regression, with one target or several.

    The model is a sum of trees, F = F₀ + ν Σ T_t, fitted one after the other. Each tree is fitted to the
    gradient g and the Hessian h of the loss at the current F, with leaf values -G/(H + λ).

    Guide: the page "Gradient boosting" of the documentation

    Parameters
    ----------
    loss : str or loss object, default="squared_error"
        One of "squared_error", "absolute_error", "huber", "quantile", "expectile", "log_cosh",
        "poisson", "gamma", "tweedie". A custom loss is an object with ``gradient_hessian(y, raw)`` or
        ``value(y, raw)``: see `bosquet.losses.CustomLoss`.
    {parameters}
    quantile : float or list of floats, default=0.5
        Level of loss="quantile". With several levels, predictions have a column for each, in the given
        order, and never cross: those of a row are sorted (monotone rearrangement).
    expectile : float or list of floats, default=0.5
        Level q of loss="expectile", q (y - f)² where f < y and (1 - q)(y - f)² where f > y. 0.5 is the
        mean. Several levels are predicted as for `quantile`.
    alpha : float, default=0.9
        For loss="huber": the fraction of residuals in the squared part of the loss. Its boundary is set in
        each round to this quantile of the absolute residuals.
    tweedie_power : float, default=1.5
        Variance power of loss="tweedie", between 1 and 2.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RandomForestRegressor : Trees on bootstrap samples, with an out-of-bag error.
    ConformalModel : Prediction intervals with guaranteed coverage.

    Examples
    --------
    >>> import numpy as np
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

    Counts with an exposure, 1 year for half of the rows and 2 years for the others:

    >>> years = np.where(np.arange(len(y_train)) % 2 == 0, 1, 2)
    >>> counts = GradientBoostingRegressor("poisson", n_estimators=20)
    >>> rates = counts.fit(X_train, years * y_train, exposure=years).predict(X_test)
    >>> bool(np.allclose(counts.predict(X_test, exposure=2), 2 * rates))
    True

    References
    ----------
    Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 2001.
    Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.
    Chernozhukov, Fernandez-Val and Galichon, "Quantile and probability curves without crossing",
    Econometrica 2010.
    """

    def __init__(
        self,
        loss: object = "squared_error",
        *,
        quality: str = "default",
        learning_rate: float | str = "auto",
        n_estimators: int | str = "auto",
        n_runs: int | str = "auto",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 1e-3,
        l2_regularization: float | str = "auto",
        min_split_gain: float = 0.0,
        max_delta_step: float = 0.0,
        split_noise: float | str = "auto",
        subsample: float | str = "auto",
        sampling: str = "uniform",
        max_features: float | str | None = "auto",
        max_features_per_level: float | str | None = None,
        max_features_per_tree: float | str | None = None,
        growth: str = "best",
        step: str = "newton",
        multi_strategy: str = "auto",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_encoding: str = "auto",
        cat_smooth: float | str = "auto",
        cat_l2: float | str = "auto",
        max_cat_threshold: int = 32,
        min_samples_category: int | str = "auto",
        monotonic_cst: MonotoneConstraint = None,
        interaction_cst: str | Sequence[Collection[int | str]] | None = None,
        estimator: Estimator | None = None,
        quantile: ArrayLike = 0.5,
        expectile: ArrayLike = 0.5,
        alpha: float = 0.9,
        tweedie_power: float = 1.5,
        early_stopping: bool | str = "auto",
        cv: int | Splitter | list[tuple[np.ndarray, np.ndarray]] = 5,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | str = "auto",
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
        self.quality = quality
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
        self.split_noise = split_noise
        self.subsample = subsample
        self.sampling = sampling
        self.max_features = max_features
        self.max_features_per_level = max_features_per_level
        self.max_features_per_tree = max_features_per_tree
        self.growth = growth
        self.step = step
        self.multi_strategy = multi_strategy
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

    @with_batch_docs
    @publishes_fit_atomically
    def fit(
        self,
        X: TableLike | Batches,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | str | None = None,
        eval_set: EvalSet = None,
        *,
        offset: ArrayLike | str | None = None,
        exposure: ArrayLike | str | None = None,
        target: str | list[str] | None = None,
        memory_limit: float | str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or table in batches
            {X}
        y : array of shape (n_samples,), or (n_samples, n_targets) for several targets
            Numbers, without missing values. None with `target`.
        sample_weight : array of shape (n_samples,) or name of a column, optional
            A row of weight 2 is equivalent to two equal rows. `l2_regularization`, `min_child_weight`,
            `min_split_gain` and `cat_l2` are compared with sums of weights, so weights of 1/n make them
            n times as strong; pass ``sample_weight / np.mean(sample_weight)`` if only the ratios
            matter. There is a warning if the mean is below 0.1 or above 100 and this has an effect.
        eval_set : (X, y), (X, y, sample_weight) or (X, y, sample_weight, offset), optional
            Validation set for the loss and for early stopping, instead of a part of X. Its sample_weight may
            be None. The offset of an exposure is its logarithm.
        offset : array of shape (n_samples,) or (n_samples, n_outputs), or name of a column, optional
            Known term of the raw prediction of each row, which the trees are added to: on the scale of y, or
            of the logarithm of its mean for "poisson", "gamma" and "tweedie".
        exposure : array of shape (n_samples,) or (n_samples, n_outputs), or name of a column, optional
            For "poisson", "gamma" and "tweedie": positive numbers such as years at risk, to which the mean
            of y is proportional. The same as the offset ``np.log(exposure)``. The model predicts y per
            unit of exposure unless `predict` is given an exposure.
        {targets}
        {memory_limit}
        checkpoint : path of a folder, optional
            Every 30 seconds the rounds so far are written to a file in this folder. If the process ends, the
            same call of `fit` continues from there and gives the same model. Default: no checkpoint.

        Returns
        -------
        self
        """
        return self._fit(
            X,
            y,
            sample_weight,
            eval_set,
            target=target,
            memory_limit=memory_limit,
            checkpoint=checkpoint,
            offset=offset,
            exposure=exposure,
        )

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
    def predict(
        self,
        X: TableLike,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict the target of each row of X.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_outputs), optional
            Added to the raw predictions, as in `fit`.
        exposure : array of shape (n_samples,) or (n_samples, n_outputs), optional
            Factor of the predictions of "poisson", "gamma" and "tweedie". Without it the prediction is that
            of one unit of exposure.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
            With several targets, or levels of quantiles or expectiles, one column for each. The levels of a
            row are sorted: they never cross.
        """
        return self._predictions(self._raw(X, offset, exposure))

    @reads_fit_snapshot
    def staged_predict(
        self,
        X: TableLike,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Iterator[np.ndarray]:
        """Yield the target of each row of X after each round.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_outputs), optional
            Added to the raw predictions, as in `fit`.
        exposure : array of shape (n_samples,) or (n_samples, n_outputs), optional
            Factor of the predictions of "poisson", "gamma" and "tweedie". Without it the prediction is that
            of one unit of exposure.

        Yields
        ------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        for raw in self._staged_raw(X, offset, exposure):
            yield self._predictions(raw)

    def _statistic_targets(self, target: np.ndarray) -> np.ndarray:
        return quantile_ranks(target)

    @reads_fit_snapshot
    def score(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Compute R², the share of the variance of y that is predicted.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), optional
        offset, exposure : arrays, optional
            As in `predict`.

        Returns
        -------
        float
        """
        from sklearn.metrics import r2_score

        predicted = self.predict(X, offset=offset, exposure=exposure)
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def _predictions(self, raw: np.ndarray) -> np.ndarray:
        check_is_fitted(self, "_terms")
        result = self._loss.inverse_link(raw)
        return result[:, 0] if result.shape[1] == 1 else result

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
