"""Quantities of learning theory: bias and variance, Bayes error, excess risk, weak learnability, bounds.

All functions use models through ``fit`` and ``predict`` only, so that they work with scikit-learn's
estimators and with Bosquet's. Results are small records that print as a table with their formula.

>>> from bosquet.datasets import Pieces
>>> from bosquet.theory import weak_learnability
>>> print(f"{12 * weak_learnability('stumps', Pieces(), random_state=0).gamma:.3f} / 12")
1.000 / 12
"""

from bosquet.bagging import distinct_samples, probability_drawn
from bosquet.theory.bayes_error import BayesError, bayes_error
from bosquet.theory.bias_variance import BiasVariance, bias_variance
from bosquet.theory.excess_risk import ExcessRisk, RiskParts, excess_risk
from bosquet.theory.games import Game, MaximalMargin, game_value, maximal_margin
from bosquet.theory.model_certificates import certificate
from bosquet.theory.neighbours import SimpleRules, cover_hart_bound, log_neighbours, simple_rules
from bosquet.theory.polynomial_degree import DegreeChoice, polynomial_degree
from bosquet.theory.rademacher import Rademacher, rademacher
from bosquet.theory.sample_sizes import (
    Bound,
    NoFreeLunch,
    least_sample_size,
    no_free_lunch,
    sample_size,
    sauer_bound,
    uniform_deviation,
)
from bosquet.theory.selection_optimism import SelectionOptimism, selection_optimism
from bosquet.theory.svm_margin import SVMMargin, svm_margin
from bosquet.theory.vc import (
    StumpVote,
    pieces_as_vote,
    vc_dim_of_stumps,
    vc_dim_of_trees,
    vc_dim_of_votes,
)
from bosquet.theory.vote_ambiguity import (
    Ambiguity,
    VoteAmbiguity,
    ambiguity,
    predictions_of,
    vote_ambiguity,
)
from bosquet.theory.weak_learnability import WeakLearnability, weak_learnability

__all__ = [
    "Ambiguity",
    "BayesError",
    "BiasVariance",
    "Bound",
    "DegreeChoice",
    "ExcessRisk",
    "Game",
    "MaximalMargin",
    "NoFreeLunch",
    "Rademacher",
    "RiskParts",
    "SVMMargin",
    "SelectionOptimism",
    "SimpleRules",
    "StumpVote",
    "VoteAmbiguity",
    "WeakLearnability",
    "ambiguity",
    "bayes_error",
    "bias_variance",
    "certificate",
    "cover_hart_bound",
    "distinct_samples",
    "excess_risk",
    "game_value",
    "least_sample_size",
    "log_neighbours",
    "maximal_margin",
    "no_free_lunch",
    "pieces_as_vote",
    "polynomial_degree",
    "predictions_of",
    "probability_drawn",
    "rademacher",
    "sample_size",
    "sauer_bound",
    "selection_optimism",
    "simple_rules",
    "svm_margin",
    "uniform_deviation",
    "vc_dim_of_stumps",
    "vc_dim_of_trees",
    "vc_dim_of_votes",
    "vote_ambiguity",
    "weak_learnability",
]
