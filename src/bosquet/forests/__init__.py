"""Random forests and extremely randomised trees, with importances and merging of forests."""

from .forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from .importance import Importance, permutation_importance
from .merging import fit_in_parts, merge_forests

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Importance",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "fit_in_parts",
    "merge_forests",
    "permutation_importance",
]
