"""Explanations of fitted models: Shapley values, feature importance, dependence curves, counterfactuals.

>>> from sklearn.datasets import load_breast_cancer
>>> from bosquet import GradientBoostingClassifier
>>> from bosquet.explain import importance
>>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
>>> model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X, y)
>>> model.explain(X[:5])
Explanation of 5 rows by 30 features
>>> len(importance(model, X, kind="shap").ranking())
30
"""

from bosquet.explain._curves import Dependence
from bosquet.explain.accumulated_local_effects import accumulated_local_effects
from bosquet.explain.counterfactual import Counterfactual, counterfactual
from bosquet.explain.dependence import (
    individual_conditional_expectation,
    partial_dependence,
)
from bosquet.explain.explanation import Explanation
from bosquet.explain.importance import Importance, importance
from bosquet.explain.interactions import InteractionStrength, interaction_strength
from bosquet.explain.shapes import ShapeFunctions, shape_functions
from bosquet.explain.shapley import explain
from bosquet.explain.surrogate import Surrogate, surrogate_tree

__all__ = [
    "Counterfactual",
    "Dependence",
    "Explanation",
    "Importance",
    "InteractionStrength",
    "ShapeFunctions",
    "Surrogate",
    "accumulated_local_effects",
    "counterfactual",
    "explain",
    "importance",
    "individual_conditional_expectation",
    "interaction_strength",
    "partial_dependence",
    "shape_functions",
    "surrogate_tree",
]
