"""Online aggregation of experts, regret bounds, oracles, super learners and portfolios."""

from bosquet.experts._base_mixture import RangeWarning
from bosquet.experts.adahedge import AdaHedge
from bosquet.experts.boa import BOA
from bosquet.experts.ewa import ExponentialWeights
from bosquet.experts.exp3 import EXP3, EXP3IX
from bosquet.experts.exponentiated_gradient import ExponentiatedGradient
from bosquet.experts.fixed_share import FixedShare
from bosquet.experts.ftl import FollowTheLeader
from bosquet.experts.ftrl import FTRL
from bosquet.experts.losses import CustomExpertLoss
from bosquet.experts.mixture import Mixture, play
from bosquet.experts.ml_poly import MLPoly
from bosquet.experts.ml_prod import MLProd
from bosquet.experts.ogd import OnlineGradientDescent
from bosquet.experts.online import OnlineMixtureClassifier, OnlineMixtureRegressor
from bosquet.experts.oracles import Oracle, oracle
from bosquet.experts.portfolio import best_constant_rebalanced, best_stock, wealth
from bosquet.experts.regrets import OracleTable, Regret, oracle_table, regret, simple_regret
from bosquet.experts.ridge import OnlineRidge
from bosquet.experts.semi_log_optimal import SemiLogOptimal
from bosquet.experts.squint import Squint
from bosquet.experts.strategies import WealthTable, wealth_table
from bosquet.experts.super_learner import SuperLearnerClassifier, SuperLearnerRegressor
from bosquet.experts.universal_portfolio import UniversalPortfolio

__all__ = [
    "BOA",
    "EXP3",
    "EXP3IX",
    "FTRL",
    "AdaHedge",
    "CustomExpertLoss",
    "ExponentialWeights",
    "ExponentiatedGradient",
    "FixedShare",
    "FollowTheLeader",
    "MLPoly",
    "MLProd",
    "Mixture",
    "OnlineGradientDescent",
    "OnlineMixtureClassifier",
    "OnlineMixtureRegressor",
    "OnlineRidge",
    "Oracle",
    "OracleTable",
    "RangeWarning",
    "Regret",
    "SemiLogOptimal",
    "Squint",
    "SuperLearnerClassifier",
    "SuperLearnerRegressor",
    "UniversalPortfolio",
    "WealthTable",
    "best_constant_rebalanced",
    "best_stock",
    "oracle",
    "oracle_table",
    "play",
    "regret",
    "simple_regret",
    "wealth",
    "wealth_table",
]
