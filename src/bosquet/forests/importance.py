"""Three measures of how much a feature matters to a forest.

- *Permutation*: what the out-of-bag rows lose when the feature's values are permuted among them. Of
  the margin (the share of votes for the true class less the largest other share), of accuracy, or of
  squared error.
- *Impurity*: how much the splits on the feature lowered impurity, over the trees.
- *Frequency*: the share of the splits that use the feature.

They part ways on rare, hard classes: a feature that only separates few rows hardly lowers impurity,
but those rows' margins fall when it is permuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._shown import Shown
from bosquet._sklearn import effective_threads
from bosquet._targets import check_finite_target, check_labels
from bosquet.trees._class_targets import class_places

# Votes of all rows for each permuted feature are kept for as many features at a time as fit in this
# many numbers.
VOTES_AT_A_TIME = 32_000_000


@dataclass(repr=False)
class Importance(Shown):
    """Importances of the features, with their spread.

    Printed, it shows the most important ones; `to_frame()` has all.

    Attributes
    ----------
    mean : (n_features,)
    std : standard error of `mean` over trees.
    per_class : (n_classes, n_features) or None
    per_row : (n_samples, n_features) or None; NaN for rows that were never out of bag, or of weight 0.
    """

    kind: str
    mean: np.ndarray
    std: np.ndarray
    feature_names: list[str]
    per_class: np.ndarray | None = None
    per_row: np.ndarray | None = None

    @property
    def scaled(self) -> np.ndarray:
        """`mean` with 100 for the largest."""
        top = self.mean.max(initial=0.0)
        return 100 * self.mean / top if top > 0 else np.zeros_like(self.mean)

    def ranking(self) -> list[tuple[str, float]]:
        """Features and scaled importances, the most important first."""
        order = np.argsort(-self.mean, kind="stable")
        return [(self.feature_names[f], float(self.scaled[f])) for f in order]

    def columns(self) -> dict[str, Any]:
        """Feature, importance with 100 for the largest, its mean and standard error; the first leads."""
        return ranked_columns(self.feature_names, self.scaled, self.mean, self.std)

    def _caption(self) -> str:
        return f"Importance by {self.kind} of {len(self.feature_names)} features"


def ranked_columns(
    names: list[str], scaled: np.ndarray, mean: np.ndarray, std: np.ndarray
) -> dict[str, Any]:
    """Importances as columns, the most important first."""
    order = np.argsort(-mean, kind="stable")
    return {
        "feature": [names[f] for f in order],
        "scaled": scaled[order],
        "mean": mean[order],
        "std": std[order],
    }


def feature_names_of(forest: Any) -> list[str]:
    names = getattr(forest, "feature_names_in_", None)
    return [f"x{f}" for f in range(forest.n_features_in_)] if names is None else list(names)


def forest_importance(forest: Any, kind: str, X: Any, y: Any, **options: Any) -> Importance:
    """`forest.importance(...)`."""
    if kind == "permutation":
        if X is None or y is None:
            raise ValueError("kind='permutation' needs the X and y that the forest was fitted to")
        return permutation_importance(forest, X, y, **options)
    if kind not in ("impurity", "frequency"):
        raise ValueError(f"kind={kind!r} must be 'impurity', 'frequency' or 'permutation'")
    if options:
        raise ValueError(f"kind={kind!r} takes no option {next(iter(options))!r}")
    by_tree = _core.importance_by_tree(forest._ensemble, "gain" if kind == "impurity" else "split")
    totals = by_tree.sum(axis=1, keepdims=True)
    shares = np.divide(by_tree, totals, out=np.zeros_like(by_tree), where=totals > 0)
    return _summary(kind, shares, feature_names_of(forest))


def _summary(kind: str, by_tree: np.ndarray, names: list[str], **more: Any) -> Importance:
    trees = len(by_tree)
    spread = by_tree.std(axis=0, ddof=1) / np.sqrt(trees) if trees > 1 else by_tree[0] * np.nan
    return Importance(kind, by_tree.mean(axis=0), spread, names, **more)


def permutation_importance(
    forest: Any,
    X: Any,
    y: Any,
    *,
    measure: str = "auto",
    per_row: bool = False,
    random_state: int = 0,
) -> Importance:
    """Mean decrease on the out-of-bag rows when a feature is permuted among them.

    Parameters
    ----------
    forest : a fitted random forest with bootstrap=True
    X, y : the data that it was fitted to
    measure : "margin" (default for classes), "accuracy", or "squared_error" (numbers)
        The margin is that of the vote over the trees a row was out of the bag of. Accuracy and squared
        error are taken tree by tree and averaged; of several targets of classes, accuracy alone.
    per_row : bool
        Whether to keep the decrease of each row, an array (n_samples, n_features).
    random_state : int
        Seed of the permutations.

    Returns
    -------
    Importance
    """
    if not forest.bootstrap:
        raise ValueError("permutation importance needs out-of-bag rows, and so bootstrap=True")
    columns = forest._encoder.transform(X, owner=type(forest).__name__)
    classes = hasattr(forest, "classes_")
    if classes:
        truth = class_places(check_labels(y, several=True), forest.classes_)
        allowed = ["margin", "accuracy"] if truth.ndim == 1 else ["accuracy"]
    else:
        truth = check_finite_target(y).T
        allowed = ["squared_error"]
    if measure == "auto":
        measure = allowed[0]
    if measure not in allowed:
        raise ValueError(f"measure={measure!r} must be one of {', '.join(map(repr, allowed))}")
    n_given = len(truth)
    columns, truth, kept = forest._training_rows(columns, truth)
    walks = _Walks(forest, columns, random_state)
    if measure == "margin":
        found = _margin_importance(walks, truth, per_row)
    else:
        found = _tree_importance(walks, truth, measure, per_row)
    if kept is not None and found.per_row is not None:
        given = np.full((n_given, found.per_row.shape[1]), np.nan)
        given[kept] = found.per_row
        found.per_row = given
    return found


class _Walks:
    """What each tree says of its out-of-bag rows, as they are and with each feature permuted."""

    def __init__(self, forest: Any, columns: Any, seed: int):
        self.forest, self.columns, self.seed = forest, columns, seed
        self.names = feature_names_of(forest)
        self.n_features, self.rows = forest.n_features_in_, forest.n_samples_fit_
        self.trees = forest.n_estimators_

    def _walk(self, tree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = np.flatnonzero(self.forest._bag_counts(tree) == 0).astype(np.uint32)
        features, leaves = _core.permuted_leaves(
            self.forest._ensemble, tree, self.columns, rows, self.seed + tree
        )
        return rows, features, leaves

    def each(self) -> Any:
        """Yields rows, features and answers (1 + features, rows, outputs), the first as rows are."""
        from joblib import Parallel, delayed

        threads = effective_threads(self.forest.n_jobs)
        parallel = Parallel(n_jobs=threads, prefer="threads", return_as="generator")
        for tree, (rows, features, leaves) in enumerate(
            parallel(delayed(self._walk)(t) for t in range(self.trees))
        ):
            values = self._leaf_values(tree)
            yield rows, features, values[leaves]

    def _leaf_values(self, tree: int) -> np.ndarray:
        value = self.forest._ensemble.tree_arrays(tree)["value"]
        value = value[:, None] if value.ndim == 1 else value
        return self.forest._votes(np.nan_to_num(value))


def _margins(votes: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Share of votes for the true class less the largest other share; votes (..., rows, classes)."""
    shares = votes / np.maximum(votes.sum(axis=-1, keepdims=True), 1e-300)
    every = np.arange(truth.size)
    own = shares[..., every, truth]
    others = shares.copy()
    others[..., every, truth] = -1
    return own - others.max(axis=-1)


def _margin_importance(walks: _Walks, truth: np.ndarray, per_row: bool) -> Importance:
    n_classes = walks.forest.n_classes_
    step = max(1, VOTES_AT_A_TIME // (walks.rows * n_classes))
    decrease = np.empty((walks.rows, walks.n_features))
    by_tree = np.zeros((walks.trees, walks.n_features))
    seen = np.zeros(walks.rows, dtype=bool)
    for begin in range(0, walks.n_features, step):
        chunk = np.arange(begin, min(begin + step, walks.n_features))
        votes = np.zeros((walks.rows, n_classes))
        moved = np.zeros((chunk.size, walks.rows, n_classes))  # what permuting changes in the votes
        for tree, (rows, features, answers) in enumerate(walks.each()):
            votes[rows] += answers[0]
            seen[rows] = True
            plain = _margins(answers[0], truth[rows]).mean() if begin == 0 else 0.0
            for place, feature in enumerate(features):
                if begin == 0 or feature in chunk:
                    permuted = answers[place + 1]
                if begin == 0 and rows.size:
                    by_tree[tree, feature] = plain - _margins(permuted, truth[rows]).mean()
                if begin <= feature < begin + chunk.size:
                    moved[feature - begin][rows] += permuted - answers[0]
        base = _margins(votes, truth)
        for place, feature in enumerate(chunk):
            decrease[:, feature] = base - _margins(votes + moved[place], truth)
    decrease[~seen] = np.nan
    mean = np.nanmean(decrease, axis=0)
    spread = (
        by_tree.std(axis=0, ddof=1) / np.sqrt(walks.trees) if walks.trees > 1 else mean * np.nan
    )
    per_class = np.stack([np.nanmean(decrease[truth == k], axis=0) for k in range(n_classes)])
    return Importance(
        "permutation (margin)", mean, spread, walks.names, per_class, decrease if per_row else None
    )


def _tree_importance(walks: _Walks, truth: np.ndarray, measure: str, per_row: bool) -> Importance:
    losses_of = walks.forest._oob_losses()
    by_tree = np.zeros((walks.trees, walks.n_features))
    by_row = np.zeros((walks.rows, walks.n_features))
    counts = np.zeros(walks.rows)
    for tree, (rows, features, answers) in enumerate(walks.each()):
        if not rows.size:
            continue
        losses = [losses_of(answer, truth[rows]) for answer in answers]
        counts[rows] += 1
        for place, feature in enumerate(features):
            increase = losses[place + 1] - losses[0]
            by_tree[tree, feature] = increase.mean()
            by_row[rows, feature] += increase
    with np.errstate(invalid="ignore", divide="ignore"):
        by_row /= counts[:, None]
    per_class = None
    if measure == "accuracy" and truth.ndim == 1:
        per_class = np.stack(
            [np.nanmean(by_row[truth == k], axis=0) for k in range(walks.forest.n_classes_)]
        )
    return _summary(
        f"permutation ({measure})",
        by_tree,
        walks.names,
        per_class=per_class,
        per_row=by_row if per_row else None,
    )
