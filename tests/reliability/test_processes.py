"""Estimators in forked children and in joblib's workers give the same results as in one process."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from families import FAMILIES, rows, same
from quiet_fits import quietly

from bosquet import GradientBoostingClassifier, RandomForestClassifier

N_CHILDREN = 12
LONGEST = 60.0  # time limit of a child in seconds, on a busy machine
IN_WORKERS = [
    "gradient-boosting",
    "forest",
    "adaboost",
    "bagging",
    "mixture",
    "super-learner",
    "calibrated",
]

pytestmark = pytest.mark.filterwarnings("ignore")


def ended(child):
    """Return the exit status of a child; None if it did not end and was killed."""
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=10, n_jobs=2, random_state=0),
        RandomForestClassifier(10, n_jobs=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_child_of_a_process_with_threads_fits_and_predicts(model):
    X = np.random.default_rng(0).normal(size=(30_000, 5))  # enough rows for two threads
    y = (X[:, 0] > 0).astype(int)
    probabilities = model.fit(X, y).predict_proba(X)
    stop = threading.Event()

    def predict():
        while not stop.is_set():
            model.predict_proba(X)

    threads = [threading.Thread(target=predict) for _ in range(2)]
    for thread in threads:
        thread.start()
    statuses = []
    try:
        for _ in range(N_CHILDREN):
            child = os.fork()
            if child == 0:
                right = np.array_equal(model.predict_proba(X), probabilities)
                right = right and np.array_equal(model.fit(X, y).predict_proba(X), probabilities)
                os._exit(0 if right else 1)
            statuses.append(ended(child))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * N_CHILDREN


def outputs_of_fitted(name):
    family = FAMILIES[name]
    return quietly(family.outputs, family.fitted(0), rows(0))


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_workers_of_joblib_give_the_same_predictions(backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(outputs_of_fitted)(name) for name in IN_WORKERS)
        forest = FAMILIES["bagging"].make().set_params(n_jobs=2)
        inside = FAMILIES["bagging"].fit(forest, rows(0)).predict_proba(rows(0).X)
    for name, outputs in zip(IN_WORKERS, found, strict=True):
        assert same(outputs, outputs_of_fitted(name)), name
    assert np.array_equal(inside, FAMILIES["bagging"].fitted(0).predict_proba(rows(0).X))
