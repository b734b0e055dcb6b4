"""The methods of a study, with their candidates, properties and ways of tuning; one module per family."""

from __future__ import annotations

from bosquet.study.methods import (
    adaboost,
    cart,
    constant,
    discriminant,
    forests,
    gradient,
    linear,
    logistic,
    neighbours,
    networks,
    polynomial,
    rare,
    super_learner,
    svm,
)
from bosquet.study.methods.method import Method

__all__ = ["METHODS"]

# In the order of presentation, simple methods first.
METHODS: dict[str, Method] = {
    method.name: method
    for family in (
        constant,
        neighbours,
        discriminant,
        logistic,
        linear,
        polynomial,
        cart,
        networks,
        svm,
        forests,
        adaboost,
        gradient,
        super_learner,
        rare,
    )
    for method in family.METHODS
}
