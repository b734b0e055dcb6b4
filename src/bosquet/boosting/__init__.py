"""Boosting: gradient boosting (`gradient`) and boosting by reweighting (`adaboost`)."""

from typing import TYPE_CHECKING

from bosquet._lazy import lazy_getattr

if TYPE_CHECKING:
    from bosquet.boosting.adaboost.anyboost import AnyBoostClassifier
    from bosquet.boosting.adaboost.brownboost import BrownBoostClassifier
    from bosquet.boosting.adaboost.certificate import Certificate
    from bosquet.boosting.adaboost.classifier import AdaBoostClassifier
    from bosquet.boosting.adaboost.lpboost import LPBoostClassifier
    from bosquet.boosting.adaboost.regressor import AdaBoostRegressor
    from bosquet.boosting.adaboost.stagewise import WorseThanChance
    from bosquet.boosting.gradient.estimators import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
    )
    from bosquet.boosting.gradient.predictor import Predictor
    from bosquet.boosting.outliers import outlier_scores
    from bosquet.boosting.rounds import RoundInfo

_HOME = {
    "AdaBoostClassifier": "bosquet.boosting.adaboost.classifier",
    "AdaBoostRegressor": "bosquet.boosting.adaboost.regressor",
    "AnyBoostClassifier": "bosquet.boosting.adaboost.anyboost",
    "BrownBoostClassifier": "bosquet.boosting.adaboost.brownboost",
    "Certificate": "bosquet.boosting.adaboost.certificate",
    "GradientBoostingClassifier": "bosquet.boosting.gradient.estimators",
    "GradientBoostingRegressor": "bosquet.boosting.gradient.estimators",
    "LPBoostClassifier": "bosquet.boosting.adaboost.lpboost",
    "Predictor": "bosquet.boosting.gradient.predictor",
    "RoundInfo": "bosquet.boosting.rounds",
    "WorseThanChance": "bosquet.boosting.adaboost.stagewise",
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

__getattr__ = lazy_getattr(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
