"""Estimators of every family with drawn parameters, on tables that they accept."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from drawn_tables import Column, Table, Weights, tables, weights
from hypothesis import reject
from hypothesis import strategies as st
from sklearn.base import clone

import bosquet
from bosquet import discriminant, glm
from bosquet.boosting.adaboost.stagewise import WorseThanChance

Estimators = st.SearchStrategy[Any]

REGRESSION_LOSSES = ("squared_error", "absolute_error", "huber", "quantile", "log_cosh")
COUNT_LOSSES = ("poisson", "gamma", "tweedie")
CLASS_LOSSES = ("log_loss", "exponential", "squared_hinge")


def fitted(model: Any, X: Any, y: Any, weight: np.ndarray | None = None, **more: Any) -> Any:
    """Return a fitted copy of the model, without warnings about small tables; RuntimeWarnings remain errors.

    Tables on which no weak learner has an edge are replaced by others.
    """
    if weight is not None:
        more["sample_weight"] = weight
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return clone(model).fit(X, y, **more)
        except WorseThanChance:
            reject()


def outputs(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Return the results of all prediction methods of the model."""
    methods = ("predict", "predict_proba", "decision_function", "apply")
    return {m: np.asarray(getattr(model, m)(X)) for m in methods if hasattr(model, m)}


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


SHARES = st.sampled_from([0.3, 0.7, 1.0])
BOOSTING = {
    "learning_rate": st.sampled_from([0.05, 0.3, 1.0]),
    "n_estimators": st.integers(1, 6),
    "max_leaf_nodes": st.integers(2, 9) | st.none(),
    "max_depth": st.integers(1, 4),
    "min_samples_leaf": st.integers(1, 5),
    "min_child_weight": st.sampled_from([0.0, 1e-3, 1.0]),
    "l2_regularization": st.sampled_from([0.0, 1.0, 7.0]),
    "min_split_gain": st.sampled_from([0.0, 0.01]),
    "max_delta_step": st.sampled_from([0.0, 0.5]),
    "subsample": SHARES,
    "sampling": st.sampled_from(["uniform", "gradient"]),
    "max_features": SHARES | st.none(),
    "growth": st.sampled_from(["best", "depth"]),
    "step": st.sampled_from(["newton", "gradient"]),
    "max_bins": st.sampled_from([4, 255]),
    "min_samples_category": st.integers(1, 4),
    "cat_smooth": st.sampled_from([0.0, 10.0]),
    "cat_l2": st.sampled_from([0.0, 1.0]),
    "random_state": st.integers(0, 3),
}
TREE = {
    "max_depth": st.integers(1, 6) | st.none(),
    "min_samples_leaf": st.integers(1, 4),
    "min_samples_split": st.integers(2, 6),
    "max_features": SHARES | st.none(),
    "max_leaf_nodes": st.integers(2, 9) | st.none(),
    "min_impurity_decrease": st.sampled_from([0.0, 0.01]),
    "ccp_alpha": st.sampled_from([0.0, 0.02]),
    "missing": st.sampled_from(["direction", "surrogate"]),
    "random_state": st.integers(0, 3),
}
FOREST = {
    "n_estimators": st.integers(1, 5),
    "max_depth": st.integers(1, 6) | st.none(),
    "min_samples_leaf": st.integers(1, 3),
    "max_features": SHARES | st.none(),
    "bootstrap": st.booleans(),
    "split": st.sampled_from(["exact", "histogram"]),
    "random_state": st.integers(0, 3),
}
VOTE = {
    "estimator": st.none() | st.builds(bosquet.DecisionTreeClassifier, max_depth=st.integers(1, 3)),
    "n_estimators": st.integers(1, 6),
    "split": st.sampled_from(["exact", "histogram"]),
    "random_state": st.integers(0, 3),
}
LEARNING_RATES = st.sampled_from([0.3, 1.0])


def boosted_numbers(losses: tuple[str, ...] = REGRESSION_LOSSES, **fixed: Any) -> Estimators:
    options = {**BOOSTING, "loss": st.sampled_from(losses), **fixed}
    return st.builds(bosquet.GradientBoostingRegressor, **options)


def boosted_classes(losses: tuple[str, ...] = CLASS_LOSSES, **fixed: Any) -> Estimators:
    options = {**BOOSTING, "loss": st.sampled_from(losses), **fixed}
    return st.builds(bosquet.GradientBoostingClassifier, **options)


def regression_tree(**fixed: Any) -> Estimators:
    criteria = st.sampled_from(["squared_error", "absolute_error"])
    return st.builds(bosquet.DecisionTreeRegressor, **{**TREE, "criterion": criteria, **fixed})


def classification_tree(**fixed: Any) -> Estimators:
    criteria = st.sampled_from(["gini", "entropy"])
    return st.builds(bosquet.DecisionTreeClassifier, **{**TREE, "criterion": criteria, **fixed})


def forest(cls: type, **fixed: Any) -> Estimators:
    return st.builds(cls, **{**FOREST, **fixed})


def adaboost(**fixed: Any) -> Estimators:
    """Native stumps work with every variant, classification trees with all but LogitBoost."""
    variants = ("discrete", "real", "gentle", "mada")
    options = {**VOTE, "learning_rate": LEARNING_RATES, **fixed}
    options.setdefault("variant", st.sampled_from(variants))
    stumps = {"variant": st.just("logit"), "estimator": st.none()}
    return st.builds(bosquet.AdaBoostClassifier, **options) | st.builds(
        bosquet.AdaBoostClassifier, **{**options, **stumps, **fixed}
    )


def _anyboost() -> Estimators:
    losses = st.sampled_from(["exponential", "logistic"])
    return st.builds(
        bosquet.AnyBoostClassifier, losses, **{**VOTE, "learning_rate": LEARNING_RATES}
    )


def _adaboost_r2() -> Estimators:
    trees = st.builds(bosquet.DecisionTreeRegressor, max_depth=st.integers(1, 3))
    options = {**VOTE, "estimator": st.none() | trees, "learning_rate": LEARNING_RATES}
    return st.builds(
        bosquet.AdaBoostRegressor,
        **options,
        loss=st.sampled_from(["linear", "square", "exponential"]),
        combine=st.sampled_from(["median", "mean"]),
    )


def _bagging(cls: type, tree: Estimators) -> Estimators:
    return st.builds(
        cls,
        tree,
        st.integers(1, 4),
        max_samples=st.sampled_from([0.5, 1.0]),
        max_features=st.sampled_from([0.5, 1.0]),
        bootstrap=st.booleans(),
        random_state=st.integers(0, 3),
    )


def complete_tables(
    rows: tuple[int, int] = (40, 80), columns: tuple[int, int] = (1, 3)
) -> st.SearchStrategy[Table]:
    """Continuous columns without missing values, for regression models."""
    smooth = st.builds(
        Column, st.just("smooth"), st.just("none"), st.sampled_from(["float64", "float32"])
    )
    drawn = st.lists(smooth, min_size=columns[0], max_size=columns[1]).map(tuple)
    containers = st.sampled_from(["array", "frame"])
    return st.builds(Table, st.integers(*rows), drawn, st.integers(0, 2**32 - 1), containers)


@dataclass(frozen=True)
class Kind:
    """A family of estimators: its drawn members, the kind of their target, tables that they accept."""

    members: Estimators
    target: str
    tables: st.SearchStrategy[Table]
    takes_weights: bool = True


@dataclass(frozen=True)
class Case:
    """A model to fit, with its table and weights; printed when a property fails."""

    model: Any
    table: Table
    target: str
    weights: Weights

    @property
    def y(self) -> np.ndarray:
        return self.table.target(self.target)

    @property
    def weight(self) -> np.ndarray | None:
        return self.weights.or_none(self.table.rows)

    def fitted(self, **options: Any) -> Any:
        """The model, with other options."""
        model = clone(self.model).set_params(**options)
        return fitted(model, self.table.X, self.y, self.weight)


TABLES = tables()
REGRESSIONS = complete_tables()
FEW_TREES = {"max_depth": st.integers(1, 4)}

KINDS = {
    "gradient boosting, numbers": Kind(boosted_numbers(), "numbers", TABLES),
    "gradient boosting, counts": Kind(boosted_numbers(COUNT_LOSSES), "counts", TABLES),
    "gradient boosting, two classes": Kind(boosted_classes(), "two", TABLES),
    "gradient boosting, three classes": Kind(boosted_classes(("log_loss",)), "three", TABLES),
    "gradient boosting, runs": Kind(boosted_numbers(n_runs=st.just(2)), "numbers", TABLES),
    "tree, numbers": Kind(regression_tree(), "numbers", TABLES),
    "tree, classes": Kind(classification_tree(), "three", TABLES),
    "random forest, numbers": Kind(forest(bosquet.RandomForestRegressor), "numbers", TABLES),
    "random forest, classes": Kind(forest(bosquet.RandomForestClassifier), "three", TABLES),
    "extra trees, numbers": Kind(forest(bosquet.ExtraTreesRegressor), "numbers", TABLES),
    "extra trees, classes": Kind(
        forest(bosquet.ExtraTreesClassifier, voting=st.sampled_from(["soft", "hard"])),
        "two",
        TABLES,
    ),
    "AdaBoost, two classes": Kind(adaboost(), "two", TABLES),
    "AdaBoost, three classes": Kind(
        adaboost(
            variant=st.just("discrete"), multiclass=st.sampled_from(["samme", "mh", "one-vs-rest"])
        ),
        "three",
        TABLES,
    ),
    "AnyBoost": Kind(_anyboost(), "two", TABLES),
    "BrownBoost": Kind(
        st.builds(bosquet.BrownBoostClassifier, c=st.sampled_from([0.5, 2.0]), **VOTE),
        "two",
        TABLES,
    ),
    "LPBoost": Kind(
        st.builds(bosquet.LPBoostClassifier, nu=st.sampled_from([0.2, 0.5]), **VOTE),
        "two",
        TABLES,
    ),
    "AdaBoost.R2": Kind(_adaboost_r2(), "numbers", TABLES),
    "bagging, numbers": Kind(
        _bagging(bosquet.BaggingRegressor, regression_tree(**FEW_TREES)), "numbers", TABLES
    ),
    "bagging, classes": Kind(
        _bagging(bosquet.BaggingClassifier, classification_tree(**FEW_TREES)), "three", TABLES
    ),
    "binomial regression": Kind(
        st.builds(glm.BinomialRegression, link=st.sampled_from(["logit", "probit", "cloglog"])),
        "two",
        REGRESSIONS,
    ),
    "multinomial regression": Kind(
        st.builds(glm.MultinomialRegression), "three", REGRESSIONS, takes_weights=False
    ),
    "Poisson regression": Kind(st.builds(glm.PoissonRegression), "counts", REGRESSIONS),
    "linear model": Kind(
        st.builds(glm.LinearModel, fit_intercept=st.booleans()), "numbers", REGRESSIONS
    ),
    "discriminant": Kind(
        st.builds(discriminant.DensityDiscriminant), "two", REGRESSIONS, takes_weights=False
    ),
    "mixture": Kind(
        st.builds(
            bosquet.Mixture,
            st.sampled_from(["boa", "ml-poly", "ewa", "ftrl", "squint", "fixed-share"]),
            loss_range=st.just(10.0),
        ),
        "numbers",
        REGRESSIONS,
        takes_weights=False,
    ),
}
WITH_STAGES = [
    name for name in KINDS if name.startswith(("gradient", "Ada", "Any", "Brown", "LP", "bagging"))
]
OF_TREES = [
    name
    for name in KINDS
    if name.startswith(("gradient", "tree", "random", "extra", "Ada", "Any", "Brown", "LP", "bag"))
    and name != "AdaBoost.R2"
]


@st.composite
def cases(draw: st.DrawFn, name: str) -> Case:
    """A case of one kind of `KINDS`."""
    kind = KINDS[name]
    drawn = draw(weights("ones", "halves")) if kind.takes_weights else Weights("ones")
    return Case(draw(kind.members), draw(kind.tables), kind.target, drawn)
