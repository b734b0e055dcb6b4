"""Boosting: terms added one after the other, each fitted to what is left to do."""

from typing import TYPE_CHECKING

from bosquet._lazy import looked_up

if TYPE_CHECKING:
    from bosquet.boosting._progress import RoundInfo
    from bosquet.boosting._stagewise import WorseThanChance
    from bosquet.boosting.adaboost import AdaBoostClassifier
    from bosquet.boosting.adaboost_r2 import AdaBoostRegressor
    from bosquet.boosting.anyboost import AnyBoostClassifier
    from bosquet.boosting.brownboost import BrownBoostClassifier
    from bosquet.boosting.certificate import Certificate
    from bosquet.boosting.gradient import GradientBoostingClassifier, GradientBoostingRegressor
    from bosquet.boosting.lpboost import LPBoostClassifier
    from bosquet.boosting.outliers import outlier_scores
    from bosquet.boosting.predictor import Predictor

_HOME = {
    "AdaBoostClassifier": "bosquet.boosting.adaboost",
    "AdaBoostRegressor": "bosquet.boosting.adaboost_r2",
    "AnyBoostClassifier": "bosquet.boosting.anyboost",
    "BrownBoostClassifier": "bosquet.boosting.brownboost",
    "Certificate": "bosquet.boosting.certificate",
    "GradientBoostingClassifier": "bosquet.boosting.gradient",
    "GradientBoostingRegressor": "bosquet.boosting.gradient",
    "LPBoostClassifier": "bosquet.boosting.lpboost",
    "Predictor": "bosquet.boosting.predictor",
    "RoundInfo": "bosquet.boosting._progress",
    "WorseThanChance": "bosquet.boosting._stagewise",
    "outlier_scores": "bosquet.boosting.outliers",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AnyBoostClassifier",
    "BrownBoostClassifier",
    "Certificate",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LPBoostClassifier",
    "Predictor",
    "RoundInfo",
    "WorseThanChance",
    "outlier_scores",
]

__getattr__ = looked_up(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
