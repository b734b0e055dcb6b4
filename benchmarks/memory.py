"""Peak memory of a fit, without the memory of the input.

Each library is fitted in a separate process. The process first fits a hundred rows, so that lazily
loaded modules are not counted. Then it loads the table, records its resident size, resets the peak,
fits, and reads the new peak. The table is either read from a file or generated in the process, where the
fit can reuse the freed memory of the generator.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.interleave import available
from benchmarks.libraries import LIBRARIES, Settings
from benchmarks.resident import forget_peak, peak, resident

# Only a tree is kept from one round to the next: ten rounds have the same peak as a hundred.
ROUNDS = 10
MEGABYTE = 2**20


def run(options):
    """Measure each library and each source of the table in a new process."""
    libraries, skipped = available(options.libraries)
    rows = 50_000 if options.quick else 1_000_000
    outcomes = {library.name: {} for library in libraries}
    with tempfile.TemporaryDirectory() as folder:
        table = data.binary(rows, seed=1)
        np.save(Path(folder) / "X.npy", table.X)
        np.save(Path(folder) / "y.npy", table.y)
        del table
        for library in libraries:
            for source in ("loaded", "generated"):
                result = _ask_child(library.name, rows, folder if source == "loaded" else None)
                if "error" in result:
                    outcomes[library.name]["error"] = result["error"]
                else:
                    outcomes[library.name][source] = result["over"] / MEGABYTE
    return {
        "name": "memory",
        "title": f"peak memory over the input, {rows:,} × 28, in MB",
        "kind": "memory",
        "must": 1.0,
        "aim": 0.5,
        "input": rows * 28 * 4 / MEGABYTE,
        "outcomes": outcomes,
        "skipped": skipped,
        "verdict": _verdict(outcomes),
    }


def _verdict(outcomes):
    found = {"fastest": "LightGBM"}
    ours, theirs = outcomes.get("Bosquet", {}), outcomes.get("LightGBM", {})
    if "loaded" in ours and "loaded" in theirs:
        found["ratio"] = ours["loaded"] / theirs["loaded"]
    if "generated" in ours and "generated" in theirs:
        found["ratio_generated"] = ours["generated"] / theirs["generated"]
    return found


def _ask_child(name, rows, folder):
    command = [sys.executable, "-m", "benchmarks.memory", "--library", name, "--rows", str(rows)]
    if folder:
        command += ["--folder", str(folder)]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"error": f"exit {done.returncode}: {last[:200]}"}
    return json.loads(done.stdout.strip().splitlines()[-1])


def _measure(library, rows, folder):
    warm = data.binary(100, seed=3)
    library.make("binary", Settings(rounds=2), []).fit(warm.X, warm.y)
    if folder:
        X, y = np.load(Path(folder) / "X.npy"), np.load(Path(folder) / "y.npy")
    else:
        table = data.binary(rows, seed=1)
        X, y = table.X, table.y
    forgotten = forget_peak()
    before = resident() if forgotten else peak()
    model = library.make("binary", Settings(rounds=ROUNDS), [])
    model.fit(X, y)
    return {"over": peak() - before, "before": before, "exact": forgotten}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--folder")
    given = parser.parse_args()
    library = next(library for library in LIBRARIES if library.name == given.library)
    print(json.dumps(_measure(library, given.rows, given.folder)))


if __name__ == "__main__":
    main()
