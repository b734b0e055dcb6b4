"""BrownBoost: its guarantee, its reference implementation, and label noise compared with AdaBoost."""

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quiet_fits import fit_quietly
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.utils.estimator_checks import parametrize_with_checks

import bosquet
from bosquet import AdaBoostClassifier, BrownBoostClassifier, DecisionTreeClassifier
from bosquet.reference import brownboost as reference


def noisy_half_space(rows, noise, seed=0, features=5):
    """Two classes separated by a plane, with a share of flipped labels."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(rows, features))
    truth = np.where(X.sum(axis=1) > 0, 1, -1)
    return X, np.where(random.random(rows) < noise, -truth, truth), truth


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.floats(0.0, 0.4), st.sampled_from([0.02, 0.1, 0.3]))
def test_the_potential_is_the_same_after_every_round(seed, noise, target):
    X, y, _ = noisy_half_space(80, noise, seed)
    model = fit_quietly(BrownBoostClassifier(n_estimators=60, target_error=target), X, y)
    assert len(model.potential_) == model.n_iter_ + 1
    np.testing.assert_allclose(model.potential_, target, rtol=1e-9)
    # The same, computed from the predictions of the model.
    left = model.c_ - np.cumsum(model.times_)
    for f, s in zip(model.staged_decision_function(X), left, strict=True):
        rows = [math.erfc((m + max(s, 0)) / math.sqrt(model.c_)) for m in y * f]
        assert np.mean(rows) == pytest.approx(target, rel=1e-8)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.floats(0.0, 0.2), st.sampled_from([0.05, 0.2, 0.4]))
def test_when_the_time_has_run_out_the_training_error_is_at_most_the_target(seed, noise, target):
    X, y, _ = noisy_half_space(80, noise, seed)
    model = fit_quietly(BrownBoostClassifier(n_estimators=500, target_error=target), X, y)
    if model.time_left_ == 0:
        assert model.score(X, y) >= 1 - target
        assert model.times_.sum() == pytest.approx(model.c_)


def test_rounds_are_those_of_the_reference():
    # On columns of -1 and +1 a stump is a column, its opposite, or a constant.
    random = np.random.default_rng(3)
    X = random.choice([-1.0, 1.0], size=(60, 7))
    y = np.sign(X[:, 0] + X[:, 1] + X[:, 2] + 0.5 * random.normal(size=60))
    model = fit_quietly(BrownBoostClassifier(n_estimators=8, target_error=0.1), X, y)
    predictions = np.column_stack([X, -X, np.ones(60), -np.ones(60)])
    rounds, margins, left = reference.brownboost(
        y[:, None] * predictions, reference.time_for(0.1), 8
    )
    assert len(rounds) == model.n_iter_ > 3
    np.testing.assert_allclose(model.estimator_weights_, [r.alpha for r in rounds], rtol=1e-5)
    np.testing.assert_allclose(model.times_, [r.time for r in rounds], rtol=1e-5)
    np.testing.assert_allclose(y * model.decision_function(X), margins, rtol=1e-4, atol=1e-6)
    assert model.time_left_ == pytest.approx(left, abs=1e-6)


def test_label_noise_hurts_it_less_than_adaboost():
    X_test, _, truth = noisy_half_space(2000, 0.0, seed=99)
    ours, theirs = [], []
    for seed in range(3):
        X, y, _ = noisy_half_space(500, 0.1, seed)
        ours.append(fit_quietly(BrownBoostClassifier(target_error=0.2), X, y).score(X_test, truth))
        theirs.append(AdaBoostClassifier(n_estimators=400).fit(X, y).score(X_test, truth))
    assert np.mean(ours) > np.mean(theirs) + 0.05
    assert np.mean(ours) > 0.9


def test_rows_that_are_always_misclassified_lose_their_weight():
    X, y, truth = noisy_half_space(500, 0.1, seed=1)
    model = fit_quietly(BrownBoostClassifier(target_error=0.25), X, y)
    margins = y * model.decision_function(X)
    weights = np.exp(-((margins + model.time_left_) ** 2) / model.c_)
    worst = np.argsort(margins)[:25]
    assert (y != truth)[worst].mean() > 0.9
    assert weights[worst].mean() < 0.01 * weights.mean()
    # In AdaBoost they have the largest weights.
    ada = AdaBoostClassifier(n_estimators=model.n_iter_).fit(X, y)
    theirs = np.exp(-y * ada.decision_function(X))
    assert theirs[worst].mean() > 2 * theirs.mean()


def test_probabilities_are_the_error_function_of_the_vote():
    X, y, _ = noisy_half_space(300, 0.1)
    model = fit_quietly(BrownBoostClassifier(), X, y)
    f = model.decision_function(X)
    by_hand = [(1 + math.erf(v / math.sqrt(model.c_))) / 2 for v in f]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], by_hand)
    np.testing.assert_array_equal(model.predict(X), np.where(f > 0, 1, -1))


def test_time_can_be_given_instead_of_an_error():
    X, y, _ = noisy_half_space(200, 0.1)
    by_error = fit_quietly(BrownBoostClassifier(target_error=0.1), X, y)
    by_time = fit_quietly(BrownBoostClassifier(c=by_error.c_), X, y)
    np.testing.assert_array_equal(by_time.decision_function(X), by_error.decision_function(X))


def test_the_potential_is_also_constant_with_binned_values():
    X, y, truth = noisy_half_space(300, 0.1)
    model = fit_quietly(
        BrownBoostClassifier(target_error=0.2, split="histogram", max_bins=16), X, y
    )
    np.testing.assert_allclose(model.potential_, 0.2, rtol=1e-9)
    assert model.score(X, truth) > 0.85


def test_a_least_edge_makes_steps_shorter_and_ends_the_fit():
    X, y, _ = noisy_half_space(400, 0.1)
    whole = fit_quietly(BrownBoostClassifier(target_error=0.2), X, y)
    with pytest.warns(ConvergenceWarning, match="no hypothesis has an edge"):
        short = BrownBoostClassifier(target_error=0.2, least_edge=0.2).fit(X, y)
    assert short.estimator_weights_[0] < whole.estimator_weights_[0]
    assert short.time_left_ > 0 == whole.time_left_
    assert (1 - 2 * short.estimator_errors_ > 0.2).all()
    np.testing.assert_allclose(short.potential_, 0.2, rtol=1e-9)


def test_a_perfect_hypothesis_uses_up_the_time_in_one_round():
    X = np.arange(20.0)[:, None]
    model = BrownBoostClassifier().fit(X, X[:, 0] > 9)
    assert model.n_iter_ == 1
    assert model.time_left_ == 0
    assert model.score(X, X[:, 0] > 9) == 1


def test_remaining_time_gives_a_warning():
    X, y, _ = noisy_half_space(200, 0.3)
    with pytest.warns(
        ConvergenceWarning, match=r"\d+% of the time is left after 3 rounds.*n_estimators"
    ):
        BrownBoostClassifier(n_estimators=3).fit(X, y)


def test_a_learner_without_an_edge_raises_with_its_error():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(ValueError, match=r"no better than chance.*ε = 0\.5"):
        BrownBoostClassifier().fit(X, [0, 1, 1, 0])


@pytest.mark.parametrize(
    "learner",
    [
        SVC(),
        GaussianNB(),
        TheirTree(max_depth=2),
        DecisionTreeClassifier(max_depth=2),
        LinearRegression(),
    ],
    ids=lambda learner: type(learner).__name__ + type(learner).__module__.split(".")[0],
)
def test_any_learner_keeps_the_potential(learner):
    X, y, truth = noisy_half_space(200, 0.1)
    model = fit_quietly(BrownBoostClassifier(learner, n_estimators=10, random_state=0), X, y)
    np.testing.assert_allclose(model.potential_, 0.1, rtol=1e-9)
    assert model.score(X, truth) > 0.8


def test_a_row_of_weight_two_counts_twice_and_of_weight_zero_not_at_all():
    X, y, _ = noisy_half_space(120, 0.1)
    weight = np.random.default_rng(0).integers(0, 3, 120)
    weighted = fit_quietly(BrownBoostClassifier(n_estimators=20), X, y, weight)
    repeated = fit_quietly(
        BrownBoostClassifier(n_estimators=20), np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-8
    )


def test_the_certificate_has_edges_and_margins_and_lists_what_is_missing():
    X, y, _ = noisy_half_space(300, 0.1)
    model = fit_quietly(BrownBoostClassifier(), X, y)
    certificate = model.certificate_
    assert certificate.holds()
    np.testing.assert_array_equal(certificate.alphas, model.estimator_weights_)
    assert (certificate.edges > 0).all()
    assert certificate.training_errors[-1] == pytest.approx(1 - model.score(X, y))
    margins = y * model.decision_function(X) / model.estimator_weights_.sum()
    np.testing.assert_allclose(certificate.margins, margins)
    assert certificate.vc_dim is not None
    numbers = fit_quietly(
        BrownBoostClassifier(LinearRegression(), n_estimators=3), X, y
    ).certificate_
    assert numbers.vc_dim is None
    assert certificate.product is None
    assert "not exp(-y f)" in certificate.missing["product"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": 0}, "c=0 is not valid"),
        ({"c": 1e4}, "c=10000.0 is not valid"),
        ({"target_error": 0.0}, "target_error=0.0 is not valid"),
        ({"target_error": 1}, r"target_error must be a number in \(0, 1\)"),
        ({"least_edge": -0.1}, "least_edge=-0.1 is not valid"),
        ({"n_estimators": 0}, "n_estimators=0 is not valid"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        BrownBoostClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_more_than_two_classes_raise_and_name_an_alternative():
    X, _, _ = noisy_half_space(30, 0)
    with pytest.raises(ValueError, match=r"takes two classes, and y has 3.*OneVsRestClassifier"):
        BrownBoostClassifier().fit(X, np.arange(30) % 3)


def test_a_failed_fit_leaves_the_model_unchanged():
    X, y, _ = noisy_half_space(100, 0.1)
    model = fit_quietly(BrownBoostClassifier(n_estimators=5), X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.ones(100))
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_labels_of_any_kind(tmp_path):
    X, y, _ = noisy_half_space(150, 0.1)
    words = np.where(y > 0, "yes", "no")
    model = fit_quietly(BrownBoostClassifier(n_estimators=20), X, words)
    assert list(model.classes_) == ["no", "yes"]
    as_signs = fit_quietly(BrownBoostClassifier(n_estimators=20), X, y)
    np.testing.assert_array_equal(model.predict(X) == "yes", as_signs.predict(X) == 1)


@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=2)])
def test_saved_and_pickled_models_are_the_same(learner, tmp_path):
    X, y, _ = noisy_half_space(150, 0.1)
    model = fit_quietly(BrownBoostClassifier(learner, n_estimators=20), X, y)
    model.save(tmp_path / "model.bosquet")
    for again in (bosquet.load(tmp_path / "model.bosquet"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.estimator_weights_, model.estimator_weights_)
        np.testing.assert_array_equal(again.potential_, model.potential_)
        assert again.time_left_ == model.time_left_
        assert len(again.estimators_) == model.n_iter_


def test_works_in_a_pipeline_and_in_a_grid_search():
    X, y, _ = noisy_half_space(200, 0.1)
    pipeline = make_pipeline(StandardScaler(), BrownBoostClassifier(n_estimators=30))
    grid = {"brownboostclassifier__target_error": [0.05, 0.2]}
    assert fit_quietly(GridSearchCV(pipeline, grid, cv=3), X, y).best_score_ > 0.7


@parametrize_with_checks(
    [
        BrownBoostClassifier(n_estimators=20),
        BrownBoostClassifier(GaussianNB(), n_estimators=5),
    ]
)
def test_passes_check_estimator(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
