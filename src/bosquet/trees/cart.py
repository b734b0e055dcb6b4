"""CART: single trees for classes and for numbers, grown exactly and pruned honestly."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._parameters import (
    check_parameters,
    choice,
    count_or_share,
    integer,
    number,
    number_of_features,
)
from bosquet._sklearn import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    check_is_fitted,
    effective_threads,
    seed_from,
)
from bosquet._targets import (
    check_finite_target,
    check_labels,
    check_same_length,
    check_sample_weight,
    check_single_target,
    weigh_classes,
)
from bosquet.data import TableEncoder, n_rows, take_rows
from bosquet.trees._class_costs import ClassCosts, class_costs
from bosquet.trees._class_targets import (
    by_target,
    class_target,
    classes_among,
    most_probable,
)
from bosquet.trees._growing import (
    Target,
    cart_fit,
    class_shares,
    code_table,
    empty_ensemble,
    growing_options,
)
from bosquet.trees._pruned_fit import choose_by_cross_validation, choose_by_validation
from bosquet.trees._readable import ReadableTree
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.pruning import prune_by_ccp_alpha, weakest_link_path
from bosquet.trees.walking import leaves_by_surrogates

CHECKS = {
    "max_depth": integer(1, none=True),
    "min_samples_split": count_or_share(2, "rows"),
    "min_samples_leaf": count_or_share(1, "rows"),
    "min_weight_fraction_leaf": number(0, 0.5),
    "max_features": number_of_features(),
    "max_leaf_nodes": integer(2, none=True),
    "max_nodes": integer(1, none=True),
    "min_impurity_decrease": number(0),
    "ccp_alpha": number(0),
    "pruning": choice(None, "cv", "validation"),
    "pruning_rule": choice("min", "1se"),
    "validation_fraction": number(0, 0.9, open_low=True),
    "missing": choice("direction", "surrogate"),
    "max_surrogates": integer(1),
    "max_competitors": integer(0),
}


class BaseTree(ReadableTree, BaseEstimator):
    """Growing, pruning and predicting; the subclasses know what a target is."""

    _encoder: TableEncoder
    _ensemble: _core.Ensemble
    tree_: TreeArrays

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the tree, and prune it if asked to.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix or nested lists.
            NaN, null and pd.NA are missing values.
        y : array of shape (n_samples,), or (n_samples, n_outputs) of numbers
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        for name in ("pruning_table_", "pruning_path_"):  # an earlier fit's are not this one's
            self.__dict__.pop(name, None)
        try:
            return self._fit(X, y, sample_weight)
        except BaseException:
            self.__dict__ = before
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, CHECKS)
        self._check_criterion()
        if self.pruning is not None and self.ccp_alpha > 0:
            raise ValueError(
                f"pruning={self.pruning!r} chooses the penalty itself; leave ccp_alpha at 0"
            )
        encoder, columns = TableEncoder.fit(
            X, categorical_features=self.categorical_features, owner=type(self).__name__
        )
        rows = n_rows(columns)
        target = self._check_target(y, rows)
        weight = self._check_weight(check_sample_weight(sample_weight, rows), target, y)
        self._encoder, self.n_features_in_ = encoder, encoder.n_features
        if encoder.feature_names is not None:
            self.feature_names_in_ = np.asarray(encoder.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_samples_fit_ = rows
        self.max_features_ = growing_options(self, encoder, 1.0)["features_per_node"]

        growth = Growth(self, columns, encoder, target)
        if self.pruning == "cv":
            tree = choose_by_cross_validation(self, growth, weight)
        elif self.pruning == "validation":
            tree = choose_by_validation(self, growth, weight)
        else:
            tree = prune_by_ccp_alpha(growth.tree(weight), self.ccp_alpha)
        self._keep(tree, target)
        return self

    def _keep(self, tree: TreeArrays, target: Target) -> None:
        self.tree_ = self._settled(tree)
        self._ensemble = empty_ensemble(self._encoder, target)
        value = self.tree_.value
        stored = value[:, 1:2] if target.is_classes and target.stored_outputs == 1 else value
        _core.add_tree(
            self._ensemble,
            self.tree_.feature,
            np.nan_to_num(self.tree_.threshold, nan=0.0, posinf=np.inf),
            self.tree_.left,
            self.tree_.missing_left,
            self.tree_.left_categories,
            np.ascontiguousarray(stored),
            self.tree_.gain,
            self.tree_.weight,
        )

    def _settled(self, tree: TreeArrays) -> TreeArrays:
        return tree

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The penalties at which the full tree loses leaves, and the impurity of what is left.

        Returns
        -------
        Bunch
            With `ccp_alphas` and `impurities` as scikit-learn has them, `gammas` (the same penalties in
            counts: ccp_alpha times the weight of the rows) and `leaves`.
        """
        from sklearn.utils import Bunch

        full = type(self)(**{**self.get_params(deep=False), "ccp_alpha": 0.0, "pruning": None})
        path = weakest_link_path(full.fit(X, y, sample_weight).tree_)
        return Bunch(
            ccp_alphas=path.ccp_alphas,
            impurities=path.costs / path.root_weight,
            gammas=path.gammas,
            leaves=path.leaves,
        )

    # --------------------------------------------------------------- predicting
    def apply(self, X: Any) -> np.ndarray:
        """The number of the leaf that each row reaches."""
        check_is_fitted(self, "tree_")
        columns = self._encoder.transform(X)
        if any(self.tree_.surrogates):
            return leaves_by_surrogates(self.tree_, columns, self._encoder.categories)
        return self._ensemble.apply(columns, effective_threads(None))[:, 0]

    def _values(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "tree_")
        if any(self.tree_.surrogates):
            return self.tree_.value[self.apply(X)]
        columns = self._encoder.transform(X)
        raw = self._ensemble.predict_raw(columns, 0, 1, effective_threads(None))
        return class_shares(raw) if hasattr(self, "classes_") else raw

    def decision_path(self, X: Any) -> Any:
        """Nodes that each row passes, as a sparse matrix (n_samples, n_nodes) of ones."""
        from scipy import sparse

        at = self.apply(X)
        rows = np.arange(at.size)
        parents, visited = self.tree_.parents, []
        while rows.size:
            visited.append((rows, at))
            at = parents[at]
            rows, at = rows[at >= 0], at[at >= 0]
        every_row = np.concatenate([r for r, _ in visited])
        every_node = np.concatenate([n for _, n in visited])
        shape = (every_row[: len(visited[0][0])].size, self.tree_.n_nodes)
        return sparse.csr_matrix(
            (np.ones(every_row.size, dtype=int), (every_row, every_node)), shape
        )

    def get_depth(self) -> int:
        """Number of splits on the longest way down."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the total decrease of impurity that each feature's splits brought."""
        check_is_fitted(self, "tree_")
        inner = ~self.tree_.is_leaf
        sums = np.bincount(
            self.tree_.feature[inner], self.tree_.gain[inner], minlength=self.n_features_in_
        )
        total = sums.sum()
        return sums / total if total > 0 else sums

    # ------------------------------------------------------------------ keeping
    def save(self, path: Any) -> None:
        """Write the tree to a file that `bosquet.load` reads."""
        from bosquet.io import save_model

        save_model(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class Growth:
    """Trees on one table and target with different weights: the full one, and those of folds."""

    def __init__(self, estimator: Any, columns: Any, encoder: TableEncoder, target: Target):
        self.estimator, self.columns = estimator, columns
        self.encoder, self.target = encoder, target
        self.threads = effective_threads(None)
        self.seed = seed_from(estimator.random_state)
        self.table = code_table(columns, encoder, exact=True, threads=self.threads)

    def tree(self, weight: np.ndarray) -> TreeArrays:
        """The full tree on the rows whose weight is above 0 (all weigh 1 if `weight` is empty)."""
        est = self.estimator
        whole = float(weight.sum()) if weight.size else float(self.target.rows)
        options = growing_options(est, self.encoder, whole)
        options["competitors"] = est.max_competitors
        options["surrogates"] = est.max_surrogates if est.missing == "surrogate" else 0
        fit = cart_fit(self.table, self.target, weight, options, self.threads)
        grown = fit.grow_one(self.seed)
        ensemble = empty_ensemble(self.encoder, self.target)
        grown.add_to(ensemble)
        rules, details = ensemble.tree_arrays(0), grown.details()
        value = details["value"]
        if self.target.is_classes:
            value = class_shares(value)
        return TreeArrays(
            feature=rules["feature"],
            threshold=rules["threshold"],
            left=rules["left"],
            right=rules["right"],
            missing_left=rules["missing_left"],
            left_categories=rules["left_categories"],
            value=value,
            n_rows=details["n_rows"],
            weight=details["weight"],
            impurity=details["impurity"],
            gain=rules["gain"],
            competitors=details["competitors"],
            surrogates=details["surrogates"],
        )

    def leaves(self, tree: TreeArrays, rows: np.ndarray) -> np.ndarray:
        """The leaf of some of the rows."""
        columns = take_rows(self.columns, rows)
        return leaves_by_surrogates(tree, columns, self.encoder.categories)


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
        Choose the penalty: by cross-validation, or on a part of the rows set aside. The table of what
        was tried is kept as `pruning_table_`.
    pruning_rule : "min" or "1se", default="min"
        The penalty of least estimated error, or the largest within one standard error of it.
    pruning_measure : str or None, default=None
        What errors are measured by: {measures}
    cv : int, default=10
        Number of folds for pruning="cv".
    validation_fraction : float, default=0.25
        Share of the rows set aside for pruning="validation".
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
        return tree

    def predict_proba(self, X: Any) -> Any:
        """Shares of the classes in each row's leaf, under the priors if there are any.

        Of several targets a list with an array for each.
        """
        shares = self._values(X)
        return by_target(shares, self.classes_)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row's leaf, or with costs the least costly.

        Shape (n_samples,), or (n_samples, n_outputs) of several targets.
        """
        shares = self._values(X)
        if self._costs is None:
            return most_probable(shares, self.classes_)
        return self.classes_[self._costs.decide(shares)]

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

    def predict(self, X: Any) -> np.ndarray:
        """Mean (or median) of each row's leaf: (n_samples,), or (n_samples, n_outputs)."""
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion == "squared_error"
        return tags
