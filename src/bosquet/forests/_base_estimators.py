"""Base classes of forests for classification and for regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bosquet import _core
from bosquet._bags import OutOfBagRecord, misclassified, squared_errors
from bosquet._fitted import reads_fit_snapshot
from bosquet._parameters import Check
from bosquet._sklearn import ClassifierMixin, RegressorMixin, check_is_fitted
from bosquet._targets import (
    apply_class_weight,
    check_finite_target,
    check_labels,
    check_same_length,
    check_single_target,
    class_numbers,
)
from bosquet.forests._base import CHECKS, BaseForest
from bosquet.forests.proximity import outlier_scores
from bosquet.forests.quantiles import leaf_quantiles
from bosquet.forests.strength import strength_and_correlation
from bosquet.trees.class_targets import (
    MisclassifiedShare,
    class_counts,
    class_target,
    find_classes,
    hard_votes,
    most_probable_labels,
    split_by_target,
)
from bosquet.trees.criteria import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA
from bosquet.trees.growing import TreeTarget, class_shares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import TableLike
    from bosquet.trees.class_targets import Classes


class BaseForestClassifier(ClassifierMixin, BaseForest):
    """A forest for classification: the trees vote for classes."""

    _checks: ClassVar[dict[str, Check]] = CHECKS | {"criterion": CLASSIFICATION_CRITERIA}
    classes_: Classes  # array of labels; a list of arrays for several targets
    n_classes_: int | list[int]

    def _check_target(self, y: ArrayLike, n_rows: int, continuing: bool) -> TreeTarget:
        labels = check_labels(y, several=True, owner=type(self).__name__)
        check_same_length(len(labels), n_rows)
        if not continuing:
            self.classes_ = find_classes(labels)
        has_several_targets = isinstance(self.classes_, list)
        if isinstance(self.classes_, list):
            self.n_outputs_ = len(self.classes_)
            self.n_classes_ = [classes.size for classes in self.classes_]
        else:
            self.n_outputs_, self.n_classes_ = 1, self.classes_.size
        if has_several_targets and self._balances_bags():
            raise ValueError(
                f"class_weight='balanced_subsample' needs one target, but y has {self.n_outputs_};"
                " use 'balanced'"
            )
        return class_target(labels, self.classes_)

    def _check_weight(self, weight: np.ndarray, target: TreeTarget, y: ArrayLike) -> np.ndarray:
        if self._balances_bags():
            return weight
        return apply_class_weight(self.class_weight, check_labels(y, several=True), weight)

    def _check_one_target(self, method: str) -> np.ndarray:
        """Return the classes; raise a ValueError if the forest has several targets."""
        check_is_fitted(self, "_ensemble")
        if isinstance(self.classes_, list):
            raise ValueError(
                f"{method} needs a forest with one target, but this one has {len(self.classes_)} targets; fit"
                " one forest per target"
            )
        return self.classes_

    def _balances_bags(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    def _oob_losses(self) -> Any:
        return (
            MisclassifiedShare(self.classes_) if isinstance(self.classes_, list) else misclassified
        )

    def _votes_from_raw(self, raw: np.ndarray) -> np.ndarray:
        shares = class_shares(raw)
        return shares if self.voting == "soft" else hard_votes(shares, self.classes_)

    def _with_hard_votes(self) -> Any:
        return _core.with_hard_votes(self._ensemble, list(class_counts(self.classes_)))

    def _set_oob_predictions(self, record: OutOfBagRecord) -> None:
        means = record.mean_votes(int(np.sum(self.n_classes_)))
        self.oob_decision_function_ = split_by_target(means, self.classes_)
        self.oob_score_ = 1 - record.error

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray | list[np.ndarray]:
        """Predict the probability of each class.

        This is the mean over the trees of the class shares in the leaf of a row; with voting="hard", the
        fraction of trees that vote for each class.

        As in scikit-learn, a class that is in none of the leaves of a row has probability 0, so its log
        loss is infinite if it is the true class. `CalibratedModel`, a larger `min_samples_leaf`, or
        bagging of trees with `smoothing` avoid probabilities of 0.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes), or a list with one array per target
            The columns are in the order of `classes_`.
        """
        shares = self._vote_shares(X)
        return split_by_target(shares, self.classes_)

    def _vote_shares(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "_ensemble")
        if self.voting == "soft":
            return class_shares(self._mean_of_trees(X))
        return class_shares(
            self._mean_of_trees(X, self._hard_vote_ensemble or self._with_hard_votes())
        )

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X: the class with the most votes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        shares = self._vote_shares(X)
        return most_probable_labels(shares, self.classes_)

    @reads_fit_snapshot
    def predict_log_proba(self, X: TableLike) -> np.ndarray | list[np.ndarray]:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes), or a list with one array per target
            The columns are in the order of `classes_`.
        """
        shares = self._vote_shares(X)
        with np.errstate(divide="ignore"):
            return split_by_target(np.log(shares), self.classes_)

    @reads_fit_snapshot
    def jackknife_standard_errors(self, X: TableLike) -> np.ndarray | list[np.ndarray]:
        errors = np.asarray(super().jackknife_standard_errors(X))
        return split_by_target(errors, self.classes_)

    jackknife_standard_errors.__doc__ = BaseForest.jackknife_standard_errors.__doc__

    @reads_fit_snapshot
    def strength_and_correlation(self, X: TableLike, y: ArrayLike) -> tuple[float, float]:
        """Return Breiman's strength s and correlation ρ of a forest, from the out-of-bag votes.

        The strength is the mean margin: the fraction of votes for the true class minus the largest
        fraction for another class. The correlation is the mean correlation between the raw margins of two
        trees. The generalisation error is at most ρ (1 - s²) / s².

        Parameters
        ----------
        X, y : training data of the forest

        Returns
        -------
        strength, correlation : float
        """
        self._check_one_target("strength_and_correlation")
        return strength_and_correlation(self, X, y)

    @reads_fit_snapshot
    def outlier_scores(self, X: TableLike, y: ArrayLike) -> np.ndarray:
        """Return Breiman's outlier score of each row within its class, from the proximities.

        The raw score is the number of rows of the class divided by the sum of squared proximities to these
        rows. The median of the class is subtracted, and the result is divided by the mean absolute
        deviation in the class. Scores above 10 indicate outliers.
        """
        classes = self._check_one_target("outlier_scores")
        return outlier_scores(self.apply(X), class_numbers(check_labels(y), classes))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class BaseForestRegressor(RegressorMixin, BaseForest):
    """A forest for regression: the predictions of the trees are averaged."""

    _checks: ClassVar[dict[str, Check]] = CHECKS | {"criterion": REGRESSION_CRITERIA}

    def _check_target(self, y: ArrayLike, n_rows: int, continuing: bool) -> TreeTarget:
        numbers = check_finite_target(y, owner=type(self).__name__)
        check_same_length(numbers.shape[1], n_rows)
        if continuing and numbers.shape[0] != self.n_outputs_:
            raise ValueError(
                f"y has {numbers.shape[0]} targets, but the forest was fitted to {self.n_outputs_};"
                " warm_start=True needs the same targets"
            )
        check_single_target(y, numbers, self.criterion)
        self.n_outputs_ = numbers.shape[0]
        return TreeTarget.of_numbers(numbers)

    def _check_weight(self, weight: np.ndarray, target: TreeTarget, y: ArrayLike) -> np.ndarray:
        return weight

    def _oob_losses(self) -> Any:
        return squared_errors

    def _votes_from_raw(self, raw: np.ndarray) -> np.ndarray:
        return raw

    def _set_oob_predictions(self, record: OutOfBagRecord) -> None:
        means = record.mean_votes(self.n_outputs_)
        self.oob_prediction_ = means[:, 0] if means.shape[1] == 1 else means
        self.oob_score_ = record.r2()

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X, as the mean over the trees.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        mean = self._mean_of_trees(X)
        return mean[:, 0] if mean.shape[1] == 1 else mean

    @reads_fit_snapshot
    def predict_quantiles(
        self, X: TableLike, quantiles: ArrayLike = (0.05, 0.5, 0.95)
    ) -> np.ndarray:
        """Predict conditional quantiles of the target.

        The quantiles are weighted quantiles of the training targets. In each tree, the training rows in
        the same leaf as the row share a weight of 1; these weights are added over the trees.

        The forest must have been fitted with ``keep_rows=True``.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        quantiles : array of levels in [0, 1], default=(0.05, 0.5, 0.95)

        Returns
        -------
        array of shape (n_samples, n_quantiles)

        References
        ----------
        Meinshausen, "Quantile regression forests", JMLR 2006.
        """
        check_is_fitted(self, "_ensemble")
        if not hasattr(self, "_row_leaves"):
            raise ValueError(
                "predict_quantiles needs the stored training rows; fit the forest with keep_rows=True"
            )
        return leaf_quantiles(self, self.apply(X), quantiles)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion == "squared_error"
        return tags
