"""Fits and predictions on Dask clusters, with the bits of a fit on one machine.

The package needs `dask` and `distributed` (``pip install "bosquet[dask]"``).
"""

from bosquet.dask.estimators import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.dask.predictions import predict, predict_proba

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "predict",
    "predict_proba",
]
