"""Surrogate trees: a small tree that approximates a large model, with its fidelity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import BaseEstimator, check_is_fitted, check_random_state
from bosquet.explain._tables import row_count, select_rows
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor


@dataclass(repr=False)
class Surrogate:
    """A readable tree that approximates a model.

    Attributes
    ----------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        The fitted tree, with `export_text()`, `plot()` and the other methods.
    fidelity : float
        Agreement of the tree with the model on the validation set: accuracy, or R² for a regressor, with
        the model's predictions as targets.
    fidelity_seen : float
        Agreement on the training set of the tree.
    accuracy, model_accuracy : float or None
        Scores of the tree and of the model on the validation set, if y was passed.
    """

    tree: Any
    fidelity: float
    fidelity_seen: float
    accuracy: float | None = None
    model_accuracy: float | None = None

    def __repr__(self) -> str:
        text = (
            f"Surrogate: a tree of {self.tree.get_n_leaves()} leaves, fidelity {self.fidelity:.3f}"
        )
        if self.accuracy is None:
            return text
        return f"{text}, score {self.accuracy:.3f} (model: {self.model_accuracy:.3f})"

    def __str__(self) -> str:
        return f"{self!r}\n{self.tree.export_text()}"


def surrogate_tree(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    max_leaf_nodes: int = 16,
    validation_fraction: float = 0.25,
    random_state: int = 0,
    **options: Any,
) -> Surrogate:
    """Fit a pruned tree that approximates a model, and measure its fidelity.

    The tree is fitted to the predictions of the model instead of the targets, and pruned by
    cross-validation. `fidelity` measures how well its few leaves reproduce the model.

    Parameters
    ----------
    model : a fitted classifier or regressor
    X : table of shape (n_samples, n_features)
        Rows from the distribution on which the model is used.
    y : array of shape (n_samples,), optional
        Targets, to compute the scores of the tree and of the model.
    max_leaf_nodes : int, default=16
        Maximum number of leaves.
    validation_fraction : float, default=0.25
        Fraction of the rows in the validation set, on which fidelity is measured.
    random_state : int, default=0
    **options : other parameters of the decision tree

    Returns
    -------
    Surrogate

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet import RandomForestClassifier
    >>> from bosquet.explain import surrogate_tree
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> found = surrogate_tree(forest, X, max_leaf_nodes=4)
    >>> found
    Surrogate: a tree of 4 leaves, fidelity ...
    >>> found.fidelity > 0.9
    True
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    rows = row_count(X)
    n_validation = int(np.ceil(validation_fraction * rows))
    if not 0 < validation_fraction < 1 or rows - n_validation < 2:
        raise ValueError(
            f"validation_fraction={validation_fraction!r} is not valid: validation_fraction must be in"
            f" (0, 1) and leave at least 2 of the {rows} rows for training"
        )
    order = check_random_state(random_state).permutation(rows)
    validation, training = np.sort(order[:n_validation]), np.sort(order[n_validation:])
    predictions = np.asarray(model.predict(X))
    if predictions.ndim != 1:
        raise ValueError(
            f"the model predicts {predictions.shape[1]} targets; a surrogate tree supports one target"
        )
    is_classifier = hasattr(model, "classes_")
    kind = DecisionTreeClassifier if is_classifier else DecisionTreeRegressor
    if is_classifier and np.unique(predictions[training]).size < 2:
        label = predictions[training].tolist()[0]
        raise ValueError(
            f"the model predicts {label!r} for every row; pass rows for which it predicts two or more classes"
        )
    settings = {"pruning": "cv", "pruning_rule": "min", **options}
    if is_classifier and np.unique(predictions[training], return_counts=True)[1].min() < 10:
        settings.update(pruning=options.get("pruning"))  # each fold needs rows of every class
    tree = kind(max_leaf_nodes=max_leaf_nodes, random_state=random_state, **settings)
    tree.fit(select_rows(X, training), predictions[training])
    surrogate = Surrogate(
        tree,
        float(tree.score(select_rows(X, validation), predictions[validation])),
        float(tree.score(select_rows(X, training), predictions[training])),
    )
    if y is not None:
        y_validation = np.asarray(y)[validation]
        surrogate.accuracy = float(tree.score(select_rows(X, validation), y_validation))
        surrogate.model_accuracy = float(model.score(select_rows(X, validation), y_validation))
    return surrogate
