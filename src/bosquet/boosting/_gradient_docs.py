"""The parameters and attributes that gradient boosting has for classes and for numbers alike, described."""

from __future__ import annotations

_PARAMETERS_DOC = """
    learning_rate : float, default=0.05
        Shrinkage ν: what each term is multiplied by before it is added.
    n_estimators : int or "auto", default="auto"
        Rounds of boosting; with early stopping, at most this many. "auto": at most 1000 with early
        stopping, 100 without.
    n_runs : int, default=1
        Boost so many times, with other draws of columns and rows, and answer with the mean of the runs'
        raw scores. If the loss is convex, it loses no more than its runs do on average: on small tables
        about 1 % less, for as many times the trees and the time. It takes something to draw:
        `max_features` or `subsample` below 1. What is told of the fit is of the first run.
    max_leaf_nodes : int or None, default=31
        Leaves of a tree. None: no limit (then set `max_depth`).
    max_depth : int or None, default=None
        Longest path of a tree, in splits.
    min_samples_leaf : int, default=20
        Rows that a leaf must have, counted exactly.
    min_child_weight : float, default=1e-3
        Sum of hessians that a leaf must have.
    l2_regularization : float, default=1
        λ in the leaf weight -G/(H + λ).
    min_split_gain : float, default=0
        β: what a split must gain; gains are ½[G_L²/(H_L+λ) + G_R²/(H_R+λ) - G²/(H+λ)] - β.
    max_delta_step : float, default=0
        Largest value of a leaf before shrinkage; 0: no limit.
    subsample : float, default=1.0
        Share of the rows that each round's trees are grown on, drawn without replacement.
    sampling : {"uniform", "gradient"}, default="uniform"
        How `subsample` draws: every row alike, or rows with large gradients more often, weighted so
        that sums stay unbiased (leaf values then come from all rows).
    max_features : int, float, "sqrt", "log2" or None, default=0.5
        Features drawn for each node; None: all of them.
    max_features_per_level, max_features_per_tree : the same, default=None
        Features drawn for each level and each tree, before those of a node are drawn from them.
    growth : {"best", "depth"}, default="best"
        Split the leaf that gains most next, or level by level.
    step : {"newton", "gradient"}, default="newton"
        Leaf values by a second-order step, or Friedman's: a least-squares tree on the
        pseudo-residuals and in each leaf the exact minimiser of the loss. Losses without useful
        curvature (absolute, quantile, Huber) take the latter by themselves.
    max_bins : int, default=255
        Bins of a quantitative feature.
    categorical_features : "from_dtype", list of names or indices, mask, or None
        Columns whose values are categories. By default those of a category or string type. Ordered
        categories are split by their order unless they are named here.
    cat_smooth, cat_l2, max_cat_threshold, min_samples_category
        Categorical splits: rows of the node's mean hessian that smooth a level's mean gradient before
        sorting, l2 added to λ,
        largest number of levels on the smaller side, and rows a level needs to be sorted in by
        itself.
    monotonic_cst : array of -1, 0, 1, or dict {feature: direction}, default=None
        Features in which the prediction must not fall (1) or rise (-1).
    interaction_cst : list of sets of features, "pairwise", "no_interactions" or None
        Features that may stand on one path.
    estimator : scikit-learn regressor, default=None
        None grows native trees. Otherwise Friedman's general algorithm: clones of it are fitted to
        the pseudo-residuals and added with a line-searched step ≥ 0. Parameters of trees are then
        its own affair.
    early_stopping : "auto" or bool, default="auto"
        Stop when the loss on a validation set no longer falls. "auto": with an `eval_set`, or with
        1,000 rows or more.
    validation_fraction : float, default=0.1
        Fraction of the rows that `fit` uses as a validation set if there is no `eval_set`.
    n_iter_no_change : int, default={patience}
        Rounds without improvement before stopping; the model keeps the best round.
    refit : bool, default=True
        Whether, once the validation set has shown the best number of rounds, to fit that many
        again on all rows. False keeps the first fit, in half the time.
    tol : float, default=1e-7
        Smallest improvement that counts.
    scoring : None, "loss", str or callable, default=None
        What early stopping watches: the loss, or a scikit-learn scorer.
    warm_start : bool, default=False
        Add rounds to the fitted model instead of starting anew. On the same rows, and of native trees, fits
        in steps give the same model as one fit with as many rounds, early stopping and `refit` included: the
        random seed and the validation set are those of the first fit, and the best score and the number of
        rounds since are carried over. For that the estimator also keeps the model that was not trained on
        the validation set. There is a warning if early stopping may look at rows that were trained on.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo`; returning True stops.
    verbose : int, default=0
        1: a progress bar.
    n_jobs : int or None, default=None
        Threads. None: all that this process may use. The model has the same bits for any number.
    random_state : int, RandomState or None, default=None
"""

_ATTRIBUTES_DOC = """
    n_iter_ : int
        Rounds in the model.
    train_score_ : array
        Mean loss after each round on the training rows (at most 16,384 of them, evenly spaced). As long as
        the rounds that were tried: `n_iter_`, and after early stopping the rounds after the best.
    validation_score_ : array
        What early stopping looked at, after each round: the value of `scoring` on the validation set
        (greater is better), or the mean loss. As long as `train_score_`, with NaN in rounds without a
        validation set; empty if there never was one.
    validation_loss_ : array
        The mean loss on the validation set, whatever `scoring` is.
    feature_importances_ : array of shape (n_features,)
        Share of the gain by feature. `importance` has other kinds.
    timings_ : dict
        Seconds spent in each phase of the fit.
    n_features_in_, feature_names_in_ : as in scikit-learn.
"""


def with_common_docs(cls: type) -> type:
    """Fill the shared parameters and attributes into a class's docstring."""
    doc = cls.__doc__ or ""
    doc = doc.replace(
        "    {parameters}\n", _PARAMETERS_DOC.replace("{patience}", "40").lstrip("\n")
    )
    cls.__doc__ = doc.replace("    {attributes}\n", _ATTRIBUTES_DOC.lstrip("\n"))
    return cls
