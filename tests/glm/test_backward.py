"""Backward elimination: hierarchy, criteria, the path."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet import BinomialRegression
from bosquet.glm._terms import Term, removable_terms, terms_containing


def test_a_main_effect_stays_while_its_interaction_does(patients):
    # The interaction has a strong effect, its main effects have none.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=400), "b": rng.normal(size=400), "c": rng.normal(size=400)}
    )
    frame["y"] = rng.random(400) < 1 / (1 + np.exp(-2 * frame.a * frame.b))
    model = BinomialRegression("y ~ a * b + c").fit(frame)
    assert model.coefficients().p_value[["a", "b"]].min() > 0.05
    for criterion in ("aic", "bic", "lr", "wald"):
        assert model.backward(criterion).terms_ == ["Intercept", "a", "b", "a:b"]


def test_each_criterion_stops_by_its_own_rule(patients):
    model = BinomialRegression("ill ~ age + dose * sex + clinic + noise").fit(patients)
    for criterion in ("lr", "wald"):
        chosen = model.backward(criterion, level=0.05)
        assert (chosen.selection_.p_value[1:] > 0.05).all()
        last = [chosen.test(name, criterion).p_value for name in ("age", "dose:sex")]
        assert max(last) <= 0.05
    for criterion in ("aic", "bic"):
        chosen = model.backward(criterion)
        assert (np.diff(chosen.selection_[criterion]) < 0).all()
    assert len(model.backward("bic").terms_) <= len(model.backward("aic").terms_)


def test_the_path_has_every_step_and_ends_with_the_selected_model(patients):
    chosen = BinomialRegression("ill ~ age + noise + clinic").fit(patients).backward()
    path = chosen.selection_
    assert path.removed[0] == ""
    assert path.aic.iloc[-1] == pytest.approx(chosen.aic_)
    assert path.deviance.iloc[-1] == pytest.approx(chosen.deviance_)
    removed = set(path.removed[1:])
    assert removed | set(chosen.terms_) == {"Intercept", "age", "noise", "clinic"}


def test_all_terms_but_the_intercept_can_be_removed():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(100, 2)), np.arange(100) % 2
    chosen = BinomialRegression().fit(X, y).backward("lr", 1e-9)
    assert chosen.terms_ == ["Intercept"]
    assert chosen.predict_proba(X)[0, 1] == pytest.approx(0.5)


def test_the_initial_model_is_not_changed(patients):
    model = BinomialRegression("ill ~ age + noise").fit(patients)
    before = model.aic_, list(model.terms_), model.formula
    model.backward("lr", 1e-6)
    assert (model.aic_, model.terms_, model.formula) == before
    assert not hasattr(model, "selection_")


@given(st.sets(st.frozensets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=10))
@settings(max_examples=100, deadline=None)
def test_removing_a_removable_term_keeps_a_model_hierarchical(factors):
    closed = {frozenset()} | {part for term in factors for part in map(frozenset, _subsets(term))}
    terms = [Term(":".join(sorted(f)) or "Intercept", f, ()) for f in closed]
    free = removable_terms(terms)
    assert free
    for term in free:
        rest = [other for other in terms if other is not term]
        assert all(
            part in {t.factors for t in rest}
            for t in rest
            for part in map(frozenset, _subsets(t.factors))
        )
    assert all(terms_containing(term, terms) for term in terms if term.factors and term not in free)


def _subsets(term):
    items = sorted(term)
    return [
        [item for i, item in enumerate(items) if bits >> i & 1] for bits in range(2 ** len(items))
    ]
