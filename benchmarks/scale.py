"""Tables larger than memory: `python -m benchmarks.scale` (make bench-scale).

A table of simulated rows is written as Parquet files, once per folder. Each fit runs in a separate process,
which reports its seconds and the peak of its memory over that of the interpreter with the libraries loaded.
Memory in files (`RssFile`: the mapped bins and libraries) is counted apart: the system takes it back when
other work needs it.

    memory       the whole table in memory, read before the clock starts; fewer rows, for the seconds per row
    batches      the same estimator, `fit("folder", target="y")`, with memory for copies of 7 columns
    quarter      the same with a memory_limit of a quarter of the bins, which are in a temporary file then
    xgboost      XGBoost with its external memory (ExtMemQuantileDMatrix), reading the same files
    predict      from Parquet to Parquet, batch by batch
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks import THREADS, data
from benchmarks.machine import describe, in_words
from benchmarks.resident import peak, resident

ROOT = Path(__file__).parents[1]
COLUMNS = 28
ROWS_PER_FILE = 1_000_000
LEAVES = 63
MEGABYTE = 1e6
# Without column copies; 28 features are stored in 32 bytes.
BYTES_OF_BINS = 32
# Of the 28 columns, those that splits read most are copied.
COLUMN_COPIES = 7


def write_table(folder, rows):
    """Write the table as Parquet files of a million rows, unless they are there."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, ROWS_PER_FILE)):
        path = folder / f"part-{number:04}.parquet"
        if path.exists():
            continue
        table = data.binary(min(ROWS_PER_FILE, rows - start), seed=100 + number)
        columns = {f"x{k}": table.X[:, k] for k in range(COLUMNS)} | {"y": table.y.astype(np.int8)}
        unfinished = path.with_suffix(".unfinished")
        parquet.write_table(pyarrow.table(columns), unfinished)
        unfinished.rename(path)


class Sampler(threading.Thread):
    """The largest anonymous memory of this process: without the pages of mapped files."""

    def __init__(self):
        super().__init__(daemon=True)
        self.largest, self.over = 0, threading.Event()

    def run(self):
        while not self.over.wait(0.02):
            self.largest = max(self.largest, _anonymous())


def _anonymous():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return resident()


def boosting(rounds):
    from bosquet import GradientBoostingClassifier

    return GradientBoostingClassifier(
        n_estimators=rounds, max_leaf_nodes=LEAVES, learning_rate=0.1, max_features=None,
        early_stopping=False, n_jobs=THREADS, random_state=0,
    )  # fmt: skip


def fit_in_memory(folder, rounds, rows):
    from pyarrow import parquet

    files = sorted(Path(folder).glob("*.parquet"))[: max(1, rows // ROWS_PER_FILE)]
    table = parquet.read_table(files).slice(0, rows)
    X = np.empty((len(table), COLUMNS), dtype=np.float32)
    for k in range(COLUMNS):
        X[:, k] = table.column(k)
    y = table.column("y").to_numpy()
    del table
    return lambda: boosting(rounds).fit(X, y)


def fit_in_batches(folder, rounds, rows):
    return lambda: boosting(rounds).fit(
        folder, target="y", memory_limit=(BYTES_OF_BINS + COLUMN_COPIES) * rows
    )


def fit_with_a_quarter(folder, rounds, rows):
    return lambda: boosting(rounds).fit(folder, target="y", memory_limit=BYTES_OF_BINS * rows / 4)


def fit_xgboost(folder, rounds, rows):
    import xgboost
    from pyarrow import parquet

    class Files(xgboost.DataIter):
        def __init__(self):
            self.files, self.at = sorted(Path(folder).glob("*.parquet")), 0
            super().__init__(cache_prefix=str(Path(tempfile.mkdtemp()) / "cache"))

        def next(self, input_data):
            if self.at == len(self.files):
                return 0
            table = parquet.read_table(self.files[self.at])
            X = np.column_stack([table.column(k).to_numpy() for k in range(COLUMNS)])
            input_data(data=X, label=table.column("y").to_numpy())
            self.at += 1
            return 1

        def reset(self):
            self.at = 0

    def fit():
        matrix = xgboost.ExtMemQuantileDMatrix(Files(), max_bin=256, nthread=THREADS)
        parameters = {
            "objective": "binary:logistic", "tree_method": "hist", "max_leaves": LEAVES, "max_depth": 0,
            "grow_policy": "lossguide", "eta": 0.1, "nthread": THREADS,
        }  # fmt: skip
        return xgboost.train(parameters, matrix, rounds)

    return fit


def predict_files(folder, rounds, rows):
    from bosquet.cli import main

    first = sorted(Path(folder).glob("*.parquet"))[0]
    written = Path(tempfile.mkdtemp())
    boosting(rounds).fit(first, target="y").save(written / "model.bosquet")
    command = ["predict", str(written / "model.bosquet"), str(folder), "--proba", "--quiet"]
    return lambda: main([*command, "--out", str(written / "predictions.parquet")])


WORKS = {
    "memory": fit_in_memory,
    "batches": fit_in_batches,
    "quarter": fit_with_a_quarter,
    "xgboost": fit_xgboost,
    "predict": predict_files,
}


def child(work, folder, rounds, rows):
    """Run one work in this process, and print its figures as JSON."""
    warm = data.binary(200, seed=3)
    boosting(2).fit(warm.X, warm.y)
    import pyarrow.dataset  # noqa: F401  (loaded before the memory of the interpreter is taken)

    before = resident()
    run = WORKS[work](folder, rounds, rows)
    sampler = Sampler()
    anonymous_before = _anonymous()
    sampler.start()
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    sampler.over.set()
    print(json.dumps({
        "seconds": seconds, "rows": rows, "peak": (peak() - before) / MEGABYTE,
        "anonymous": (sampler.largest - anonymous_before) / MEGABYTE,
    }))  # fmt: skip


def ask_child(work, folder, rounds, rows):
    command = [sys.executable, "-m", "benchmarks.scale", "--child", work, "--folder", str(folder),
               "--rounds", str(rounds), "--rows", str(rows)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--works", nargs="+", default=list(WORKS), choices=list(WORKS))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "bench-scale")
    parser.add_argument("--child", choices=list(WORKS))
    given = parser.parse_args()
    if given.child:
        child(given.child, str(given.folder), given.rounds, given.rows)
        return
    folder = given.folder / f"{given.rows}"
    write_table(folder, given.rows)
    print(in_words(describe()), flush=True)
    size = sum(os.path.getsize(file) for file in folder.glob("*.parquet")) / MEGABYTE
    print(
        f"{given.rows:,} rows x {COLUMNS}, {size:,.0f} MB of Parquet, {given.rounds} rounds of"
        f" {LEAVES} leaves"
    )
    for work in given.works:
        # In memory, fewer rows, so that a table larger than memory has a figure to compare with.
        rows = min(given.rows, 5_000_000) if work == "memory" else given.rows
        result = ask_child(work, folder, given.rounds, rows)
        if "error" in result:
            print(f"{work:8} failed: {result['error']}", flush=True)
            continue
        per_row = 1e6 * result["seconds"] / result["rows"]
        print(
            f"{work:8} {result['seconds']:7.1f} s, {per_row:6.2f} us per row, peak"
            f" {result['peak']:7.0f} MB, without mapped files {result['anonymous']:7.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
