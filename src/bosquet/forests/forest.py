"""Random forests and extremely randomised trees, for classes and for numbers."""

from __future__ import annotations

from typing import Any

from bosquet.forests._tasks import ForestOfClasses, ForestOfNumbers

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
        For each feature -1, 0 or +1: whether predictions may only fall or rise with it. For one target of
        numbers or of two classes; not with criterion="absolute_error".
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
class RandomForestClassifier(ForestOfClasses):
    """A random forest for classes, of one target or of several at once.

    Each tree is grown to full depth on a bootstrap sample of the rows; at each node √p of the p
    features are drawn and the best split on one of them is taken. The trees vote. With several targets
    impurity is the mean over them, `predict` gives (n_samples, n_outputs), and `predict_proba` a list.

    Parameters
    ----------
    {parameters}
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Of several targets a list of dicts, or "balanced": the weights are multiplied.
    voting : "soft" or "hard", default="soft"
        Whether trees are averaged by the class shares of their leaves, or each has one vote.

    Attributes
    ----------
    classes_ : array of the class labels; of several targets a list of arrays.
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
class RandomForestRegressor(ForestOfNumbers):
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
class ExtraTreesClassifier(ForestOfClasses):
    """Extremely randomised trees for classes, of one target or of several at once.

    As a random forest, but the threshold of each feature drawn at a node is drawn too, evenly between
    the least and the greatest value there, and each tree sees all rows.

    Parameters
    ----------
    {parameters}
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Of several targets a list of dicts, or "balanced": the weights are multiplied.
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
class ExtraTreesRegressor(ForestOfNumbers):
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
