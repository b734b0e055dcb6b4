"""A common view of fitted models that consist of trees of the C++ core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._fitted import fit_snapshot
from bosquet._sklearn import BaseEstimator, check_is_fitted, effective_threads
from bosquet._state.kinds import nearest_kind
from bosquet._state.tree_sums import TreeSum
from bosquet.data import TableEncoder


@dataclass(frozen=True, kw_only=True)
class TreeModel(TreeSum):
    """The trees of a fitted model, with its columns, its number of threads and the names of its outputs."""

    encoder: TableEncoder
    threads: int
    output_names: list[str] | None

    @property
    def feature_names(self) -> list[str]:
        return feature_names(self.encoder.n_features, self.encoder.feature_names)

    def columns(self, X: Any, owner: str) -> Any:
        """Return encoded columns of X; raises ValueError for rows that the trees alone cannot predict."""
        columns = self.encoder.transform(X, owner=owner)
        if self.has_surrogates:
            for column, levels in zip(_as_list(columns), self.encoder.levels, strict=True):
                # The code of a missing category is -1; of a missing number or ordered category, NaN.
                missing = column != column
                if np.any(missing | (column < 0) if levels is not None else missing):
                    raise ValueError(
                        "X has missing values, which follow surrogate splits in this tree, and explanations"
                        " do not support surrogate splits; fit the tree with missing='direction', or"
                        " impute the missing values"
                    )
        return columns

    def tree_columns(self, columns: Any) -> Any:
        """Return the columns of the trees, from encoded columns."""
        return columns if self.derived is None else self.derived.tree_columns(columns, self.threads)

    def tree_feature(self, column: int, function: str) -> int:
        """Return the column of the trees that is an encoded column.

        Raises ValueError if others depend on it.
        """
        if self.derived is None:
            return column
        features = [f for f, sources in enumerate(self.derived.sources) if column in sources]
        if len(features) != 1:
            raise ValueError(
                f"{function} does not support column {self.feature_names[column]!r}, from which target"
                " statistics were computed; use another method, or fit the model with"
                " categorical_encoding='levels'"
            )
        return features[0]

    def predict_raw(self, columns: Any) -> np.ndarray:
        """Return raw predictions (rows, outputs)."""
        trees = self.ensemble.n_trees
        columns = self.tree_columns(columns)
        return self.scale * self.ensemble.predict_raw(columns, 0, trees, self.threads)


def feature_names(count: int, names: Any) -> list[str]:
    """Return names of the columns (default: x0, x1, ...)."""
    return [f"x{f}" for f in range(count)] if names is None else [str(name) for name in names]


def _as_list(columns: Any) -> list[np.ndarray]:
    if isinstance(columns, np.ndarray):
        return list(columns.T)
    return [np.asarray(column) for column in columns]


def tree_model(model: Any) -> TreeModel | None:
    """Return the trees of a fitted Bosquet model, or None if it does not consist of the core's trees."""
    kind = nearest_kind(model)
    if kind is None or kind.trees is None:
        return None
    model = fit_snapshot(model)
    check_is_fitted(model)
    trees = kind.trees(model)
    if trees is None:
        return None
    return TreeModel(
        **vars(trees),
        encoder=kind.encoder(model),
        threads=effective_threads(getattr(model, "n_jobs", None)),
        output_names=output_names(trees.ensemble.n_outputs, getattr(model, "classes_", None)),
    )


def tree_model_or_error(model: Any, function: str) -> TreeModel:
    """Return the trees of a fitted Bosquet model.

    Raises TypeError, with the name of `function`, if it has none.
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    trees = tree_model(model)
    if trees is None:
        raise TypeError(
            f"{function} does not support {type(model).__name__}; it needs a Bosquet model made of trees"
            " (gradient boosting, AdaBoost, a forest or a decision tree)"
        )
    return trees


def two_dimensional(values: np.ndarray) -> np.ndarray:
    return values[:, None] if values.ndim == 1 else values


def output_names(outputs: int, classes: Any) -> list[str] | None:
    """Return names of the outputs, or None for a single number.

    A single output of two classes is the second.
    """
    if classes is None:
        return None if outputs == 1 else [f"target {k}" for k in range(outputs)]
    if isinstance(classes, list):
        names = [f"target {t}: {name}" for t, labels in enumerate(classes) for name in labels]
    else:
        names = [str(name) for name in classes]
    if outputs == 1:
        return names[1:2]
    return names if len(names) == outputs else [f"output {k}" for k in range(outputs)]
