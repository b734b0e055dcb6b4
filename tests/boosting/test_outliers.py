"""Outlier scores of boosting find rows with flipped labels."""

import numpy as np
import pytest
from quiet_fits import fit_quietly
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from bosquet import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    AnyBoostClassifier,
    BrownBoostClassifier,
    GradientBoostingClassifier,
    LPBoostClassifier,
)
from bosquet.boosting import outlier_scores

MODELS = [
    AdaBoostClassifier(n_estimators=60),
    AdaBoostClassifier(n_estimators=60, variant="real"),
    AdaBoostClassifier(n_estimators=60, variant="logit"),
    AnyBoostClassifier(n_estimators=60, loss="logistic"),
    AnyBoostClassifier(n_estimators=60, loss="squared_hinge"),
    BrownBoostClassifier(n_estimators=60, target_error=0.1),
    LPBoostClassifier(nu=0.2, tol=5e-2),
    GradientBoostingClassifier(n_estimators=30, max_leaf_nodes=4, early_stopping=False),
    TheirAdaBoost(n_estimators=60),
]


def flipped_labels(seed, share=0.05):
    """Return the breast cancer data with some flipped labels, and which rows have one."""
    X, y = load_breast_cancer(return_X_y=True)
    random = np.random.default_rng(seed)
    flipped = np.zeros(y.size, dtype=bool)
    flipped[random.choice(y.size, int(share * y.size), replace=False)] = True
    return X, np.where(flipped, 1 - y, y), flipped


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("by", ["loss", "margin"])
def test_flipped_labels_have_the_highest_scores(model, by):
    X, y, flipped = flipped_labels(0)
    scores = outlier_scores(fit_quietly(model, X, y), X, y, by=by)
    assert scores.shape == y.shape
    assert scores.min() >= 0
    assert scores.mean() == pytest.approx(1)
    top = np.argsort(-scores)[: flipped.sum()]
    assert flipped[top].mean() > 0.6  # by chance it would be 0.05


def test_the_score_of_adaboost_is_the_mean_weight():
    X, y, _ = flipped_labels(1)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    signs = 2 * y - 1
    weights = np.array([np.exp(-signs * f) for f in model.staged_decision_function(X)])
    by_hand = (weights / weights.mean(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(outlier_scores(model, X, y), by_hand)


def test_the_largest_scores_among_several_classes_are_mostly_of_flipped_labels():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    truth = np.digitize(X[:, 0], [-0.5, 0.5])
    flipped = np.arange(400) < 20
    y = np.where(flipped, (truth + 1) % 3, truth)
    for scheme in ("samme", "mh", "one-vs-rest"):
        model = AdaBoostClassifier(n_estimators=40, multiclass=scheme).fit(X, y)
        top = np.argsort(-outlier_scores(model, X, y))[:20]
        assert flipped[top].mean() > 0.6


def test_labels_of_any_kind_and_other_rows_than_those_of_the_fit():
    X, y, flipped = flipped_labels(2)
    words = np.where(y == 1, "benign", "malignant")
    model = AdaBoostClassifier(n_estimators=30).fit(X[::2], words[::2])
    scores = outlier_scores(model, X[1::2], words[1::2])
    assert scores[flipped[1::2]].mean() > 3


def test_invalid_models_rows_and_options_raise():
    X, y, _ = flipped_labels(0)
    with pytest.raises(TypeError, match="AdaBoostRegressor is not a classifier"):
        outlier_scores(AdaBoostRegressor(n_estimators=2).fit(X, y), X, y)
    with pytest.raises(TypeError, match="LogisticRegression has no staged_predict_proba"):
        outlier_scores(LogisticRegression(max_iter=10_000).fit(X[:, :2], y), X[:, :2], y)
    with pytest.raises(NotFittedError):
        outlier_scores(AdaBoostClassifier(), X, y)
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="which is not one of"):
        outlier_scores(model, X, y + 5)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        outlier_scores(model, X[:10], y)
    with pytest.raises(ValueError, match="by='sum' is not valid"):
        outlier_scores(model, X, y, by="sum")
