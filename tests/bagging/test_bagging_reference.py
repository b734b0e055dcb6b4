"""Votes and errors of bagging agree with the reference implementation in plain NumPy."""

import warnings

import numpy as np
import pytest

from bosquet import BaggingClassifier, BaggingRegressor
from bosquet.reference import bagging as reference


def counts_of(model, n):
    return np.array([np.bincount(rows, minlength=n) for rows in model.estimators_samples_])


def fit_model(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few learners leave rows in every bag
        return model.fit(X, y)


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("n_estimators", [4, 25])
def test_bagged_classifiers_agree_with_the_reference(voting, n_estimators, three_classes):
    X, y = three_classes
    X, y = X[:60], y[:60]
    model = BaggingClassifier(
        n_estimators=n_estimators, voting=voting, max_features=2, oob_score=True, random_state=0
    )
    model = fit_model(model, X, y)
    codes, counts = np.searchsorted(model.classes_, y), counts_of(model, 60)
    votes = np.zeros((n_estimators, 60, 3))
    for t, (tree, features) in enumerate(
        zip(model.estimators_, model.estimators_features_, strict=True)
    ):
        if voting == "soft":
            given = tree.predict_proba(X[:, features])
        else:
            given = tree.predict(X[:, features])[:, None] == tree.classes_
        for column, label in enumerate(tree.classes_):
            votes[t, :, list(model.classes_).index(label)] = given[:, column]

    by_hand = np.array([reference.mean_vote(votes[:, i]) for i in range(60)])
    np.testing.assert_allclose(model.predict_proba(X), by_hand)
    np.testing.assert_allclose(
        model.oob_decision_function_, reference.out_of_bag_votes(counts, votes), equal_nan=True
    )
    loss = reference.misclassified
    np.testing.assert_allclose(
        model.oob_curve_, reference.out_of_bag_curve(counts, votes, codes, loss)
    )
    assert model.oob_error_ == pytest.approx(reference.out_of_bag_error(counts, votes, codes, loss))
    assert model.oob_learner_error_ == pytest.approx(
        reference.mean_learner_error(counts, votes, codes, loss)
    )


@pytest.mark.parametrize("max_samples", [1.0, 0.5])
def test_bagged_regressors_agree_with_the_reference(max_samples, regression):
    X, y = regression
    X, y = X[:50], y[:50]
    model = BaggingRegressor(
        n_estimators=40, max_samples=max_samples, oob_score=True, random_state=0
    )
    model = fit_model(model, X, y)
    counts = counts_of(model, 50)
    votes = np.array([tree.predict(X) for tree in model.estimators_])[:, :, None]
    loss = reference.squared_error
    np.testing.assert_allclose(
        model.oob_prediction_, reference.out_of_bag_votes(counts, votes)[:, 0]
    )
    np.testing.assert_allclose(model.oob_curve_, reference.out_of_bag_curve(counts, votes, y, loss))
    assert model.oob_learner_error_ == pytest.approx(
        reference.mean_learner_error(counts, votes, y, loss)
    )
    errors = model.jackknife_standard_errors(X[:9])
    by_hand = [reference.jackknife_variance(counts, votes[:, i, 0]) for i in range(9)]
    assert max(by_hand) > 0
    np.testing.assert_allclose(errors**2, by_hand, atol=1e-12)
