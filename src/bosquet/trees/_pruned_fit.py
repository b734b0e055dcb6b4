"""Growing and pruning of a tree, with the penalty chosen by cross-validation or on a validation set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._folds import fold_numbers
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.choosing import PathErrors, choose_by_folds, errors_along_path
from bosquet.trees.pruning import PruningPath, prune_to, weakest_link_path

if TYPE_CHECKING:
    from bosquet._types import Splitter
    from bosquet.trees._base import BaseTree, TreeGrower
    from bosquet.trees.choosing import Loss
    from bosquet.trees.growing import TreeTarget


def choose_by_cross_validation(
    estimator: BaseTree, grower: TreeGrower, weight: np.ndarray
) -> TreeArrays:
    """Return the full tree, pruned at the penalty chosen by cross-validation (Breiman et al. 1984).

    The candidate penalties are those of the full tree; their errors are estimated with trees that are grown
    without one fold each.
    """
    folds = _folds_of_rows(estimator, grower.target)
    tree, path, loss = _grow_full_tree(estimator, grower, weight)
    row_weight = weight if weight.size else np.ones(grower.target.n_rows)
    errors = []
    for fold in range(folds.max() + 1):
        held_out = np.flatnonzero((folds == fold) & (row_weight > 0))
        if not held_out.size:
            continue
        fold_tree = grower.grow(np.where(folds == fold, 0.0, row_weight))
        fold_path = weakest_link_path(fold_tree, path_cost(estimator, grower.target))
        gammas = path.gammas_between(fold_tree.weight[0])
        fold_tree = estimator._smooth(fold_tree)
        errors.append(
            _validation_errors(grower, fold_tree, fold_path, held_out, row_weight, loss, gammas)
        )
    return _prune_by_errors(estimator, tree, path, errors)


def choose_by_validation(estimator: BaseTree, grower: TreeGrower, weight: np.ndarray) -> TreeArrays:
    """Return the tree grown on the training rows, pruned by its errors on the validation set."""
    n_rows = grower.target.n_rows
    n_folds = max(2, round(1 / estimator.validation_fraction))
    is_validation = _folds_of_rows(estimator, grower.target, n_folds) == 0
    row_weight = weight if weight.size else np.ones(n_rows)
    tree, path, loss = _grow_full_tree(estimator, grower, np.where(is_validation, 0.0, row_weight))
    held_out = np.flatnonzero(is_validation & (row_weight > 0))
    errors = _validation_errors(
        grower, estimator._smooth(tree), path, held_out, row_weight, loss, path.gammas
    )
    return _prune_by_errors(estimator, tree, path, [errors])


def _grow_full_tree(
    estimator: BaseTree, grower: TreeGrower, weight: np.ndarray
) -> tuple[TreeArrays, PruningPath, Loss]:
    """Return the full tree, its pruning path and the loss for validation errors."""
    tree = grower.grow(weight)
    return (
        tree,
        weakest_link_path(tree, path_cost(estimator, grower.target)),
        _validation_loss(estimator, grower),
    )


def measure_of(estimator: BaseTree, is_classes: bool) -> str:
    """Return the name of the pruning measure; raise a ValueError if it is not valid."""
    allowed = ("misclassified", "deviance", "cost") if is_classes else ("squared_error",)
    chosen = estimator.pruning_measure or allowed[0]
    if chosen not in allowed:
        raise ValueError(
            f"pruning_measure={chosen!r} is not valid: pruning_measure must be"
            f" {', '.join(map(repr, allowed))} or None"
        )
    if chosen == "cost" and estimator.costs is None:
        raise ValueError("pruning_measure='cost' needs a cost matrix, but costs=None; pass costs")
    if not is_classes and estimator.criterion != "squared_error":
        raise ValueError(
            f"pruning={estimator.pruning!r} is not supported with criterion={estimator.criterion!r};"
            " use criterion='squared_error' or pruning=None"
        )
    return chosen


def path_cost(estimator: BaseTree, target: TreeTarget) -> str | np.ndarray:
    """Return the argument `cost` of `weakest_link_path`: the kind of D that the penalties refer to."""
    measure = measure_of(estimator, target.is_classes)
    if not target.is_classes:
        return "squares"
    if measure == "cost":
        # Rows are weighted by altered priors; the factor restores the costs under the original priors.
        return estimator._costs.costs * estimator._costs.share_factor[:, None]
    return measure


def _validation_loss(estimator: BaseTree, grower: TreeGrower) -> Loss:
    """Return the argument `loss` of `errors_along_path`."""
    if grower.target.is_classes:
        return path_cost(estimator, grower.target)
    if grower.target.outputs == 1:
        return "squares"
    return lambda y, values: ((y - values) ** 2).mean(axis=1)


def _validation_errors(
    grower: TreeGrower,
    tree: TreeArrays,
    path: PruningPath,
    held_out: np.ndarray,
    weight: np.ndarray,
    loss: Loss,
    gammas: np.ndarray,
) -> PathErrors:
    values = grower.target.values
    if grower.target.is_classes:
        y = values[held_out].astype(np.int64)
    else:
        y = values[0, held_out] if grower.target.outputs == 1 else values[:, held_out].T
    return errors_along_path(
        tree, path, grower.leaves(tree, held_out), y, weight[held_out], loss=loss, gammas=gammas
    )


def _prune_by_errors(
    estimator: BaseTree, tree: TreeArrays, path: PruningPath, errors: list[PathErrors]
) -> TreeArrays:
    """Choose a subtree by its errors, store the table and the path, and return the subtree."""
    table = choose_by_folds(path, errors, estimator.pruning_rule)
    estimator.pruning_table_ = table
    estimator.pruning_path_ = path
    return prune_to(tree, table.chosen_gamma, path)


def _folds_of_rows(
    estimator: BaseTree, target: TreeTarget, n_folds: int | None = None
) -> np.ndarray:
    """Return the fold of each row; with classes, the folds are stratified."""
    if hasattr(estimator.cv, "split"):
        return _folds_of_splitter(estimator.cv, target.n_rows, validation=n_folds is not None)
    n_folds = n_folds or estimator.cv
    if not isinstance(n_folds, int | np.integer) or n_folds < 2:
        raise ValueError(
            f"cv={n_folds!r} is not valid: cv must be an integer >= 2 or a splitter of scikit-learn"
        )
    if n_folds > target.n_rows:
        raise ValueError(
            f"cv={n_folds} exceeds the number of rows ({target.n_rows}); pass a value <= {target.n_rows}"
        )
    classes = target.values if target.is_classes else None
    return fold_numbers(target.n_rows, n_folds, estimator.random_state, classes)


def _folds_of_splitter(splitter: Splitter, n_rows: int, *, validation: bool) -> np.ndarray:
    """Return the folds of a scikit-learn splitter; with `validation`, 0 for the last fold and 1 otherwise."""
    folds = np.full(n_rows, -1, dtype=np.int64)
    for number, (_, test) in enumerate(splitter.split(np.empty((n_rows, 0)))):
        again = np.flatnonzero(folds[test] >= 0)
        if again.size and not validation:
            row = int(np.asarray(test)[again[0]])
            raise ValueError(
                f"row {row} is in the test sets {folds[row]} and {number} of cv; use a splitter whose test"
                " sets contain each row exactly once, such as KFold"
            )
        folds[test] = number
    if (folds < 0).any():
        raise ValueError(
            f"row {np.flatnonzero(folds < 0)[0]} is in no test set of cv; use a splitter whose test sets"
            " contain each row exactly once, such as KFold"
        )
    return np.where(folds == folds.max(), 0, 1) if validation else folds
