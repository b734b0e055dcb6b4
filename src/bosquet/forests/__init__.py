"""Random forests and extremely randomised trees, with importances and merging of forests."""

from .forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from .importance import ForestImportance, permutation_importance
from .merging import fit_in_parts, merge_forests

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ForestImportance",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "fit_in_parts",
    "merge_forests",
    "permutation_importance",
]
