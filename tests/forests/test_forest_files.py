"""Saving and loading forests."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from small_forests import make_forest

import bosquet
from bosquet import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(7, random_state=0, oob_score=True),
        RandomForestClassifier(7, random_state=0, voting="hard"),
        RandomForestRegressor(7, random_state=0),
        ExtraTreesClassifier(7, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore:.*in all 7 bags")
def test_a_forest_is_the_same_after_saving_and_loading(forest, tmp_path):
    X, y = load_iris(return_X_y=True)
    forest.fit(X, y)
    forest.save(tmp_path / "forest.bosquet")
    for other in (bosquet.load(tmp_path / "forest.bosquet"), pickle.loads(pickle.dumps(forest))):
        np.testing.assert_array_equal(forest.predict(X), other.predict(X))
        np.testing.assert_array_equal(forest.feature_importances_, other.feature_importances_)
    if forest.bootstrap and hasattr(forest, "classes_"):
        loaded = bosquet.load(tmp_path / "forest.bosquet")
        assert (
            forest.importance("permutation", X, y).mean.tolist()
            == loaded.importance("permutation", X, y).mean.tolist()
        )


def test_the_file_of_a_two_class_forest_is_small(classes, tmp_path):
    X, y = classes
    from sklearn.ensemble import RandomForestClassifier as Theirs

    forest = make_forest(RandomForestClassifier).fit(X, y)
    forest.save(tmp_path / "forest.bosquet")
    size = (tmp_path / "forest.bosquet").stat().st_size
    theirs = len(pickle.dumps(Theirs(30, random_state=0).fit(X, y)))
    assert size < theirs / 10


def test_a_forest_with_stored_training_rows_cannot_be_saved(numbers, tmp_path):
    forest = RandomForestRegressor(3, keep_rows=True, random_state=0).fit(*numbers)
    with pytest.raises(ValueError, match="keep_rows=True"):
        forest.save(tmp_path / "forest.bosquet")
    with pytest.raises(ValueError, match="keep_rows=True"):
        RandomForestRegressor(3).fit(*numbers).predict_quantiles(numbers[0])
