"""Fits: losses, steps, early stopping, warm starts, constraints, callbacks."""

import io

import numpy as np
import pytest
from loss_cases import REGRESSION, TWO_CLASSES
from sklearn.metrics import log_loss, mean_absolute_error
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.boosting.rounds import RoundInfo, RoundProgressBar


@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("step", ["newton", "gradient"])
def test_every_regression_loss_decreases_and_fits(loss, step, regression):
    X, y = regression
    model = GradientBoostingRegressor(
        loss, step=step, n_estimators=60, max_leaf_nodes=8, learning_rate=0.1, random_state=0
    ).fit(X, y)
    assert model.train_score_[-1] < model.train_score_[0]
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("loss", TWO_CLASSES)
@pytest.mark.parametrize("step", ["newton", "gradient"])
def test_every_classification_loss_learns_and_gives_probabilities(loss, step, two_classes):
    X, y = two_classes
    model = GradientBoostingClassifier(
        loss, step=step, n_estimators=40, max_leaf_nodes=6, learning_rate=0.1, random_state=0
    ).fit(X, y)
    probability = model.predict_proba(X)
    assert probability.shape == (600, 2)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert model.score(X, y) > 0.8
    assert abs(probability[:, 1].mean() - y.mean()) < 0.06


def test_several_classes_have_one_probability_each(three_classes):
    X, y = three_classes
    model = GradientBoostingClassifier(n_estimators=40).fit(X, np.array(["low", "mid", "high"])[y])
    assert list(model.classes_) == ["high", "low", "mid"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, np.array(["low", "mid", "high"])[y]) > 0.9


def test_quantile_levels_cover_their_share(regression):
    X, y = regression
    levels = [0.1, 0.5, 0.9]
    model = GradientBoostingRegressor(
        "quantile", quantile=levels, n_estimators=80, max_leaf_nodes=6
    )
    below = (y[:, None] < model.fit(X, y).predict(X)).mean(axis=0)
    np.testing.assert_allclose(below, levels, atol=0.06)


def test_expectile_levels_balance_residuals_above_and_below(regression):
    X, y = regression
    levels = np.array([0.1, 0.5, 0.9])
    model = GradientBoostingRegressor(
        "expectile", expectile=levels, n_estimators=80, max_leaf_nodes=6
    ).fit(X, 1000 * y)
    residuals = 1000 * y[:, None] - model.predict(X)
    above = np.maximum(residuals, 0).sum(axis=0)
    below = np.maximum(-residuals, 0).sum(axis=0)
    np.testing.assert_allclose(below / (above + below), levels, atol=0.02)


def test_the_expectile_of_level_one_half_is_least_squares(regression):
    X, y = regression
    options = {"n_estimators": 20, "random_state": 0}
    expected = GradientBoostingRegressor(**options).fit(X, y).predict(X)
    middle = GradientBoostingRegressor("expectile", **options).fit(X, y).predict(X)
    np.testing.assert_allclose(middle, expected, rtol=1e-6)


def test_early_stopping_keeps_the_best_round_on_the_validation_set(two_classes):
    X, y = two_classes
    model = GradientBoostingClassifier(
        n_estimators=500, learning_rate=0.3, early_stopping=True, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert model.n_iter_ < 100
    assert model.n_iter_ == np.argmin(model.validation_score_) + 1
    assert len(model.validation_score_) == model.n_iter_ + 5


def test_the_loss_is_monitored_on_the_eval_set(two_classes):
    X, y = two_classes
    model = GradientBoostingClassifier(n_estimators=30, early_stopping=False, random_state=0)
    model.fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
    expected = log_loss(y[400:], model.predict_proba(X[400:]))
    assert model.validation_score_[-1] == pytest.approx(expected, rel=1e-9)


def test_early_stopping_can_watch_a_scorer(two_classes):
    X, y = two_classes
    model = GradientBoostingClassifier(
        n_estimators=200, early_stopping=True, scoring="roc_auc", random_state=0, n_iter_no_change=5
    )
    assert model.fit(X, y).n_iter_ < 200


def test_warm_start_adds_rounds_to_the_same_trees(two_classes):
    X, y = two_classes
    model = GradientBoostingClassifier(n_estimators=10, warm_start=True, random_state=0).fit(X, y)
    first = list(model.staged_decision_function(X))[9]
    model.set_params(n_estimators=25).fit(X, y)
    assert model.n_iter_ == 25
    assert len(model.train_score_) == 25
    np.testing.assert_allclose(list(model.staged_decision_function(X))[9], first)
    with pytest.raises(ValueError, match="is smaller than the number of rounds in the model"):
        model.set_params(n_estimators=5).fit(X, y)


def test_staged_predictions_end_at_the_prediction(three_classes):
    X, y = three_classes
    model = GradientBoostingClassifier(n_estimators=12).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 12
    np.testing.assert_allclose(stages[-1], model.predict_proba(X), rtol=1e-12)


def test_callbacks_see_every_round_and_can_stop(regression):
    X, y = regression
    seen = []

    def watch(info):
        seen.append((info.iteration, info.train_loss))
        assert info.model.predict(X).shape == y.shape
        return info.iteration == 7

    model = GradientBoostingRegressor(quality="fast", callbacks=[watch]).fit(X, y)
    assert [round_ for round_, _ in seen] == list(range(1, 8))
    assert model.n_iter_ == 7


def test_an_interrupt_leaves_the_model_unchanged(regression):
    X, y = regression

    def interrupt(info):
        raise KeyboardInterrupt

    model = GradientBoostingRegressor(callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")
    fitted = GradientBoostingRegressor(n_estimators=5, warm_start=True).fit(X, y)
    before = fitted.predict(X)
    fitted.set_params(n_estimators=9, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X, y)
    assert fitted.n_iter_ == 5
    assert np.array_equal(fitted.predict(X), before)


def test_the_progress_bar_shows_rounds_and_losses():
    stream = io.StringIO()
    bar = RoundProgressBar(10, stream)
    bar.update(RoundInfo(5, 10, 0.25, 0.5, None))
    bar.close("done")
    assert "5/10" in stream.getvalue()
    assert "train 0.25" in stream.getvalue()
    assert "valid 0.5" in stream.getvalue()


def test_monotone_constraints_hold_everywhere():
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, size=(2_000, 3))
    y = X[:, 0] + np.sin(4 * X[:, 0]) - X[:, 1] + 0.2 * random.normal(size=2_000)
    model = GradientBoostingRegressor(monotonic_cst=[1, -1, 0], n_estimators=60).fit(X, y)
    grid = np.linspace(-2, 2, 200)
    for row in X[:20]:
        for feature, direction in ((0, 1), (1, -1)):
            line = np.tile(row, (200, 1))
            line[:, feature] = grid
            assert (direction * np.diff(model.predict(line)) >= -1e-12).all()
    free = GradientBoostingRegressor(n_estimators=60).fit(X, y)
    line = np.zeros((200, 3))
    line[:, 0] = grid
    assert (np.diff(free.predict(line)) < 0).any()


def test_interaction_constraints_keep_features_on_separate_paths():
    random = np.random.default_rng(0)
    X = random.normal(size=(1_500, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    model = GradientBoostingRegressor(interaction_cst=[{0}, {1}, {2}], n_estimators=30).fit(X, y)
    # Without interactions F is a sum of functions of one feature: mixed differences vanish.
    a, b = np.zeros((1, 3)), np.ones((1, 3))
    ab, ba = np.array([[1.0, 0, 0]]), np.array([[0, 1.0, 1.0]])
    mixed = model.predict(a) + model.predict(b) - model.predict(ab) - model.predict(ba)
    assert abs(mixed[0]) < 1e-9


def test_class_weights_act_as_sample_weights(two_classes):
    X, y = two_classes
    settings = {"n_estimators": 10, "random_state": 0}
    by_class = GradientBoostingClassifier(class_weight={0: 1, 1: 3}, **settings).fit(X, y)
    by_row = GradientBoostingClassifier(**settings).fit(X, y, sample_weight=np.where(y, 3, 1))
    assert np.array_equal(by_class.decision_function(X), by_row.decision_function(X))


def test_rows_of_weight_zero_are_as_if_absent(two_classes):
    X, y = two_classes
    weight = np.ones(600)
    weight[300:] = 0
    settings = {"n_estimators": 10, "random_state": 0}
    with_zeros = GradientBoostingClassifier(**settings).fit(X, y, sample_weight=weight)
    without = GradientBoostingClassifier(**settings).fit(X[:300], y[:300])
    assert np.array_equal(with_zeros.decision_function(X), without.decision_function(X))


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson"])
@pytest.mark.parametrize("learner", [DecisionTreeRegressor(max_depth=3), KNeighborsRegressor(20)])
def test_any_learner_decreases_any_loss(loss, learner, regression):
    X, y = regression
    model = GradientBoostingRegressor(loss, estimator=learner, n_estimators=15, learning_rate=0.5)
    model.fit(X, y)
    assert (np.diff(model.train_score_) <= 1e-12).all() or loss == "huber"
    assert model.score(X, y) > 0.5


def test_boosting_of_any_learner_accepts_weights_classes_and_subsamples(three_classes):
    X, y = three_classes
    model = GradientBoostingClassifier(
        estimator=DecisionTreeRegressor(max_depth=2), subsample=0.5, n_estimators=20, random_state=0
    )
    model.fit(X, y, sample_weight=np.linspace(0.5, 1.5, 600))
    assert model.score(X, y) > 0.8


def test_importance_finds_the_features_that_matter(regression):
    X, y = regression
    model = GradientBoostingRegressor(n_estimators=40).fit(X, y)
    for importance in (
        model.feature_importances_,
        model.importance("split"),
        model.importance("permutation", X, y, random_state=0),
    ):
        assert set(np.argsort(importance)[-2:]) == {0, 1}
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_gradient_sampling_is_nearly_as_accurate(two_classes):
    random = np.random.default_rng(5)
    X = random.normal(size=(6_000, 8))
    y = X[:, 0] ** 2 + X[:, 1] * (X[:, 2] > 0) + 0.1 * random.normal(size=6_000)
    settings = {"n_estimators": 60, "early_stopping": False, "random_state": 0}
    whole = GradientBoostingRegressor(**settings).fit(X[:5_000], y[:5_000])
    sampled = GradientBoostingRegressor(subsample=0.3, sampling="gradient", **settings)
    sampled.fit(X[:5_000], y[:5_000])
    error = [mean_absolute_error(y[5_000:], m.predict(X[5_000:])) for m in (whole, sampled)]
    assert error[1] < 1.15 * error[0]
