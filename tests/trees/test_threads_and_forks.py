"""Prediction from many threads, and in processes forked while threads predict."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from bosquet import GradientBoostingRegressor

MAX_CHILDREN = 8
SECONDS = 20  # time limit of a child process


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 6))
    y = X[:, 0] * X[:, 1] + random.normal(size=3000)
    model = GradientBoostingRegressor(
        n_estimators=40, max_leaf_nodes=15, early_stopping=False, random_state=0
    ).fit(X, y)
    return model._terms.ensemble, X


def test_sixteen_threads_compile_a_model_once(fitted):
    ensemble, X = fitted
    expected = ensemble.predict_raw(X, 0, ensemble.n_trees)
    for _ in range(5):
        fresh = ensemble.copy()
        assert fresh.n_compilations == 0
        barrier, predictions = threading.Barrier(16), [None] * 16

        def predict(k, model=fresh, barrier=barrier, predictions=predictions):
            barrier.wait()
            predictions[k] = model.predict_raw(X, 0, model.n_trees)

        threads = [threading.Thread(target=predict, args=(k,)) for k in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert fresh.n_compilations == 1
        assert all(np.array_equal(values, expected) for values in predictions)


def test_a_model_is_compiled_again_after_its_trees_change(fitted):
    ensemble, X = fitted
    model = ensemble.copy()
    model.predict_raw(X, 0, model.n_trees)
    model.truncate(20)
    assert np.array_equal(model.predict_raw(X, 0, 20), model.predict_plain(X))
    assert model.n_compilations == 2


def forking(test):
    test = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")(test)
    return pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")(test)


def wait_for_child(pid):
    """Return the exit code of a child process; None if it exceeded the time limit and was killed."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


@forking
@pytest.mark.parametrize("count", [80, pytest.param(1200, marks=pytest.mark.slow)])
def test_a_child_forked_while_threads_predict_predicts(fitted, count):
    """Two threads predict few rows all the time; two others compile a new model for many rows."""
    ensemble, X = fitted
    few, many = X[:40], X[:1200]
    expected = ensemble.predict_raw(many, 0, ensemble.n_trees)
    fresh, over = [ensemble.copy()], threading.Event()

    def predict_often():
        while not over.is_set():
            ensemble.predict_raw(few, 0, ensemble.n_trees)

    def compile_often():
        while not over.is_set():
            fresh[0].predict_raw(many, 0, ensemble.n_trees)

    threads = [threading.Thread(target=work) for work in (predict_often, compile_often) * 2]
    for thread in threads:
        thread.start()
    random, children, codes = np.random.default_rng(1), [], []
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        for _ in range(count):
            fresh[0] = ensemble.copy()
            time.sleep(random.uniform(0, 0.004))
            pid = os.fork()
            if pid == 0:
                code = 2
                try:
                    found = [model.predict_raw(many, 0, model.n_trees)
                             for model in (ensemble, fresh[0])]  # fmt: skip
                    code = 0 if all(np.array_equal(f, expected) for f in found) else 1
                finally:
                    os._exit(code)
            children.append(pid)
            if len(children) == MAX_CHILDREN:
                codes += [wait_for_child(children.pop(0))]
        codes += [wait_for_child(pid) for pid in children]
    finally:
        sys.setswitchinterval(switching)
        over.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * count


@forking
def test_a_child_forked_during_a_fit_can_leave_the_fit():
    """The child has none of the threads of the fit and must not wait for them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(40_000, 5))

    class LeaveFit(Exception):
        pass

    parent, children = os.getpid(), []

    def fork_once(info):
        if info.iteration == 2 and os.getpid() == parent:
            children.append(os.fork())
        if os.getpid() != parent:
            raise LeaveFit

    model = GradientBoostingRegressor(
        n_estimators=4, early_stopping=False, n_jobs=2, callbacks=[fork_once]
    )
    code = 1
    try:
        model.fit(X, X[:, 0])
    except LeaveFit:
        code = 0
    finally:
        if os.getpid() != parent:
            os._exit(code)
    assert [wait_for_child(pid) for pid in children] == [0]
