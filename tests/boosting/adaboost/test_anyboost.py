"""AnyBoost: losses of the margin, kinds of steps, and robustness to outliers."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.tree import DecisionTreeClassifier as TheirTree

from bosquet import AnyBoostClassifier, DecisionTreeClassifier
from bosquet.losses import MARGIN_LOSSES, margin_loss

LOSSES = sorted(MARGIN_LOSSES)


@pytest.fixture
def easy_table():
    return make_classification(400, 6, n_informative=4, class_sep=1.2, random_state=0)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_are_the_derivatives_of_the_losses(loss):
    found, margins, step = margin_loss(loss), np.linspace(-3.03, 3.01, 61), 1e-6
    measured = (found.value(margins + step) - found.value(margins - step)) / (2 * step)
    np.testing.assert_allclose(found.slope(margins), measured, atol=1e-6)
    assert (found.slope(margins) <= 0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_probability_minimises_the_expected_loss(loss):
    if loss == "doom2":
        pytest.skip("it has its least loss at infinity, whatever the probability")
    found = margin_loss(loss)
    for f in (-0.7, -0.2, 0.0, 0.4, 0.8):
        p = float(found.probability(np.array([f]))[0])
        around = f + np.array([-1e-3, 0.0, 1e-3])
        risk = p * found.value(around) + (1 - p) * found.value(-around)
        assert risk.argmin() == 1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("step", ["exact", "line_search", 0.2])
@pytest.mark.parametrize(
    "learner", [None, DecisionTreeClassifier(max_depth=2), TheirTree(max_depth=2)]
)
def test_every_loss_learns_with_every_step(easy_table, loss, step, learner):
    X, y = easy_table
    model = AnyBoostClassifier(loss, step=step, estimator=learner, n_estimators=30).fit(X, y)
    assert model.score(X, y) > 0.8
    proba, clear = model.predict_proba(X), np.abs(model.decision_function(X)) > 1e-9
    likeliest = model.classes_[(proba[:, 1] > 0.5).astype(int)]
    assert np.array_equal(likeliest[clear], model.predict(X)[clear])


def test_an_exact_step_leaves_no_slope(easy_table):
    X, y = easy_table
    signs = 2 * y - 1
    for loss in LOSSES:
        model = AnyBoostClassifier(loss, n_estimators=14).fit(X, y)
        found = margin_loss(loss)
        rounds = zip(model.estimators_, model.staged_decision_function(X), strict=True)
        for t, (voter, f) in enumerate(rounds):
            if found.starts_from_adaboost and t < 10:
                continue
            h = np.where(voter.predict(X) == 1, 1, -1)
            assert abs((found.slope(signs * f) * signs * h).mean()) < 1e-9


@pytest.mark.parametrize("loss", ["squared_hinge", "smooth_hinge"])
def test_probabilities_of_losses_with_flat_parts_stay_inside_0_and_1(easy_table, loss):
    X, y = easy_table
    model = AnyBoostClassifier(loss, n_estimators=60).fit(X, y)
    shares = model.predict_proba(X)
    assert np.abs(model.decision_function(X)).max() > 1, "some rows lie beyond the margin"
    assert not np.signbit(shares).any()
    assert shares.min() == pytest.approx(1e-6)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_the_probability_of_the_squared_hinge_is_linear_in_the_vote():
    f = np.array([-3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 4.0])
    probabilities = margin_loss("squared_hinge").probability(f)
    np.testing.assert_allclose(probabilities, np.clip((1 + f) / 2, 1e-6, 1 - 1e-6))
    smooth = margin_loss("smooth_hinge").probability(np.array([0.0, 0.5, -0.5]))
    np.testing.assert_allclose(smooth, [1 / 2, 2 / 3, 1 / 3])


def test_a_custom_loss_gives_the_same_model_as_the_named_loss(easy_table):
    X, y = easy_table

    class Own:
        def value(self, margin):
            return np.logaddexp(0, -2 * margin)

        def slope(self, margin):
            return -2 / (1 + np.exp(2 * margin))

    named = AnyBoostClassifier("logistic", n_estimators=15).fit(X, y)
    for loss in (Own(), lambda margin: np.logaddexp(0, -2 * margin)):
        own = AnyBoostClassifier(loss, n_estimators=15).fit(X, y)
        np.testing.assert_allclose(own.decision_function(X), named.decision_function(X), rtol=1e-5)
        np.testing.assert_allclose(own.predict_proba(X), named.predict_proba(X), atol=1e-5)


def test_boosting_ends_when_every_row_has_its_margin():
    X = np.arange(20.0)[:, None]
    y = X[:, 0] > 9
    for loss in ("squared_hinge", "smooth_hinge"):
        model = AnyBoostClassifier(loss, n_estimators=50).fit(X, y)
        assert model.n_estimators_ == 1  # all margins are 1, so all weights are 0
        np.testing.assert_allclose(np.abs(model.decision_function(X)), 1, rtol=1e-6)


def test_a_non_convex_loss_tolerates_label_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    truth = X[:, 0] + X[:, 1] > 0
    y = np.where(rng.random(500) < 0.2, ~truth, truth)
    fresh = rng.normal(size=(4000, 2))
    right = fresh[:, 0] + fresh[:, 1] > 0

    def score(loss):
        return AnyBoostClassifier(loss, n_estimators=150).fit(X, y).score(fresh, right)

    assert score("doom2") > score("exponential") + 0.04


@pytest.mark.parametrize("multiclass", ["one-vs-rest", "one-vs-one", "ecoc"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_code_classifies_several_classes(loss, multiclass):
    X, y = load_iris(return_X_y=True)
    model = AnyBoostClassifier(loss, n_estimators=20, multiclass=multiclass, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.94
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
