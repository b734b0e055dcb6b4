"""Boosting: terms added one after the other, each fitted to what is left to do."""

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
