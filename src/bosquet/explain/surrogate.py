"""One small tree that says nearly what a large model says, and how nearly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import BaseEstimator, check_is_fitted, check_random_state
from bosquet.explain._tables import row_count, take
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor


@dataclass(repr=False)
class Surrogate:
    """A readable tree in place of a model.

    Attributes
    ----------
    tree : the fitted tree, with `export_text()`, `plot()` and the rest
    fidelity : on rows that the tree did not see, the share on which it says the model's class, or R² with the
        model's predictions
    fidelity_seen : the same on the rows that it was fitted to
    accuracy : its own score against the truth on the unseen rows, if y was given
    model_accuracy : the model's score there
    """

    tree: Any
    fidelity: float
    fidelity_seen: float
    accuracy: float | None = None
    model_accuracy: float | None = None

    def __repr__(self) -> str:
        told = (
            f"Surrogate: a tree of {self.tree.get_n_leaves()} leaves, fidelity {self.fidelity:.3f}"
        )
        if self.accuracy is None:
            return told
        return f"{told}, score {self.accuracy:.3f} (the model's {self.model_accuracy:.3f})"

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
    """A pruned tree that imitates a model, with its fidelity.

    The tree is grown on the model's predictions in place of the truth, and cut back by cross-validation. What
    it cannot say in a few leaves is lost; `fidelity` tells how much.

    Parameters
    ----------
    model : a fitted classifier or regressor
    X : rows that look like those it is used on
    y : their targets, optional, to see what the tree itself is worth
    max_leaf_nodes : int, default=16
        How many leaves one is willing to read.
    validation_fraction : float, default=0.25
        Share of the rows on which fidelity is measured.
    random_state : int
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
    held = int(np.ceil(validation_fraction * rows))
    if not 0 < validation_fraction < 1 or rows - held < 2:
        raise ValueError(
            f"validation_fraction={validation_fraction!r} must leave rows on both sides of {rows}"
        )
    order = check_random_state(random_state).permutation(rows)
    unseen, seen = np.sort(order[:held]), np.sort(order[held:])
    said = np.asarray(model.predict(X))
    if said.ndim != 1:
        raise ValueError("a surrogate tree imitates a model of one target")
    classes = hasattr(model, "classes_")
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    if classes and np.unique(said[seen]).size < 2:
        raise ValueError(
            f"the model says {said[seen][0]!r} of every row: there is nothing to imitate"
        )
    settings = {"pruning": "cv", "pruning_rule": "min", **options}
    if classes and np.unique(said[seen], return_counts=True)[1].min() < 10:
        settings.update(pruning=options.get("pruning"))  # folds need each class
    tree = kind(max_leaf_nodes=max_leaf_nodes, random_state=random_state, **settings)
    tree.fit(take(X, seen), said[seen])
    found = Surrogate(
        tree,
        float(tree.score(take(X, unseen), said[unseen])),
        float(tree.score(take(X, seen), said[seen])),
    )
    if y is not None:
        truth = np.asarray(y)[unseen]
        found.accuracy = float(tree.score(take(X, unseen), truth))
        found.model_accuracy = float(model.score(take(X, unseen), truth))
    return found
