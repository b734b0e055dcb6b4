"""Growing a tree and choosing how far to prune it, by cross-validation or on a validation set."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sklearn import check_random_state
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.choosing import PathErrors, choose_by_folds, errors_along_path
from bosquet.trees.pruning import PruningPath, prune_to, weakest_link_path


def choose_by_cross_validation(estimator: Any, growth: Any, weight: np.ndarray) -> TreeArrays:
    """Breiman's way: the penalties of the full tree, their errors from trees grown without a fold."""
    folds = _folds(estimator, growth.target)
    tree, path, loss = _full(estimator, growth, weight)
    given = weight if weight.size else np.ones(growth.target.rows)
    errors = []
    for fold in range(folds.max() + 1):
        held = np.flatnonzero((folds == fold) & (given > 0))
        if not held.size:
            continue
        fold_tree = growth.tree(np.where(folds == fold, 0.0, given))
        fold_path = weakest_link_path(fold_tree, path_cost(estimator, growth.target))
        gammas = path.gammas_between(fold_tree.weight[0])
        judged = estimator._smoothed(fold_tree)
        errors.append(_errors(growth, judged, fold_path, held, given, loss, gammas))
    return _chosen(estimator, tree, path, errors)


def choose_by_validation(estimator: Any, growth: Any, weight: np.ndarray) -> TreeArrays:
    """The tree grown on the training rows, pruned to the smallest error on the validation set."""
    rows = growth.target.rows
    parts = max(2, round(1 / estimator.validation_fraction))
    held_out = _folds(estimator, growth.target, parts) == 0
    given = weight if weight.size else np.ones(rows)
    tree, path, loss = _full(estimator, growth, np.where(held_out, 0.0, given))
    held = np.flatnonzero(held_out & (given > 0))
    judged = estimator._smoothed(tree)
    return _chosen(
        estimator, tree, path, [_errors(growth, judged, path, held, given, loss, path.gammas)]
    )


def _full(estimator: Any, growth: Any, weight: np.ndarray) -> tuple[TreeArrays, PruningPath, Any]:
    tree = growth.tree(weight)
    return (
        tree,
        weakest_link_path(tree, path_cost(estimator, growth.target)),
        _loss(estimator, growth),
    )


def measure_of(estimator: Any, is_classes: bool) -> str:
    """The pruning measure, checked."""
    allowed = ("misclassified", "deviance", "cost") if is_classes else ("squared_error",)
    chosen = estimator.pruning_measure or allowed[0]
    if chosen not in allowed:
        raise ValueError(
            f"pruning_measure={chosen!r} must be one of {', '.join(map(repr, allowed))} or None"
        )
    if chosen == "cost" and estimator.costs is None:
        raise ValueError("pruning_measure='cost' needs costs=")
    if not is_classes and estimator.criterion != "squared_error":
        raise ValueError(
            f"pruning of a tree grown by criterion={estimator.criterion!r} is not supported;"
            " use 'squared_error'"
        )
    return chosen


def path_cost(estimator: Any, target: Any) -> Any:
    """D of a node, which the penalties are measured against."""
    measure = measure_of(estimator, target.is_classes)
    if not target.is_classes:
        return "squares"
    if measure == "cost":
        # Rows are weighed by altered priors; taking that off again leaves their own costs.
        return estimator._costs.costs * estimator._costs.share_factor[:, None]
    return measure


def _loss(estimator: Any, growth: Any) -> Any:
    if growth.target.is_classes:
        return path_cost(estimator, growth.target)
    if growth.target.outputs == 1:
        return "squares"
    return lambda y, values: ((y - values) ** 2).mean(axis=1)


def _errors(
    growth: Any,
    tree: TreeArrays,
    path: PruningPath,
    held: np.ndarray,
    weight: np.ndarray,
    loss: Any,
    gammas: np.ndarray,
) -> PathErrors:
    values = growth.target.values
    if growth.target.is_classes:
        y = values[held].astype(np.int64)
    else:
        y = values[0, held] if growth.target.outputs == 1 else values[:, held].T
    return errors_along_path(
        tree, path, growth.leaves(tree, held), y, weight[held], loss=loss, gammas=gammas
    )


def _chosen(
    estimator: Any, tree: TreeArrays, path: PruningPath, errors: list[PathErrors]
) -> TreeArrays:
    table = choose_by_folds(path, errors, estimator.pruning_rule)
    estimator.pruning_table_ = table
    estimator.pruning_path_ = path
    return prune_to(tree, table.chosen_gamma, path)


def _folds(estimator: Any, target: Any, parts: int | None = None) -> np.ndarray:
    """A fold for each row; classes are spread evenly over the folds."""
    if hasattr(estimator.cv, "split"):
        return _given_folds(estimator.cv, target.rows, validation=parts is not None)
    parts = parts or estimator.cv
    if not isinstance(parts, int | np.integer) or parts < 2:
        raise ValueError(f"cv={parts!r} is out of range: cv must be an integer >= 2")
    if parts > target.rows:
        raise ValueError(f"cv={parts} is more than the {target.rows} rows")
    random = check_random_state(estimator.random_state)
    order = random.permutation(target.rows)
    if target.is_classes:
        order = order[np.argsort(target.values[order], kind="stable")]
    folds = np.empty(target.rows, dtype=np.int64)
    folds[order] = np.arange(target.rows) % parts
    return folds


def _given_folds(splitter: Any, rows: int, *, validation: bool) -> np.ndarray:
    """The folds of a splitter, which predicts each row once; the last is the validation set, number 0."""
    folds = np.full(rows, -1, dtype=np.int64)
    for number, (_, held) in enumerate(splitter.split(np.empty((rows, 0)))):
        folds[held] = number
    if (folds < 0).any():
        raise ValueError("cv must predict every row exactly once, as k-fold splitters do")
    return np.where(folds == folds.max(), 0, 1) if validation else folds
