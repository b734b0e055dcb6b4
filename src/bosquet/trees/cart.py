"""CART: single trees for classes and for numbers, grown exactly and pruned honestly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bosquet._fitted import reads_one_fit
from bosquet._sklearn import ClassifierMixin, RegressorMixin
from bosquet._targets import (
    check_finite_target,
    check_labels,
    check_same_length,
    check_single_target,
    weigh_classes,
)
from bosquet._weights import warn_of_scale
from bosquet.trees._base import CHECKS, BaseTree
from bosquet.trees._class_costs import ClassCosts, class_costs
from bosquet.trees._class_targets import (
    by_target,
    class_target,
    classes_among,
    most_probable,
)
from bosquet.trees._growing import Target
from bosquet.trees.arrays import TreeArrays

__all__ = ["CHECKS", "BaseTree", "DecisionTreeClassifier", "DecisionTreeRegressor"]

_COMMON = """
    max_depth : int, default=None
    min_samples_split : int or share of the rows, default=2
        A node with fewer rows is a leaf.
    min_samples_leaf : int or share of the rows, default=1
    min_weight_fraction_leaf : float, default=0.0
    max_features : int, share, "sqrt", "log2" or None, default=None
        How many features are drawn at each node; None: all are looked at.
    max_leaf_nodes : int, default=None
        With a limit, the split that gains most comes first.
    max_nodes : int, default=None
        The same limit counted in nodes: a tree of k leaves has 2k - 1.
    min_impurity_decrease : float, default=0.0
    ccp_alpha : float, default=0.0
        Penalty of a leaf per unit of weight, as in scikit-learn; links that are not worth it are cut.
    pruning : "cv", "validation" or None, default=None
        Choose the penalty: by cross-validation, or on a validation set. The table of what
        was tried is kept as `pruning_table_`.
    pruning_rule : "min" or "1se", default="min"
        The penalty of least estimated error, or the largest within one standard error of it.
    pruning_measure : str or None, default=None
        What errors are measured by: {measures}
    cv : int, default=10
        Number of folds for pruning="cv".
    validation_fraction : float, default=0.25
        Fraction of the rows in the validation set of pruning="validation".
    missing : "direction" or "surrogate", default="direction"
        Where missing values go: with the side that lowers impurity more, or, as in rpart, where the
        split on another column goes that agrees best with this one.
    max_surrogates : int, default=5
    max_competitors : int, default=4
        How many runners-up to remember at each node.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Which columns are nominal; "from_dtype": those of text or category type. Ordered categories are
        split by their order unless they are named here.
    monotonic_cst : array or dict, default=None
        For each feature -1, 0 or +1: whether predictions may only fall or rise with it. For one target of
        numbers or of two classes; not with criterion="absolute_error", missing="surrogate" or smoothing.
    random_state : int, RandomState or None, default=None"""


def _documented(measures: str) -> Any:
    def write(cls: Any) -> Any:
        text = _COMMON.replace("{measures}", measures).lstrip("\n")
        cls.__doc__ = cls.__doc__.replace("    {parameters}", text)
        return cls

    return write


@_documented('"misclassified" (default), "deviance" or "cost".')
class DecisionTreeClassifier(ClassifierMixin, BaseTree):
    """A classification tree, for one target or several at once.

    Splits are exact: every threshold between two values is tried, and nominal columns are split into
    two groups of categories, the best there are for two classes and for up to twelve categories. With
    several targets impurity is the mean over them, `predict` gives (n_samples, n_outputs), and
    `predict_proba` a list; priors, costs and pruning by `pruning` are for one target.

    Parameters
    ----------
    criterion : "gini", "entropy" or "log_loss", default="gini"
    {parameters}
    class_weight : dict, "balanced" or None, default=None
    priors : array or dict, default=None
        Probabilities of the classes, where those of the rows are not to be trusted.
    costs : array of shape (n_classes, n_classes), default=None
        What it costs to take the class of the line for that of the column. Changes splits (by altered
        priors) and the class of a leaf.
    smoothing : float, default=0.0
        Rows of the root that every node is thought to have besides its own: shares are
        (n_l + m p_l) / (n + m), with m the smoothing and p_l the shares at the root (the m-estimate). With
        weights, n is their sum: the smaller the weights are, the more m counts.
        A pure leaf of few rows then rules out no class, which the deviance punishes without limit.

    Attributes
    ----------
    classes_ : array of the class labels; of several targets a list of arrays.
    tree_ : TreeArrays
        The tree, with what is known of its nodes.
    pruning_table_ : PruningTable
        After pruning="cv" or "validation".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(pruning="cv", random_state=0).fit(X, y)
    >>> 3 <= tree.get_n_leaves() <= 6
    True

    References
    ----------
    Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984.
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        max_leaf_nodes: int | None = None,
        max_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        pruning: str | None = None,
        pruning_rule: str = "min",
        pruning_measure: str | None = None,
        cv: int = 10,
        validation_fraction: float = 0.25,
        missing: str = "direction",
        max_surrogates: int = 5,
        max_competitors: int = 4,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        class_weight: Any = None,
        priors: Any = None,
        costs: Any = None,
        smoothing: float = 0.0,
        random_state: Any = None,
    ):
        for name, value in locals().items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    classes_: Any  # an array, or of several targets a list of arrays
    n_classes_: Any
    _costs: ClassCosts | None  # None: several targets

    def _check_criterion(self) -> None:
        if self.criterion not in ("gini", "entropy", "log_loss"):
            raise ValueError(
                f"criterion={self.criterion!r} must be 'gini', 'entropy' or 'log_loss'"
            )

    def _check_target(self, y: Any, rows: int) -> Target:
        labels = check_labels(y, several=True)
        check_same_length(len(labels), rows)
        self.classes_ = classes_among(labels)
        several = isinstance(self.classes_, list)
        self.n_outputs_ = len(self.classes_) if several else 1
        self.n_classes_ = [c.size for c in self.classes_] if several else self.classes_.size
        for name in ("priors", "costs", "pruning") if several else ():
            if getattr(self, name) is not None:
                raise ValueError(f"{name} takes one target of classes, but y has {self.n_outputs_}")
        return class_target(labels, self.classes_)

    def _check_weight(self, weight: np.ndarray, target: Target, y: Any) -> np.ndarray:
        weight = weigh_classes(self.class_weight, check_labels(y, several=True), weight)
        warn_of_scale(weight, {"smoothing": self.smoothing}, least=0.0)
        self._costs = None
        if target.class_counts:
            return weight
        mass = np.bincount(
            target.values, weight if weight.size else None, minlength=self.n_classes_
        )
        self._costs = class_costs(self.priors, self.costs, self.classes_, mass)
        factor = self._costs.row_factor
        if (factor == 1).all():
            return weight
        by_row = factor[target.values]
        return by_row * weight if weight.size else by_row

    def _settled(self, tree: TreeArrays) -> TreeArrays:
        if self._costs is not None:
            tree.value = np.ascontiguousarray(self._costs.probabilities(tree.value))
        return self._smoothed(tree)

    def _smoothed(self, tree: TreeArrays) -> TreeArrays:
        if self.smoothing == 0:
            return tree
        weight = tree.weight[:, None]
        value = (weight * tree.value + self.smoothing * tree.value[0]) / (weight + self.smoothing)
        return replace(tree, value=np.ascontiguousarray(value))

    @reads_one_fit
    def predict_proba(self, X: Any) -> Any:
        """Shares of the classes in each row's leaf, under the priors if there are any.

        Of several targets a list with an array for each.
        """
        shares = self._values(X)
        return by_target(shares, self.classes_)

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row's leaf, or with costs the least costly.

        Shape (n_samples,), or (n_samples, n_outputs) of several targets.
        """
        shares = self._values(X)
        if self._costs is None:
            return most_probable(shares, self.classes_)
        return self.classes_[self._costs.decide(shares)]

    @reads_one_fit
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities."""
        shares = self._values(X)
        with np.errstate(divide="ignore"):
            return by_target(np.log(shares), self.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@_documented("the squared error alone.")
class DecisionTreeRegressor(RegressorMixin, BaseTree):
    """A regression tree, for one target or several at once.

    Parameters
    ----------
    criterion : "squared_error", "absolute_error" or "poisson", default="squared_error"
    {parameters}

    Attributes
    ----------
    tree_ : TreeArrays
        The tree, with what is known of its nodes.
    pruning_table_ : PruningTable
        After pruning="cv" or "validation".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = DecisionTreeRegressor(max_leaf_nodes=3).fit(X, y)
    >>> tree.get_n_leaves()
    3

    References
    ----------
    Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984.
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        max_leaf_nodes: int | None = None,
        max_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        pruning: str | None = None,
        pruning_rule: str = "min",
        pruning_measure: str | None = None,
        cv: int = 10,
        validation_fraction: float = 0.25,
        missing: str = "direction",
        max_surrogates: int = 5,
        max_competitors: int = 4,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        random_state: Any = None,
    ):
        for name, value in locals().items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def _check_criterion(self) -> None:
        if self.criterion not in ("squared_error", "absolute_error", "poisson"):
            raise ValueError(
                f"criterion={self.criterion!r} must be 'squared_error', 'absolute_error' or 'poisson'"
            )

    def _check_target(self, y: Any, rows: int) -> Target:
        numbers = check_finite_target(y)
        check_same_length(numbers.shape[1], rows)
        check_single_target(y, numbers, self.criterion)
        self.n_outputs_ = numbers.shape[0]
        return Target.of_numbers(numbers)

    def _check_weight(self, weight: np.ndarray, target: Target, y: Any) -> np.ndarray:
        return weight

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Mean (or median) of each row's leaf: (n_samples,), or (n_samples, n_outputs)."""
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion == "squared_error"
        return tags
