"""Exact Shapley values of a model made of trees, or of an average of such models."""

from __future__ import annotations

from typing import Any

from bosquet.explain.averages import explain_average, weighted_members
from bosquet.explain.explanation import Explanation, explain_trees


def explain(model: Any, X: Any, background: Any = None, interactions: bool = False) -> Explanation:
    """Compute exact Shapley (SHAP) values of a model made of trees.

    Parameters
    ----------
    model : fitted model
        Boosted trees, AdaBoost, a forest, a decision tree, or bagging or voting of these. The result is that
        of ``model.explain(X)``.
    X : table of shape (n_samples, n_features)
        The rows to explain, with the same columns as the training data.
    background : table of shape (n_rows, n_features), default=None
        Rows whose values replace those of a feature that is left out (interventional Shapley values). None:
        both branches of its splits, weighted by their proportions of training rows (path-dependent Shapley
        values).
    interactions : bool, default=False
        Whether to compute interaction values too: an (n_features, n_features) matrix for each row.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import RandomForestRegressor
    >>> from bosquet.explain import explain
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> found = explain(forest, X[:5])
    >>> found.values.shape, f"{found.base:.0f}"
    ((5, 10), '153')
    """
    members = weighted_members(model)
    if members is None:
        return explain_trees(model, X, background, bool(interactions))
    return explain_average(model, members, X, background, bool(interactions))
