"""How far to prune: the errors of all subtrees on rows they have not seen, and a rule to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.trees._moments import power_sums
from bosquet.trees.arrays import TreeArrays, check_cost_matrix, class_shares, predicted_classes
from bosquet.trees.pruning import PruningPath, spread
from bosquet.trees.table import PruningTable

RULES = ("min", "1se")
LOSSES = ("misclassified", "deviance", "squares")


@dataclass(frozen=True, eq=False)
class PathErrors:
    """Sums of the losses of some rows under each of several subtrees.

    Sums over the rows of different folds add up (``a + b``), so that a mean and its standard error
    are those of all rows together.

    Attributes
    ----------
    sums : array of shape (subtrees, 3)
        Σ w l, Σ w² l and Σ w² l² with w the weight of a row and l its loss.
    weight, squared_weight : float
        Σ w and Σ w².
    """

    sums: np.ndarray
    weight: float
    squared_weight: float

    @classmethod
    def of_rows(cls, losses: Any, weight: Any = None) -> PathErrors:
        """From the loss of each row under each subtree, an array of shape (rows, subtrees)."""
        losses = np.asarray(losses, dtype=float)
        if losses.ndim != 2 or len(losses) == 0:
            raise ValueError(f"losses have shape {losses.shape}, expected (rows, subtrees)")
        w = _weights(weight, len(losses))
        sums = np.stack([w @ losses, w**2 @ losses, w**2 @ losses**2], axis=1)
        return cls(sums, float(w.sum()), float(w @ w))

    @property
    def mean(self) -> np.ndarray:
        """Weighted mean loss under each subtree."""
        return self.sums[:, 0] / self.weight

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean: √(Σ w² (l - mean)²) / Σ w.

        For rows that weigh 1 and a loss of 0 or 1 it is √(p (1 - p) / n).
        """
        mean = self.mean
        squares = self.sums[:, 2] - 2 * mean * self.sums[:, 1] + mean**2 * self.squared_weight
        return np.sqrt(np.maximum(squares, 0)) / self.weight

    def __add__(self, other: PathErrors) -> PathErrors:
        if len(self.sums) != len(other.sums):
            raise ValueError(
                f"folds must be judged by the same subtrees: {len(self.sums)} and {len(other.sums)}"
            )
        return PathErrors(
            self.sums + other.sums,
            self.weight + other.weight,
            self.squared_weight + other.squared_weight,
        )


def errors_along_path(
    tree: TreeArrays,
    path: PruningPath,
    leaf_of_row: Any,
    y: Any,
    weight: Any = None,
    loss: Any = "misclassified",
    gammas: Any = None,
) -> PathErrors:
    """The losses of rows under all subtrees of a path, in one pass over the rows.

    Rows are added up where they fall in the whole tree; a node's sums are those of its children
    together; and a node counts for the steps at which it is a leaf. With a loss by name that takes
    O(rows + nodes + steps) however many subtrees there are.

    Parameters
    ----------
    tree : TreeArrays
    path : PruningPath of `tree`
    leaf_of_row : int array of shape (rows,)
        The leaf of `tree` that each row falls into.
    y : array of shape (rows,)
        Codes of classes (columns of `tree.value`), or numbers for regression.
    weight : array of shape (rows,), optional
    loss : str, array or callable, default="misclassified"
        - "misclassified": 1 for a row of another class than the leaf's.
        - "deviance": -2 ln of the leaf's share of the row's class. A share of 0 counts as the
          smallest step above 0 that 1 can take (2⁻⁵²), so that one row cannot make it infinite.
        - "squares": squared distance to the leaf's value; for one output.
        - an array of shape (classes, classes): cost matrix, line: true class, column: decision.
        - a function of (y, values) that gives the loss of each row, y and values having one line a
          row. Each row is then moved up node by node, in O(rows · depth).
    gammas : array, optional
        Prices of a leaf, in the counts of `tree`, to give the errors for; by default those of the
        path's own subtrees, `path.gammas`.

    Returns
    -------
    PathErrors
    """
    leaf = np.asarray(leaf_of_row, dtype=np.int64)
    target = np.asarray(y)
    if leaf.ndim != 1 or len(leaf) == 0 or len(target) != len(leaf):
        raise ValueError(
            f"leaf_of_row has shape {leaf.shape} and y {target.shape}: one entry a row"
        )
    if (leaf < 0).any() or (leaf >= tree.n_nodes).any() or not tree.is_leaf[leaf].all():
        raise ValueError("leaf_of_row must hold numbers of leaves of the tree")
    w = _weights(weight, len(leaf))
    if callable(loss):
        by_step = _climbing(tree, path, leaf, target, w, loss)
    else:
        if isinstance(loss, str) and loss == "squares":
            by_node = _square_sums(tree, leaf, target, w)
        else:
            by_node = _class_sums(tree, leaf, target, w, _loss_of_class(tree, loss))
        by_step = spread(by_node, path.step_of_node, tree.parents, path.n_steps)
    if gammas is not None:
        by_step = by_step[path.step_at(np.atleast_1d(gammas))]
    return PathErrors(by_step, float(w.sum()), float(w @ w))


def _loss_of_class(tree: TreeArrays, loss: Any) -> np.ndarray:
    """The loss of a row of each class in each node, of shape (nodes, classes)."""
    if isinstance(loss, str) and loss not in LOSSES:
        raise ValueError(
            f"loss is {loss!r}; it must be one of {', '.join(LOSSES)}, a cost matrix or a function"
        )
    if isinstance(loss, str) and loss == "deviance":
        return -2 * np.log(np.maximum(class_shares(tree, 'loss="deviance"'), np.finfo(float).eps))
    costs = 1.0 - np.eye(tree.n_outputs) if isinstance(loss, str) else loss
    costs = check_cost_matrix(costs, tree.n_outputs)
    decided = predicted_classes(tree, None if isinstance(loss, str) else costs)
    return costs[:, decided].T


def _class_sums(
    tree: TreeArrays, leaf: np.ndarray, y: np.ndarray, w: np.ndarray, loss: np.ndarray
) -> np.ndarray:
    """The three sums of each node: a row's loss depends on its class alone, so rows are counted."""
    n_classes = tree.n_outputs
    if y.dtype.kind not in "iub" or (y < 0).any() or (y >= n_classes).any():
        raise ValueError(f"y must hold codes of classes from 0 to {n_classes - 1}")
    cell = leaf * n_classes + y
    size = tree.n_nodes * n_classes
    counts = np.stack([np.bincount(cell, v, size) for v in (w, w**2)], axis=1)
    counts = counts.reshape(tree.n_nodes, n_classes, 2)
    for level in reversed(tree.levels()):
        inner = level[~tree.is_leaf[level]]
        counts[inner] = counts[tree.left[inner]] + counts[tree.right[inner]]
    once, twice = counts[..., 0], counts[..., 1]
    columns = [(once * loss), (twice * loss), (twice * loss**2)]
    return np.stack([column.sum(axis=1) for column in columns], axis=1)


def _square_sums(tree: TreeArrays, leaf: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The three sums of each node: Σ w d², Σ w² d² and Σ w² d⁴ with d = y - value."""
    if tree.n_outputs != 1 or y.ndim != 1:
        raise ValueError('loss="squares" is for one output; give a function for several')
    y = y.astype(float)
    (once,) = power_sums(tree, leaf, y, w, 2)
    return np.stack([once, *power_sums(tree, leaf, y, w**2, 4)], axis=1)


def _climbing(
    tree: TreeArrays,
    path: PruningPath,
    leaf: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """The three sums of each step, each row moved up from its leaf to the root."""
    parents = tree.parents
    until = np.where(parents < 0, path.n_steps, path.step_of_node[parents])
    change = np.zeros((path.n_steps + 1, 3))
    rows, node = np.arange(len(leaf)), leaf
    while len(rows):
        counted = path.step_of_node[node] < until[node]
        some, at = rows[counted], node[counted]
        if len(some):
            each = np.asarray(loss(y[some], tree.value[at]), dtype=float)
            amounts = np.stack([w[some] * each, w[some] ** 2 * each, (w[some] * each) ** 2], axis=1)
            np.add.at(change, path.step_of_node[at], amounts)
            np.subtract.at(change, until[at], amounts)
        upward = parents[node] >= 0
        rows, node = rows[upward], parents[node[upward]]
    return np.cumsum(change, axis=0)[: path.n_steps]


def choose_by_folds(
    path: PruningPath,
    fold_errors: PathErrors | Iterable[PathErrors] | Any,
    rule: str = "min",
    *,
    weight: Any = None,
    loss: str = "",
) -> PruningTable:
    """The table of a pruning path with errors on rows not learned from, and the subtree chosen.

    For cross-validation each fold's tree is grown and pruned without the fold's rows, at prices
    between those of the full tree's path (`path.gammas_between(fold_tree.weight[0])`), and judged
    on the fold. A validation sample is the case of one fold, judged by the full tree itself.

    Parameters
    ----------
    path : PruningPath of the tree grown on all rows
    fold_errors : list of PathErrors, or array of shape (rows, steps)
        One for each fold, from `errors_along_path`; or the loss of every held-out row under each
        subtree. Either gives the standard error over rows, not over the few folds, whose errors
        hang together.
    rule : {"min", "1se"}, default="min"
        The smallest error (of equal ones, the smallest tree), or the smallest tree whose error is
        within one standard error of it.
    weight : array of shape (rows,), optional
        Weights of the rows of an array.
    loss : str
        Name of the loss, to be shown.

    Returns
    -------
    PruningTable

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.trees import PruningPath, choose_by_folds
    >>> path = PruningPath(
    ...     gammas=np.array([0.0, 2.0, 8.0]), leaves=np.array([4, 2, 1]),
    ...     costs=np.array([1.0, 5.0, 13.0]), cuts=[], step_of_node=np.zeros(0, int),
    ...     root_weight=26.0, cost="misclassified",
    ... )
    >>> losses = np.zeros((26, 3))
    >>> losses[:6, 0] = losses[:7, 1] = losses[:14, 2] = 1
    >>> choose_by_folds(path, losses)
      leaves  gamma  ccp_alpha  misclassified     error         se
    *      4      0          0              1    0.2308    0.08263
           2      2    0.07692              5    0.2692    0.08699
           1      8     0.3077             13    0.5385    0.09777
    chosen by the smallest error: 4 leaves at gamma 0
    >>> choose_by_folds(path, losses, rule="1se").chosen_leaves
    2
    """
    if rule not in RULES:
        raise ValueError(f"rule is {rule!r}; it must be one of {', '.join(RULES)}")
    errors = _together(fold_errors, weight)
    if len(errors.sums) != path.n_steps:
        raise ValueError(
            f"fold_errors are of {len(errors.sums)} subtrees, the path has {path.n_steps}"
        )
    mean, se = errors.mean, errors.standard_error
    best = _last_below(mean, mean.min())
    chosen = best if rule == "min" else _last_below(mean, mean[best] + se[best])
    return PruningTable(
        gammas=path.gammas,
        ccp_alphas=path.ccp_alphas,
        leaves=path.leaves,
        costs=path.costs,
        errors=mean,
        standard_errors=se,
        chosen=chosen,
        rule=rule,
        cost=path.cost,
        loss=loss,
    )


def _last_below(mean: np.ndarray, bound: float) -> int:
    # A rounding more or less must not decide between trees of equal error.
    return int(np.flatnonzero(mean <= bound + 1e-12 * abs(bound))[-1])


def _together(fold_errors: Any, weight: Any) -> PathErrors:
    if isinstance(fold_errors, PathErrors):
        return fold_errors
    folds = fold_errors if isinstance(fold_errors, np.ndarray) else list(fold_errors)
    if len(folds) and isinstance(folds[0], PathErrors):
        if weight is not None:
            raise ValueError("weight goes with an array of losses; PathErrors hold theirs already")
        total = folds[0]
        for errors in folds[1:]:
            total = total + errors
        return total
    return PathErrors.of_rows(folds, weight)


def _weights(weight: Any, n_rows: int) -> np.ndarray:
    if weight is None:
        return np.ones(n_rows)
    w = np.asarray(weight, dtype=float)
    if w.shape != (n_rows,) or not np.isfinite(w).all() or (w < 0).any() or not w.any():
        raise ValueError(f"weight must hold {n_rows} numbers, none negative and not all zero")
    return w
