"""AdaBoost.R2: boosting for regression by sampling badly predicted rows more often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._fitted import (
    SaveMixin,
    publishes_fit_atomically,
    reads_fit_snapshot,
    set_feature_attributes,
)
from bosquet._parameters import (
    Check,
    check_estimator,
    check_parameters,
    choice,
    integer,
    number,
    or_text,
)
from bosquet._sklearn import (
    BaseEstimator,
    RegressorMixin,
    check_is_fitted,
    effective_threads,
    is_classifier,
    seed_from,
    tags_of,
)
from bosquet._targets import check_finite_target, check_same_length, warn_of_column_vector
from bosquet._warnings import warn_user
from bosquet.boosting._inputs import as_indexable
from bosquet.boosting.adaboost._base import drop_zero_weight_rows
from bosquet.boosting.adaboost._learner_factory import (
    encode_table,
    is_native,
    make_vote,
    make_weak_learner,
    table_length,
)
from bosquet.boosting.adaboost._mean_loss import (
    ErrorLoss,
    MeanLossRounds,
    boost_mean_loss,
    staged_medians,
    weighted_mean,
    weighted_median,
)
from bosquet.boosting.adaboost._voters import (
    LearnerSequenceMixin,
    NativeRegressor,
    predictions_by_tree,
)
from bosquet.boosting.adaboost.endings import warn_of_ending
from bosquet.boosting.adaboost.votes import LearnerVote, TreeVote
from bosquet.data import TableEncoder
from bosquet.trees import DecisionTreeRegressor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import CategoricalFeatures, Estimator, RandomState, TableLike


CHECKS: dict[str, Check] = {
    "n_estimators": integer(1),
    "split": choice("exact", "histogram"),
    "max_bins": integer(2, 255),
    "learning_rate": number(0, open_low=True),
    "loss": choice("linear", "square", "exponential"),
    "combine": choice("median", "mean"),
    "on_large_error": choice("stop", "restart"),
    "error_unit": or_text(number(0, open_low=True), "std")._replace(
        accepted="a number above 0 or 'std'"
    ),
}


class AdaBoostRegressor(LearnerSequenceMixin, SaveMixin, RegressorMixin, BaseEstimator):
    r"""AdaBoost.R2: a weighted median of regressors, fitted to samples that favour badly predicted rows.

    Each round draws a bootstrap sample with probabilities p, at first equal (or the sample weights), and
    fits a weak learner to it. Its losses :math:`l_i` on all rows, the largest loss L and the mean loss
    :math:`\hat\varepsilon = \sum_i p_i l_i` give

    .. math:: \beta = \frac{\hat\varepsilon}{L - \hat\varepsilon}, \qquad
              p_i \leftarrow p_i\, \beta^{1 - l_i / L} \Big/ \text{sum}, \qquad
              \text{weight } \ln(1 / \beta).

    The prediction is the weighted median (or mean) of the weak learners' predictions. A weak learner with
    :math:`\hat\varepsilon \ge L / 2` would have a negative weight: it is discarded, and the rounds stop
    or start again from the initial weights. A weak learner without any error is the only one of the model.

    The loss is divided by its largest value. scikit-learn divides the error by the largest error first and
    computes the loss of the quotient. For the linear and the square loss both are the same (up to the rows
    drawn). For the exponential loss scikit-learn's losses are at most 1 - 1/e, so that the weights differ
    less and its rounds stop later.

    Guide: the page "AdaBoost, LogitBoost, SAMME, RUSBoost and other variants" of the documentation

    Parameters
    ----------
    estimator : regressor, default=None
        The weak learner: any regressor with scikit-learn's fit and predict. None is
        ``DecisionTreeRegressor(max_depth=3)``. Bosquet's trees are grown by the core on columns that
        are coded once; the weight of a row is the number of times that it was drawn.
    n_estimators : int, default=50
        Largest number of rounds. There are fewer weak learners if the rounds stop or start again.
    learning_rate : float, default=1.0
        Shrinkage: the factor of the weak learners' weights and of the exponent of beta.
    loss : {"linear", "square", "exponential"}, default="linear"
        :math:`|e|`, :math:`e^2` or :math:`1 - e^{-|e| / u}` of the error :math:`e = y - h(x)`.
    combine : {"median", "mean"}, default="median"
        Predict the weighted median or the weighted mean of the weak learners' predictions.
    on_large_error : {"stop", "restart"}, default="stop"
        What to do if the mean loss is at least half of the largest. Discarded rounds count towards
        `n_estimators`.
    error_unit : float or "std", default="std"
        u of the exponential loss, the scale of a large error; "std" is the standard deviation of y, so
        that the model does not depend on the unit of y.
    split : {"exact", "histogram"}, default="exact"
        Native weak learners: thresholds between any two values, or between bins of columns.
    max_bins : int, default=255
        Maximum number of bins of a column for split="histogram".
    categorical_features : "from_dtype", list of names or indices, mask, or None, default="from_dtype"
        For Bosquet's trees: columns whose values are categories. "from_dtype": those of a category or
        string type.
    n_jobs : int or None, default=None
        Number of threads for growing trees and predicting; None: all. The model is the same for any
        number.
    random_state : int, RandomState or None, default=None
        Seed of the samples and of random weak learners.

    Attributes
    ----------
    estimators_ : list
        The weak learners.
    estimator_weights_ : array of shape (n_learners,)
        ln(1 / beta), times the learning rate.
    estimator_errors_ : array of shape (n_learners,)
        :math:`\hat\varepsilon / L`, each below 1/2 unless the model is a single weak learner.
    restarts_ : list of int
        Rounds, counted from 1, whose weak learner was discarded with ``on_large_error="restart"``.
    n_iter_ : int
        Number of rounds.
    stopped_because_ : str
        Why the rounds ended, usually by a mean loss that is too large. There is a warning if fewer than a
        tenth of `n_estimators` were made, or if the model is a single weak learner.
    feature_importances_ : array of shape (n_features,)
        Mean importance over the weak learners, with their weights, if the weak learners have importances.

    See Also
    --------
    AdaBoostClassifier : AdaBoost for classes.
    GradientBoostingRegressor : Boosting by gradients of a loss, often more accurate.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import AdaBoostRegressor
    >>> X_train, X_test, y_train, y_test = train_test_split(
    ...     *load_diabetes(return_X_y=True), random_state=0)
    >>> model = AdaBoostRegressor(random_state=0).fit(X_train, y_train)
    >>> print(f"{model.score(X_test, y_test):.2f}")
    0.31

    References
    ----------
    Drucker, "Improving regressors using boosting techniques", ICML 1997.
    """

    _checks = CHECKS
    _encoder: TableEncoder
    _vote: Any  # a TreeVote or a LearnerVote
    estimator_weights_: np.ndarray
    estimator_errors_: np.ndarray

    def __init__(
        self,
        estimator: Estimator | None = None,
        n_estimators: int = 50,
        *,
        learning_rate: float = 1.0,
        loss: str = "linear",
        combine: str = "median",
        on_large_error: str = "stop",
        error_unit: float | str = "std",
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.combine = combine
        self.on_large_error = on_large_error
        self.error_unit = error_unit
        self.split = split
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting
    @publishes_fit_atomically
    def fit(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> AdaBoostRegressor:
        """Fit the weak learners.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            For Bosquet's trees a NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix or
            nested lists. Other weak learners are given X unchanged.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Initial p, up to its sum. Rows of weight 0 are dropped.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> AdaBoostRegressor:
        check_parameters(self, self._checks)
        template = self._chosen_estimator()
        check_estimator(template)
        if is_classifier(template):
            raise TypeError(f"estimator={template!r} is a classifier; pass a regressor")
        encoder, table = encode_table(
            template,
            X,
            categorical_features=self.categorical_features,
            owner=type(self).__name__,
        )
        target = _check_one_target(y, table_length(template, table), type(self).__name__)
        table, target, weight, _ = drop_zero_weight_rows(template, table, target, sample_weight)
        learner = make_weak_learner(
            template,
            table,
            output_kind="numbers",
            encoder=encoder,
            n_jobs=self.n_jobs,
            seed=seed_from(self.random_state),
            reweight="resample",
            split=self.split,
            max_bins=self.max_bins,
        )
        weight = weight if weight.size else np.ones(target.size)
        rounds = boost_mean_loss(
            learner,
            target,
            weight,
            ErrorLoss(self.loss, self._error_unit(target, weight)),
            n_rounds=int(self.n_estimators),
            learning_rate=float(self.learning_rate),
            restart=self.on_large_error == "restart",
        )
        self.estimator_, self._vote = template, make_vote(learner, encoder)
        for hypothesis in rounds.hypotheses:
            self._vote.add(hypothesis, 1.0)
        self._store_results(rounds, encoder)
        return self

    def _error_unit(self, y: np.ndarray, weight: np.ndarray) -> float:
        if self.error_unit != "std":
            return float(self.error_unit)
        mean = np.average(y, weights=weight)
        return float(np.sqrt(np.average((y - mean) ** 2, weights=weight))) or 1.0

    def _store_results(self, rounds: MeanLossRounds, encoder: TableEncoder) -> None:
        set_feature_attributes(self, encoder)
        self.estimator_weights_ = np.asarray(rounds.weights)
        self.estimator_errors_ = np.asarray(rounds.relative_losses)
        self.restarts_ = rounds.restarts
        self.n_iter_ = rounds.n_rounds
        self.stopped_because_ = rounds.ending.reason
        if rounds.relative_losses[0] < 0.5:
            warn_of_ending(rounds.ending, rounds.n_rounds, int(self.n_estimators))
        else:
            warn_user(
                f"the mean loss of the first learner is {rounds.first_relative_loss:.3g} of its largest, not"
                " below 0.5: the model is that learner alone. Use loss='square', a larger error_unit with"
                " loss='exponential', or a learner whose errors differ more from row to row",
                UserWarning,
            )

    def _chosen_estimator(self) -> Estimator:
        if self.estimator is None:
            return DecisionTreeRegressor(max_depth=3)
        return self.estimator

    # --------------------------------------------------------------- predicting
    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X.

        This is the weighted median (or mean) of the weak learners' predictions.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        combine = weighted_mean if self.combine == "mean" else weighted_median
        combined = [combine(block, self.estimator_weights_) for block in self._prediction_blocks(X)]
        return np.concatenate(combined)

    @reads_fit_snapshot
    def staged_predict(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the target of each row of X, as predicted by the first 1, 2, ... weak learners.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,)
        """
        weights = self.estimator_weights_
        predictions = np.concatenate(list(self._prediction_blocks(X)))
        if self.combine == "median":
            yield from staged_medians(predictions, weights)
            return
        total = np.zeros(predictions.shape[0])
        for t, weight in enumerate(weights):
            total = total + weight * predictions[:, t]
            yield total / weights[: t + 1].sum()

    @reads_fit_snapshot
    def staged_score(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """Yield R² of the first 1, 2, ... weak learners.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Yields
        ------
        float
        """
        from sklearn.metrics import r2_score

        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))

    def _prediction_blocks(self, X: TableLike) -> Iterator[np.ndarray]:
        """Return predictions of each learner, shape (rows, learners), in blocks of rows."""
        check_is_fitted(self, "_vote")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        vote = self._vote
        if isinstance(vote, TreeVote):
            yield from predictions_by_tree(vote.ensemble, columns, effective_threads(self.n_jobs))
            return
        table = as_indexable(X)
        yield np.column_stack(
            [vote.predict_raw(table, 1, t, t + 1)[:, 0] for t in range(vote.n_rounds)]
        )

    # ------------------------------------------------------------- the learners
    @property
    @reads_fit_snapshot
    def estimators_(self) -> Sequence[Any]:
        """The weak learners."""
        check_is_fitted(self, "_vote")
        if isinstance(self._vote, LearnerVote):
            return [voter.learner for voter in self._vote.voters]
        trees = self._vote.ensemble
        return [NativeRegressor(trees, t, self._encoder) for t in range(trees.n_trees)]

    @property
    @reads_fit_snapshot
    def feature_importances_(self) -> np.ndarray:
        """Mean importance over the weak learners, with their weights."""
        check_is_fitted(self, "_vote")
        if isinstance(self._vote, TreeVote):
            sums = _core.importance_by_tree(self._vote.ensemble, "gain")
            totals = sums.sum(axis=1, keepdims=True)
            by_learner = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        else:
            by_learner = np.array([learner.feature_importances_ for learner in self.estimators_])
        return self.estimator_weights_ @ by_learner / self.estimator_weights_.sum()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_vote")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        learner = self._chosen_estimator()
        for name in ("allow_nan", "sparse", "categorical", "string"):
            setattr(tags.input_tags, name, getattr(tags_of(learner).input_tags, name))
        if is_native(learner):
            tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def _check_one_target(y: ArrayLike, n_rows: int, owner: str) -> np.ndarray:
    numbers = check_finite_target(y, owner=owner)
    check_same_length(numbers.shape[1], n_rows)
    if numbers.shape[0] > 1:
        raise ValueError(
            f"y has {numbers.shape[0]} columns, but AdaBoost.R2 takes one target; fit one model per target,"
            " or use sklearn.multioutput.MultiOutputRegressor"
        )
    if np.asarray(y).ndim == 2:
        warn_of_column_vector()
    return numbers[0]
