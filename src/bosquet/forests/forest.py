"""Random forests and extremely randomised trees, for classification and regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from bosquet._parameters import Check, choice
from bosquet.forests._base_estimators import BaseForestClassifier, BaseForestRegressor

if TYPE_CHECKING:
    from bosquet._types import CategoricalFeatures, ClassWeight, MonotoneConstraint, RandomState
    from bosquet.forests._base import BaseForest


_PARAMETERS = """
    n_estimators : int or "auto", default=100
        Number of trees. "auto" adds trees until the out-of-bag error has settled: its mean over the last
        40 trees is at most a tenth of its standard error below its mean over the 40 before, or has
        risen. At most 1000.
    criterion : {criteria}
        Impurity that a split decreases.
    max_depth : int, default=None
        Maximum depth of a tree; None: no limit.
    min_samples_split : int or fraction of the rows, default=2
        Minimum number of rows of a node that is split.
    min_samples_leaf : int or fraction of the rows, default=1
        Minimum number of rows in a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight in a leaf.
    max_features : int, fraction, "sqrt", "log2" or None, default={max_features}
        Number of features drawn at each node; None: all features.
    max_leaf_nodes : int, default=None
        Maximum number of leaves; nodes are then split in the order of their gain. None: no limit.
    min_impurity_decrease : float, default=0.0
        Minimum weighted decrease of impurity of a split.
    bootstrap : bool, default={bootstrap}
        Whether each tree is grown on a bootstrap sample; otherwise on all rows.
    max_samples : int, fraction or None, default=None
        Number of rows drawn per bag; None: the number of rows of X.
    oob_score : bool, default=False
        Whether to compute out-of-bag errors.
    split : "histogram" or "exact", default={split}
        Candidate thresholds: "histogram" tries those between the bins of a feature, "exact" all those
        between two values.
    max_bins : int, default=255
        Maximum number of bins per feature for split="histogram"; at most 255.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Categorical columns. "from_dtype": columns of text or category type. Ordered categories are split
        by their order unless they are listed here.
    monotonic_cst : array or dict, default=None
        For each feature, 1 if the prediction must not decrease when the feature increases, -1 if it must not
        increase, 0 for no constraint. {monotonic_for}
    keep_rows : bool, default=False
        Whether to store the leaf of each training row{keep_rows_for}
    warm_start : bool, default=False
        Whether `fit` adds trees to the fitted ones.
    n_jobs : int, default=None
        Number of threads; None: all processors. The forest does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed of the bags, the features drawn and the random thresholds.
    verbose : int, default=0
        Above 0, a progress bar shows the number of trees, the out-of-bag error if it is computed, and the
        remaining time."""


_ATTRIBUTES = """
    feature_importances_ : array of shape (n_features,)
        Mean decrease of impurity, normalised to sum 1 within each tree. The method `importance` offers
        other kinds.
    n_estimators_ : int
        Number of trees.
    estimators_samples_ : list of arrays
        Rows that each tree drew, one entry per draw. Not stored, but drawn again from the seed.
    n_features_in_, feature_names_in_ : as in scikit-learn."""


Forest = TypeVar("Forest", bound="BaseForest")


def _with_parameter_docs(**words: str) -> Callable[[type[Forest]], type[Forest]]:
    def write(cls: type[Forest]) -> type[Forest]:
        parameters = _PARAMETERS
        for name, value in words.items():
            parameters = parameters.replace("{" + name + "}", value)
        doc = (cls.__doc__ or "").replace("    {parameters}", parameters.lstrip("\n"))
        cls.__doc__ = doc.replace("    {attributes}", _ATTRIBUTES.lstrip("\n"))
        return cls

    return write


def _set_parameters(forest: BaseForest, arguments: dict[str, Any]) -> None:
    for name, value in arguments.items():
        if name not in ("self", "__class__"):
            setattr(forest, name, value)


@_with_parameter_docs(
    criteria='"gini", "entropy" or "log_loss", default="gini"',
    max_features='"sqrt"',
    bootstrap="True",
    split='"histogram"',
    monotonic_for="For one target with two classes: the probability of the second one.",
    keep_rows_for=". No method of a classifier uses the leaves; `predict_quantiles` of regressors does.",
)
class RandomForestClassifier(BaseForestClassifier):
    """Random forest classifier for one or several targets.

    Each tree is grown to full depth on a bootstrap sample of the rows. At each node √p of the p features
    are drawn, and the best split on one of them is used. The trees vote. With several targets, the
    impurity is the mean over the targets, `predict` returns shape (n_samples, n_outputs), and
    `predict_proba` returns a list.

    Guide: the page "Random forests and extra trees" of the documentation

    Parameters
    ----------
    {parameters}
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes. For several targets a list of dicts, or "balanced"; the weights of the
        targets are multiplied.
    voting : "soft" or "hard", default="soft"
        "soft": the class shares in the leaves are averaged. "hard": each tree has one vote for a class.

    Attributes
    ----------
    classes_ : array, or list of arrays for several targets
        The class labels.
    oob_score_, oob_error_ : float
        Out-of-bag accuracy and error rate, weighted by `sample_weight`: each row is predicted by the
        trees that did not draw it.
    oob_tree_error_ : float
        Mean error of a single tree on the rows that it did not draw.
    oob_curve_ : array of shape (n_estimators_,)
        `oob_error_` after 1, 2, ... trees.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Out-of-bag probabilities; NaN for rows that all trees drew and for rows of weight 0.
    {attributes}

    See Also
    --------
    ExtraTreesClassifier : Trees with random thresholds, grown on all rows.
    GradientBoostingClassifier : A sum of small trees, often more accurate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> print(f"{forest.oob_score_:.2f}")
    0.96

    References
    ----------
    Breiman, "Random forests", Machine Learning 2001.
    """

    def __init__(
        self,
        n_estimators: int | str = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: float | None = None,
        oob_score: bool = False,
        split: str = "histogram",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotoneConstraint = None,
        class_weight: ClassWeight = None,
        voting: str = "soft",
        keep_rows: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        _set_parameters(self, locals())


@_with_parameter_docs(
    criteria='"squared_error", "absolute_error" or "poisson", default="squared_error"',
    max_features="1/3",
    bootstrap="True",
    split='"histogram"',
    monotonic_for='For one target; not with criterion="absolute_error".',
    keep_rows_for=", which `predict_quantiles` needs.",
)
class RandomForestRegressor(BaseForestRegressor):
    """Random forest regressor for one or several targets.

    Each tree is grown to full depth on a bootstrap sample of the rows. At each node a third of the
    features is drawn, and the best split on one of them is used. The predictions of the trees are
    averaged.

    Guide: the page "Random forests and extra trees" of the documentation

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    oob_score_, oob_error_ : float
        R² and mean squared error of the out-of-bag predictions, weighted by `sample_weight`: each row is
        predicted by the trees that did not draw it.
    oob_tree_error_ : float
        Mean squared error of a single tree on the rows that it did not draw.
    oob_curve_ : array of shape (n_estimators_,)
        `oob_error_` after 1, 2, ... trees.
    oob_prediction_ : array of shape (n_samples,) or (n_samples, n_outputs)
        Out-of-bag predictions; NaN for rows that all trees drew and for rows of weight 0.
    {attributes}

    See Also
    --------
    ExtraTreesRegressor : Trees with random thresholds, grown on all rows.
    GradientBoostingRegressor : A sum of small trees, often more accurate.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(oob_score=True, keep_rows=True, random_state=0).fit(X, y)
    >>> print(f"{forest.oob_score_:.2f}")
    0.44
    >>> forest.predict_quantiles(X[:1], [0.1, 0.9]).round()
    array([[141., 274.]])

    References
    ----------
    Breiman, "Random forests", Machine Learning 2001.
    """

    def __init__(
        self,
        n_estimators: int | str = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = 1 / 3,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: float | None = None,
        oob_score: bool = False,
        split: str = "histogram",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotoneConstraint = None,
        keep_rows: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        _set_parameters(self, locals())


@_with_parameter_docs(
    criteria='"gini", "entropy" or "log_loss", default="gini"',
    max_features='"sqrt"',
    bootstrap="False",
    split='"exact"',
    monotonic_for="For one target with two classes: the probability of the second one.",
    keep_rows_for=". No method of a classifier uses the leaves; `predict_quantiles` of regressors does.",
)
class ExtraTreesClassifier(BaseForestClassifier):
    """Extremely randomised trees classifier for one or several targets.

    Like a random forest, but the threshold of each feature drawn at a node is drawn uniformly between the
    smallest and the largest value in the node, and each tree is grown on all rows.

    Guide: the page "Random forests and extra trees" of the documentation

    Parameters
    ----------
    {parameters}
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes. For several targets a list of dicts, or "balanced"; the weights of the
        targets are multiplied.
    voting : "soft" or "hard", default="soft"
        "soft": the class shares in the leaves are averaged. "hard": each tree has one vote for a class.

    Attributes
    ----------
    classes_ : array, or list of arrays for several targets
        The class labels.
    oob_score_, oob_error_, oob_tree_error_, oob_curve_, oob_decision_function_
        Out-of-bag estimates, as in `RandomForestClassifier`; they need ``bootstrap=True``.
    {attributes}

    See Also
    --------
    RandomForestClassifier : Trees with the best thresholds, grown on bootstrap samples.
    BaggingClassifier : Bootstrap samples for any scikit-learn classifier.

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
        n_estimators: int | str = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool = False,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotoneConstraint = None,
        class_weight: ClassWeight = None,
        voting: str = "soft",
        keep_rows: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        _set_parameters(self, locals())


@_with_parameter_docs(
    criteria='"squared_error" or "poisson", default="squared_error"',
    max_features="None (all)",
    bootstrap="False",
    split='"exact"',
    monotonic_for="For one target.",
    keep_rows_for=", which `predict_quantiles` needs.",
)
class ExtraTreesRegressor(BaseForestRegressor):
    """Extremely randomised trees regressor for one or several targets.

    Like a random forest, but the threshold of each feature drawn at a node is drawn uniformly between the
    smallest and the largest value in the node, and each tree is grown on all rows.

    Guide: the page "Random forests and extra trees" of the documentation

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    oob_score_, oob_error_, oob_tree_error_, oob_curve_, oob_prediction_
        Out-of-bag estimates, as in `RandomForestRegressor`; they need ``bootstrap=True``.
    {attributes}

    See Also
    --------
    RandomForestRegressor : Trees with the best thresholds, grown on bootstrap samples.
    BaggingRegressor : Bootstrap samples for any scikit-learn regressor.

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
    _checks: ClassVar[dict[str, Check]] = BaseForestRegressor._checks | {
        "criterion": choice("squared_error", "poisson")
    }

    def __init__(
        self,
        n_estimators: int | str = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        max_samples: float | None = None,
        oob_score: bool = False,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotoneConstraint = None,
        keep_rows: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        _set_parameters(self, locals())
