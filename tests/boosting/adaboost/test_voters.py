"""A vote as a sequence of learners: their reprs, and the reason why the rounds ended."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree

import bosquet
from bosquet import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    AnyBoostClassifier,
    BrownBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LPBoostClassifier,
)

X, Y = make_moons(200, noise=0.25, random_state=1)
VOTES = {
    "ada": AdaBoostClassifier(n_estimators=4),
    "any": AnyBoostClassifier("logistic", n_estimators=4),
    "brown": BrownBoostClassifier(target_error=0.3),
    "lp": LPBoostClassifier(nu=0.3),
    "ada of trees": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), 4),
    "brown of trees": BrownBoostClassifier(TheirTree(max_depth=2), target_error=0.05),
    "lp of trees": LPBoostClassifier(DecisionTreeClassifier(max_depth=2), nu=0.05),
    "r2": AdaBoostRegressor(n_estimators=4, random_state=0),
}


@pytest.mark.parametrize("name", VOTES)
def test_a_vote_is_a_sequence_of_its_learners(name):
    model = VOTES[name].fit(X, Y)
    assert len(model) == len(model.estimators_) == len(list(model))
    for mine, listed in zip(model, model.estimators_, strict=True):
        np.testing.assert_array_equal(mine.predict(X), listed.predict(X))
    np.testing.assert_array_equal(model[-1].predict(X), model.estimators_[-1].predict(X))
    assert len(model[:2]) == 2
    with pytest.raises(IndexError):
        model[len(model)]
    with pytest.raises(NotFittedError):
        type(model)()[0]
    with pytest.raises(NotFittedError):
        len(type(model)())


@pytest.mark.parametrize("name", VOTES)
def test_importances_are_the_mean_over_the_learners_by_their_weights(name):
    model = VOTES[name].fit(X, Y)
    each = np.array([learner.feature_importances_ for learner in model])
    expected = model.estimator_weights_ @ each
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum(), atol=1e-12)


def test_learners_without_importances_are_named():
    model = LPBoostClassifier(SVC(), 3, nu=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y)
    with pytest.raises(AttributeError, match="SVC has no feature_importances_"):
        model.feature_importances_  # noqa: B018


@pytest.mark.parametrize("name", [name for name in VOTES if name != "r2"])
def test_staged_scores_are_those_of_the_staged_votes(name):
    model = VOTES[name].fit(X, Y)
    expected = [np.mean(predictions == Y) for predictions in model.staged_predict(X)]
    np.testing.assert_allclose(list(model.staged_score(X, Y)), expected)
    assert expected[-1] == model.score(X, Y)
    weight = np.arange(Y.size)
    last = list(model.staged_score(X, Y, weight))[-1]
    assert last == pytest.approx(model.score(X, Y, weight))


def test_staged_scores_of_regressors_are_shares_of_variance():
    model = AdaBoostRegressor(n_estimators=6, random_state=0).fit(X, X[:, 0] * X[:, 1])
    scores = list(model.staged_score(X, X[:, 0] * X[:, 1]))
    assert len(scores) == len(model)
    assert scores[-1] == pytest.approx(model.score(X, X[:, 0] * X[:, 1]))


def test_staged_probabilities_of_brownboost_end_at_its_own():
    model = BrownBoostClassifier(target_error=0.3).fit(X, Y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == len(model)
    np.testing.assert_allclose(stages[-1], model.predict_proba(X))
    for shares, predictions in zip(stages, model.staged_predict(X), strict=True):
        np.testing.assert_array_equal(shares.argmax(axis=1), predictions)


def test_lpboost_raises_an_error_for_probabilities():
    model = LPBoostClassifier(nu=0.3).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"no predict_proba: .*CalibratedModel"):
        model.predict_proba(X)
    assert bosquet.CalibratedModel(model).fit(X, Y).predict_proba(X).shape == (200, 2)


# ------------------------------------------------------------------------ repr
def test_a_stump_prints_its_rule():
    frame = pd.DataFrame({"width": [0.0, 1, 2, 3], "colour": pd.Categorical(list("rbrb"))})
    assert repr(AdaBoostClassifier(n_estimators=1).fit(frame[["width"]], [0, 0, 1, 1])[0]) == (
        "Stump(width <= 1.5: -1, else +1)"
    )
    assert repr(AdaBoostClassifier(n_estimators=1).fit(frame[["colour"]], [0, 1, 0, 1])[0]) in (
        "Stump(colour in {b}: +1, else -1)",
        "Stump(colour in {r}: -1, else +1)",
    )
    assert repr(LPBoostClassifier(nu=0.5).fit(frame[["width"]].to_numpy(), list("aabb"))[0]) == (
        "Stump(x0 <= 1.5: -1, else +1)"
    )
    regressor = AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), 1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(regressor.fit(X, X[:, 0])[0]).startswith("Stump(x0 <= ")
    tree = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), 2).fit(X, Y)[0]
    assert repr(tree).startswith("Tree(4 leaves, first split x1 <= ")


def test_a_stump_of_several_classes_prints_its_prediction_for_each():
    iris, species = load_iris(return_X_y=True)
    names = load_iris().target_names[species]
    samme = AdaBoostClassifier(n_estimators=1).fit(iris, names)
    assert repr(samme[0]) == "Stump(x2 <= 2.45: 'setosa', else 'versicolor')"
    mh = AdaBoostClassifier(n_estimators=1, multiclass="mh").fit(iris, names)
    assert repr(mh[0]) == "Stump(x2 <= 2.45: (+1, -1, -1), else (-1, -1, -1))"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        codes = AdaBoostClassifier(n_estimators=2, multiclass="one-vs-rest").fit(iris, names)
    assert codes[0].shape == (3,)


# ---------------------------------------------------------------------- stopping reasons
def fit_and_check_ending(model, X, y, reason, warns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    messages = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert reason in model.stopped_because_
    if warns:
        (message,) = messages
        assert f"ended after {len(model)} of {model.n_estimators} rounds: " in message
        assert model.stopped_because_ in message
        assert caught[0].filename == __file__
    else:
        assert not messages
    return model


def test_a_fit_with_all_rounds_gives_no_warning():
    fit_and_check_ending(AdaBoostClassifier(), X, Y, "all rounds were run (50)", False)
    fit_and_check_ending(AdaBoostRegressor(n_estimators=1), X, Y, "all rounds were run (1)", False)


@pytest.mark.parametrize("learner", [None, TheirTree(), DecisionTreeClassifier()])
def test_a_learner_without_errors_is_reported(learner):
    separable = np.c_[Y + 0.1 * X[:, 0] / np.abs(X).max(), X]
    model = fit_and_check_ending(
        AdaBoostClassifier(learner), separable, Y, "round 1 makes no mistake (ε = 0)", True
    )
    assert len(model) == 1


def test_a_learner_that_loses_its_edge_is_reported_with_its_error():
    # Four corners: after two stumps the weights are equal on rows that no stump can separate.
    corners, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [0, 0]]), [0, 1, 1, 0, 0]

    class Once(TheirTree):
        """A stump without an edge from its second fit on."""

        fits = 0

        def fit(self, X, y, sample_weight=None):
            type(self).fits += 1
            self.blind_ = type(self).fits > 1
            return super().fit(X, y, sample_weight)

        def predict(self, X):
            predictions = super().predict(X)
            return np.full(len(X), self.classes_[1]) if self.blind_ else predictions

    model = fit_and_check_ending(
        AdaBoostClassifier(Once(max_depth=1)), corners, y, "round 2 is no better", True
    )
    assert len(model) == 1
    assert "ε = 0.5" in model.stopped_because_


def test_stops_by_callbacks_validation_and_zero_loss_are_reported_without_a_warning():
    stop = [lambda info: info.iteration == 4]
    fit_and_check_ending(
        AdaBoostClassifier(callbacks=stop), X, Y, "a callback stopped the fit after round 4", False
    )
    early = AdaBoostClassifier(n_estimators=500, early_stopping=True, random_state=0)
    fit_and_check_ending(early, X, Y, "did not decrease for 20 rounds", False)
    separable = np.c_[Y * 2.0 + X[:, 0] / 9]
    fit_and_check_ending(
        AnyBoostClassifier("squared_hinge"), separable, Y, "no row has a weight above 0", False
    )


def test_a_code_ends_with_all_its_columns():
    iris, species = load_iris(return_X_y=True)
    model = AdaBoostClassifier(TheirTree(), multiclass="one-vs-rest")
    fit_and_check_ending(model, iris, species, "all columns of the code", True)


def test_the_stopping_reason_is_kept_when_a_finished_model_is_continued(tmp_path):
    model = AdaBoostClassifier(TheirTree(), warm_start=True)
    fit_and_check_ending(model, X, Y, "makes no mistake", True)
    model.n_estimators = 60
    fit_and_check_ending(model, X, Y, "makes no mistake", False)
    native = fit_and_check_ending(
        AdaBoostClassifier(n_estimators=3), X, Y, "all rounds were run (3)", False
    )
    native.save(tmp_path / "model.bosquet")
    assert bosquet.load(tmp_path / "model.bosquet").stopped_because_ == native.stopped_because_


def test_the_stopping_reason_of_a_regressor_is_reported_with_a_warning_after_few_rounds():
    stump = DecisionTreeRegressor(max_depth=1)
    fit_and_check_ending(AdaBoostRegressor(stump, 20, random_state=0), X, Y, "not below 0.5", False)
    with pytest.warns(ConvergenceWarning, match=r"3 of 50 rounds: the mean loss .*deeper.*restart"):
        AdaBoostRegressor(stump, 50, random_state=0).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="makes no mistake"):
        AdaBoostRegressor(DecisionTreeRegressor(), random_state=0).fit([[0.0], [0.0]], [1, 1])


def test_the_stopping_reason_of_brownboost_and_lpboost_is_reported(tmp_path):
    model = fit_and_check_ending(
        BrownBoostClassifier(target_error=0.3), X, Y, "no time is left", False
    )
    with pytest.warns(ConvergenceWarning, match="of the time is left"):
        cut = BrownBoostClassifier(n_estimators=2, target_error=0.05).fit(X, Y)
    assert cut.stopped_because_ == "all rounds were run (2)"
    fit_and_check_ending(
        LPBoostClassifier(nu=0.3), X, Y, "no vote is better by more than tol=1e-06", False
    )
    of_trees = LPBoostClassifier(DecisionTreeClassifier(max_depth=2), nu=0.3)
    fit_and_check_ending(of_trees, X, Y, "the learner finds no better vote", False)
    model.save(tmp_path / "model.bosquet")
    assert bosquet.load(tmp_path / "model.bosquet").stopped_because_ == "no time is left"


@pytest.mark.parametrize(
    "kind", [lambda **o: BrownBoostClassifier(target_error=0.1, **o),
             lambda **o: LPBoostClassifier(nu=0.1, **o)]
)  # fmt: skip
def test_callbacks_of_the_robust_votes_see_each_round_and_may_stop(kind, capsys):
    seen = []

    def watch(info):
        seen.append((info.iteration, info.train_loss, np.mean(info.model.predict(X) != Y)))
        return info.iteration == 3

    model = kind(callbacks=[watch], verbose=1).fit(X, Y)
    assert [iteration for iteration, _, _ in seen] == [1, 2, 3]
    for _, reported, measured in seen:
        assert reported == pytest.approx(measured)
    assert model.stopped_because_ == "a callback stopped the fit after round 3"
    assert "train" in capsys.readouterr().err
    whole = kind().fit(X, Y)
    heard = kind(callbacks=[lambda info: None]).fit(X, Y)
    np.testing.assert_array_equal(heard.decision_function(X), whole.decision_function(X))
