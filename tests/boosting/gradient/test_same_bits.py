"""The bits of a model depend only on the data, the parameters and the seed."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor

SETTINGS = {
    "best first": {},
    "depth-wise": {"growth": "depth", "max_depth": 5},
    "subsample": {"subsample": 0.5},
    "gradient sampling": {"subsample": 0.4, "sampling": "gradient"},
    "features drawn": {"max_features": 0.5, "max_features_per_tree": 0.8},
    "gradient step": {"step": "gradient"},
}


def large_data(rows=30_000, features=12):
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, features)).astype(np.float32)
    X[random.random(X.shape) < 0.02] = np.nan
    signal = np.nan_to_num(X[:, 0] * (X[:, 1] > 0) + np.sin(X[:, 2]))
    return X, (signal + random.logistic(size=rows) > 0).astype(int)


def fit_model(X, y, **parameters):
    parameters = {"n_estimators": 8, "max_leaf_nodes": 63, "early_stopping": False, **parameters}
    return GradientBoostingClassifier(random_state=7, **parameters).fit(X, y)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_number_of_threads_does_not_change_the_bits(setting):
    X, y = large_data()
    bits = [
        fit_model(X, y, n_jobs=threads, **SETTINGS[setting]).decision_function(X)
        for threads in (1, 2, 3, 8)
    ]
    for other in bits[1:]:
        assert np.array_equal(other, bits[0])


def test_the_number_of_threads_does_not_change_wide_data_and_several_outputs():
    random = np.random.default_rng(3)
    X = random.normal(size=(3_000, 300))
    y = np.c_[X[:, 0] + X[:, 1] ** 2, X[:, 2] * X[:, 3]]
    bits = [
        GradientBoostingRegressor(n_estimators=4, n_jobs=threads, random_state=0)
        .fit(X, y)
        .predict(X)
        for threads in (1, 2, 3, 8)
    ]
    for other in bits[1:]:
        assert np.array_equal(other, bits[0])


def containers(X):
    frames = {
        "numpy": X,
        "fortran": np.asfortranarray(X),
        "list": X.tolist(),
        "float64": X.astype(float),
    }
    names = [f"x{i}" for i in range(X.shape[1])]
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    sparse = pytest.importorskip("scipy.sparse")
    frames["pandas"] = pandas.DataFrame(X, columns=names)
    frames["polars"] = polars.DataFrame(dict(zip(names, X.T, strict=True)))
    frames["arrow"] = pyarrow.table(dict(zip(names, X.T, strict=True)))
    frames["sparse"] = sparse.csr_array(X)
    return frames


def test_the_container_does_not_change_the_bits():
    X, y = large_data(rows=2_000)
    first = fit_model(X, y).decision_function(X)
    for name, frame in containers(X).items():
        model = fit_model(frame, y)
        assert np.array_equal(model.decision_function(frame), first), name


def test_the_container_does_not_change_categories():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    random = np.random.default_rng(0)
    colour = random.choice(["red", "green", "blue", "ochre"], 1_000)
    x = random.normal(size=1_000)
    y = ((colour == "red") | (x > 1)).astype(int)
    data = {"colour": colour, "x": x}
    frames = [
        pandas.DataFrame(data),
        pandas.DataFrame(data).astype({"colour": "category"}),
        polars.DataFrame(data),
        polars.DataFrame(data).with_columns(polars.col("colour").cast(polars.Categorical)),
        pyarrow.table(data),
    ]
    bits = [fit_model(frame, y).decision_function(frame) for frame in frames]
    for other in bits[1:]:
        assert np.array_equal(other, bits[0])


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_instruction_set_does_not_change_the_bits(setting, monkeypatch):
    from bosquet import _core

    if _core.best_isa() == "baseline":
        pytest.skip("this processor has only the baseline")
    X, y = large_data(rows=6_000)
    bits = {}
    for isa in ("baseline", _core.best_isa(), "avx2"):
        monkeypatch.setenv("BOSQUET_ISA", isa)
        bits[isa] = fit_model(X, y, **SETTINGS[setting]).decision_function(X)
    for isa, other in bits.items():
        assert np.array_equal(other, bits["baseline"]), isa


def test_concurrent_fits_do_not_affect_each_other():
    X, y = large_data(rows=10_000)  # enough rows for each fit to start its own threads
    expected = fit_model(X, y).decision_function(X)
    results = [None] * 4

    def work(i):
        results[i] = fit_model(X, y).decision_function(X)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, expected) for result in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fitting_works_in_a_forked_child_after_fitting_in_the_parent():
    code = """
import os, sys
import numpy as np
from bosquet import GradientBoostingRegressor
X = np.random.default_rng(0).normal(size=(20000, 8)); y = X[:, 0] ** 2
def fit():
    model = GradientBoostingRegressor(n_estimators=5, n_jobs=2, early_stopping=False, random_state=0)
    return model.fit(X, y).predict(X).sum()
parent = fit()
child = os.fork()
if child == 0:
    os._exit(0 if fit() == parent else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120)
    assert done.returncode == 0
