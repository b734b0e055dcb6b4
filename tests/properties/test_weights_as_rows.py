"""An integer weight equals copies of the row, and the scale of the weights does not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_models import (
    LEARNING_RATES,
    VOTE,
    Case,
    Estimators,
    adaboost,
    boosted_classes,
    boosted_numbers,
    classification_tree,
    complete_tables,
    fitted,
    forest,
    outputs,
    regression_tree,
)
from drawn_tables import Table, Weights, on_drawn_examples, rows_of, tables, weights
from hypothesis import assume
from hypothesis import strategies as st
from same_trees import same_but_for_ties
from sklearn.base import clone

import bosquet
from bosquet import glm

# Parameters that count rows: with these a copy and a weight are different.
COUNTS_ROWS = {"min_samples_leaf": st.just(1)}
DRAWS_NO_ROWS = {"bootstrap": st.just(False)}
WHOLE = weights("whole")


def fit_both(model: Any, table: Table, y: np.ndarray, weights: Weights) -> tuple[Any, Any]:
    """Return the model fitted with integer weights, and the model fitted to copies of the rows."""
    # A category that occurs only in rows of weight 0 has a code and is therefore known.
    least = 1 if any(column.kind == "category" for column in table.columns) else 0
    weight = weights.of(table.rows, least)
    copies = np.repeat(np.arange(table.rows), weight.astype(int))
    assume(len(np.unique(y[copies])) == len(np.unique(y)))
    return fitted(model, table.X, y, weight), fitted(model, rows_of(table.X, copies), y[copies])


# -------------------------------------------------------------------------------- copies of rows
EXACT: dict[str, tuple[Estimators, str]] = {
    "tree, numbers": (
        regression_tree(**COUNTS_ROWS, min_samples_split=st.just(2)), "numbers"),
    "tree, classes": (
        classification_tree(**COUNTS_ROWS, min_samples_split=st.just(2)), "three"),
    "random forest, numbers": (
        forest(bosquet.RandomForestRegressor, **COUNTS_ROWS, **DRAWS_NO_ROWS), "numbers"),
    "random forest, classes": (
        forest(bosquet.RandomForestClassifier, **COUNTS_ROWS, **DRAWS_NO_ROWS), "three"),
    "extra trees, numbers": (
        forest(bosquet.ExtraTreesRegressor, **COUNTS_ROWS, **DRAWS_NO_ROWS), "numbers"),
    "extra trees, classes": (
        forest(bosquet.ExtraTreesClassifier, **COUNTS_ROWS, **DRAWS_NO_ROWS), "two"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
@on_drawn_examples(25, data=st.data(), table=tables(), weight=WHOLE)
def test_trees_with_integer_weights_equal_trees_of_repeated_rows_bit_by_bit(
    name: str, data: Any, table: Table, weight: Weights
) -> None:
    """Targets are multiples of 1/8, so that sums are exact."""
    members, target = EXACT[name]
    weighted, copied = fit_both(data.draw(members), table, table.target(target), weight)
    mine, theirs = outputs(weighted, table.X), outputs(copied, table.X)
    for method, values in mine.items():
        np.testing.assert_array_equal(theirs[method], values, method)


BOOSTED: dict[str, tuple[Estimators, str]] = {
    name: (
        members(
            losses,
            **COUNTS_ROWS,
            min_samples_category=st.just(0),
            cat_smooth=st.just(
                0.0
            ),  # in units of the mean hessian of a row, so it also counts rows
            max_bins=st.just(255),
            max_leaf_nodes=st.none(),  # with a limit, a tie decides which leaf is split
            subsample=st.just(1.0),
        ),
        target,
    )
    for name, members, losses, target in (
        ("numbers", boosted_numbers, ("squared_error", "log_cosh"), "numbers"),
        ("medians", boosted_numbers, ("absolute_error", "quantile", "huber"), "numbers"),
        ("counts", boosted_numbers, ("poisson", "gamma"), "counts"),
        ("two classes", boosted_classes, ("log_loss", "exponential"), "two"),
        ("three classes", boosted_classes, ("log_loss",), "three"),
    )
}


@pytest.mark.parametrize("name", BOOSTED)
@on_drawn_examples(25, data=st.data(), table=tables(), weight=WHOLE)
def test_boosting_with_integer_weights_equals_boosting_of_repeated_rows(
    name: str, data: Any, table: Table, weight: Weights
) -> None:
    members, target = BOOSTED[name]
    weighted, copied = fit_both(data.draw(members), table, table.target(target), weight)
    if same_but_for_ties(weighted, copied):
        mine, theirs = weighted._raw(table.X), copied._raw(table.X)
        np.testing.assert_allclose(theirs, mine, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("variant", ["discrete", "mada", "gentle", "logit"])
@on_drawn_examples(15, data=st.data(), table=tables(), weight=WHOLE)
def test_adaboost_with_integer_weights_equals_adaboost_of_repeated_rows(
    variant: str, data: Any, table: Table, weight: Weights
) -> None:
    """Real AdaBoost is excluded: its smoothing of empty sides depends on the number of rows."""
    model = data.draw(adaboost(variant=st.just(variant), estimator=st.none()))
    weighted, copied = fit_both(model, table, table.labels(), weight)
    if same_but_for_ties(weighted, copied):
        mine, theirs = (m.decision_function(table.X) for m in (weighted, copied))
        np.testing.assert_allclose(theirs, mine, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (glm.BinomialRegression(), "two"),
        (glm.PoissonRegression(), "counts"),
        (glm.LinearModel(), "numbers"),
    ],
    ids=["binomial", "Poisson", "linear"],
)
@on_drawn_examples(10, table=complete_tables((60, 120)), weight=WHOLE)
def test_regressions_with_integer_weights_equal_those_of_repeated_rows(
    model: Any, target: str, table: Table, weight: Weights
) -> None:
    weighted, copied = fit_both(model, table, table.target(target), weight)
    mine, theirs = (np.asarray(m.params_) for m in (weighted, copied))
    scale = np.abs(theirs).max()
    assume(scale < 20)  # beyond, the classes are separated and there is no estimate
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6 * scale)
    mine, theirs = (np.asarray(m.covariance_) for m in (weighted, copied))
    if target != "numbers":  # a linear model estimates the variance by the number of rows
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5 * np.abs(theirs).max())


# ------------------------------------------------------------------------------- scale of weights
FREE = {
    "l2_regularization": st.just(0.0),
    "min_child_weight": st.just(0.0),
    "min_split_gain": st.just(0.0),
    "cat_l2": st.just(0.0),
}
SCALE_FREE: dict[str, tuple[Estimators, str]] = {
    "gradient boosting, numbers": (boosted_numbers(**FREE), "numbers"),
    "gradient boosting, counts": (boosted_numbers(("poisson",), **FREE), "counts"),
    "gradient boosting, two classes": (boosted_classes(**FREE), "two"),
    "gradient boosting, three classes": (boosted_classes(("log_loss",), **FREE), "three"),
    "tree, numbers": (regression_tree(), "numbers"),
    "tree, classes": (classification_tree(), "three"),
    "random forest, numbers": (forest(bosquet.RandomForestRegressor), "numbers"),
    "extra trees, classes": (forest(bosquet.ExtraTreesClassifier), "three"),
    "AdaBoost": (adaboost(), "two"),
    "AdaBoost, three classes": (adaboost(variant=st.just("discrete")), "three"),
    "AnyBoost": (
        st.builds(bosquet.AnyBoostClassifier, **{**VOTE, "learning_rate": LEARNING_RATES}),
        "two",
    ),
    "BrownBoost": (st.builds(bosquet.BrownBoostClassifier, c=st.just(1.0), **VOTE), "two"),
    "AdaBoost.R2": (
        st.builds(
            bosquet.AdaBoostRegressor, n_estimators=st.integers(1, 5), random_state=st.just(0)
        ),
        "numbers",
    ),
}
POWERS = st.sampled_from([-1000, -300, -100, -30, -3, 3, 30, 100, 300, 980])


@pytest.mark.parametrize("name", SCALE_FREE)
@on_drawn_examples(
    12, data=st.data(), table=tables(), weight=weights("halves", "uneven"), power=POWERS
)
def test_the_model_does_not_depend_on_the_unit_of_the_weights(
    name: str, data: Any, table: Table, weight: Weights, power: int
) -> None:
    """A power of two changes no digit of a weight, so the model is the same."""
    members, target = SCALE_FREE[name]
    case = Case(data.draw(members), table, target, weight)
    expected = outputs(case.fitted(), table.X)
    # A diverging model has gradients that are too small for single precision and lose digits.
    assume(all(np.abs(v).max() < 1e6 for v in expected.values() if v.dtype.kind == "f"))
    scaled = fitted(case.model, table.X, case.y, np.ldexp(case.weight, power))
    for method, values in outputs(scaled, table.X).items():
        np.testing.assert_array_equal(values, expected[method], method)


@pytest.mark.parametrize("target", ["numbers", "two"])
@on_drawn_examples(
    40,
    data=st.data(),
    table=tables((30, 60)),
    weight=weights("halves"),
    power=st.sampled_from([40, 300, 100, 27, 20, 3, -3, -20]),
)
def test_penalties_in_the_unit_of_the_weights_give_the_same_model(
    target: str, data: Any, table: Table, weight: Weights, power: int
) -> None:
    model = data.draw(boosted_numbers() if target == "numbers" else boosted_classes())
    penalties = {name: getattr(model, name) * 2.0**power for name in FREE}
    y, w = table.target(target), weight.of(table.rows)
    plain = fitted(model, table.X, y, w)
    scaled = fitted(clone(model).set_params(**penalties), table.X, y, np.ldexp(w, power))
    np.testing.assert_array_equal(scaled._raw(table.X), plain._raw(table.X))
