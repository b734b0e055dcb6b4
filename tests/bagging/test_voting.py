"""Voting of different learners: hard, soft and real votes, weights, dropped learners."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet import VotingClassifier, VotingRegressor


class ConstantClassifier(ClassifierMixin, BaseEstimator):
    """Predicts the same for every row."""

    def __init__(self, probabilities=(1.0, 0.0, 0.0), decision=0.0):
        self.probabilities = probabilities
        self.decision = decision

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile(self.probabilities, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def decision_function(self, X):
        return np.full(len(X), self.decision)


X, Y = np.zeros((3, 1)), ["a", "b", "c"]
# Two learners barely prefer "a", the third is sure of "b".
PANEL = [
    ("one", ConstantClassifier((0.4, 0.3, 0.3))),
    ("two", ConstantClassifier((0.4, 0.3, 0.3))),
    ("sure", ConstantClassifier((0.0, 1.0, 0.0))),
]


def test_a_majority_and_a_mean_of_probabilities_may_disagree():
    hard = VotingClassifier(PANEL).fit(X, Y)
    assert hard.predict(X).tolist() == ["a"] * 3
    assert hard.predict_proba(X)[0] == pytest.approx([2 / 3, 1 / 3, 0])
    assert hard.votes(X)[0].tolist() == ["a", "a", "b"]
    soft = VotingClassifier(PANEL, voting="soft").fit(X, Y)
    assert soft.predict(X).tolist() == ["b"] * 3
    assert soft.predict_proba(X)[0] == pytest.approx([0.8 / 3, 1.6 / 3, 0.6 / 3])
    assert soft.votes(X).shape == (3, 3, 3)


def test_weights_can_change_the_majority():
    model = VotingClassifier(PANEL, weights=[1, 1, 2.5]).fit(X, Y)
    assert model.predict(X).tolist() == ["b"] * 3
    assert model.predict_proba(X)[0] == pytest.approx([2 / 4.5, 2.5 / 4.5, 0])


def test_equal_votes_go_to_the_first_class():
    model = VotingClassifier(PANEL[1:]).fit(X, Y)
    assert model.predict(X).tolist() == ["a"] * 3


def test_real_votes_are_the_sign_of_a_weighted_sum():
    panel = [
        ("weak", ConstantClassifier(decision=-0.2)),
        ("weaker", ConstantClassifier(decision=-0.1)),
    ]
    panel.append(("strong", ConstantClassifier(decision=1.0)))
    two = ["no", "yes", "yes"]
    model = VotingClassifier(panel, voting="real").fit(X, two)
    assert model.decision_function(X) == pytest.approx([0.7 / 3] * 3)
    assert model.predict(X).tolist() == ["yes"] * 3
    assert not hasattr(model, "predict_proba")
    model.set_params(weights=[10, 10, 1]).fit(X, two)
    assert model.decision_function(X) == pytest.approx([-2 / 21] * 3)
    assert model.predict(X).tolist() == ["no"] * 3


def test_real_votes_of_several_classes_add_up_by_class(three_classes):
    X, y = three_classes
    panel = [("svm", LinearSVC()), ("line", LogisticRegression())]
    model = VotingClassifier(panel, voting="real").fit(X, y)
    by_hand = sum(learner.decision_function(X) for learner in model.estimators_) / 2
    np.testing.assert_allclose(model.decision_function(X), by_hand)
    assert np.array_equal(model.predict(X), model.classes_[by_hand.argmax(axis=1)])


def test_a_mean_of_regressors(regression):
    X, y = regression
    panel = [("line", Ridge()), ("near", KNeighborsRegressor()), ("tree", DecisionTreeRegressor())]
    model = VotingRegressor(panel, weights=[1, 2, 0]).fit(X, y)
    by_hand = (Ridge().fit(X, y).predict(X) + 2 * KNeighborsRegressor().fit(X, y).predict(X)) / 3
    np.testing.assert_allclose(model.predict(X), by_hand)
    assert model.votes(X).shape == (150, 3)
    two = VotingRegressor(panel).fit(X, np.c_[y, y])
    assert two.predict(X).shape == (150, 2)
    assert two.votes(X).shape == (150, 3, 2)


def test_dropped_learners_have_no_vote(regression):
    X, y = regression
    panel = [("line", LinearRegression()), ("near", "drop"), ("ridge", Ridge(alpha=100))]
    model = VotingRegressor(panel, weights=[1, 5, 3]).fit(X, y)
    assert len(model.estimators_) == 2
    assert model.named_estimators_["near"] == "drop"
    assert model.named_estimators_.ridge is model.estimators_[1]
    by_hand = (model.estimators_[0].predict(X) + 3 * model.estimators_[1].predict(X)) / 4
    np.testing.assert_allclose(model.predict(X), by_hand)


def test_learners_and_their_parameters_are_set_by_name():
    model = VotingClassifier([("near", KNeighborsClassifier()), ("bayes", GaussianNB())])
    model.set_params(near__n_neighbors=3, bayes=LogisticRegression(), voting="soft")
    assert model.get_params()["near__n_neighbors"] == 3
    assert isinstance(dict(model.estimators)["bayes"], LogisticRegression)
    model.set_params(bayes="drop")
    assert model.get_params()["bayes"] == "drop"
    with pytest.raises(ValueError, match="nobody"):
        model.set_params(nobody=1)


def test_sample_weight_is_passed_to_the_learners(two_classes):
    X, y = two_classes
    weight = np.where(y == "yes", 10.0, 1.0)
    panel = [("line", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2))]
    model = VotingClassifier(panel, voting="soft").fit(X, y, weight)
    alone = LogisticRegression().fit(X, y, weight)
    np.testing.assert_allclose(model.votes(X)[:, 0], alone.predict_proba(X))
    with pytest.raises(ValueError, match=r"'near'.*has no parameter sample_weight"):
        VotingClassifier([*panel, ("near", KNeighborsClassifier())]).fit(X, y, weight)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (VotingClassifier([]), "at least one"),
        (VotingClassifier("knn"), "list of"),
        (VotingClassifier([GaussianNB()]), "GaussianNB.*pairs"),
        (VotingClassifier([("a", GaussianNB()), ("a", GaussianNB())]), "'a' 2 times"),
        (VotingClassifier([("weights", GaussianNB())]), "'weights'"),
        (VotingClassifier([("a__b", GaussianNB())]), "'a__b'"),
        (VotingClassifier([("a", "drop")]), "all estimators are 'drop'"),
        (VotingClassifier(PANEL, voting="loud"), "voting='loud'"),
        (VotingClassifier(PANEL, weights=[1, 2]), "3 learners"),
        (VotingClassifier(PANEL, weights=[1, 2, -3]), r"weights\[2\] is -3"),
        (VotingClassifier(PANEL, weights=[0, 0, 0]), "zero"),
        (VotingClassifier([("svm", SVC())], voting="soft"), r"predict_proba.*'svm' \(SVC\)"),
        (
            VotingClassifier([("near", KNeighborsClassifier())], voting="real"),
            r"decision_function.*'near'",
        ),
    ],
)
def test_invalid_parameters_raise(model, match):
    with pytest.raises(ValueError, match=match):
        model.fit(X, Y)


def test_a_class_instead_of_an_instance_raises():
    message = r"estimators contains <class .*GaussianNB'> under the name 'bayes', which is not an"
    with pytest.raises(TypeError, match=message):
        VotingClassifier([("bayes", GaussianNB)]).fit(X, Y)
