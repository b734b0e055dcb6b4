"""Ensembles that learn fast and show their work.

>>> from bosquet import GradientBoostingClassifier
>>> model = GradientBoostingClassifier(n_estimators=20, min_samples_leaf=1)
>>> model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]).predict([[0.2], [2.9]])
array(['a', 'b'], dtype='<U1')
"""

from typing import Any

from bosquet._core import ModelFileError

__version__ = "0.1.0"

# Names are looked up when first used, so that importing bosquet costs no more than what is used.
_HOME = {
    "BaggingClassifier": "bosquet.bagging",
    "BaggingRegressor": "bosquet.bagging",
    "CalibratedModel": "bosquet.trust",
    "ConformalModel": "bosquet.trust",
    "DecisionTreeClassifier": "bosquet.trees",
    "DecisionTreeRegressor": "bosquet.trees",
    "ExtraTreesClassifier": "bosquet.forests",
    "ExtraTreesRegressor": "bosquet.forests",
    "GradientBoostingClassifier": "bosquet.boosting",
    "GradientBoostingRegressor": "bosquet.boosting",
    "RandomForestClassifier": "bosquet.forests",
    "RandomForestRegressor": "bosquet.forests",
    "VotingClassifier": "bosquet.bagging",
    "VotingRegressor": "bosquet.bagging",
    "load": "bosquet.io",
}

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "CalibratedModel",
    "ConformalModel",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ModelFileError",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "__version__",
    "load",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        import importlib

        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'bosquet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
