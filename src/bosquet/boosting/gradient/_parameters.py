"""The parameters of gradient boosting: their description, their ranges, and how the core takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bosquet._parameters import (
    MAX_COUNT,
    Check,
    boolean,
    check_estimator,
    choice,
    feature_index,
    folds,
    integer,
    number,
    number_of_features,
    or_auto,
    resolve_max_features,
)
from bosquet._parameters import check_parameters as check_against
from bosquet.boosting._inputs import MAX_LEAVES
from bosquet.boosting.gradient.automatic import (
    MULTI_OUTPUT_TREE,
    ONE_OUTPUT_PER_TREE,
    QUALITIES,
)

if TYPE_CHECKING:
    from bosquet.boosting.gradient._base import BaseGradientBoosting


__all__ = [
    "check_continuing",
    "check_folds",
    "check_parameters",
    "derive_constraints",
    "feature_share",
    "interaction_groups",
    "with_common_docs",
]

_PARAMETERS_DOC = """
    quality : {"fast", "default", "best"}, default="default"
        How much time the parameters that are "auto" may spend on accuracy. "fast": one model with fixed
        values. "default": values that depend on the size of the table. "best": smaller steps, twice as
        many runs, and cross-validation on larger tables; several times as slow. `parameters_` has the values
        that a fit used; the page "Default hyper-parameters of gradient boosting" of the documentation has the
        rules and what they gain. A parameter that is set keeps its value. If `n_estimators` is set, or with
        `warm_start` or `estimator`, the values are those of "fast", with one tree per output. The rules
        depend on the number of rows times outputs. A table is small below 10,000, medium below 150,000
        (below 500,000 for more than two classes), otherwise large. There is one output per class if there
        are more than two, and one per target or level in regression.
    learning_rate : float or "auto", default="auto"
        Shrinkage ν: the factor by which each tree is multiplied. A smaller value needs more rounds and
        usually gives a lower loss. "auto": 0.05, or 0.1 for trees of more than two classes; 0.6 times that
        with quality="best".
    n_estimators : int or "auto", default="auto"
        Number of rounds; with early stopping, the maximum number. "auto": 1000 or 3000 with early stopping,
        100 without.
    n_runs : int or "auto", default="auto"
        Number of boosted models with different random draws of columns and rows. The prediction is the mean
        of their raw predictions. With a convex loss, its loss is at most the mean loss of the runs;
        on small tables it is about 1 % lower. The number of trees and the time are `n_runs` times as large.
        The runs differ only if something is drawn at random: columns, rows, split noise, or the signs of
        trees for several outputs. Losses and timings are those of the
        first run. "auto": 5 for small tables, 3 for medium ones (8 for those of more than two classes with
        fewer than 10,000 rows), 1 for large ones and with quality="fast".
    max_leaf_nodes : int, None or "auto", default="auto"
        Maximum number of leaves of a tree. None: no limit (then set `max_depth`). "auto": 31, or 63 for
        more than two classes (31 or 63 by cross-validation on medium tables with fewer than 10,000 rows);
        on small tables cross-validation chooses among three or four sets of values of `max_leaf_nodes`,
        `min_samples_leaf`, `max_features`, `subsample`, `l2_regularization` and `split_noise`.
    max_depth : int or None, default=None
        Largest depth of a tree, in splits. None: no limit.
    min_samples_leaf : int or "auto", default="auto"
        Minimum number of rows in a leaf, counted exactly. "auto": 20 for large tables and quality="fast", 1
        to 5 otherwise.
    min_child_weight : float, default=1e-3
        Minimum sum of Hessians in a leaf.
    l2_regularization : float or "auto", default="auto"
        λ in the leaf weight -G/(H + λ). "auto": 1, or 3 to 5 for small tables with classes, less
        if a class is rare.
    min_split_gain : float, default=0
        Cost β of a split, subtracted from its gain ½[G_L²/(H_L+λ) + G_R²/(H_R+λ) - G²/(H+λ)]. A split is
        made only if the result is positive.
    max_delta_step : float, default=0
        Largest value of a leaf before shrinkage; 0: no limit.
    split_noise : float or "auto", default="auto"
        Standard deviation of the random noise that is added when the best splits of different features in a
        node are compared. 0: no noise, so the split with the largest gain is used. The noise is added to
        √(2 gain); with 1 it has about the size of √(2 gain) of a random split. CatBoost's `random_strength`
        has the same purpose. "auto": 0, 2 or 5 for small tables with classes, chosen by cross-validation;
        otherwise 0.
    subsample : float or "auto", default="auto"
        Fraction of the rows on which the trees of a round are grown, drawn without replacement. "auto": 1, or
        0.5 to 0.8 for small tables.
    sampling : {"uniform", "gradient"}, default="uniform"
        How `subsample` draws rows: all with the same probability, or rows with large gradients with a
        higher one, weighted so that sums stay unbiased (leaf values are then computed from all rows).
    max_features : int, float, "sqrt", "log2", None or "auto", default="auto"
        Number or fraction of features drawn for each node; None: all of them. "auto": 0.5; for small tables
        cross-validation chooses.
    max_features_per_level, max_features_per_tree : int, float, "sqrt", "log2" or None, default=None
        Features drawn for each level and each tree, from which those of a node are drawn.
    growth : {"best", "depth"}, default="best"
        Leaf-wise: split the leaf with the largest gain next; or depth-wise: level by level.
    step : {"newton", "gradient"}, default="newton"
        Leaf values by a second-order step, or by Friedman's method: a least-squares tree on the
        pseudo-residuals, and in each leaf the exact minimiser of the loss. Losses without useful
        curvature (absolute, quantile, Huber, log-cosh) always use the latter.
    multi_strategy : {"auto", "one_output_per_tree", "multi_output_tree"}, default="auto"
        Trees of a round if there are several outputs (more than two classes, several targets or quantile
        levels): one tree per output; or one tree for all outputs, whose leaves have one value per output. The
        splits of such a tree are found on the sum of the gradients of all outputs, each with a random sign,
        which for classes separates a random group of classes from the others. "auto": "multi_output_tree" for
        more than two classes, unless `n_estimators` is set, or with `warm_start` or `estimator`.
    max_bins : int, default=255
        Maximum number of bins of a numeric feature.
    categorical_features : "from_dtype", list of names or indices, mask, or None, default="from_dtype"
        Columns whose values are categories. "from_dtype": those of a category or string type. Ordered
        categories are split by their order unless they are listed here.
    categorical_encoding : {"auto", "levels", "target"}, default="auto"
        "levels": splits on sets of categories. "target": splits on columns that are derived from those of
        more than 255 categories (from all if there are none), and from pairs with such a column: the mean
        target of the category, in training over the rows of other random folds, and the number of these
        rows. Columns of at most 255 categories are split on sets as well. "auto": "target" if some column
        has more than 255 categories.
    cat_smooth : float or "auto", default="auto"
        Number of rows, with gradient 0 and the mean Hessian of the node, that are added to each category
        before the categories are sorted by their mean gradient. "auto": 10, or 2 for small tables.
    cat_l2 : float or "auto", default="auto"
        Value added to λ in splits on a categorical feature. "auto": 10, or 2 for small tables.
    max_cat_threshold : int, default=32
        Maximum number of categories on the smaller side of a categorical split.
    min_samples_category : int or "auto", default="auto"
        Minimum number of rows of a category that is sorted on its own. Rarer categories stay together.
        "auto": 30, or 5 for small tables.
    monotonic_cst : array of -1, 0, 1, or dict {feature: direction}, default=None
        For each feature, 1 if the prediction must not decrease when the feature increases, -1 if it must not
        increase, 0 for no constraint.
    interaction_cst : list of sets of features, "pairwise", "no_interactions" or None, default=None
        Sets of features that may occur together on a path of a tree.
    estimator : scikit-learn regressor, default=None
        None: native trees. Otherwise Friedman's general algorithm: clones of the estimator are fitted to
        the pseudo-residuals and added with a step ≥ 0 from a line search. The parameters of native trees
        are then ignored.
    early_stopping : "auto", "cv" or bool, default="auto"
        Stop when the loss on a validation set no longer decreases. "auto": "cv" for small tables (and for
        medium ones of more than two classes with fewer than 10,000 rows), True with an `eval_set` or 1,000
        rows or more. "cv": the number of rounds with the smallest loss in cross-validation; the folds are
        boosted side by side, and the model is then fitted to all rows, with more rounds in proportion to
        the rows (at most 5/4 times as many, at most `n_estimators`). This takes about `cv` times as long,
        and is more accurate than one validation set on tables of a few hundred or thousand rows. A callback
        receives the mean losses of the folds and the model of the first fold, for each of the sets of values
        that are compared.
    cv : int, splitter of scikit-learn or list of splits, default=5
        Number of folds of early_stopping="cv", which are stratified by class; or a splitter such as
        TimeSeriesSplit; or a list of (training rows, validation rows).
    validation_fraction : float, default=0.1
        Fraction of the rows that `fit` uses as a validation set if there is no `eval_set`.
    n_iter_no_change : int or "auto", default="auto"
        Number of rounds without improvement before stopping; the model is truncated to the best round.
        "auto": 40, or 100 for medium tables, for trees of more than two classes without cross-validation, and
        with quality="best".
    refit : bool, default=True
        Whether to fit again on all rows after early stopping, with the best number of rounds. False keeps
        the model fitted to the training set, in half the time.
    tol : float, default=1e-7
        Smallest decrease of the monitored loss, or increase of the score, that counts as an improvement.
    scoring : None, "loss", str or callable, default=None
        Metric that early stopping monitors: the loss, or a scikit-learn scorer.
    warm_start : bool, default=False
        Add rounds to the fitted model instead of fitting a new one. With native trees and the same rows,
        several fits give the same model as one fit with as many rounds, also with early stopping and
        `refit`: the random seed and the validation set are those of the first fit, and the best score and
        the number of rounds since then are carried over. For this the estimator also stores the model that
        was not trained on the validation set. There is a warning if the model may have been trained on rows
        of the validation set.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo`; a callback that returns True stops the fit.
    verbose : int, default=0
        0 prints nothing, 1 shows a progress bar.
    n_jobs : int or None, default=None
        Number of threads. None: all that this process may use. The model has the same bits for any number.
    random_state : int, RandomState or None, default=None
        Random seed of the validation set and of the rows and features drawn.
"""

_ATTRIBUTES_DOC = """
    parameters_ : dict
        The values that the fit used for the parameters that accept "auto".
    n_iter_ : int
        Number of rounds in the model.
    train_score_ : array
        Mean loss after each round on the training rows (at most 16,384 of them, evenly spaced). It also
        contains the rounds after the best one that early stopping removed from the model.
    validation_score_ : array
        What early stopping monitored, after each round: the value of `scoring` on the validation set
        (greater is better), or the mean loss. It has the length of `train_score_`, with NaN in rounds
        without a validation set; it is empty if there never was one.
    validation_loss_ : array
        The mean loss on the validation set after each round, for any `scoring`.
    feature_importances_ : array of shape (n_features,)
        Share of the gain by feature. The method `importance` offers other kinds.
    timings_ : dict
        Seconds spent in each phase of the fit.
    n_features_in_, feature_names_in_ : as in scikit-learn.
"""


def with_common_docs(cls: type) -> type:
    """Insert the shared parameters and attributes into the docstring of a class."""
    doc = cls.__doc__ or ""
    doc = doc.replace("    {parameters}\n", _PARAMETERS_DOC.lstrip("\n"))
    cls.__doc__ = doc.replace("    {attributes}\n", _ATTRIBUTES_DOC.lstrip("\n"))
    return cls


CHECKS: dict[str, Check] = {
    "quality": choice(*QUALITIES),
    "learning_rate": or_auto(number(0, open_low=True)),
    "n_estimators": or_auto(integer(1)),
    "n_runs": or_auto(integer(1)),
    "max_leaf_nodes": or_auto(integer(2, MAX_LEAVES, none=True)),
    "max_depth": integer(1, MAX_COUNT, none=True),
    "min_samples_leaf": or_auto(integer(1, MAX_COUNT)),
    "min_child_weight": number(0),
    "l2_regularization": or_auto(number(0)),
    "min_split_gain": number(0),
    "max_delta_step": number(0),
    "split_noise": or_auto(number(0)),
    "max_bins": integer(2, 255),
    "subsample": or_auto(number(0, 1, open_low=True)),
    "sampling": choice("uniform", "gradient"),
    "max_features": or_auto(number_of_features()),
    "max_features_per_level": number_of_features(),
    "max_features_per_tree": number_of_features(),
    "growth": choice("best", "depth"),
    "step": choice("newton", "gradient"),
    "multi_strategy": choice("auto", ONE_OUTPUT_PER_TREE, MULTI_OUTPUT_TREE),
    "categorical_encoding": choice("auto", "levels", "target"),
    "cat_smooth": or_auto(number(0)),
    "cat_l2": or_auto(number(0)),
    "max_cat_threshold": integer(1, MAX_COUNT),
    "min_samples_category": or_auto(integer(0, MAX_COUNT)),
    "early_stopping": choice("auto", "cv", True, False),
    "cv": folds(),
    "validation_fraction": number(0, 1, open_low=True, open_high=True),
    "n_iter_no_change": or_auto(integer(1)),
    "refit": boolean(),
    "tol": number(0),
    "warm_start": boolean(),
    "verbose": integer(0),
    "alpha": number(0, 1, open_low=True, open_high=True),
    "tweedie_power": number(1, 2, open_low=True, open_high=True)._replace(
        accepted="a number in (1, 2); use loss='gamma' for a power of 2"
    ),
}


def check_parameters(estimator: BaseGradientBoosting) -> None:
    """Raise a ValueError that names the first parameter out of its range."""
    check_against(estimator, CHECKS)
    check_estimator(estimator.estimator, none=True)
    if estimator.n_runs not in ("auto", 1):
        _check_runs(estimator)


def check_continuing(estimator: BaseGradientBoosting) -> None:
    """Raise a ValueError if a warm start cannot continue the fitted model."""
    terms, asked = estimator._terms, estimator.n_estimators
    if asked != "auto" and asked < terms.n_rounds:
        raise ValueError(
            f"n_estimators={asked} is smaller than the number of rounds in the model ({terms.n_rounds});"
            " with warm_start=True pass a value at least as large, or fit with warm_start=False"
        )
    runs = getattr(terms, "runs", 1)  # only trees have several
    if runs > 1:
        raise ValueError(
            f"the model is the mean of {runs} runs, which warm_start=True cannot continue; fit with"
            " warm_start=False"
        )


def check_folds(estimator: BaseGradientBoosting, eval_set: Any) -> None:
    """Raise a ValueError if the number of rounds cannot be chosen by cross-validation."""
    conflicts = {
        "an eval_set": eval_set is not None,
        "warm_start=True": estimator.warm_start,
        f"scoring={estimator.scoring!r}": estimator.scoring not in (None, "loss"),
    }
    for conflict, present in conflicts.items():
        if present:
            raise ValueError(
                f"early_stopping='cv' cannot be combined with {conflict}; use early_stopping=True"
            )


def _check_runs(estimator: BaseGradientBoosting) -> None:
    """Raise a ValueError if several runs cannot be averaged."""
    several = f"n_runs={estimator.n_runs}"
    if estimator.estimator is not None:
        raise ValueError(
            f"{several} is only supported for native trees; set n_runs=1, or use the model with"
            " estimator=... in a BaggingRegressor or BaggingClassifier with bootstrap=False"
        )
    if estimator.warm_start:
        raise ValueError(
            f"{several} cannot be combined with warm_start=True; set warm_start=False or n_runs=1"
        )


def feature_share(value: Any, n_features: int) -> float:
    """Return a value of `max_features` as a fraction of the features."""
    if isinstance(value, float):
        return value
    return resolve_max_features(value, n_features) / n_features


def interaction_groups(
    constraint: Any, n_features: int, names: list[str] | None
) -> list[list[int]]:
    """Return sets of features that may occur together on a path; an empty list without a constraint.

    As in scikit-learn, features that are in no set form a set of their own.
    """
    if constraint is None:
        return []
    if isinstance(constraint, str) and constraint == "no_interactions":
        return [[f] for f in range(n_features)]
    if isinstance(constraint, str) and constraint == "pairwise":
        return [[a, b] for a in range(n_features) for b in range(a, n_features)]
    kinds = (list, tuple, set, frozenset)
    if not isinstance(constraint, kinds) or not all(
        isinstance(group, kinds) for group in constraint
    ):
        raise ValueError(
            f"interaction_cst={constraint!r} is not valid: interaction_cst must be a list of sets of"
            " features, 'pairwise', 'no_interactions' or None"
        )
    groups = [
        sorted({feature_index(key, n_features, names, "interaction_cst") for key in group})
        for group in constraint
    ]
    rest = sorted(set(range(n_features)) - {f for group in groups for f in group})
    return [group for group in [*groups, rest] if group]


def derive_constraints(options: dict[str, Any], sources: list[tuple[int, ...]]) -> None:
    """Convert the options of the core on features from encoded columns to the columns of the trees.

    A column that is derived from several encoded columns may interact where all of them may. Derived columns
    have no direction, like the categorical columns from which they are derived.
    """
    if options["monotone"]:
        options["monotone"] = [options["monotone"][columns[0]] for columns in sources]
    options["interactions"] = [
        [f for f, columns in enumerate(sources) if set(columns) <= set(group)]
        for group in options["interactions"]
    ]
