"""Identities of AdaBoost hold up to rounding, on any data."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bosquet import AdaBoostClassifier, AnyBoostClassifier, DecisionTreeClassifier
from bosquet.boosting.adaboost._learner_factory import encode_table, make_vote, make_weak_learner
from bosquet.boosting.adaboost.stagewise import VARIANTS, DiscreteAdaBoost, WorseThanChance, boost

TAME = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


@st.composite
def problems(draw):
    rows = draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(2, 30)), (rows, draw(st.integers(1, 4)))).astype(float)
    signal = X @ rng.normal(size=X.shape[1]) + draw(st.floats(0, 3)) * rng.normal(size=rows)
    y = np.where(signal > np.median(signal), 1.0, -1.0)
    if (y == y[0]).all():
        y[0] = -y[0]
    weight = rng.uniform(0.1, 3, rows) if draw(st.booleans()) else np.ones(rows)
    return X, y, weight


def rounds_of(X, y, weight, variant, learning_rate=1.0, estimator=None, rounds=15):
    """Run the loop and yield w, h(x), α, Z and f of every round."""
    encoder, table = encode_table(estimator, X, owner="a test")
    rule = VARIANTS[variant](y, weight, learning_rate)
    learner = make_weak_learner(estimator, table, output_kind=rule.output_kind, encoder=encoder)
    vote = make_vote(learner, encoder, as_vote=rule.as_vote)
    f = rule.zero_vote()
    try:
        for t, found in enumerate(boost(learner, rule, vote)):
            w = rule.weights(f).distribution
            after = found.scores().copy()
            yield w, (after - f) / found.step.scale, found, after
            f = after
            if t + 1 == rounds:
                return
    except WorseThanChance:
        return


@TAME
@given(problems(), st.sampled_from([None, DecisionTreeClassifier(max_depth=2)]))
def test_weights_are_exponentials_of_margins_and_misclassified_rows_have_half_of_them(
    problem, estimator
):
    X, y, weight = problem
    share = weight / weight.sum()
    product = 1.0
    for w, h, found, f in rounds_of(X, y, weight, "discrete", estimator=estimator):
        error = w[h * y < 0].sum()
        assert found.step.error == pytest.approx(error, abs=1e-12)
        if found.step.is_last:
            assert error < 1e-12
            return
        # α is the ½ form, Z is 2√(ε(1 - ε)), and no other α gives a smaller Z.
        assert found.step.alpha == pytest.approx(0.5 * np.log((1 - error) / error), rel=1e-6)
        assert found.normaliser == pytest.approx(2 * np.sqrt(error * (1 - error)), rel=1e-6)
        for other in (0.9 * found.step.alpha, 1.1 * found.step.alpha):
            assert (w * np.exp(-other * y * h)).sum() >= found.normaliser - 1e-12
        # w' = D exp(-y f) / Π Z, and misclassified rows have half of the weight.
        product *= found.normaliser
        after = share * np.exp(-y * f) / product
        np.testing.assert_allclose(after.sum(), 1, rtol=1e-8)
        np.testing.assert_allclose(
            after, DiscreteAdaBoost(y, weight).weights(f).distribution, rtol=1e-8
        )
        assert after[h * y < 0].sum() == pytest.approx(0.5, rel=1e-6)


@TAME
@given(problems(), st.sampled_from(sorted(VARIANTS)), st.sampled_from([1.0, 0.4]))
def test_the_product_of_z_bounds_the_training_error(problem, variant, learning_rate):
    X, y, weight = problem
    share = weight / weight.sum()
    product = 1.0
    for _, _, found, f in rounds_of(X, y, weight, variant, learning_rate):
        product *= found.normaliser
        missed = share[(f > 0) != (y > 0)].sum()
        assert found.training_error == pytest.approx(missed, abs=1e-12)
        assert missed <= product * (1 + 1e-9)


@TAME
@given(problems())
def test_the_bounds_of_the_edges_lie_above_the_product(problem):
    X, y, weight = problem
    model = AdaBoostClassifier(n_estimators=15)
    try:
        model.fit(X, y, sample_weight=weight)
    except WorseThanChance:
        return
    edges = 0.5 - model.estimator_errors_
    product = np.cumprod([record.normaliser[0] for record in model._round_records])
    by_edges = np.exp(-2 * np.cumsum(edges**2))
    least = np.exp(-2 * edges.min() ** 2 * np.arange(1, edges.size + 1))
    assert (model.train_score_ <= product + 1e-9).all()
    assert (product <= by_edges + 1e-9).all()
    assert (by_edges <= least + 1e-9).all()


@TAME
@given(problems(), st.sampled_from(sorted(VARIANTS)), st.sampled_from([1.0, 0.4]))
def test_the_rounds_of_the_core_are_those_of_the_reference(problem, variant, learning_rate):
    X, y, weight = problem
    # All sums differ: rounding would decide between two stumps with the same error.
    weight = weight * np.random.default_rng(0).uniform(0.5, 1.5, weight.size)
    model = AdaBoostClassifier(n_estimators=10, variant=variant, learning_rate=learning_rate)
    try:
        model.fit(X, y, sample_weight=weight)
    except WorseThanChance:
        return
    rounds, last = [], np.zeros(y.size)
    for _, _, found, f in rounds_of(X, y, weight, variant, learning_rate, rounds=10):
        rounds.append(found)
        last = f
    np.testing.assert_allclose(model.decision_function(X), last, rtol=1e-6, atol=1e-6)
    both = min(len(rounds), model.n_estimators_)
    theirs = [found.normaliser for found in rounds]
    ours = [record.normaliser[0] for record in model._round_records]
    np.testing.assert_allclose(ours[:both], theirs[:both], rtol=1e-6)
    # When steps are smaller than rounding errors, either implementation may stop first.
    np.testing.assert_allclose(ours[both:] + theirs[both:], 1, rtol=1e-9)


@TAME
@given(problems(), st.sampled_from(["logistic", "squared_hinge", "smooth_hinge", "doom2"]))
def test_anyboost_never_increases_its_loss(problem, loss):
    X, y, _ = problem
    for step in ("exact", "line_search"):
        model = AnyBoostClassifier(loss, n_estimators=16, step=step)
        try:
            model.fit(X, y)
        except WorseThanChance:
            return
        value = model._decoder.loss.value
        lost = [value(y * f).mean() for f in model.staged_decision_function(X)]
        if loss == "doom2":
            lost = lost[10:]  # after the rounds of AdaBoost that it starts with
        else:
            lost.insert(0, value(np.zeros(1)).mean())
        assert (np.diff(lost) <= 1e-9).all()
