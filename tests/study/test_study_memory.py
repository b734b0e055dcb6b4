"""Memory of methods and studies, compared with the size of the table."""

import gc
import json
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
from large_tables import many_levels
from scipy import sparse
from sklearn.base import clone
from stand_ins import constant, method

from bosquet import Study
from bosquet.study.methods import METHODS
from bosquet.study.methods.pipelines import ROWS_AT_A_TIME, row_blocks
from bosquet.study.methods.shapes import table_shape

MEGABYTE = 2**20
ROWS, LEVELS = 6000, 1000
DENSE = ROWS * LEVELS * 8  # bytes of the matrix with a column for each level
CLASSES = ("logistic", "svm-linear", "mlp", "lda", "nearest-centroid")
NUMBERS = ("linear", "poisson", "svr-linear")


@pytest.fixture(scope="module")
def levels():
    return many_levels(ROWS, LEVELS)


def candidate(name, frame, target):
    """Return the pipeline of the middle candidate, with one column per level of two rows."""
    task = "regression" if name in NUMBERS else "binary"
    candidates = METHODS[name].candidates(table_shape(frame, target, task))
    return candidates[len(candidates) // 2].make(0).set_params(inputs__min_rows=2)


def target_for(name, labels):
    return (labels == "yes").astype(float) if name in NUMBERS else labels


def bytes_of(matrix):
    return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes


@pytest.mark.parametrize("name", CLASSES + NUMBERS)
def test_a_column_for_each_of_a_thousand_levels_is_sparse(name, levels):
    frame, labels = levels
    target = target_for(name, labels)
    matrix = candidate(name, frame, target)[0].fit_transform(frame, target)
    assert sparse.issparse(matrix)
    assert matrix.shape[1] > 0.9 * LEVELS
    # A value and its index for each of the three columns, and the end of each row.
    assert bytes_of(matrix) <= ROWS * (3 * (8 + 4) + 4) + 4


@pytest.mark.parametrize("name", ["logistic", "svm-linear", "mlp", "nearest-centroid", "poisson"])
def test_a_fit_and_its_predictions_never_hold_the_dense_matrix(name, levels):
    frame, labels = levels
    target = target_for(name, labels)
    pipeline = candidate(name, frame, target)
    if name == "mlp":
        pipeline.set_params(model__max_iter=2, model__early_stopping=False)
    tracemalloc.start()
    try:
        pipeline.fit(frame, target).predict(frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < DENSE / 2


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["logistic", "lda", "nearest-centroid", "linear", "poisson"])
def test_sparse_and_dense_matrices_give_the_same_predictions(name):
    frame, labels = many_levels(1500, 120)
    target = target_for(name, labels)
    thin = candidate(name, frame, target)
    dense = clone(thin).set_params(inputs__dense=True)
    predictions = [
        one.predict_proba(frame) if name in CLASSES else one.predict(frame)
        for one in (thin.fit(frame, target), dense.fit(frame, target))
    ]
    assert thin[0].is_sparse_
    assert not dense[0].is_sparse_
    assert np.allclose(*predictions, atol=1e-5)


def test_a_pipeline_prepares_a_part_of_the_rows_at_a_time_and_predicts_all(monkeypatch):
    frame, labels = many_levels(2 * ROWS_AT_A_TIME + 100, 60)
    pipeline = candidate("logistic", frame, labels).fit(frame, labels)
    inputs, seen = pipeline[0], []
    transform = inputs.transform
    monkeypatch.setattr(inputs, "transform", lambda X: seen.append(len(X)) or transform(X))
    probabilities = pipeline.predict_proba(frame)
    assert seen == [ROWS_AT_A_TIME, ROWS_AT_A_TIME, 100]
    whole = pipeline[1].predict_proba(transform(frame))
    assert np.allclose(probabilities, whole, rtol=1e-12)
    assert np.array_equal(pipeline.predict(frame), pipeline[1].predict(transform(frame)))


def test_tables_of_other_kinds_are_predicted_in_one_part():
    table = [[1.0, "a"]] * 5
    assert list(row_blocks(table, 2)) == [table]
    assert [len(part) for part in row_blocks(np.zeros((5, 2)), 2)] == [2, 2, 1]


class _Hoarder:
    """Raise an error while holding an array, like an estimator that exceeds its time limit."""

    held: list[weakref.ref] = []  # noqa: RUF012

    def fit(self, X, y):
        matrix = np.ones(1000)
        self.held.append(weakref.ref(matrix))
        try:
            raise ValueError("no fit")
        except ValueError as error:
            self.error = (
                error  # a cycle: the error's traceback knows this frame, which knows the error
            )
            raise

    def get_params(self, deep=True):
        return {}


def test_memory_of_a_failed_fit_is_released_before_the_next_method():
    frame, labels = many_levels(300, 5)
    failing = method("failing", lambda shape, value, seed: _Hoarder())
    alive = []

    def noting(shape, value, seed):
        alive.extend(one for one in _Hoarder.held if one() is not None)
        return constant().candidates(shape)[0].make(seed)

    gc.disable()
    try:
        Study(methods=[failing, method("noting", noting)], budget=None, repeats=1, verbose=0).fit(
            frame, labels
        )
    finally:
        gc.enable()
    assert _Hoarder.held
    assert not alive


MEASURED = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from large_tables import numbers_and_categories
from bosquet import Study

def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))

Study(budget=2, verbose=0).fit(numbers_and_categories(300), "y")  # loads what is loaded when first used
frame = numbers_and_categories(int(sys.argv[2]))
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
methods = ["nearest-centroid", "lda", "qda"]
study = Study(methods=methods, budget=None, repeats=1, verbose=0).fit(frame, "y")
held = frame.memory_usage(deep=True).sum()
page = Path(study.report(sys.argv[3])).stat().st_size
done = [name for name in methods if study.table_.loc[name, "status"] == "done"]
print(json.dumps({"over": status("VmHWM") - before, "table": int(held), "page": page, "done": done}))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc has the peak")
def test_a_study_with_five_hundred_indicator_columns_holds_a_few_times_the_table(tmp_path):
    # A dense matrix of the training rows takes 0.8 * 40,000 * 523 * 4 bytes, 64 MB, and a fit several.
    here, page = str(Path(__file__).parent), str(tmp_path / "page.html")
    command = [sys.executable, "-c", MEASURED, here, "40000", page]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(output.splitlines()[-1])
    assert len(found["done"]) == 3, found
    assert found["over"] < 100 * MEGABYTE, found
    assert found["page"] < 2 * MEGABYTE, found


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has the peak")
def test_the_benchmark_of_memory_notes_the_peak_of_each_step():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "2")  # the benchmarks set it
        from benchmarks import study_memory
    frame = study_memory.simulated(200)
    assert frame.shape == (200, 41)
    assert 0 < study_memory.megabytes(frame) < 1
    meter = study_memory.Meter()
    with meter.step("large"):
        np.ones(200 * MEGABYTE // 8).sum()  # some of it may be memory that was already free
    with meter.step("small"):
        pass
    assert meter.peaks["large"] > 100 * MEGABYTE
    assert meter.peaks["small"] < meter.peaks["large"] - 50 * MEGABYTE
