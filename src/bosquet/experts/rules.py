"""All aggregation rules by name."""

from __future__ import annotations

from typing import Any

from bosquet.experts._rule import ExpertRule
from bosquet.experts.adahedge import AdaHedge
from bosquet.experts.boa import BOA
from bosquet.experts.ewa import ExponentialWeights
from bosquet.experts.exp3 import EXP3, EXP3IX
from bosquet.experts.fixed_share import FixedShare
from bosquet.experts.ftl import FollowTheLeader
from bosquet.experts.ftrl import FTRL
from bosquet.experts.ml_poly import MLPoly
from bosquet.experts.ml_prod import MLProd
from bosquet.experts.ogd import OnlineGradientDescent
from bosquet.experts.ridge import OnlineRidge
from bosquet.experts.squint import Squint

RULES: dict[str, type[ExpertRule]] = {
    rule.name: rule
    for rule in (
        ExponentialWeights,
        AdaHedge,
        Squint,
        FixedShare,
        MLPoly,
        MLProd,
        BOA,
        OnlineRidge,
        OnlineGradientDescent,
        FTRL,
        EXP3,
        EXP3IX,
        FollowTheLeader,
    )
}


def as_rule(value: Any) -> ExpertRule:
    """Return the rule with a name; a rule is returned unchanged."""
    if isinstance(value, ExpertRule):
        return value
    if isinstance(value, str) and value in RULES:
        return RULES[value]()
    raise ValueError(
        f"rule={value!r} is not valid: rule must be one of {', '.join(map(repr, RULES))}, or a rule"
        " object such as ExponentialWeights(learning_rate=0.1)"
    )
