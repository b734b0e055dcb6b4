"""Exact Shapley values of a model made of trees, or of an average of such models."""

from __future__ import annotations

from typing import Any

from bosquet.explain.averages import explain_average, weighted_members
from bosquet.explain.explanation import Explanation, explain_trees


def explain(model: Any, X: Any, background: Any = None, interactions: bool = False) -> Explanation:
    """Exact Shapley values of a model made of trees; parameters as in `model.explain`."""
    members = weighted_members(model)
    if members is None:
        return explain_trees(model, X, background, bool(interactions))
    return explain_average(model, members, X, background, bool(interactions))
