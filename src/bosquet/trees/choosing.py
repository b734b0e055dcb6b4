"""Choice of the size of a tree: validation errors of all subtrees, and rules to choose one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bosquet.trees._moments import power_sums
from bosquet.trees.arrays import (
    TreeArrays,
    check_class_shares,
    check_cost_matrix,
    predicted_classes,
)
from bosquet.trees.pruning import PruningPath, sum_over_leaves
from bosquet.trees.table import PruningTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


RULES = ("min", "1se")
LOSSES = ("misclassified", "deviance", "squares")

# The name of a loss, a cost matrix, or a function of (y, values).
Loss: TypeAlias = "str | ArrayLike | Callable[[np.ndarray, np.ndarray], np.ndarray]"


@dataclass(frozen=True, eq=False)
class PathErrors:
    """Sums of the losses of validation rows under each subtree of a path.

    Sums of different folds can be added (``a + b``); mean and standard error are then those over all rows.

    Attributes
    ----------
    sums : array of shape (subtrees, 3)
        Σ w l, Σ w² l and Σ w² l², where w is the weight of a row and l its loss.
    weight, squared_weight : float
        Σ w and Σ w².
    """

    sums: np.ndarray
    weight: float
    squared_weight: float

    @classmethod
    def of_rows(cls, losses: ArrayLike, weight: ArrayLike | None = None) -> PathErrors:
        """Return the sums for losses of shape (rows, subtrees): the loss of each row under each subtree."""
        losses = np.asarray(losses, dtype=float)
        if losses.ndim != 2 or len(losses) == 0:
            raise ValueError(
                f"losses has shape {losses.shape}; pass shape (rows, subtrees) with at least one row"
            )
        w = _check_weights(weight, len(losses))
        sums = np.stack([w @ losses, w**2 @ losses, w**2 @ losses**2], axis=1)
        return cls(sums, float(w.sum()), float(w @ w))

    @property
    def mean(self) -> np.ndarray:
        """Weighted mean loss under each subtree."""
        return self.sums[:, 0] / self.weight

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean: √(Σ w² (l - mean)²) / Σ w.

        For equal weights and a loss of 0 or 1 it is √(p (1 - p) / n).
        """
        mean = self.mean
        squares = self.sums[:, 2] - 2 * mean * self.sums[:, 1] + mean**2 * self.squared_weight
        return np.sqrt(np.maximum(squares, 0)) / self.weight

    def __add__(self, other: PathErrors) -> PathErrors:
        if len(self.sums) != len(other.sums):
            raise ValueError(
                f"errors of {len(self.sums)} subtrees cannot be added to errors of {len(other.sums)};"
                " all folds must have the same subtrees"
            )
        return PathErrors(
            self.sums + other.sums,
            self.weight + other.weight,
            self.squared_weight + other.squared_weight,
        )


def errors_along_path(
    tree: TreeArrays,
    path: PruningPath,
    leaf_of_row: ArrayLike,
    y: ArrayLike,
    weight: ArrayLike | None = None,
    loss: Loss = "misclassified",
    gammas: ArrayLike | None = None,
) -> PathErrors:
    """Return the losses of rows under all subtrees of a path, in one pass over the rows.

    The sums of a leaf are taken over its rows, the sums of an inner node over its children. A node counts
    in the subtrees in which it is a leaf. With a loss by name or a cost matrix this takes
    O(rows + nodes + steps), for any number of subtrees.

    Parameters
    ----------
    tree : TreeArrays
    path : PruningPath of `tree`
    leaf_of_row : int array of shape (rows,)
        The leaf of `tree` that each row falls into.
    y : array of shape (rows,)
        Class numbers (columns of `tree.value`), or numeric targets for regression.
    weight : array of shape (rows,), optional
    loss : str, array or callable, default="misclassified"
        - "misclassified": 1 if the leaf predicts another class, otherwise 0.
        - "deviance": -2 ln of the share of the true class in the leaf. A share of 0 is replaced by 2⁻⁵²
          (the machine epsilon), so that a single row cannot make the deviance infinite.
        - "squares": squared error of the value of the leaf; for one output.
        - an array of shape (classes, classes): cost matrix; rows: true class, columns: predicted class.
        - a function of (y, values) that returns the loss of each row, where y and values have one row per
          row of the data. It is called for all ancestors of each row, in O(rows · depth).
    gammas : array, optional
        Penalties per leaf, in units of D of `tree`, at which the errors are computed. Default:
        `path.gammas`, one penalty per subtree.

    Returns
    -------
    PathErrors
    """
    leaf = np.asarray(leaf_of_row, dtype=np.int64)
    target = np.asarray(y)
    if leaf.ndim != 1 or len(leaf) == 0 or len(target) != len(leaf):
        raise ValueError(
            f"leaf_of_row has shape {leaf.shape} and y has shape {target.shape}; both need one entry per row"
        )
    if (leaf < 0).any() or (leaf >= tree.n_nodes).any() or not tree.is_leaf[leaf].all():
        raise ValueError(
            "leaf_of_row contains numbers that are not leaves of the tree; pass the leaf of each row"
        )
    w = _check_weights(weight, len(leaf))
    if callable(loss):
        by_step = _sums_over_ancestors(tree, path, leaf, target, w, loss)
    else:
        if isinstance(loss, str) and loss == "squares":
            by_node = _square_sums(tree, leaf, target, w)
        else:
            by_node = _class_sums(tree, leaf, target, w, _loss_of_class(tree, loss))
        by_step = sum_over_leaves(by_node, path.step_of_node, tree.parents, path.n_steps)
    if gammas is not None:
        by_step = by_step[path.step_at(np.atleast_1d(gammas))]
    return PathErrors(by_step, float(w.sum()), float(w @ w))


def _loss_of_class(tree: TreeArrays, loss: str | ArrayLike) -> np.ndarray:
    """Return the loss of a row of each class in each node, shape (nodes, classes)."""
    if isinstance(loss, str) and loss not in LOSSES:
        raise ValueError(
            f"loss={loss!r} is not valid: loss must be one of {', '.join(map(repr, LOSSES))}, a cost"
            " matrix or a function"
        )
    if isinstance(loss, str) and loss == "deviance":
        return -2 * np.log(
            np.maximum(check_class_shares(tree, "loss='deviance'"), np.finfo(float).eps)
        )
    costs = 1.0 - np.eye(tree.n_outputs)
    if not isinstance(loss, str):
        costs = check_cost_matrix(loss, tree.n_outputs)
    decided = predicted_classes(tree, None if isinstance(loss, str) else costs)
    return costs[:, decided].T


def _class_sums(
    tree: TreeArrays, leaf: np.ndarray, y: np.ndarray, w: np.ndarray, loss: np.ndarray
) -> np.ndarray:
    """Return the three sums of each node from counts: the loss of a row depends only on its class."""
    n_classes = tree.n_outputs
    if y.dtype.kind not in "iub" or (y < 0).any() or (y >= n_classes).any():
        raise ValueError(
            f"y has values that are not class numbers; pass integers from 0 to {n_classes - 1}"
        )
    cell = leaf * n_classes + y
    size = tree.n_nodes * n_classes
    counts = np.stack([np.bincount(cell, v, size) for v in (w, w**2)], axis=1)
    counts = counts.reshape(tree.n_nodes, n_classes, 2)
    for level in reversed(tree.levels()):
        inner = level[~tree.is_leaf[level]]
        counts[inner] = counts[tree.left[inner]] + counts[tree.right[inner]]
    weight, squared_weight = counts[..., 0], counts[..., 1]
    columns = [(weight * loss), (squared_weight * loss), (squared_weight * loss**2)]
    return np.stack([column.sum(axis=1) for column in columns], axis=1)


def _square_sums(tree: TreeArrays, leaf: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the three sums of each node: Σ w d², Σ w² d² and Σ w² d⁴ with d = y - value."""
    if tree.n_outputs != 1 or y.ndim != 1:
        raise ValueError(
            f"loss='squares' needs one output, but the tree has {tree.n_outputs} and y has {y.ndim}"
            " dimensions; pass a function"
        )
    y = y.astype(float)
    (squares,) = power_sums(tree, leaf, y, w, 2)
    return np.stack([squares, *power_sums(tree, leaf, y, w**2, 4)], axis=1)


def _sums_over_ancestors(
    tree: TreeArrays,
    path: PruningPath,
    leaf: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return the three sums of each step for any loss; visits all ancestors of each row."""
    parents = tree.parents
    until = np.where(parents < 0, path.n_steps, path.step_of_node[parents])
    change = np.zeros((path.n_steps + 1, 3))
    rows, node = np.arange(len(leaf)), leaf
    while len(rows):
        ever_leaf = path.step_of_node[node] < until[node]
        leaf_rows, at = rows[ever_leaf], node[ever_leaf]
        if len(leaf_rows):
            losses = np.asarray(loss(y[leaf_rows], tree.value[at]), dtype=float)
            amounts = np.stack(
                [w[leaf_rows] * losses, w[leaf_rows] ** 2 * losses, (w[leaf_rows] * losses) ** 2],
                axis=1,
            )
            np.add.at(change, path.step_of_node[at], amounts)
            np.subtract.at(change, until[at], amounts)
        has_parent = parents[node] >= 0
        rows, node = rows[has_parent], parents[node[has_parent]]
    return np.cumsum(change, axis=0)[: path.n_steps]


def choose_by_folds(
    path: PruningPath,
    fold_errors: PathErrors | Iterable[PathErrors] | np.ndarray,
    rule: str = "min",
    *,
    weight: ArrayLike | None = None,
    loss: str = "",
) -> PruningTable:
    """Choose a subtree of a pruning path by its validation errors.

    For cross-validation, the tree of each fold is grown without the rows of the fold and pruned at
    penalties between those of the full tree (`path.gammas_between(fold_tree.weight[0])`); its errors are
    computed on the fold. A validation set is the special case of one fold, with the errors of the full tree.

    Parameters
    ----------
    path : PruningPath of the tree grown on all rows
    fold_errors : list of PathErrors, or array of shape (rows, steps)
        The result of `errors_along_path` for each fold; or the loss of every validation row under each
        subtree. The standard error is computed over rows, not over the few folds, whose errors are
        correlated.
    rule : {"min", "1se"}, default="min"
        "min": the subtree with the smallest error (the smallest such subtree in case of ties). "1se": the
        smallest subtree whose error is within one standard error of it.
    weight : array of shape (rows,), optional
        Weights of the rows if `fold_errors` is an array.
    loss : str, default=""
        Name of the loss, for display.

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
        raise ValueError(
            f"rule={rule!r} is not valid: rule must be {' or '.join(map(repr, RULES))}"
        )
    errors = _combined_errors(fold_errors, weight)
    if len(errors.sums) != path.n_steps:
        raise ValueError(
            f"fold_errors has errors of {len(errors.sums)} subtrees, but the path has {path.n_steps}; compute"
            " the errors at the penalties of this path"
        )
    mean, se = errors.mean, errors.standard_error
    best = _last_index_up_to(mean, mean.min())
    chosen = best if rule == "min" else _last_index_up_to(mean, mean[best] + se[best])
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


def _last_index_up_to(mean: np.ndarray, bound: float) -> int:
    # The tolerance keeps rounding errors from deciding between trees of equal error.
    return int(np.flatnonzero(mean <= bound + 1e-12 * abs(bound))[-1])


def _combined_errors(
    fold_errors: PathErrors | Iterable[PathErrors] | np.ndarray, weight: ArrayLike | None
) -> PathErrors:
    if isinstance(fold_errors, PathErrors):
        return fold_errors
    folds = fold_errors if isinstance(fold_errors, np.ndarray) else list(fold_errors)
    if len(folds) and isinstance(folds[0], PathErrors):
        if weight is not None:
            raise ValueError(
                "weight is only for an array of losses, but fold_errors holds PathErrors; pass the weights to"
                " errors_along_path"
            )
        total = folds[0]
        for errors in folds[1:]:
            total = total + errors
        return total
    return PathErrors.of_rows(np.asarray(folds, dtype=float), weight)


def _check_weights(weight: ArrayLike | None, n_rows: int) -> np.ndarray:
    if weight is None:
        return np.ones(n_rows)
    w = np.asarray(weight, dtype=float)
    if w.shape != (n_rows,):
        raise ValueError(
            f"weight has shape {w.shape}, but there are {n_rows} rows; pass one weight per row"
        )
    wrong = np.flatnonzero(~np.isfinite(w) | (w < 0))
    if wrong.size:
        raise ValueError(f"weight[{wrong[0]}] is {w[wrong[0]]:g}; weights must be finite and >= 0")
    if not w.any():
        raise ValueError("all weights are zero; at least one must be positive")
    return w
