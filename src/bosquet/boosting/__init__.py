"""Boosting: terms added one after the other, each fitted to what is left to do."""

from bosquet.boosting._progress import RoundInfo
from bosquet.boosting.adaboost import AdaBoostClassifier
from bosquet.boosting.anyboost import AnyBoostClassifier
from bosquet.boosting.gradient import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.boosting.predictor import Predictor

__all__ = [
    "AdaBoostClassifier",
    "AnyBoostClassifier",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Predictor",
    "RoundInfo",
]
