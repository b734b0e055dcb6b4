"""CART: decision trees for classification and regression, with exact splits and pruning."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from bosquet._fitted import reads_fit_snapshot
from bosquet._parameters import Check
from bosquet._sklearn import ClassifierMixin, RegressorMixin
from bosquet._targets import (
    apply_class_weight,
    check_finite_target,
    check_labels,
    check_same_length,
    check_single_target,
)
from bosquet._weights import warn_of_scale
from bosquet.trees._base import CHECKS, BaseTree
from bosquet.trees._class_costs import ClassCosts, class_costs
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.class_targets import (
    class_target,
    find_classes,
    most_probable_labels,
    split_by_target,
)
from bosquet.trees.criteria import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA
from bosquet.trees.growing import TreeTarget

__all__ = ["BaseTree", "DecisionTreeClassifier", "DecisionTreeRegressor"]

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import (
        CategoricalFeatures,
        ClassWeight,
        MonotoneConstraint,
        RandomState,
        TableLike,
    )
    from bosquet.trees.class_targets import Classes


Tree = TypeVar("Tree", bound=BaseTree)

_COMMON = """
    max_depth : int, default=None
        Maximum depth of the tree; None: no limit.
    min_samples_split : int or fraction of the rows, default=2
        Minimum number of rows of a node that is split.
    min_samples_leaf : int or fraction of the rows, default=1
        Minimum number of rows in a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in a leaf.
    max_features : int, fraction, "sqrt", "log2" or None, default=None
        Number of features drawn at each node; None: all features.
    max_leaf_nodes : int, default=None
        Maximum number of leaves; nodes are then split in the order of their gain. None: no limit.
    max_nodes : int, default=None
        Maximum number of nodes; a tree with k leaves has 2k - 1 nodes. None: no limit.
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of impurity of a split.
    ccp_alpha : float, default=0.0
        Penalty per leaf of cost-complexity pruning, per unit of weight as in scikit-learn.
    pruning : "cv", "validation" or None, default=None
        How to choose the penalty: by cross-validation or on a validation set. The errors of all candidates
        are stored in `pruning_table_`.
    pruning_rule : "min" or "1se", default="min"
        "min": the penalty with the smallest estimated error. "1se": the largest penalty whose error is
        within one standard error of the smallest.
    pruning_measure : str or None, default=None
        Error measure for choosing the penalty: {measures}
    cv : int or splitter of scikit-learn, default=10
        Number of folds for pruning="cv".
    validation_fraction : float, default=0.25
        Fraction of the rows in the validation set of pruning="validation".
    missing : "direction" or "surrogate", default="direction"
        Treatment of missing values. "direction": they go to the side that decreases the impurity more.
        "surrogate": as in rpart, they are sent by the split on another column that agrees best.
    max_surrogates : int, default=5
        Maximum number of surrogate splits per node.
    max_competitors : int, default=4
        Maximum number of competitor splits (the next best splits) stored per node.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Categorical columns. "from_dtype": columns of text or category type. Ordered categories are split
        by their order unless they are listed here.
    monotonic_cst : array or dict, default=None
        For each feature, 1 if the prediction must not decrease when the feature increases, -1 if it must not
        increase, 0 for no constraint. For regression with one target or two classes; not with
        criterion="absolute_error", missing="surrogate" or smoothing.
    random_state : int, RandomState or None, default=None
        Random seed of the features drawn and of the folds."""


def _with_parameter_docs(measures: str) -> Callable[[type[Tree]], type[Tree]]:
    def write(cls: type[Tree]) -> type[Tree]:
        text = _COMMON.replace("{measures}", measures).lstrip("\n")
        cls.__doc__ = (cls.__doc__ or "").replace("    {parameters}", text)
        return cls

    return write


@_with_parameter_docs('"misclassified" (default), "deviance" or "cost".')
class DecisionTreeClassifier(ClassifierMixin, BaseTree):
    """Classification tree (CART) for one or several targets.

    Splits are exact: every threshold between two values is tried. The categories of a categorical column
    are split into two groups; the best grouping is found for two classes, and for up to twelve categories.
    With several targets, the impurity is the mean over the targets, `predict` returns shape
    (n_samples, n_outputs), and `predict_proba` returns a list; `priors`, `costs` and `pruning` need one
    target.

    Guide: the page "Decision trees and cost-complexity pruning" of the documentation

    Parameters
    ----------
    criterion : "gini", "entropy" or "log_loss", default="gini"
        Impurity that a split decreases.
    {parameters}
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    priors : array or dict, default=None
        Prior probabilities of the classes; None: the relative frequencies in the training data.
    costs : array of shape (n_classes, n_classes), default=None
        Misclassification costs; rows: true class, columns: predicted class. They change the splits (by
        altered priors) and the class of a leaf.
    smoothing : float, default=0.0
        Parameter m of the m-estimate: the share of class l in a node is (n_l + m p_l) / (n + m), where p_l
        is its share in the root. With sample weights, n is a sum of weights, so smaller weights make m
        count more. Smoothing avoids shares of 0 in pure leaves with few rows, for which the deviance is
        infinite.

    Attributes
    ----------
    classes_ : array, or list of arrays for several targets
        The class labels.
    tree_ : TreeArrays
        The tree.
    feature_importances_ : array of shape (n_features,)
        Decrease of impurity by the splits on each feature, normalised to sum 1.
    pruning_path_ : PruningPath
        The subtrees for all penalties; set if `pruning` is not None.
    pruning_table_ : PruningTable
        Errors of all subtrees; set if `pruning` is not None.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    See Also
    --------
    RandomForestClassifier : A vote of trees on bootstrap samples.
    GradientBoostingClassifier : A sum of small trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(pruning="cv", random_state=0).fit(X, y)
    >>> tree.get_n_leaves()
    3

    References
    ----------
    Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984.
    """

    _checks: ClassVar[dict[str, Check]] = CHECKS | {"criterion": CLASSIFICATION_CRITERIA}

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
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
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotoneConstraint = None,
        class_weight: ClassWeight = None,
        priors: ArrayLike | Mapping[Hashable, float] | None = None,
        costs: ArrayLike | None = None,
        smoothing: float = 0.0,
        random_state: RandomState = None,
    ):
        for name, value in locals().items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    classes_: Classes  # array of labels; a list of arrays for several targets
    n_classes_: int | list[int]
    _costs: ClassCosts | None  # None for several targets

    def _check_target(self, y: ArrayLike, n_rows: int) -> TreeTarget:
        labels = check_labels(y, several=True, owner=type(self).__name__)
        check_same_length(len(labels), n_rows)
        self.classes_ = find_classes(labels)
        if isinstance(self.classes_, np.ndarray):
            self.n_outputs_, self.n_classes_ = 1, self.classes_.size
            return class_target(labels, self.classes_)
        self.n_outputs_ = len(self.classes_)
        self.n_classes_ = [classes.size for classes in self.classes_]
        for name in ("priors", "costs", "pruning"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} needs one target, but y has {self.n_outputs_}; set {name}=None"
                )
        return class_target(labels, self.classes_)

    def _check_weight(self, weight: np.ndarray, target: TreeTarget, y: ArrayLike) -> np.ndarray:
        weight = apply_class_weight(self.class_weight, check_labels(y, several=True), weight)
        warn_of_scale(weight, {"smoothing": self.smoothing}, least=0.0)
        self._costs = None
        if isinstance(self.classes_, list):
            return weight
        mass = np.bincount(
            target.values, weight if weight.size else None, minlength=self.classes_.size
        )
        self._costs = class_costs(self.priors, self.costs, self.classes_, mass)
        factor = self._costs.row_factor
        if (factor == 1).all():
            return weight
        row_factor = factor[target.values]
        return row_factor * weight if weight.size else row_factor

    def _final_values(self, tree: TreeArrays) -> TreeArrays:
        if self._costs is not None:
            tree.value = np.ascontiguousarray(self._costs.probabilities(tree.value))
        return self._smooth(tree)

    def _smooth(self, tree: TreeArrays) -> TreeArrays:
        if self.smoothing == 0:
            return tree
        weight = tree.weight[:, None]
        value = (weight * tree.value + self.smoothing * tree.value[0]) / (weight + self.smoothing)
        return replace(tree, value=np.ascontiguousarray(value))

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray | list[np.ndarray]:
        """Predict the probability of each class.

        This is its share in the leaf of a row, adjusted for the priors.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes), or a list with one array per target
            The columns are in the order of `classes_`.
        """
        shares = self._predict_values(X)
        return split_by_target(shares, self.classes_)

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X: the most probable class.

        With `costs`, this is the class of least expected cost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        shares = self._predict_values(X)
        if self._costs is None:
            return most_probable_labels(shares, self.classes_)
        return self.classes_[self._costs.decide(shares)]

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
        shares = self._predict_values(X)
        with np.errstate(divide="ignore"):
            return split_by_target(np.log(shares), self.classes_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@_with_parameter_docs('"squared_error" (default).')
class DecisionTreeRegressor(RegressorMixin, BaseTree):
    """Regression tree (CART) for one or several targets.

    Guide: the page "Decision trees and cost-complexity pruning" of the documentation

    Parameters
    ----------
    criterion : "squared_error", "absolute_error" or "poisson", default="squared_error"
        Impurity that a split decreases.
    {parameters}

    Attributes
    ----------
    tree_ : TreeArrays
        The tree.
    feature_importances_ : array of shape (n_features,)
        Decrease of impurity by the splits on each feature, normalised to sum 1.
    pruning_path_ : PruningPath
        The subtrees for all penalties; set if `pruning` is not None.
    pruning_table_ : PruningTable
        Errors of all subtrees; set if `pruning` is not None.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    See Also
    --------
    RandomForestRegressor : The mean of trees on bootstrap samples.
    GradientBoostingRegressor : A sum of small trees.

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

    _checks: ClassVar[dict[str, Check]] = CHECKS | {"criterion": REGRESSION_CRITERIA}

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
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
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotoneConstraint = None,
        random_state: RandomState = None,
    ):
        for name, value in locals().items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def _check_target(self, y: ArrayLike, n_rows: int) -> TreeTarget:
        numbers = check_finite_target(y, owner=type(self).__name__)
        check_same_length(numbers.shape[1], n_rows)
        check_single_target(y, numbers, self.criterion)
        self.n_outputs_ = numbers.shape[0]
        return TreeTarget.of_numbers(numbers)

    def _check_weight(self, weight: np.ndarray, target: TreeTarget, y: ArrayLike) -> np.ndarray:
        return weight

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X: the mean (or median) of its leaf.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
        """
        values = self._predict_values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion == "squared_error"
        return tags
