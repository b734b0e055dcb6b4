"""Random forests and extremely randomised trees, for classes and for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._bags import OutOfBag, misclassified, squared_errors
from bosquet._sklearn import ClassifierMixin, RegressorMixin, check_is_fitted
from bosquet._targets import (
    check_finite_target,
    check_labels,
    check_same_length,
    check_single_target,
    class_numbers,
    learn_classes,
    weigh_classes,
)
from bosquet.forests._base import BaseForest
from bosquet.trees._growing import Target, class_shares

_PARAMETERS = """
    n_estimators : int or "auto", default=100
        Number of trees. "auto" grows until the out-of-bag error has settled: until its mean over the
        last 40 trees is within a tenth of a standard error of its mean over the 40 before; 1000 at most.
    criterion : {criteria}
    max_depth : int, default=None
    min_samples_split : int or share of the rows, default=2
        A node with fewer rows is a leaf.
    min_samples_leaf : int or share of the rows, default=1
    min_weight_fraction_leaf : float, default=0.0
    max_features : int, share, "sqrt", "log2" or None, default={max_features}
        How many features are drawn at each node.
    max_leaf_nodes : int, default=None
        With a limit, the split that gains most comes first.
    min_impurity_decrease : float, default=0.0
    bootstrap : bool, default={bootstrap}
        Whether each tree has a bag of rows drawn with replacement, or all rows.
    max_samples : int, share or None, default=None
        Size of a bag; None: as many as there are rows.
    oob_score : bool, default=False
        Whether to keep the out-of-bag record.
    split : "histogram" or "exact", default={split}
        Whether thresholds are sought between the bins of a feature (255 at most) or between all values.
    max_bins : int, default=255
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Which columns are categorical; "from_dtype": those of text or category type. Ordered categories
        are split by their order unless they are named here.
    monotonic_cst : array or dict, default=None
        For each feature -1, 0 or +1: whether predictions may only fall or rise with it.
    keep_rows : bool, default=False
        Whether to remember which training rows each leaf holds{keep_rows_for}.
    warm_start : bool, default=False
        Whether `fit` adds trees to those that are there.
    n_jobs : int, default=None
        Threads; None: all processors. The forest is the same for any number.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        Above 0 a line tells trees grown, the out-of-bag error if it is kept, and the time left."""


def _documented(**words: str) -> Any:
    def write(cls: Any) -> Any:
        parameters = _PARAMETERS
        for name, value in words.items():
            parameters = parameters.replace("{" + name + "}", value)
        cls.__doc__ = cls.__doc__.replace("    {parameters}", parameters.lstrip("\n"))
        return cls

    return write


class _ForestClassifier(ClassifierMixin, BaseForest):
    """Trees that vote for classes."""

    _oob_losses = staticmethod(misclassified)

    def _check_criterion(self) -> None:
        if self.criterion not in ("gini", "entropy", "log_loss"):
            raise ValueError(
                f"criterion={self.criterion!r} must be 'gini', 'entropy' or 'log_loss'"
            )

    def _check_target(self, y: Any, rows: int, continuing: bool) -> Target:
        labels = check_labels(y)
        check_same_length(labels.size, rows)
        if not continuing:
            self.classes_ = learn_classes(labels)
        self.n_classes_ = self.classes_.size
        if self.n_classes_ < 2:
            raise ValueError(
                f"y holds one class only, {self.classes_[0]!r}: a classifier needs at least two classes"
            )
        return Target.of_classes(class_numbers(labels, self.classes_), self.n_classes_)

    def _check_weight(self, weight: np.ndarray, target: Target) -> np.ndarray:
        if self._balances_bags():
            return weight
        return weigh_classes(self.class_weight, self.classes_[target.values], weight)

    def _balances_bags(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    def _votes(self, raw: np.ndarray) -> np.ndarray:
        shares = class_shares(raw)
        if self.voting == "soft":
            return shares
        votes = np.zeros_like(shares)
        votes[np.arange(len(votes)), shares.argmax(axis=1)] = 1
        return votes

    def _publish_votes(self, record: OutOfBag) -> None:
        self.oob_decision_function_ = record.mean_votes(self.n_classes_)
        self.oob_score_ = 1 - record.error

    def predict_proba(self, X: Any) -> np.ndarray:
        """Mean over trees of the class shares in a row's leaf, or with voting="hard" shares of votes."""
        check_is_fitted(self, "_ensemble")
        if self.voting == "soft":
            return class_shares(self._mean(X))
        return class_shares(self._mean(X, self._hardened or _core.hardened(self._ensemble)))

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest share of the vote."""
        check_is_fitted(self, "_ensemble")
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

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

        check_is_fitted(self, "_ensemble")
        return strength_and_correlation(self, X, y)

    def outlier_scores(self, X: Any, y: Any) -> np.ndarray:
        """How far each row lies from the others of its class, by proximities (Breiman 2001).

        The number of rows of the class over the sum of squared proximities to them, less its median in the
        class, over its mean absolute deviation; above 10 is far out.
        """
        from bosquet.forests.proximity import outlier_scores

        return outlier_scores(self.apply(X), class_numbers(check_labels(y), self.classes_))


class _ForestRegressor(RegressorMixin, BaseForest):
    """Trees whose numbers are averaged."""

    _oob_losses = staticmethod(squared_errors)

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

    def _check_weight(self, weight: np.ndarray, target: Target) -> np.ndarray:
        return weight

    def _votes(self, raw: np.ndarray) -> np.ndarray:
        return raw

    def _publish_votes(self, record: OutOfBag) -> None:
        means = record.mean_votes(self.n_outputs_)
        self.oob_prediction_ = means[:, 0] if means.shape[1] == 1 else means
        self.oob_score_ = record.r2()

    def predict(self, X: Any) -> np.ndarray:
        """Mean over trees: (n_samples,), or (n_samples, n_outputs)."""
        mean = self._mean(X)
        return mean[:, 0] if mean.shape[1] == 1 else mean

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


def _set_parameters(forest: Any, given: dict[str, Any]) -> None:
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(forest, name, value)


@_documented(
    criteria='"gini", "entropy" or "log_loss", default="gini"',
    max_features='"sqrt"',
    bootstrap="True",
    split='"histogram"',
    keep_rows_for="",
)
class RandomForestClassifier(_ForestClassifier):
    """A random forest for classes.

    Each tree is grown to full depth on a bootstrap sample of the rows; at each node √p of the p
    features are drawn and the best split on one of them is taken. The trees vote.

    Parameters
    ----------
    {parameters}
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
    voting : "soft" or "hard", default="soft"
        Whether trees are averaged by the class shares of their leaves, or each has one vote.

    Attributes
    ----------
    classes_ : array of the class labels.
    oob_score_, oob_error_ : accuracy and error of the vote over the trees that did not see a row.
    oob_tree_error_ : mean over trees of a tree's error on the rows that it did not see.
    oob_curve_ : `oob_error_` after each number of trees.
    oob_decision_function_ : out-of-bag probabilities, (n_samples, n_classes); NaN for a row that was in
        every bag, or whose weight is 0. Errors count rows by their `sample_weight`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.92)
    True

    References
    ----------
    Breiman, "Random forests", Machine Learning 2001.
    """

    def __init__(
        self,
        n_estimators: Any = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: Any = None,
        oob_score: bool = False,
        split: str = "histogram",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        class_weight: Any = None,
        voting: str = "soft",
        keep_rows: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        _set_parameters(self, locals())


@_documented(
    criteria='"squared_error", "absolute_error" or "poisson", default="squared_error"',
    max_features="1/3",
    bootstrap="True",
    split='"histogram"',
    keep_rows_for=", for `predict_quantiles`",
)
class RandomForestRegressor(_ForestRegressor):
    """A random forest for numbers, one target or several at once.

    Each tree is grown to full depth on a bootstrap sample of the rows; at each node a third of the features
    are drawn and the best split on one of them is taken. The trees are averaged.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    oob_score_ : coefficient of determination of the out-of-bag predictions.
    oob_error_ : their mean squared error; `oob_curve_` is the same after each number of trees.
    oob_tree_error_ : mean over trees of a tree's squared error on the rows that it did not see.
    oob_prediction_ : out-of-bag predictions; NaN for a row that was in every bag, or whose weight is 0.
        Errors count rows by their `sample_weight`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(oob_score=True, keep_rows=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.35)
    True
    >>> low, high = forest.predict_quantiles(X[:1], [0.1, 0.9])[0]
    >>> bool(low < high)
    True

    References
    ----------
    Breiman, "Random forests", Machine Learning 2001.
    """

    def __init__(
        self,
        n_estimators: Any = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1 / 3,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: Any = None,
        oob_score: bool = False,
        split: str = "histogram",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        keep_rows: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        _set_parameters(self, locals())


@_documented(
    criteria='"gini", "entropy" or "log_loss", default="gini"',
    max_features='"sqrt"',
    bootstrap="False",
    split='"exact"',
    keep_rows_for="",
)
class ExtraTreesClassifier(_ForestClassifier):
    """Extremely randomised trees for classes.

    As a random forest, but the threshold of each feature drawn at a node is drawn too, evenly between
    the least and the greatest value there, and each tree sees all rows.

    Parameters
    ----------
    {parameters}
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
    voting : "soft" or "hard", default="soft"

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(n_estimators=20, random_state=0).fit(X, y).predict(X[:2])
    array([0, 0])

    References
    ----------
    Geurts, Ernst and Wehenkel, "Extremely randomized trees", Machine Learning 2006.
    """

    _random_thresholds = True

    def __init__(
        self,
        n_estimators: Any = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: Any = None,
        oob_score: bool = False,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        class_weight: Any = None,
        voting: str = "soft",
        keep_rows: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        _set_parameters(self, locals())


@_documented(
    criteria='"squared_error" or "poisson", default="squared_error"',
    max_features="None (all)",
    bootstrap="False",
    split='"exact"',
    keep_rows_for=", for `predict_quantiles`",
)
class ExtraTreesRegressor(_ForestRegressor):
    """Extremely randomised trees for numbers, one target or several at once.

    As a random forest, but the threshold of each feature drawn at a node is drawn too, evenly between
    the least and the greatest value there, and each tree sees all rows.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ExtraTreesRegressor(n_estimators=20, random_state=0).fit(X, y).predict(X[:2]).shape
    (2,)

    References
    ----------
    Geurts, Ernst and Wehenkel, "Extremely randomized trees", Machine Learning 2006.
    """

    _random_thresholds = True

    def __init__(
        self,
        n_estimators: Any = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: Any = None,
        oob_score: bool = False,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        keep_rows: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        _set_parameters(self, locals())
