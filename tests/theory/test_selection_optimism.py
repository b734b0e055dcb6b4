"""The score of the best setting is optimistic; nested cross-validation is not."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from bosquet.theory import selection_optimism


def test_on_pure_noise_the_best_score_is_optimistic_and_nested_cross_validation_is_not():
    grid = {"random_state": range(10)}
    promised, kept, plain = [], [], []
    for seed in range(8):
        X, y = np.zeros((60, 1)), np.arange(60) % 2
        coin = DummyClassifier(strategy="uniform")
        found = selection_optimism(coin, grid, X, y, cv=3, outer=3, random_state=seed)
        promised.append(found.promised)
        kept.append(found.kept)
        plain.append(found.scores.mean())
        assert found.promised == found.scores.max()
    assert np.mean(promised) > 0.55
    assert abs(np.mean(kept) - 0.5) < 0.06
    assert abs(np.mean(plain) - 0.5) < 0.04
    assert np.mean(promised) - np.mean(kept) > 0.05


def test_one_setting_has_no_optimism():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    found = selection_optimism(Ridge(), {"alpha": [1.0]}, X, X[:, 0], random_state=3)
    folds = KFold(5, shuffle=True, random_state=3)
    assert found.kept == found.promised == found.vote
    assert found.kept == pytest.approx(cross_val_score(Ridge(), X, X[:, 0], cv=folds).mean())


def test_the_numbers_are_those_of_a_nested_search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    grid = {"n_neighbors": [1, 5, 15]}
    found = selection_optimism(KNeighborsClassifier(), grid, X, y, random_state=1)
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=folds)
    assert found.kept == pytest.approx(cross_val_score(search, X, y, cv=folds).mean())
    assert found.best == search.fit(X, y).best_params_
    assert "optimism" in repr(found)


def test_folds_must_be_two_at_least():
    with pytest.raises(ValueError, match="outer=1"):
        selection_optimism(Ridge(), {"alpha": [1.0]}, [[0.0]], [0.0], outer=1)
