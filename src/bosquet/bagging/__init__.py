"""Bagging, voting ensembles, and the gain of an ensemble over its members."""

from bosquet.bagging.bagged import BaggingClassifier, BaggingRegressor
from bosquet.bagging.bootstrap import distinct_samples, probability_drawn
from bosquet.bagging.diversity import Ambiguity, ambiguity
from bosquet.bagging.settings import over_settings
from bosquet.bagging.voting import VotingClassifier, VotingRegressor

__all__ = [
    "Ambiguity",
    "BaggingClassifier",
    "BaggingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "ambiguity",
    "distinct_samples",
    "over_settings",
    "probability_drawn",
]
