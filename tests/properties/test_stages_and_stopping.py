"""The last stage is the model, a stage is a shorter fit, early stopping keeps the best round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_models import (
    CLASS_LOSSES,
    WITH_STAGES,
    Case,
    adaboost,
    boosted_classes,
    boosted_numbers,
    cases,
    fitted,
    outputs,
)
from drawn_tables import Table, Weights, on_drawn_examples, rows_of, tables, weights
from hypothesis import strategies as st
from sklearn.base import clone

from bosquet.boosting.rounds import split_rows

# A stage of these sums the trees of several runs first, or is divided at the end: the last digits may
# differ, and with them the class if two have the same probability.
SUMMED_OTHERWISE = {
    "gradient boosting, runs",
    "bagging, numbers",
    "bagging, classes",
    "AdaBoost.R2",
}
STAGED = ("predict", "predict_proba", "decision_function")


def stages(model: Any, X: Any) -> dict[str, list[np.ndarray]]:
    return {
        m: list(getattr(model, f"staged_{m}")(X)) for m in STAGED if hasattr(model, f"staged_{m}")
    }


@pytest.mark.parametrize("name", WITH_STAGES)
@on_drawn_examples(8, data=st.data())
def test_the_last_stage_is_the_model(name: str, data: Any) -> None:
    case: Case = data.draw(cases(name))
    model = case.fitted()
    final = outputs(model, case.table.X)
    found = stages(model, case.table.X)
    assert found
    for method, each in found.items():
        assert len(each) == getattr(model, "n_estimators_", len(each))
        if name not in SUMMED_OTHERWISE:
            np.testing.assert_array_equal(each[-1], final[method], method)
        elif final[method].dtype.kind == "f":
            np.testing.assert_allclose(each[-1], final[method], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in WITH_STAGES if not n.startswith(("Brown", "LP"))])
@on_drawn_examples(8, data=st.data())
def test_a_stage_is_the_fit_of_so_many_rounds(name: str, data: Any) -> None:
    """LPBoost recomputes all weights in each round, and BrownBoost ends by its own time."""
    case: Case = data.draw(cases(name))
    model = case.fitted()
    found = stages(model, case.table.X)
    last = len(found["predict"])
    number = data.draw(st.integers(1, last))
    shorter = outputs(case.fitted(n_estimators=number), case.table.X)
    for method, each in found.items():
        if each[-1].dtype.kind == "f":
            np.testing.assert_allclose(each[number - 1], shorter[method], rtol=1e-10, atol=1e-12)


# ------------------------------------------------------------------------------------ early stopping
STOPPING = {
    "n_estimators": st.integers(2, 25),
    "n_iter_no_change": st.integers(1, 6),
    "validation_fraction": st.sampled_from([0.1, 0.3]),
    "early_stopping": st.just(True),
    "learning_rate": st.sampled_from([0.3, 1.0]),
    "tol": st.sampled_from([0.0, 1e-7, 0.01]),
}
ROWS = (40, 120)
BOOSTED = {
    "numbers": boosted_numbers(**STOPPING, n_runs=st.sampled_from([1, 2])),
    "counts": boosted_numbers(("poisson", "gamma"), **STOPPING),
    "two": boosted_classes(CLASS_LOSSES, **STOPPING),
    "three": boosted_classes(("log_loss",), **STOPPING),
}


def best_round(scores: np.ndarray, tol: float) -> int:
    """Return the last round that is better than the best before it by more than `tol`."""
    best, found = np.inf, 0
    for number, score in enumerate(scores, 1):
        if score < best - tol:
            best, found = score, number
    return found


def assert_stopped_where_it_should(model: Any, tol: float) -> None:
    """Check that the model has the rounds up to the best, and that the fit stopped in the right round."""
    scores = model.validation_score_
    best = best_round(scores, tol)
    rounds = getattr(model, "n_iter_", None) or model.n_estimators_
    assert rounds == best
    tried = len(scores)
    assert tried == model.n_estimators or tried - best == model.n_iter_no_change


def assert_same_predictions(model: Any, other: Any, X: Any) -> None:
    mine, theirs = outputs(model, X), outputs(other, X)
    for method in mine:
        np.testing.assert_array_equal(theirs[method], mine[method], method)


@pytest.mark.parametrize("target", BOOSTED)
@on_drawn_examples(10, data=st.data(), table=tables(ROWS), held=tables(ROWS), weight=weights())
def test_stopping_on_an_eval_set_is_the_fit_of_the_best_number_of_rounds(
    target: str, data: Any, table: Table, held: Table, weight: Weights
) -> None:
    model = data.draw(BOOSTED[target])
    held = Table(held.rows, table.columns, held.seed + 1, table.container)
    X, y, w = table.X, table.target(target), weight.or_none(table.rows)
    stopped = fitted(model, X, y, w, eval_set=(held.X, held.target(target)))
    assert_stopped_where_it_should(stopped, model.tol)
    short = clone(model).set_params(early_stopping=False, n_estimators=stopped.n_iter_)
    assert_same_predictions(stopped, fitted(short, X, y, w), held.X)


@pytest.mark.parametrize("target", BOOSTED)
@pytest.mark.parametrize("refit", [True, False])
@on_drawn_examples(8, data=st.data(), table=tables(ROWS, categories=False), weight=weights())
def test_stopping_on_a_part_of_the_rows_is_the_fit_of_the_best_number_of_rounds(
    target: str, refit: bool, data: Any, table: Table, weight: Weights
) -> None:
    """Fit on all rows with `refit`, otherwise on the rows that are not in the validation set."""
    model = data.draw(BOOSTED[target]).set_params(refit=refit)
    X, y, w = table.X, table.target(target), weight.of(table.rows)
    stopped = fitted(model, X, y, w)
    assert_stopped_where_it_should(stopped, model.tol)
    short = clone(model).set_params(early_stopping=False, n_estimators=stopped.n_iter_)
    rows = np.arange(table.rows)
    if not refit:
        strata = np.unique(y, return_inverse=True)[1] if target in ("two", "three") else None
        rows, _ = split_rows(table.rows, model.validation_fraction, stopped._seed, strata)
    assert_same_predictions(stopped, fitted(short, rows_of(X, rows), y[rows], w[rows]), X)


@pytest.mark.parametrize("target", ["two", "three"])
@on_drawn_examples(
    10, data=st.data(), table=tables(ROWS, categories=False), weight=weights("ones", "halves")
)
def test_a_vote_that_stops_early_is_the_fit_of_the_best_number_of_rounds(
    target: str, data: Any, table: Table, weight: Weights
) -> None:
    options = {name: STOPPING[name] for name in ("n_estimators", "n_iter_no_change")}
    if target == "three":
        options["variant"] = st.just("discrete")
    model = data.draw(adaboost(**options, early_stopping=st.just(True)))
    X, y, w = table.X, table.target(target), weight.of(table.rows)
    stopped = fitted(model, X, y, w)
    assert stopped.n_estimators_ == best_round(stopped.validation_score_, 0.0)
    numbers = np.unique(y, return_inverse=True)[1]
    rows, _ = split_rows(table.rows, model.validation_fraction, stopped._seed, numbers)
    short = clone(model).set_params(early_stopping=False, n_estimators=stopped.n_estimators_)
    assert_same_predictions(stopped, fitted(short, rows_of(X, rows), y[rows], w[rows]), X)
