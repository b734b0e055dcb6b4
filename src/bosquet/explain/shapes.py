"""A sum of trees of one or two features each is an additive model: its shape functions, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._shown import Shown
from bosquet.explain._models import TreeModel, tree_model_or_error

# Means of pairs are moved into the single features until none is larger than this share.
SETTLED = 1e-12
MOST_SWEEPS = 200


@dataclass
class Cells:
    """The parts into which a model's thresholds cut a feature, the last one for missing values.

    `edges` ascend, and cell k holds values above edge k - 1 and up to edge k; for a feature with levels they
    are None and cell k holds level k.
    """

    name: str
    edges: np.ndarray | None
    levels: list[Any] | None

    @property
    def count(self) -> int:
        """Number of cells, that of missing values included."""
        return (len(self.levels or []) if self.edges is None else self.edges.size + 1) + 1

    @property
    def representatives(self) -> np.ndarray:
        """A value in each cell, as the trees see it."""
        if self.edges is None:
            return np.append(np.arange(len(self.levels or []), dtype=float), np.nan)
        return np.concatenate([self.edges, [np.inf, np.nan]])

    def of(self, column: np.ndarray) -> np.ndarray:
        """The cell of each encoded value."""
        column = np.asarray(column, dtype=float)
        if self.edges is None:
            codes = np.where(np.isnan(column), -1, column).astype(int)
            return np.where((codes >= 0) & (codes < self.count - 1), codes, self.count - 1)
        cells = np.searchsorted(self.edges, column, side="left")
        return np.where(np.isnan(column), self.count - 1, cells)


@dataclass(repr=False)
class ShapeFunctions(Shown):
    """intercept + Σ f_j(x_j) + Σ f_jk(x_j, x_k), which is the model.

    Printed, it shows the functions of the largest spread; `to_frame()` has the spread of all.

    Attributes
    ----------
    intercept : array (n_outputs,)
    cells : the cells of each feature that the model uses, by its number
    single : feature number -> array (cells, n_outputs)
    pairs : (feature, feature) -> array (cells of the first, cells of the second, n_outputs)
    centred : whether functions have mean 0 over the rows given, pairs in each direction
    """

    intercept: np.ndarray
    cells: dict[int, Cells]
    single: dict[int, np.ndarray]
    pairs: dict[tuple[int, int], np.ndarray]
    centred: bool
    _trees: TreeModel

    def predict(self, X: Any) -> np.ndarray:
        """The raw prediction (n_samples, n_outputs), added up from the functions."""
        place = self._places(self._trees.columns(X, "ShapeFunctions"))
        total = np.tile(self.intercept, (len(next(iter(place.values()))), 1))
        for f, values in self.single.items():
            total += values[place[f]]
        for (f, g), values in self.pairs.items():
            total += values[place[f], place[g]]
        return total

    def _places(self, columns: Any) -> dict[int, np.ndarray]:
        array = isinstance(columns, np.ndarray)
        used = list(self.cells) or [0]
        found = {f: columns[:, f] if array else np.asarray(columns[f]) for f in used}
        for f, column in found.items():
            if f in self.cells:
                if self.cells[f].edges is None and column.dtype.kind in "iu":
                    column = np.where(column < 0, np.nan, column.astype(float))
                found[f] = self.cells[f].of(column)
        return found

    def plot(self, **options: Any) -> Any:
        """A panel for each of the strongest functions; options of `bosquet.plot.shapes`."""
        from bosquet.plot import shapes

        return shapes(self, **options)

    def strength(self) -> dict[str, float]:
        """The spread of each function over its cells: how far it moves the prediction at most."""
        sizes = {self.cells[f].name: float(np.ptp(v, axis=0).max()) for f, v in self.single.items()}
        for (f, g), values in self.pairs.items():
            name = f"{self.cells[f].name} x {self.cells[g].name}"
            sizes[name] = float(np.ptp(values.reshape(-1, values.shape[-1]), axis=0).max())
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))

    def columns(self) -> dict[str, Any]:
        """Each function by the name of its feature or pair, and its spread; the widest leads."""
        strength = self.strength()
        return {"function": list(strength), "spread": list(strength.values())}

    def _caption(self) -> str:
        pairs = f" and {len(self.pairs)} pairs" if self.pairs else ""
        return (
            f"Shape functions of {len(self.single)} features{pairs},"
            f" {'centred' if self.centred else 'as the trees add up'}"
        )


def shape_functions(model: Any, X: Any = None) -> ShapeFunctions:
    """The shape functions of a model whose trees use one feature each, or two.

    Boosted stumps are a generalised additive model: every tree is a step in one feature, and steps in the
    same feature add up to one curve. With trees of two features (max_depth=2, or interaction_cst) there are
    surfaces of pairs besides. Nothing is approximated: the functions add up to the raw prediction.

    Parameters
    ----------
    model : a fitted Bosquet model of trees
    X : table, optional
        With rows the functions are centred over them: a single feature's function has mean 0, a pair's has
        mean 0 in each direction, and what was taken out is in the single functions and the intercept. Without
        them functions stand as the trees add up.

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
    >>> list(shapes.strength())[:2]
    ['bmi', 's5']

    References
    ----------
    Hastie and Tibshirani, "Generalized additive models", 1990; Lengerich and others, "Purifying interaction
    effects with the functional ANOVA", AISTATS 2020.
    """
    trees = tree_model_or_error(model, "shape_functions")
    ensemble = trees.ensemble
    arrays = [ensemble.tree_arrays(t) for t in range(ensemble.n_trees)]
    found = ShapeFunctions(
        trees.scale * np.array(ensemble.base), _cells(trees, arrays), {}, {}, X is not None, trees
    )
    for number, tree in enumerate(arrays):
        into = slice(None) if ensemble.vector_leaves else number % ensemble.n_outputs
        _add_leaves(found, tree, into, number)
    if X is not None:
        _centre(found, trees.columns(X, type(model).__name__))
    return found


def _cells(trees: TreeModel, arrays: list[dict[str, Any]]) -> dict[int, Cells]:
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


def _add_leaves(found: ShapeFunctions, tree: dict[str, Any], into: Any, number: int) -> None:
    """Add all leaves of a tree.

    A node waits with the numbers of the cells that lead to it, for each feature on its path. The
    cells of two children are disjoint, so that all that wait take little memory, however deep the
    tree is.
    """
    representatives = {f: cells.representatives for f, cells in found.cells.items()}
    waiting: list[tuple[int, dict[int, np.ndarray]]] = [(0, {})]
    while waiting:
        node, met = waiting.pop()
        if tree["left"][node] < 0:
            _add_leaf(found, found._trees.scale * tree["value"][node], met, into)
            continue
        feature = int(tree["feature"][node])
        if feature not in met and len(met) == 2:
            names = ", ".join(found.cells[f].name for f in (*met, feature))
            raise ValueError(
                f"a path of tree {number} uses more than two features ({names}): it has no shape"
                " functions. Fit with max_leaf_nodes=2 or max_depth=2, or use explain"
            )
        before = met.get(feature, np.arange(found.cells[feature].count))
        left = _goes_left(tree, node, representatives[feature][before])
        for child, side in ((tree["right"][node], ~left), (tree["left"][node], left)):
            waiting.append((int(child), {**met, feature: before[side]}))


def _add_leaf(
    found: ShapeFunctions, value: np.ndarray, met: dict[int, np.ndarray], into: Any
) -> None:
    """A leaf is its value where all conditions on the way are met: a function of those features."""
    outputs = found.intercept.size
    if not met:
        found.intercept[into] += value
    elif len(met) == 1:
        ((feature, cells),) = met.items()
        count = found.cells[feature].count
        single = found.single.setdefault(feature, np.zeros((count, outputs)))
        single[cells, into] += value
    else:
        first, second = sorted(met)
        shape = (found.cells[first].count, found.cells[second].count, outputs)
        pair = found.pairs.setdefault((first, second), np.zeros(shape))
        pair[(*np.ix_(met[first], met[second]), into)] += value


def _goes_left(tree: dict[str, Any], node: int, values: np.ndarray) -> np.ndarray:
    if tree["is_categorical"][node]:
        left = np.isin(values, tree["left_categories"][node])
    else:
        left = values <= tree["threshold"][node]
    return np.where(np.isnan(values), tree["missing_left"][node], left)


def _centre(found: ShapeFunctions, columns: Any) -> None:
    place = found._places(columns)
    outputs = found.intercept.size
    counts = {f: np.bincount(place[f], minlength=c.count) for f, c in found.cells.items()}
    for (f, g), values in found.pairs.items():
        joint = np.zeros(values.shape[:2])
        np.add.at(joint, (place[f], place[g]), 1.0)
        for feature in (f, g):
            found.single.setdefault(feature, np.zeros((found.cells[feature].count, outputs)))
        size = max(float(np.abs(values).max()), 1e-300)
        for _ in range(MOST_SWEEPS):
            largest = 0.0
            for axis, feature in ((1, f), (0, g)):
                weight = np.maximum(joint.sum(axis=axis), 1e-300)
                mean = (values * joint[..., None]).sum(axis=axis) / weight[:, None]
                values -= np.expand_dims(mean, axis)
                found.single[feature] += mean
                largest = max(largest, float(np.abs(mean).max()))
            if largest <= SETTLED * size:
                break
    for f, values in found.single.items():
        mean = counts[f] @ values / counts[f].sum()
        values -= mean
        found.intercept += mean
