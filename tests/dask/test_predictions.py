"""Lazy predictions for collections are those of the whole table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bosquet
from bosquet import dask as on_cluster

dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
from dask import is_dask_collection  # noqa: E402

FEATURES = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def classifier(frame):
    model = bosquet.GradientBoostingClassifier(n_estimators=3, random_state=0)
    return model.fit(frame[FEATURES], frame["label"])


def test_predictions_of_a_data_frame_are_series_with_its_index(frame, classifier):
    table = frame[FEATURES].set_index(np.arange(len(frame)) * 10)
    lazy = on_cluster.predict(classifier, dd.from_pandas(table, npartitions=3))
    assert is_dask_collection(lazy)
    pd.testing.assert_series_equal(
        lazy.compute(),
        pd.Series(classifier.predict(table), index=table.index, name="prediction"),
        check_dtype=False,
    )


def test_probabilities_of_a_data_frame_have_the_classes_as_columns(frame, classifier):
    lazy = on_cluster.predict_proba(classifier, dd.from_pandas(frame[FEATURES], npartitions=3))
    found = lazy.compute()
    assert list(found.columns) == ["hi", "lo", "mid"] == list(lazy.columns)
    np.testing.assert_array_equal(found, classifier.predict_proba(frame[FEATURES]))


def test_predictions_of_an_array_are_an_array(frame):
    X = frame[["a", "b", "c"]].to_numpy()
    model = bosquet.GradientBoostingRegressor(n_estimators=3, random_state=0)
    model.fit(X, frame["number"])
    lazy = on_cluster.predict(model, da.from_array(X, chunks=(700, 2)))
    assert lazy.chunks == ((700, 700, 700, 700, 200),)
    np.testing.assert_array_equal(lazy.compute(), model.predict(X))


def test_several_outputs_are_columns(frame):
    X, Y = frame[["a", "b", "c"]], frame[["number", "count"]]
    model = bosquet.GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, Y)
    expected = model.predict(X)
    found = on_cluster.predict(model, dd.from_pandas(X, npartitions=2))
    np.testing.assert_array_equal(found.compute(), expected)
    array = on_cluster.predict(model, da.from_array(X.to_numpy(), chunks=(1_000, 3)))
    np.testing.assert_array_equal(array.compute(), expected)


def test_partitions_may_be_empty(frame, classifier):
    collection = dd.from_pandas(frame[FEATURES], npartitions=4)
    some = collection[collection["c"] < 0]
    assert len(on_cluster.predict(classifier, some).compute()) == 0
    assert on_cluster.predict_proba(classifier, some).compute().shape == (0, 3)


def test_any_model_predicts_collections(frame):
    table = frame[["a", "b", "c"]].fillna(0)
    forest = bosquet.RandomForestRegressor(5, random_state=0).fit(table, frame["number"])
    found = on_cluster.predict(forest, dd.from_pandas(table, npartitions=3)).compute()
    np.testing.assert_array_equal(found, forest.predict(table))


def test_a_fitted_estimator_predicts_collections_and_tables(client, frame):
    collection = dd.from_pandas(frame[[*FEATURES, "label"]], npartitions=3)
    model = on_cluster.GradientBoostingClassifier(n_estimators=3, random_state=0)
    model.fit(collection, target="label", client=client)
    expected = model.predict_proba(frame[FEATURES])
    assert isinstance(expected, np.ndarray)
    np.testing.assert_array_equal(model.predict_proba(collection[FEATURES]).compute(), expected)
    assert (model.predict(collection[FEATURES]).compute() == model.predict(frame[FEATURES])).all()
    assert model.explain(frame[FEATURES][:5]).values.shape == (5, 5, 3)


def test_a_model_loaded_from_a_file_predicts_collections(client, frame, classifier, tmp_path):
    classifier.save(tmp_path / "model.bosquet")
    loaded = bosquet.load(tmp_path / "model.bosquet")
    found = on_cluster.predict(loaded, dd.from_pandas(frame[FEATURES], npartitions=3)).compute()
    assert (found == classifier.predict(frame[FEATURES])).all()
