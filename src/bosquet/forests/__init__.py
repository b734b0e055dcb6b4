"""Random forests, extremely randomised trees, and what they know besides predictions."""

from .forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from .importance import Importance, permutation_importance

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Importance",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "permutation_importance",
]
