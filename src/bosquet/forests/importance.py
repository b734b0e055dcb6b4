"""Three measures of the importance of a feature in a forest.

- *Permutation*: how much worse the out-of-bag rows are predicted when the values of the feature are
  permuted among them. Measured by the margin (the fraction of votes for the true class minus the largest
  fraction for another class), by accuracy, or by squared error.
- *Impurity*: the decrease of impurity by the splits on the feature, averaged over the trees.
- *Frequency*: the fraction of the splits that use the feature.

The measures differ for rare classes that are hard to separate. A feature that separates only a few rows
hardly decreases the impurity, but the margins of those rows drop when it is permuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed

from bosquet import _core
from bosquet._sklearn import effective_threads
from bosquet._tabular_result import TabularResult, ranked_columns
from bosquet._targets import check_finite_target, check_labels
from bosquet.trees.class_targets import class_columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike
    from bosquet.data import Columns
    from bosquet.forests._base import BaseForest


# Maximum size of the array with the votes of all rows under each permuted feature; features are processed
# in blocks that fit.
MAX_VOTES = 32_000_000


@dataclass(repr=False)
class ForestImportance(TabularResult):
    """Importances of the features and their standard errors.

    Printing it shows the most important features; `to_frame()` returns all.

    Attributes
    ----------
    kind : str
        The measure of importance.
    mean : array of shape (n_features,)
        The importances.
    standard_error : array of shape (n_features,)
        Standard error of `mean` over the trees.
    feature_names : list of str
    per_class : array of shape (n_classes, n_features), or None
        Permutation importance for the rows of each class.
    per_row : array of shape (n_samples, n_features), or None
        Permutation importance for each row; NaN for rows that all trees drew and for rows of weight 0.
    """

    kind: str
    mean: np.ndarray
    standard_error: np.ndarray
    feature_names: list[str]
    per_class: np.ndarray | None = None
    per_row: np.ndarray | None = None

    @property
    def scaled(self) -> np.ndarray:
        """`mean`, scaled so that the largest value is 100."""
        top = self.mean.max(initial=0.0)
        return 100 * self.mean / top if top > 0 else np.zeros_like(self.mean)

    def ranking(self) -> list[tuple[str, float]]:
        """Return the names of the features and their scaled importances, largest first."""
        order = np.argsort(-self.mean, kind="stable")
        return [(self.feature_names[f], float(self.scaled[f])) for f in order]

    def columns(self) -> dict[str, Any]:
        """Return feature, scaled, mean and standard_error, the columns of the table, by importance."""
        return ranked_columns(self.feature_names, self.scaled, self.mean, self.standard_error)

    def _caption(self) -> str:
        return f"Importance by {self.kind} of {len(self.feature_names)} features"


def feature_names_of(forest: BaseForest) -> list[str]:
    """Return the names of the training columns, or x0, x1, ... if they had none."""
    names = getattr(forest, "feature_names_in_", None)
    return [f"x{f}" for f in range(forest.n_features_in_)] if names is None else list(names)


def forest_importance(
    forest: Any, kind: str, X: TableLike | None, y: ArrayLike | None, **options: Any
) -> ForestImportance:
    """Implementation of `forest.importance(...)`."""
    if kind == "permutation":
        if X is None or y is None:
            raise ValueError("kind='permutation' needs the training data; pass X and y")
        return permutation_importance(forest, X, y, **options)
    if kind not in ("impurity", "frequency"):
        raise ValueError(
            f"kind={kind!r} is not valid: kind must be 'impurity', 'frequency' or 'permutation'"
        )
    if options:
        raise ValueError(
            f"kind={kind!r} does not accept the option {next(iter(options))!r}; use kind='permutation'"
        )
    by_tree = _core.importance_by_tree(forest._ensemble, "gain" if kind == "impurity" else "split")
    totals = by_tree.sum(axis=1, keepdims=True)
    shares = np.divide(by_tree, totals, out=np.zeros_like(by_tree), where=totals > 0)
    return _summary(kind, shares, feature_names_of(forest))


def _summary(kind: str, by_tree: np.ndarray, names: list[str], **more: Any) -> ForestImportance:
    trees = len(by_tree)
    error = by_tree.std(axis=0, ddof=1) / np.sqrt(trees) if trees > 1 else by_tree[0] * np.nan
    return ForestImportance(kind, by_tree.mean(axis=0), error, names, **more)


def permutation_importance(
    forest: BaseForest,
    X: TableLike,
    y: ArrayLike,
    *,
    measure: str = "auto",
    per_row: bool = False,
    random_state: int = 0,
) -> ForestImportance:
    """Return the permutation importance of each feature, computed on the out-of-bag rows.

    Parameters
    ----------
    forest : fitted random forest with bootstrap=True
    X, y : training data of the forest
    measure : {"auto", "margin", "accuracy", "squared_error"}, default="auto"
        The measure whose decrease is the importance. "margin": margin of the vote over the trees that did
        not draw the row; the default for a classifier with one target. "accuracy": accuracy of the single
        trees, averaged; the only measure for several targets of classes. "squared_error": squared error of
        the single trees, averaged; the only measure for regression.
    per_row : bool, default=False
        Whether to return the importance for each row in `ForestImportance.per_row`.
    random_state : int, default=0
        Random seed of the permutations.

    Returns
    -------
    ForestImportance
    """
    if not forest.bootstrap:
        raise ValueError(
            "permutation importance needs out-of-bag rows, but bootstrap=False; fit with bootstrap=True"
        )
    columns = forest._encoder.transform(X, owner=type(forest).__name__)
    is_classification = hasattr(forest, "classes_")
    if is_classification:
        truth = class_columns(check_labels(y, several=True), forest.classes_)
        allowed = ["margin", "accuracy"] if truth.ndim == 1 else ["accuracy"]
    else:
        truth = check_finite_target(y).T
        allowed = ["squared_error"]
    if measure == "auto":
        measure = allowed[0]
    if measure not in allowed:
        raise ValueError(
            f"measure={measure!r} is not valid: for this forest, measure must be"
            f" {' or '.join(map(repr, allowed))}"
        )
    n_given = len(truth)
    columns, truth, kept_rows = forest._training_rows(columns, truth)
    permuted = _PermutedVotes(forest, columns, random_state)
    if measure == "margin":
        result = _margin_importance(permuted, truth, per_row)
    else:
        result = _tree_importance(permuted, truth, measure, per_row)
    if kept_rows is not None and result.per_row is not None:
        all_rows = np.full((n_given, result.per_row.shape[1]), np.nan)
        all_rows[kept_rows] = result.per_row
        result.per_row = all_rows
    return result


class _PermutedVotes:
    """Votes of each tree on its out-of-bag rows, without permutation and with each feature permuted."""

    def __init__(self, forest: BaseForest, columns: Columns, seed: int):
        self.forest, self.columns, self.seed = forest, columns, seed
        self.names = feature_names_of(forest)
        self.n_features, self.n_rows = forest.n_features_in_, forest.n_samples_fit_
        self.trees = forest.n_estimators_

    def _permuted_leaves(self, tree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = np.flatnonzero(self.forest._bag_counts(tree) == 0).astype(np.uint32)
        features, leaves = _core.permuted_leaves(
            self.forest._ensemble, tree, self.columns, rows, self.seed + tree
        )
        return rows, features, leaves

    def iterate_trees(self) -> Any:
        """Yield the out-of-bag rows, the features used and the votes of each tree.

        The votes have shape (1 + features, rows, outputs); the first entry is without permutation.
        """
        threads = effective_threads(self.forest.n_jobs)
        parallel = Parallel(n_jobs=threads, prefer="threads", return_as="generator")
        for tree, (rows, features, leaves) in enumerate(
            parallel(delayed(self._permuted_leaves)(t) for t in range(self.trees))
        ):
            values = self._leaf_values(tree)
            yield rows, features, values[leaves]

    def _leaf_values(self, tree: int) -> np.ndarray:
        value = self.forest._ensemble.tree_arrays(tree)["value"]
        value = value[:, None] if value.ndim == 1 else value
        return self.forest._votes_from_raw(np.nan_to_num(value))


def _margins(votes: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the margins: share of votes for the true class minus the largest other share.

    `votes` has shape (..., rows, classes).
    """
    shares = votes / np.maximum(votes.sum(axis=-1, keepdims=True), 1e-300)
    rows = np.arange(truth.size)
    true_shares = shares[..., rows, truth]
    other_shares = shares.copy()
    other_shares[..., rows, truth] = -1
    return true_shares - other_shares.max(axis=-1)


def _margin_importance(
    permuted: _PermutedVotes, truth: np.ndarray, per_row: bool
) -> ForestImportance:
    n_classes = permuted.forest.n_classes_
    step = max(1, MAX_VOTES // (permuted.n_rows * n_classes))
    decrease = np.empty((permuted.n_rows, permuted.n_features))
    by_tree = np.zeros((permuted.trees, permuted.n_features))
    seen = np.zeros(permuted.n_rows, dtype=bool)
    for begin in range(0, permuted.n_features, step):
        chunk = np.arange(begin, min(begin + step, permuted.n_features))
        votes = np.zeros((permuted.n_rows, n_classes))
        # Changes of the votes when a feature is permuted.
        change = np.zeros((chunk.size, permuted.n_rows, n_classes))
        for tree, (rows, features, tree_votes) in enumerate(permuted.iterate_trees()):
            votes[rows] += tree_votes[0]
            seen[rows] = True
            margin = _margins(tree_votes[0], truth[rows]).mean() if begin == 0 else 0.0
            for k, feature in enumerate(features, start=1):
                if begin == 0 and rows.size:
                    by_tree[tree, feature] = margin - _margins(tree_votes[k], truth[rows]).mean()
                if begin <= feature < begin + chunk.size:
                    change[feature - begin][rows] += tree_votes[k] - tree_votes[0]
        base = _margins(votes, truth)
        for k, feature in enumerate(chunk):
            decrease[:, feature] = base - _margins(votes + change[k], truth)
    decrease[~seen] = np.nan
    mean = np.nanmean(decrease, axis=0)
    error = (
        by_tree.std(axis=0, ddof=1) / np.sqrt(permuted.trees)
        if permuted.trees > 1
        else mean * np.nan
    )
    per_class = np.stack([np.nanmean(decrease[truth == k], axis=0) for k in range(n_classes)])
    return ForestImportance(
        "permutation (margin)",
        mean,
        error,
        permuted.names,
        per_class,
        decrease if per_row else None,
    )


def _tree_importance(
    permuted: _PermutedVotes, truth: np.ndarray, measure: str, per_row: bool
) -> ForestImportance:
    losses_of = permuted.forest._oob_losses()
    by_tree = np.zeros((permuted.trees, permuted.n_features))
    by_row = np.zeros((permuted.n_rows, permuted.n_features))
    counts = np.zeros(permuted.n_rows)
    for tree, (rows, features, tree_votes) in enumerate(permuted.iterate_trees()):
        if not rows.size:
            continue
        losses = [losses_of(votes, truth[rows]) for votes in tree_votes]
        counts[rows] += 1
        for k, feature in enumerate(features, start=1):
            increase = losses[k] - losses[0]
            by_tree[tree, feature] = increase.mean()
            by_row[rows, feature] += increase
    with np.errstate(invalid="ignore", divide="ignore"):
        by_row /= counts[:, None]
    per_class = None
    if measure == "accuracy" and truth.ndim == 1:
        per_class = np.stack(
            [np.nanmean(by_row[truth == k], axis=0) for k in range(permuted.forest.n_classes_)]
        )
    return _summary(
        f"permutation ({measure})",
        by_tree,
        permuted.names,
        per_class=per_class,
        per_row=by_row if per_row else None,
    )
