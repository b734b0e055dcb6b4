"""The core and its reference implementations on drawn tables and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_fit import assert_same_tree, fit_core, probe_rows
from drawn_models import complete_tables, fitted
from drawn_tables import LEVELS, Table, Weights, on_drawn_examples, tables, weights
from hypothesis import assume
from hypothesis import strategies as st
from same_trees import trees_of

import bosquet
from bosquet.reference import adaboost as reference_adaboost
from bosquet.reference import bagging as reference_bagging
from bosquet.reference import cart as reference_cart
from bosquet.reference import experts as reference_experts
from bosquet.reference import forest as reference_forest
from bosquet.reference import glm as reference_glm
from bosquet.reference import stumps
from bosquet.reference.binning import bin_table
from bosquet.reference.gradient_boosting import BoostOptions, boost
from bosquet.reference.gradient_trees import TreeOptions
from bosquet.reference.losses import loss_named
from bosquet.reference.shapley import path_dependent_game, shapley_values
from bosquet.reference.stump_boosting import boost as boost_stumps
from bosquet.reference.stump_boosting import distribution, working_response

SMALL = (8, 40)
GROWING = st.fixed_dictionaries(
    {
        "max_leaf_nodes": st.integers(1, 9),
        "max_depth": st.integers(0, 4),
        "depth_wise": st.booleans(),
        "min_samples_leaf": st.integers(0, 6),
        "min_child_weight": st.sampled_from([0.0, 1e-3, 2.0]),
        "l2_regularization": st.sampled_from([0.0, 1.0, 5.0]),
        "min_split_gain": st.sampled_from([0.0, 0.05]),
        "max_delta_step": st.sampled_from([0.0, 0.4]),
        "category_smoothing": st.sampled_from([0.0, 10.0]),
        "category_l2": st.sampled_from([0.0, 2.0]),
        "max_category_threshold": st.integers(1, 4),
        "min_samples_category": st.integers(0, 5),
        "features_by_tree": st.sampled_from([0.5, 1.0]),
        "features_by_level": st.sampled_from([0.5, 1.0]),
        "features_by_node": st.sampled_from([0.5, 1.0]),
    }
)


def categories_of(table: Table) -> list[int]:
    """Return the number of levels of each column, 0 for numeric columns."""
    return [len(LEVELS) if column.kind == "category" else 0 for column in table.columns]


def nominal_columns(table: Table) -> tuple[int, ...]:
    return tuple(np.flatnonzero(categories_of(table)).tolist())


@on_drawn_examples(
    60,
    table=tables(SMALL),
    growing=GROWING,
    weight=weights(),
    directions=st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4),
    seed=st.integers(0, 9),
    subsample=st.sampled_from([1.0, 0.6]),
    newton=st.booleans(),
)
def test_rounds_of_squared_error_are_those_of_the_reference(
    table: Table,
    growing: dict[str, Any],
    weight: Weights,
    directions: list[int],
    seed: int,
    subsample: float,
    newton: bool,
) -> None:
    """Two rounds: the gradients of the second are residuals with all digits."""
    x, y, w = table.cells, table.numbers, weight.or_none(table.rows)
    categories = categories_of(table)
    monotone = [
        0 if levels else direction
        for levels, direction in zip(categories, directions, strict=False)
    ]
    growing = {**growing, "monotone": monotone if any(monotone) else []}
    rounds = {"learning_rate": 0.5, "seed": seed, "subsample": subsample, "newton": newton}
    binned = bin_table(x, categories, w)
    trees, raw = boost(
        binned,
        y,
        loss_named("squared_error", 0.0),
        2,
        BoostOptions(TreeOptions(**growing), **rounds),
        weight=w,
        start=np.zeros_like(y),
    )
    core = fit_core(x, y, rounds=2, weight=w, categories=categories, **growing, **rounds)
    probes = probe_rows(x, np.random.default_rng(table.seed), 50)
    for number, tree in enumerate(trees):
        assert_same_tree(core, number, tree, binned, x, probes)
    np.testing.assert_allclose(core.raw[0], raw, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------------------------------ trees
def leaf_means(node: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the weighted mean of y in the leaf of each training row."""
    means = np.empty(len(y))
    waiting = [node]
    while waiting:
        at = waiting.pop()
        means[at.rows] = np.average(y[at.rows], weights=w[at.rows])
        waiting += at.children
    return means


def disorder_of(values: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    return float(np.sum(w * (y - values) ** 2))


@on_drawn_examples(
    60,
    table=tables(SMALL, missing=("none",)),
    weight=weights(),
    min_samples_leaf=st.integers(1, 5),
)
def test_a_split_of_a_regression_tree_is_as_good_as_the_best_of_the_reference(
    table: Table, weight: Weights, min_samples_leaf: int
) -> None:
    """One split, for which ties do not matter: the squared error is the smallest possible."""
    w, y = weight.of(table.rows), table.numbers
    nominal = nominal_columns(table)
    if (
        nominal
    ):  # the best grouping is a cut of the levels by their means only if every cut is admissible
        min_samples_leaf = 1
    options = {"min_samples_leaf": min_samples_leaf, "max_depth": 1}
    model = fitted(bosquet.DecisionTreeRegressor(**options), table.X, y, w)
    reference = reference_cart.grow(table.cells, y, w, nominal=nominal, **options)
    expected = disorder_of(leaf_means(reference, table.cells, y, w), y, w)
    found = disorder_of(model.predict(table.X), y, w)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.sum(w * y**2))


@on_drawn_examples(
    40, table=tables(SMALL, missing=("none",), categories=False), weight=weights("ones", "halves")
)
def test_a_full_regression_tree_is_that_of_the_reference_up_to_ties(
    table: Table, weight: Weights
) -> None:
    w, y = weight.of(table.rows), table.numbers
    model = fitted(bosquet.DecisionTreeRegressor(), table.X, y, w)
    reference = reference_cart.grow(table.cells, y, w)
    (tree,) = trees_of(model)
    waiting = [(0, reference)]
    while waiting:
        at, node = waiting.pop()
        if node.feature is None or tree["left"][at] <= 0:
            assert (node.feature is None) == (tree["left"][at] <= 0)
            continue
        if (tree["feature"][at], tree["threshold"][at]) != (node.feature, node.threshold):
            left = table.cells[node.rows, tree["feature"][at]] <= tree["threshold"][at]
            sides = node.rows[left], node.rows[~left]
            after = sum(reference_cart.inertia(y[side], w[side]) for side in sides)
            best = sum(child.impurity for child in node.children)
            assert after <= best + 1e-9 * node.impurity, "a worse split than that of the reference"
            continue
        waiting += zip((tree["left"][at], tree["right"][at]), node.children, strict=True)


@pytest.mark.parametrize("cls", [bosquet.RandomForestClassifier, bosquet.ExtraTreesClassifier])
@on_drawn_examples(
    12,
    table=tables((10, 40), (2, 5), missing=("none",), categories=False),
    features=st.integers(1, 5),
    bootstrap=st.booleans(),
    seed=st.integers(0, 99),
)
def test_forests_of_two_classes_are_those_of_the_reference(
    cls: Any, table: Table, features: int, bootstrap: bool, seed: int
) -> None:
    """Sums of integers are exact, so that both implementations have the same ties."""
    X, y = table.cells, np.unique(table.labels(), return_inverse=True)[1]
    features = min(features, X.shape[1])
    model = cls(
        3, max_features=features, bootstrap=bootstrap, split="exact", random_state=seed, n_jobs=1
    )
    model = fitted(model, X, y)
    votes = []
    for number in range(3):
        key = reference_forest.tree_key(model._seed, number)
        rows = len(y)
        counts = (
            reference_forest.bag(key, rows, model._draws)
            if bootstrap
            else np.ones(rows, dtype=np.int64)
        )
        tree = reference_forest.grow(
            X,
            y,
            counts,
            key,
            criterion="gini",
            features_per_node=features,
            extremely_random=cls is bosquet.ExtraTreesClassifier,
        )
        shares = reference_forest.tree_votes(tree, X)
        votes.append(np.column_stack([shares, np.zeros((rows, 2 - shares.shape[1]))]))
    np.testing.assert_allclose(model.predict_proba(X), np.mean(votes, axis=0), atol=1e-12)


@on_drawn_examples(
    15, table=tables((10, 40), (1, 3)), learners=st.integers(1, 5), seed=st.integers(0, 99)
)
def test_votes_of_bags_are_those_of_the_reference(table: Table, learners: int, seed: int) -> None:
    model = bosquet.BaggingRegressor(n_estimators=learners, oob_score=True, random_state=seed)
    model = fitted(model, table.X, table.numbers)
    rows = table.rows
    counts = np.array([np.bincount(drawn, minlength=rows) for drawn in model.estimators_samples_])
    votes = np.array([tree.predict(table.X) for tree in model.estimators_])[:, :, None]
    np.testing.assert_allclose(model.predict(table.X), votes[:, :, 0].mean(axis=0), rtol=1e-12)
    expected = reference_bagging.out_of_bag_votes(counts, votes)[:, 0]
    np.testing.assert_allclose(model.oob_prediction_, expected, rtol=1e-12)


# ---------------------------------------------------------------------------------------- boosting
def objective(
    variant: str, y: np.ndarray, margin: np.ndarray, prior: np.ndarray, h: np.ndarray
) -> float:
    """Return the objective of the stump of a round, under the weights computed from the margins."""
    w = distribution(variant, prior, margin, y)
    if variant in ("discrete", "mada"):
        return float(np.sum(w[(h > 0) != (y > 0)]))
    if variant == "real":
        return float(np.sum(w * np.exp(-y * h)))
    target = working_response(y, margin)[0] if variant == "logit" else y
    return float(np.sum(w * (target - h) ** 2))


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle", "logit", "mada"])
@on_drawn_examples(
    15,
    table=tables((8, 30), (1, 3)),
    weight=weights("ones", "halves"),
    learning_rate=st.sampled_from([0.5, 1.0]),
)
def test_rounds_of_adaboost_are_those_of_the_reference(
    variant: str, table: Table, weight: Weights, learning_rate: float
) -> None:
    model = bosquet.AdaBoostClassifier(variant=variant, n_estimators=3, learning_rate=learning_rate)
    y, w = table.labels(), weight.of(table.rows)
    signs = np.where(y == "bee", 1.0, -1.0)
    nominal = nominal_columns(table)
    rounds, _ = boost_stumps(table.cells, signs, w, variant, 3, learning_rate, nominal)
    # A stump without errors ends the rounds, and so does one without an edge.
    assume(all(report.taken and 0 < report.error < 0.5 - 1e-9 for report in rounds))
    model = fitted(model, table.X, y, w)
    f = np.zeros(table.rows)
    # If no stump has an edge the core stops, but the reference may continue.
    for report, score in zip(rounds, model.staged_decision_function(table.X), strict=False):
        h, found = report.stump.predict(table.cells), (score - f) / report.alpha
        if not np.allclose(found, h, rtol=1e-7, atol=1e-9):  # only if another stump is equally good
            given = variant, signs, signs * f, w / w.sum()
            np.testing.assert_allclose(objective(*given, found), objective(*given, h), rtol=1e-9)
            return
        f = f + report.alpha * h


@on_drawn_examples(20, table=tables((9, 30), (1, 3)), rounds=st.integers(1, 4))
def test_rounds_of_samme_are_those_of_the_reference(table: Table, rounds: int) -> None:
    X, y = table.cells, np.unique(table.labels(3), return_inverse=True)[1]
    nominal = nominal_columns(table)

    def learn(X: Any, y: Any, w: Any) -> Any:
        return stumps.find_best_by_class(X, y, 3, w, nominal).predict

    expected = reference_adaboost.samme(X, y, 3, learn, rounds)
    model = fitted(bosquet.AdaBoostClassifier(n_estimators=rounds), table.X, table.labels(3))
    assume(all(np.isfinite(alpha) and alpha > 1e-9 for alpha, _ in expected))
    w, before = np.full(table.rows, 1 / table.rows), 0.0
    stages = model.staged_decision_function(table.X)
    for number, ((alpha, h), score) in enumerate(zip(expected, stages, strict=True)):
        np.testing.assert_allclose(model.estimator_weights_[number], alpha, rtol=1e-7)
        found, predicted = np.argmax(score - before, axis=1), h(X).astype(int)
        np.testing.assert_allclose(w[found != y].sum(), w[predicted != y].sum(), rtol=1e-9)
        if (
            found != predicted
        ).any():  # another stump that is equally good; later rounds may differ
            return
        w = w * np.exp(alpha * (predicted != y))
        w, before = w / w.sum(), score


# --------------------------------------------------------------------- explanations, GLMs, experts
@on_drawn_examples(
    15, table=tables((10, 40), (1, 4)), depth=st.integers(1, 4), rounds=st.integers(1, 3)
)
def test_shapley_values_are_those_of_the_definition(table: Table, depth: int, rounds: int) -> None:
    model = bosquet.GradientBoostingRegressor(
        n_estimators=rounds, max_depth=depth, min_samples_leaf=2, random_state=0
    )
    model = fitted(model, table.X, table.numbers)
    found = model.explain(table.X).values[:4]
    for values, row in zip(found, table.cells[:4], strict=True):
        expected = sum(
            shapley_values(path_dependent_game(tree, row), len(table.columns))
            for tree in trees_of(model)
        )
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-11)


@on_drawn_examples(
    15, table=complete_tables((60, 120)), link=st.sampled_from(["logit", "probit", "cloglog"])
)
def test_binomial_regression_is_that_of_the_reference(table: Table, link: str) -> None:
    X = np.asarray(table.X, dtype=float)
    y = (table.labels() == "bee").astype(int)
    model = fitted(bosquet.BinomialRegression(link=link, max_iter=1000), X, y)
    assume(np.abs(np.asarray(model.params_)).max() < 8)  # beyond, the classes are nearly separated
    design = np.column_stack([np.ones(len(X)), X])
    expected = reference_glm.fit_binomial(design, y, 1, link, steps=1000)
    errors = np.sqrt(np.diag(expected.covariance))
    assert (np.abs(np.asarray(model.params_) - expected.coefficients) < 1e-3 * errors).all()
    np.testing.assert_allclose(model.log_likelihood_, expected.log_likelihood, rtol=1e-8)


RULES = {
    "ml-poly": reference_experts.ml_poly,
    "ml-prod": reference_experts.ml_prod,
    "boa": reference_experts.boa,
    "ftl": reference_experts.follow_the_leader,
    "adahedge": reference_experts.adahedge,
    "ogd": reference_experts.gradient_descent,
}


@pytest.mark.parametrize("rule", RULES)
@on_drawn_examples(12, table=complete_tables((2, 60), (2, 5)))
def test_rules_weight_experts_as_the_reference_does(rule: str, table: Table) -> None:
    losses = 1 / (1 + np.exp(-table.cells))
    found = bosquet.experts.play(losses, rule)
    expected = reference_experts.play(RULES[rule](losses.shape[1]), losses)
    np.testing.assert_allclose(found.weight_history_, expected[:-1], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(found.final_weights_, expected[-1], rtol=1e-7, atol=1e-10)
