"""Bagging, voting and other ensembles of any estimators are fitted on a cluster by joblib."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import bosquet

joblib = pytest.importorskip("joblib")


def n_transitions(client: Any) -> int:
    """The number of changes of the states of all tasks so far."""
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)


@pytest.mark.parametrize(
    "model",
    [
        bosquet.BaggingClassifier(
            DecisionTreeClassifier(max_depth=3), n_estimators=4, random_state=0, n_jobs=-1
        ),
        bosquet.VotingClassifier(
            [("tree", DecisionTreeClassifier(max_depth=2)), ("logistic", LogisticRegression())],
            voting="soft",
            n_jobs=-1,
        ),
    ],
)
def test_members_are_fitted_on_the_workers(client: Any, frame: Any, model: Any) -> None:
    X, y = frame[["b", "c"]], frame["label"]
    expected = model.fit(X, y).predict_proba(X)
    before = n_transitions(client)
    with client.as_current(), joblib.parallel_config(backend="dask", wait_for_workers_timeout=30):
        model.fit(X, y)
    assert n_transitions(client) > before
    np.testing.assert_array_equal(model.predict_proba(X), expected)
