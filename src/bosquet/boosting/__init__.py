"""Boosting: terms added one after the other, each fitted to what is left to do."""

from bosquet.boosting._progress import RoundInfo
from bosquet.boosting.adaboost import AdaBoostClassifier
from bosquet.boosting.anyboost import AnyBoostClassifier
from bosquet.boosting.certificate import Certificate
from bosquet.boosting.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.boosting.predictor import Predictor

__all__ = [
    "AdaBoostClassifier",
    "AnyBoostClassifier",
    "Certificate",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Predictor",
    "RoundInfo",
]
