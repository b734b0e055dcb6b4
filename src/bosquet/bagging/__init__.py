"""Bagging, voting ensembles, and the gain of an ensemble over its members."""

from bosquet.bagging.bagged import BaggingClassifier, BaggingRegressor
from bosquet.bagging.bootstrap import distinct_samples, probability_drawn
from bosquet.bagging.diversity import Ambiguity, ambiguity
from bosquet.bagging.param_grid_voting import vote_over_grid
from bosquet.bagging.voting import VotingClassifier, VotingRegressor

__all__ = [
    "Ambiguity",
    "BaggingClassifier",
    "BaggingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "ambiguity",
    "distinct_samples",
    "probability_drawn",
    "vote_over_grid",
]
