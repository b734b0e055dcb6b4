"""What a forest is for: classes that trees vote for, or numbers that are averaged."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._bags import OutOfBag, misclassified, squared_errors
from bosquet._fitted import reads_one_fit
from bosquet._sklearn import ClassifierMixin, RegressorMixin, check_is_fitted
from bosquet._targets import (
    check_finite_target,
    check_labels,
    check_same_length,
    check_single_target,
    class_numbers,
    weigh_classes,
)
from bosquet.forests._base import BaseForest
from bosquet.trees._class_targets import (
    SharesWrong,
    by_target,
    class_counts,
    class_target,
    classes_among,
    most_probable,
    votes_for_the_largest,
)
from bosquet.trees._growing import Target, class_shares


class ForestOfClasses(ClassifierMixin, BaseForest):
    """Trees that vote for classes."""

    classes_: Any  # an array, or of several targets a list of arrays
    n_classes_: Any

    def _check_criterion(self) -> None:
        if self.criterion not in ("gini", "entropy", "log_loss"):
            raise ValueError(
                f"criterion={self.criterion!r} must be 'gini', 'entropy' or 'log_loss'"
            )

    def _check_target(self, y: Any, rows: int, continuing: bool) -> Target:
        labels = check_labels(y, several=True)
        check_same_length(len(labels), rows)
        if not continuing:
            self.classes_ = classes_among(labels)
        several = isinstance(self.classes_, list)
        self.n_outputs_ = len(self.classes_) if several else 1
        self.n_classes_ = [c.size for c in self.classes_] if several else self.classes_.size
        if several and self._balances_bags():
            raise ValueError("class_weight='balanced_subsample' takes one target; use 'balanced'")
        return class_target(labels, self.classes_)

    def _check_weight(self, weight: np.ndarray, target: Target, y: Any) -> np.ndarray:
        if self._balances_bags():
            return weight
        return weigh_classes(self.class_weight, check_labels(y, several=True), weight)

    def _check_one_target(self, what: str) -> None:
        check_is_fitted(self, "_ensemble")
        if isinstance(self.classes_, list):
            raise ValueError(f"{what} takes a forest of one target, not of {len(self.classes_)}")

    def _balances_bags(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    def _oob_losses(self) -> Any:
        return SharesWrong(self.classes_) if isinstance(self.classes_, list) else misclassified

    def _votes(self, raw: np.ndarray) -> np.ndarray:
        shares = class_shares(raw)
        return shares if self.voting == "soft" else votes_for_the_largest(shares, self.classes_)

    def _harden(self) -> Any:
        return _core.hardened(self._ensemble, list(class_counts(self.classes_)))

    def _publish_votes(self, record: OutOfBag) -> None:
        means = record.mean_votes(int(np.sum(self.n_classes_)))
        self.oob_decision_function_ = by_target(means, self.classes_)
        self.oob_score_ = 1 - record.error

    @reads_one_fit
    def predict_proba(self, X: Any) -> Any:
        """Mean over trees of the class shares in a row's leaf, or with voting="hard" shares of votes.

        Of several targets a list with an array for each. A class that none of a row's leaves holds has the
        probability 0, as in scikit-learn: its log loss is infinite if it was the right one.
        `CalibratedModel`, a larger `min_samples_leaf`, or bags of trees with `smoothing` keep away from 0.
        """
        shares = self._shares(X)
        return by_target(shares, self.classes_)

    def _shares(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "_ensemble")
        if self.voting == "soft":
            return class_shares(self._mean(X))
        return class_shares(self._mean(X, self._hardened or self._harden()))

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest share of the vote: (n_samples,), or (n_samples, n_outputs)."""
        shares = self._shares(X)
        return most_probable(shares, self.classes_)

    @reads_one_fit
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities."""
        shares = self._shares(X)
        with np.errstate(divide="ignore"):
            return by_target(np.log(shares), self.classes_)

    @reads_one_fit
    def jackknife_standard_errors(self, X: Any) -> Any:
        errors = super().jackknife_standard_errors(X)
        return by_target(errors, self.classes_)

    jackknife_standard_errors.__doc__ = BaseForest.jackknife_standard_errors.__doc__

    @reads_one_fit
    def strength_and_correlation(self, X: Any, y: Any) -> tuple[float, float]:
        """Breiman's two numbers of a forest, from the out-of-bag votes.

        Strength is the mean margin, the share of votes for the true class less the largest other share.
        Correlation is that between the trees' margins. The error is at most ρ (1 - s²) / s².

        Parameters
        ----------
        X, y : the data that the forest was fitted to.

        Returns
        -------
        strength, correlation : float
        """
        from bosquet.forests.strength import strength_and_correlation

        self._check_one_target("strength_and_correlation")
        return strength_and_correlation(self, X, y)

    @reads_one_fit
    def outlier_scores(self, X: Any, y: Any) -> np.ndarray:
        """How far each row lies from the others of its class, by proximities (Breiman 2001).

        The number of rows of the class over the sum of squared proximities to them, less its median in the
        class, over its mean absolute deviation; above 10 is far out.
        """
        from bosquet.forests.proximity import outlier_scores

        self._check_one_target("outlier_scores")
        return outlier_scores(self.apply(X), class_numbers(check_labels(y), self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class ForestOfNumbers(RegressorMixin, BaseForest):
    """Trees whose numbers are averaged."""

    def _check_criterion(self) -> None:
        if self.criterion not in ("squared_error", "absolute_error", "poisson"):
            raise ValueError(
                f"criterion={self.criterion!r} must be 'squared_error', 'absolute_error' or 'poisson'"
            )
        if self._random_thresholds and self.criterion == "absolute_error":
            raise ValueError(
                "criterion='absolute_error' is for random forests; extra trees take 'squared_error'"
            )

    def _check_target(self, y: Any, rows: int, continuing: bool) -> Target:
        numbers = check_finite_target(y)
        check_same_length(numbers.shape[1], rows)
        if continuing and numbers.shape[0] != self.n_outputs_:
            raise ValueError(
                f"y has {numbers.shape[0]} targets, but the forest was fitted to {self.n_outputs_}"
            )
        check_single_target(y, numbers, self.criterion)
        self.n_outputs_ = numbers.shape[0]
        return Target.of_numbers(numbers)

    def _check_weight(self, weight: np.ndarray, target: Target, y: Any) -> np.ndarray:
        return weight

    def _oob_losses(self) -> Any:
        return squared_errors

    def _votes(self, raw: np.ndarray) -> np.ndarray:
        return raw

    def _publish_votes(self, record: OutOfBag) -> None:
        means = record.mean_votes(self.n_outputs_)
        self.oob_prediction_ = means[:, 0] if means.shape[1] == 1 else means
        self.oob_score_ = record.r2()

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Mean over trees: (n_samples,), or (n_samples, n_outputs)."""
        mean = self._mean(X)
        return mean[:, 0] if mean.shape[1] == 1 else mean

    @reads_one_fit
    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the target given a row, shape (n_samples, n_quantiles).

        Every training row counts by how often it shares a leaf with the row, each leaf's weight shared out
        evenly; the quantiles are those of the training targets so weighted.

        The forest must have been fitted with ``keep_rows=True``.

        References
        ----------
        Meinshausen, "Quantile regression forests", JMLR 2006.
        """
        from bosquet.forests.quantiles import leaf_quantiles

        check_is_fitted(self, "_ensemble")
        if not hasattr(self, "_row_leaves"):
            raise ValueError("predict_quantiles needs a forest fitted with keep_rows=True")
        return leaf_quantiles(self, self.apply(X), quantiles)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion == "squared_error"
        return tags
