"""Shape functions of a sum of trees that use at most two features each, which is an additive model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._tabular_result import TabularResult
from bosquet.explain.tree_models import TreeModel, tree_model_or_error

# Means of pairs are moved into the functions of single features until all are below this relative size.
TOLERANCE = 1e-12
MAX_SWEEPS = 200


@dataclass
class Cells:
    """The intervals into which the thresholds of a model divide a feature; the last is for missing values.

    Cell k holds the values above edge k - 1 and up to edge k. A categorical feature has no `edges`, and cell
    k holds level k.
    """

    name: str
    edges: np.ndarray | None
    levels: list[Any] | None

    @property
    def count(self) -> int:
        """Number of cells, including the one of missing values."""
        return (len(self.levels or []) if self.edges is None else self.edges.size + 1) + 1

    @property
    def representatives(self) -> np.ndarray:
        """One encoded value in each cell."""
        if self.edges is None:
            return np.append(np.arange(len(self.levels or []), dtype=float), np.nan)
        return np.concatenate([self.edges, [np.inf, np.nan]])

    def cell_indices(self, column: np.ndarray) -> np.ndarray:
        """Return the index of the cell of each encoded value."""
        column = np.asarray(column, dtype=float)
        if self.edges is None:
            codes = np.where(np.isnan(column), -1, column).astype(int)
            return np.where((codes >= 0) & (codes < self.count - 1), codes, self.count - 1)
        cells = np.searchsorted(self.edges, column, side="left")
        return np.where(np.isnan(column), self.count - 1, cells)


@dataclass(repr=False)
class ShapeFunctions(TabularResult):
    """A model as intercept + Σ f_j(x_j) + Σ f_jk(x_j, x_k).

    `print` shows the functions of largest range; `to_frame()` returns the range of all functions.

    Attributes
    ----------
    intercept : array (n_outputs,)
    cells : dict
        Maps the index of each feature that the model uses to its `Cells`.
    single : dict
        Maps the index of a feature to an array (cells, n_outputs).
    pairs : dict
        Maps pairs of indices to arrays (cells of the first, cells of the second, n_outputs).
    centred : bool
        Whether the functions have mean 0 over the given rows; functions of pairs in each direction.
    """

    intercept: np.ndarray
    cells: dict[int, Cells]
    single: dict[int, np.ndarray]
    pairs: dict[tuple[int, int], np.ndarray]
    centred: bool
    _trees: TreeModel

    def predict(self, X: Any) -> np.ndarray:
        """Compute the raw predictions, as the sum of the functions.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_outputs)
        """
        cell = self._cell_indices(self._trees.columns(X, "ShapeFunctions"))
        total = np.tile(self.intercept, (len(next(iter(cell.values()))), 1))
        for f, values in self.single.items():
            total += values[cell[f]]
        for (f, g), values in self.pairs.items():
            total += values[cell[f], cell[g]]
        return total

    def _cell_indices(self, columns: Any) -> dict[int, np.ndarray]:
        """Return for each feature that is used, the index of the cell of each row."""
        is_array = isinstance(columns, np.ndarray)
        used = list(self.cells) or [0]
        cells = {f: columns[:, f] if is_array else np.asarray(columns[f]) for f in used}
        for f, column in cells.items():
            if f in self.cells:
                if self.cells[f].edges is None and column.dtype.kind in "iu":
                    column = np.where(column < 0, np.nan, column.astype(float))
                cells[f] = self.cells[f].cell_indices(column)
        return cells

    def plot(self, **options: Any) -> Any:
        """Plot the strongest functions, one per panel; options as in `bosquet.plot.shapes`."""
        from bosquet.plot import shapes

        return shapes(self, **options)

    def ranges(self) -> dict[str, float]:
        """Return the range (maximum minus minimum) of each function over its cells, in descending order."""
        sizes = {self.cells[f].name: float(np.ptp(v, axis=0).max()) for f, v in self.single.items()}
        for (f, g), values in self.pairs.items():
            name = f"{self.cells[f].name} x {self.cells[g].name}"
            sizes[name] = float(np.ptp(values.reshape(-1, values.shape[-1]), axis=0).max())
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))

    def columns(self) -> dict[str, Any]:
        """Return the columns: feature or pair of each function and its range, in descending order."""
        ranges = self.ranges()
        return {"function": list(ranges), "range": list(ranges.values())}

    def _caption(self) -> str:
        pairs = f" and {len(self.pairs)} pairs" if self.pairs else ""
        return (
            f"Shape functions of {len(self.single)} features{pairs},"
            f" {'centred' if self.centred else 'not centred'}"
        )


def shape_functions(model: Any, X: Any = None) -> ShapeFunctions:
    """Compute shape functions of a model whose trees use at most two features each.

    Boosted stumps are a generalised additive model: each tree is a step function of one feature, and the
    steps of a feature add up to one curve. With trees of two features (max_depth=2, or interaction_cst)
    there are also surfaces of pairs. The functions are exact: they sum to the raw prediction.

    Parameters
    ----------
    model : a fitted Bosquet model of trees
    X : table, optional
        Rows over which the functions are centred. The function of a single feature then has mean 0, that
        of a pair has mean 0 in each direction, and the means are moved to the functions of single features
        and the intercept. By default the functions are not centred.

    Returns
    -------
    ShapeFunctions

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import GradientBoostingRegressor
    >>> from bosquet.explain import shape_functions
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=100, max_leaf_nodes=2, random_state=0).fit(X, y)
    >>> shapes = shape_functions(model, X)
    >>> bool(abs(shapes.predict(X)[:, 0] - model.predict(X)).max() < 1e-9)
    True
    >>> list(shapes.ranges())[:2]
    ['bmi', 's5']

    References
    ----------
    Hastie and Tibshirani, "Generalized additive models", 1990; Lengerich and others, "Purifying interaction
    effects with the functional ANOVA", AISTATS 2020.
    """
    trees = tree_model_or_error(model, "shape_functions")
    if trees.derived is not None:
        raise ValueError(
            "shape_functions does not support target statistics of categorical columns; fit the model with"
            " categorical_encoding='levels', or use explain"
        )
    ensemble = trees.ensemble
    arrays = [ensemble.tree_arrays(t) for t in range(ensemble.n_trees)]
    shapes = ShapeFunctions(
        trees.scale * np.array(ensemble.base),
        _cells_of_features(trees, arrays),
        {},
        {},
        X is not None,
        trees,
    )
    for number, tree in enumerate(arrays):
        subtree = slice(None) if ensemble.vector_leaves else number % ensemble.n_outputs
        _add_leaves(shapes, tree, subtree, number)
    if X is not None:
        _centre_functions(shapes, trees.columns(X, type(model).__name__))
    return shapes


def _cells_of_features(trees: TreeModel, arrays: list[dict[str, Any]]) -> dict[int, Cells]:
    thresholds: dict[int, list[np.ndarray]] = {}
    for tree in arrays:
        inner = tree["left"] >= 0
        for f in np.unique(tree["feature"][inner]).tolist():
            thresholds.setdefault(f, []).append(tree["threshold"][inner & (tree["feature"] == f)])
    cells = {}
    for f in sorted(thresholds):
        levels = trees.encoder.levels[f]
        edges = np.unique(np.concatenate(thresholds[f]))
        edges = edges[np.isfinite(edges)]
        cells[f] = Cells(trees.feature_names[f], None if levels is not None else edges, levels)
    return cells


def _add_leaves(shapes: ShapeFunctions, tree: dict[str, Any], into: Any, number: int) -> None:
    """Add all leaves of a tree.

    The stack holds nodes with the cells that lead to them, for each feature on the path. The cells of two
    children are disjoint, so that the stack takes little memory even for a deep tree.
    """
    representatives = {f: cells.representatives for f, cells in shapes.cells.items()}
    stack: list[tuple[int, dict[int, np.ndarray]]] = [(0, {})]
    while stack:
        node, path_cells = stack.pop()
        if tree["left"][node] < 0:
            _add_leaf(shapes, shapes._trees.scale * tree["value"][node], path_cells, into)
            continue
        feature = int(tree["feature"][node])
        if feature not in path_cells and len(path_cells) == 2:
            names = ", ".join(shapes.cells[f].name for f in (*path_cells, feature))
            raise ValueError(
                f"a path of tree {number} uses more than two features ({names}), so the model has no shape"
                " functions; fit it with max_leaf_nodes=2 or max_depth=2, or use explain"
            )
        cells = path_cells.get(feature, np.arange(shapes.cells[feature].count))
        left = _goes_left(tree, node, representatives[feature][cells])
        for child, side in ((tree["right"][node], ~left), (tree["left"][node], left)):
            stack.append((int(child), {**path_cells, feature: cells[side]}))


def _add_leaf(
    shapes: ShapeFunctions, value: np.ndarray, path_cells: dict[int, np.ndarray], into: Any
) -> None:
    """Add the value of a leaf to the function of the features on its path, in the cells of the path."""
    outputs = shapes.intercept.size
    if not path_cells:
        shapes.intercept[into] += value
    elif len(path_cells) == 1:
        ((feature, cells),) = path_cells.items()
        count = shapes.cells[feature].count
        single = shapes.single.setdefault(feature, np.zeros((count, outputs)))
        single[cells, into] += value
    else:
        first, second = sorted(path_cells)
        shape = (shapes.cells[first].count, shapes.cells[second].count, outputs)
        pair = shapes.pairs.setdefault((first, second), np.zeros(shape))
        pair[(*np.ix_(path_cells[first], path_cells[second]), into)] += value


def _goes_left(tree: dict[str, Any], node: int, values: np.ndarray) -> np.ndarray:
    if tree["is_categorical"][node]:
        left = np.isin(values, tree["left_categories"][node])
    else:
        left = values <= tree["threshold"][node]
    return np.where(np.isnan(values), tree["missing_left"][node], left)


def _centre_functions(shapes: ShapeFunctions, columns: Any) -> None:
    """Centre the functions over rows: purify pairs by repeated sweeps, then centre single features."""
    cell = shapes._cell_indices(columns)
    outputs = shapes.intercept.size
    counts = {f: np.bincount(cell[f], minlength=c.count) for f, c in shapes.cells.items()}
    for (f, g), values in shapes.pairs.items():
        joint = np.zeros(values.shape[:2])
        np.add.at(joint, (cell[f], cell[g]), 1.0)
        for feature in (f, g):
            shapes.single.setdefault(feature, np.zeros((shapes.cells[feature].count, outputs)))
        size = max(float(np.abs(values).max()), 1e-300)
        for _ in range(MAX_SWEEPS):
            largest = 0.0
            for axis, feature in ((1, f), (0, g)):
                weight = np.maximum(joint.sum(axis=axis), 1e-300)
                mean = (values * joint[..., None]).sum(axis=axis) / weight[:, None]
                values -= np.expand_dims(mean, axis)
                shapes.single[feature] += mean
                largest = max(largest, float(np.abs(mean).max()))
            if largest <= TOLERANCE * size:
                break
    for f, values in shapes.single.items():
        mean = counts[f] @ values / counts[f].sum()
        values -= mean
        shapes.intercept += mean
