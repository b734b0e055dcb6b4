"""The estimators agree with their reference implementations in plain NumPy, round by round."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from bosquet import (
    AdaBoostClassifier,
    AnyBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from bosquet.reference import adaboost as reference
from bosquet.reference import anyboost as any_reference
from bosquet.reference import stumps

ROUNDS = 12
REFERENCES = {
    "discrete": (reference.adaboost, "error"),
    "mada": (reference.madaboost, "error"),
    "gentle": (reference.gentle_adaboost, "squared"),
    "logit": (reference.logitboost, "squared"),
}


def two_classes(seed, rows=60, columns=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).round(1)
    noise = rng.normal(scale=0.4, size=rows)
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0, 1.0, -1.0)


def three_classes(seed, rows=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3)).round(1)
    return X, np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=rows), [-0.5, 0.5])


def best_stump(criterion):
    return lambda X, y, w: stumps.brute_force(X, y, w, criterion).predict


@pytest.mark.parametrize("variant", list(REFERENCES))
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_votes_of_native_stumps_agree_with_the_reference(variant, learning_rate):
    X, y = two_classes(0)
    make, criterion = REFERENCES[variant]
    model = AdaBoostClassifier(
        n_estimators=ROUNDS, variant=variant, learning_rate=learning_rate
    ).fit(X, y)
    theirs = make(X, y, best_stump(criterion), ROUNDS, learning_rate)
    np.testing.assert_allclose(model.decision_function(X), reference.vote(theirs, X), rtol=1e-9)
    factor = 2 if variant in ("discrete", "mada") else 1
    np.testing.assert_allclose(
        model.estimator_weights_, [factor * alpha for alpha, _ in theirs], rtol=1e-9
    )


def test_real_votes_of_native_stumps_agree_with_the_reference():
    X, y = two_classes(1)

    def learn(X, y, w):
        stump = stumps.brute_force(X, y, w, "exponential")
        return lambda X: 1 / (1 + np.exp(-2 * stump.predict(X)))

    model = AdaBoostClassifier(n_estimators=ROUNDS, variant="real").fit(X, y)
    theirs = reference.real_adaboost(X, y, learn, ROUNDS)
    np.testing.assert_allclose(model.decision_function(X), reference.vote(theirs, X), rtol=1e-9)


def test_samme_of_native_stumps_agrees_with_the_reference():
    X, y = three_classes(2)

    def learn(X, y, w):
        return stumps.find_best_by_class(X, y, 3, w).predict

    model = AdaBoostClassifier(n_estimators=ROUNDS).fit(X, y)
    theirs = reference.samme(X, y, 3, learn, ROUNDS)
    votes = reference.class_votes(theirs, X, 3)
    centred = votes - votes.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(model.decision_function(X), centred, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.estimator_weights_, [a for a, _ in theirs], rtol=1e-9)
    odds = np.exp(votes)
    np.testing.assert_allclose(
        model.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), rtol=1e-9
    )


def test_adaboost_mh_of_native_stumps_agrees_with_the_reference():
    X, y = three_classes(3)

    def learn(X, Y, w):
        stump, signs = stumps.find_best_by_signs(X, Y.T, w.T)
        return lambda X: np.where(stump.goes_left(X)[:, None], signs[0], signs[1])

    model = AdaBoostClassifier(n_estimators=ROUNDS, multiclass="mh").fit(X, y)
    theirs = reference.adaboost_mh(X, y, 3, learn, ROUNDS)
    np.testing.assert_allclose(model.decision_function(X), reference.vote(theirs, X), rtol=1e-9)


@pytest.mark.parametrize("loss", list(any_reference.LOSSES))
def test_anyboost_of_native_stumps_agrees_with_the_reference(loss):
    X, y = two_classes(4)
    model = AnyBoostClassifier(loss, n_estimators=ROUNDS).fit(X, y)
    start = 10 if loss == "doom2" else 0
    theirs = any_reference.anyboost(
        X, y, best_stump("error"), any_reference.LOSSES[loss], ROUNDS, start
    )
    np.testing.assert_allclose(model.estimator_weights_, [a for a, _ in theirs], rtol=1e-6)
    f = sum(alpha * h(X) for alpha, h in theirs)
    np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-6, atol=1e-9)


class SlowStump(ClassifierMixin, BaseEstimator):
    """The stump of the reference implementation as an estimator of another library."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        signs = np.where(y == self.classes_[-1], 1.0, -1.0)
        self.stump_ = stumps.linear(X, signs, sample_weight / sample_weight.sum())
        return self

    def predict(self, X):
        return np.where(self.stump_.predict(X) > 0, self.classes_[-1], self.classes_[0])


class SlowMeans(RegressorMixin, BaseEstimator):
    """Weighted means on both sides of the best threshold."""

    def fit(self, X, y, sample_weight):
        self.stump_ = stumps.linear(X, y, sample_weight / sample_weight.sum(), "squared")
        return self

    def predict(self, X):
        return self.stump_.predict(X)


@pytest.mark.parametrize("variant", list(REFERENCES))
def test_a_foreign_stump_gives_the_vote_of_the_native_one(variant):
    X, y = two_classes(5)
    slow = SlowStump() if variant in ("discrete", "mada") else SlowMeans()
    foreign = AdaBoostClassifier(slow, ROUNDS, variant=variant).fit(X, y)
    native = AdaBoostClassifier(None, ROUNDS, variant=variant).fit(X, y)
    np.testing.assert_allclose(foreign.decision_function(X), native.decision_function(X), rtol=1e-9)


def test_learners_with_values_between_the_signs_follow_the_same_rule():
    X, y = two_classes(6)

    def learn(X, y, w):
        stump = stumps.brute_force(X, y, w, "squared")
        return lambda X: np.clip(stump.predict(X), -1, 1)

    theirs = reference.adaboost(X, y, learn, ROUNDS)
    model = AdaBoostClassifier(SlowMeans(), ROUNDS).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), reference.vote(theirs, X), rtol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_, [2 * a for a, _ in theirs], rtol=1e-9)


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle", "mada"])
def test_native_trees_vote_as_the_same_trees_fitted_one_by_one(variant):
    X, y = two_classes(7, rows=200)

    class OneByOne(DecisionTreeClassifier):
        """A subclass, so the loop treats it as an estimator of another library."""

    native = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), 8, variant=variant)
    foreign = AdaBoostClassifier(OneByOne(max_depth=2), 8, variant=variant)
    np.testing.assert_allclose(
        native.fit(X, y).decision_function(X), foreign.fit(X, y).decision_function(X), rtol=1e-8
    )


def test_adaboost_is_anyboost_with_the_exponential_loss():
    X, y = two_classes(8, rows=300)
    for learner in (DecisionTreeClassifier(max_depth=2), SlowStump()):
        adaboost = AdaBoostClassifier(learner, ROUNDS).fit(X, y)
        anyboost = AnyBoostClassifier("exponential", estimator=learner, n_estimators=ROUNDS)
        assert np.array_equal(
            adaboost.decision_function(X), anyboost.fit(X, y).decision_function(X)
        )
    native = AdaBoostClassifier(n_estimators=40).fit(X, y)
    other = AnyBoostClassifier(n_estimators=40).fit(X, y)
    np.testing.assert_allclose(other.decision_function(X), native.decision_function(X), rtol=1e-9)
    np.testing.assert_allclose(2 * other.estimator_weights_, native.estimator_weights_, rtol=1e-9)
    for mine, theirs in zip(native.estimators_, other.estimators_, strict=True):
        assert np.array_equal(mine.arrays["feature"], theirs.arrays["feature"])
        assert np.array_equal(mine.arrays["threshold"], theirs.arrays["threshold"], equal_nan=True)


@pytest.mark.parametrize(
    ("variant", "tree"),
    [
        ("discrete", DecisionTreeClassifier(max_depth=3)),
        ("discrete", DecisionTreeClassifier(max_leaf_nodes=5, min_samples_leaf=7)),
        ("real", DecisionTreeClassifier(max_depth=2)),
        ("gentle", DecisionTreeClassifier(max_depth=2)),
        ("gentle", DecisionTreeRegressor(max_depth=2)),
        ("logit", DecisionTreeRegressor(max_depth=3)),
        ("mada", DecisionTreeClassifier(max_depth=2)),
    ],
)
def test_trees_on_bins_equal_exact_trees_if_every_value_has_its_own_bin(variant, tree):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(600, 4)).round(1)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=600) > 0
    exact = AdaBoostClassifier(tree, 6, variant=variant).fit(X, y)
    binned = AdaBoostClassifier(tree, 6, variant=variant, split="histogram").fit(X, y)
    np.testing.assert_allclose(
        binned.decision_function(X), exact.decision_function(X), rtol=1e-5, atol=1e-9
    )
    assert binned.n_estimators_ == exact.n_estimators_


def test_trees_with_other_criteria_can_also_be_grown_on_bins():
    X, y = three_classes(3, rows=300)
    for tree in (
        DecisionTreeClassifier(max_depth=2),
        DecisionTreeClassifier(max_depth=2, criterion="entropy"),
        DecisionTreeClassifier(max_depth=2, max_features=1, random_state=0),
    ):
        for target in (y, y > 0):
            model = AdaBoostClassifier(tree, 5, split="histogram", random_state=0)
            assert model.fit(X, target).score(X, target) > 0.7
