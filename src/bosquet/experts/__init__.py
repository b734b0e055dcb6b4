"""Aggregation of experts: rules that weigh them, and what they guarantee (docs/experts.md)."""

from bosquet.experts._game import RangeWarning
from bosquet.experts.adahedge import AdaHedge
from bosquet.experts.boa import BOA
from bosquet.experts.ewa import ExponentialWeights
from bosquet.experts.exp3 import EXP3, EXP3IX
from bosquet.experts.fixed_share import FixedShare
from bosquet.experts.ftl import FollowTheLeader
from bosquet.experts.ftrl import FTRL
from bosquet.experts.losses import UserLoss
from bosquet.experts.mixture import Mixture, play
from bosquet.experts.ml_poly import MLPoly
from bosquet.experts.ml_prod import MLProd
from bosquet.experts.ogd import GradientDescent
from bosquet.experts.ridge import OnlineRidge
from bosquet.experts.squint import Squint

__all__ = [
    "BOA",
    "EXP3",
    "EXP3IX",
    "FTRL",
    "AdaHedge",
    "ExponentialWeights",
    "FixedShare",
    "FollowTheLeader",
    "GradientDescent",
    "MLPoly",
    "MLProd",
    "Mixture",
    "OnlineRidge",
    "RangeWarning",
    "Squint",
    "UserLoss",
    "play",
]
