"""Decomposition of the error of a vote, independent learners, and predictions of any ensemble."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import ensemble
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import bosquet
from bosquet.datasets import Friedman1, Waveform
from bosquet.reference import risk as reference
from bosquet.theory import ambiguity, predictions_of, vote_ambiguity


@st.composite
def votes_and_truth(draw):
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 7)))
    classes = draw(st.integers(2, 4))
    label = st.integers(0, classes - 1)
    return draw(hnp.arrays(int, shape, elements=label)), draw(
        hnp.arrays(int, shape[0], elements=label)
    )


@given(votes_and_truth())
@settings(max_examples=80, deadline=None)
def test_the_error_of_the_vote_is_mean_error_minus_good_plus_bad_diversity(case):
    votes, y = case
    parts = vote_ambiguity(votes, y)
    total = parts.mean_error - parts.good_diversity + parts.bad_diversity
    assert parts.error_of_vote == pytest.approx(total, abs=1e-12)
    assert parts.gain == pytest.approx(parts.good_diversity - parts.bad_diversity, abs=1e-12)
    found = (
        parts.error_of_vote,
        parts.mean_error,
        parts.good_diversity,
        parts.bad_diversity,
    )
    assert found == pytest.approx(reference.vote_parts(votes.tolist(), y.tolist()), abs=1e-12)


def test_weights_decide_the_vote():
    votes = np.array([["b", "a", "a"], ["b", "a", "a"]])
    assert vote_ambiguity(votes, ["b", "b"]).error_of_vote == 1
    weighted = vote_ambiguity(votes, ["b", "b"], weights=[3, 1, 1])
    assert weighted.error_of_vote == 0
    assert weighted.mean_error == pytest.approx(2 / 5)


def test_the_vote_of_independent_learners_has_the_binomial_error():
    random = np.random.default_rng(0)
    wrong = random.random((200_000, 5)) < 0.3
    parts = vote_ambiguity(wrong.astype(int), np.zeros(200_000, int))
    assert parts.error_of_vote == pytest.approx(parts.independent_error, abs=0.003)
    assert parts.correlation == pytest.approx(0, abs=0.01)
    assert parts.disagreement == pytest.approx(2 * 0.3 * 0.7, abs=0.005)


def test_the_correlation_is_the_mean_of_the_off_diagonal():
    random = np.random.default_rng(0)
    wrong = (random.random((100, 1)) + random.random((100, 4)) > 1.2).astype(int)
    matrix = np.corrcoef(wrong.T)
    expected = matrix[~np.eye(4, dtype=bool)].mean()
    assert vote_ambiguity(wrong, np.zeros(100, int)).correlation == pytest.approx(expected)


def test_a_vote_can_be_worse_than_its_learners():
    # On each row one of three learners is right, and is outvoted.
    votes = 1 - np.tile(np.eye(3, dtype=int), (2, 1))
    parts = vote_ambiguity(votes, np.zeros(6, int))
    assert parts.error_of_vote == 1
    assert parts.mean_error == pytest.approx(2 / 3)
    assert parts.gain == pytest.approx(-1 / 3)
    assert "gain" in repr(parts)


@pytest.mark.parametrize("labels", [[0, 1, 2], [1, 2, 3], ["x", "y", "z"]], ids=str)
@pytest.mark.parametrize(
    "model",
    [
        ensemble.BaggingClassifier(n_estimators=5, max_features=0.5, random_state=0),
        ensemble.RandomForestClassifier(5, random_state=0),
        ensemble.VotingClassifier([("a", DecisionTreeClassifier()), ("b", GaussianNB())]),
        ensemble.AdaBoostClassifier(n_estimators=5, random_state=0),
        bosquet.BaggingClassifier(n_estimators=5, random_state=0),
        bosquet.BaggingClassifier(n_estimators=5, voting="hard", random_state=0),
    ],
    ids=lambda model: f"{type(model).__module__}.{type(model).__name__}",
)
def test_predictions_of_the_learners_are_labels_of_the_ensemble(model, labels):
    X, y = Waveform().sample(150, random_state=0)
    y = np.array(labels)[y]
    votes = predictions_of(model.fit(X[:100], y[:100]), X[100:])
    assert votes.shape[0] == 50
    assert set(np.unique(votes).tolist()) <= set(labels)
    parts = vote_ambiguity(votes, y[100:])
    assert parts.mean_error < 0.55
    assert parts.error_of_vote <= parts.mean_error + 0.05


def test_numbers_go_to_the_ambiguity_of_squared_error():
    X, y = Friedman1().sample(200, random_state=0)
    forest = ensemble.RandomForestRegressor(10, random_state=0).fit(X[:100], y[:100])
    votes = predictions_of(forest, X[100:])
    parts = ambiguity(votes, y[100:])
    assert parts.error_of_mean == pytest.approx(np.mean((forest.predict(X[100:]) - y[100:]) ** 2))
    assert parts.error_of_mean == pytest.approx(parts.mean_error - parts.ambiguity)


def test_invalid_arguments_raise_an_error():
    with pytest.raises(ValueError, match=r"votes has shape \(2,\)"):
        vote_ambiguity([0, 1], [0, 1])
    with pytest.raises(ValueError, match=r"y has shape \(1,\), but votes has 2 rows"):
        vote_ambiguity([[0], [1]], [0])
    with pytest.raises(ValueError, match="weights has shape"):
        vote_ambiguity([[0], [1]], [0, 1], weights=[1, 2])
    with pytest.raises(ValueError, match="votes has the type"):
        vote_ambiguity([[0], [1]], ["0", "1"])
    X, y = Friedman1().sample(40, random_state=0)
    for model in (
        LogisticRegression(),
        ensemble.GradientBoostingRegressor(n_estimators=2).fit(X, y),
    ):
        with pytest.raises(TypeError, match="is not a fitted ensemble"):
            predictions_of(model, X)


@pytest.mark.parametrize("learners", [18, 22, 29, 36, 49])
def test_the_error_is_at_most_1_if_all_learners_are_wrong(learners):
    found = vote_ambiguity(np.ones((3, learners), int), np.zeros(3, int))
    assert found.mean_error == pytest.approx(1)
    assert found.independent_error == pytest.approx(1)
    assert found.mean_error <= 1
    assert found.bad_diversity >= 0
