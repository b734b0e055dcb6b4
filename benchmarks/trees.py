"""Single trees and forests compared with the peers: `python -m benchmarks.trees`.

Interleaved rounds, the best of three. scikit-learn-intelex is included if it is installed, in a separate
process, because it replaces scikit-learn's classes. The table is printed, and written as Markdown and as
JSON.
"""

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.metrics import roc_auc_score

from benchmarks import data
from benchmarks.machine import describe
from benchmarks.report import markdown_table

TREES, THREADS = 100, 2


def forest(library):
    """A forest of full-depth trees."""
    if library == "Bosquet":
        from bosquet import RandomForestClassifier
    elif library == "scikit-learn":
        from sklearn.ensemble import RandomForestClassifier
    else:
        from sklearnex.ensemble import RandomForestClassifier
    return RandomForestClassifier(n_estimators=TREES, n_jobs=THREADS, random_state=0)


def measure_forest(library, rows, repeats):
    """Return the best times of the fit and of predicting 100,000 rows, and the test AUC."""
    table = data.binary(rows, seed=1)
    test = data.binary(100_000, seed=data.HELD_OUT_SEED)
    fit, predict = np.inf, np.inf
    for _ in range(repeats):
        model = forest(library)
        start = time.perf_counter()
        model.fit(table.X, table.y)
        fit = min(fit, time.perf_counter() - start)
        for _ in range(5):
            start = time.perf_counter()
            probabilities = model.predict_proba(test.X)
            predict = min(predict, time.perf_counter() - start)
    return {
        "fit": fit,
        "predict": predict,
        "auc": float(roc_auc_score(test.y, probabilities[:, 1])),
    }


def in_a_process(library, rows):
    """Run one round of `measure_forest` in a new process."""
    command = [sys.executable, "-m", "benchmarks.trees", "--forest", library, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def forests(rows, repeats):
    libraries = ["Bosquet", "scikit-learn", "intelex"]
    rounds = [{name: in_a_process(name, rows) for name in libraries} for _ in range(repeats)]
    best = {}
    for name in libraries:
        finished = [r[name] for r in rounds if "error" not in r[name]]
        if not finished:
            best[name] = rounds[0][name]
            continue
        best[name] = {
            "fit": min(t["fit"] for t in finished),
            "predict": min(t["predict"] for t in finished),
            "auc": finished[0]["auc"],
        }
    return best


def single_trees(rows, repeats):
    """One exact tree of full depth, and one pruned by ten-fold cross-validation."""
    from sklearn.tree import DecisionTreeClassifier as Theirs

    from bosquet import DecisionTreeClassifier as Ours

    table = data.binary(rows, seed=1)
    best = {"ours": np.inf, "theirs": np.inf, "pruned": np.inf}
    for _ in range(repeats):
        for name, model in (
            ("ours", Ours(max_competitors=0)),
            ("theirs", Theirs(random_state=0)),
            ("pruned", Ours(max_competitors=0, pruning="cv", random_state=0)),
        ):
            start = time.perf_counter()
            model.fit(table.X, table.y)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def sizes(rows):
    """Bytes per node in memory, and the file size compared with scikit-learn's pickle."""
    table = data.binary(rows, seed=1)
    ours, theirs = forest("Bosquet"), forest("scikit-learn")
    ours.fit(table.X, table.y)
    theirs.fit(table.X, table.y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.bosquet"
        ours.save(path)
        file = path.stat().st_size
    nodes = sum(len(ours._ensemble.tree_arrays(t)["feature"]) for t in range(ours.n_estimators_))
    return {"nodes": nodes, "file": file, "pickle": len(pickle.dumps(theirs))}


def importances(rows):
    """Out-of-bag permutation importance compared with scikit-learn's with five repeats."""
    table = data.binary(rows, seed=1)
    ours, theirs = forest("Bosquet"), forest("scikit-learn")
    ours.fit(table.X, table.y)
    theirs.fit(table.X, table.y)
    start = time.perf_counter()
    ours.importance("permutation", table.X, table.y)
    middle = time.perf_counter()
    permutation_importance(theirs, table.X, table.y, n_repeats=5, random_state=0)
    return {"ours": middle - start, "theirs": time.perf_counter() - middle}


def line(work, ours, theirs, must, note=""):
    return [work, f"{ours:.3g} s", f"{theirs:.3g} s", f"{ours / theirs:.3f}", f"{must:g}", note]


def run(repeats):
    lines, raw = [], {"machine": describe()}
    for rows in (100_000, 20_000):
        found = raw[f"forest {rows}"] = forests(rows, repeats)
        ours = found["Bosquet"]
        for name, must in (("intelex", 0.8), ("scikit-learn", 0.2)):
            peer = found[name]
            if "error" in peer:
                lines.append(
                    [f"forest, {rows:,} × 28, {name}", "", "", "", f"{must:g}", peer["error"]]
                )
                continue
            note = f"AUC {ours['auc']:.4f}, theirs {peer['auc']:.4f}"
            lines.append(
                line(f"forest, {rows:,} × 28, {name}", ours["fit"], peer["fit"], must, note)
            )
        if rows == 100_000:
            peers = [p["predict"] for n, p in found.items() if n != "Bosquet" and "error" not in p]
            lines.append(line("forest predict, 100,000 rows", ours["predict"], min(peers), 0.5))
    trees = raw["trees"] = single_trees(100_000, repeats)
    lines.append(line("one exact tree, 100,000 × 28", trees["ours"], trees["theirs"], 0.5))
    lines.append(line("pruned by CV, in trees' time", trees["pruned"], trees["ours"], 12))
    size = raw["sizes"] = sizes(100_000)
    share = size["file"] / size["pickle"]
    note = f"{size['file'] / size['nodes']:.1f} bytes a node in the file, 24 in memory"
    lines.append(
        [
            "file compared with scikit-learn's pickle",
            f"{size['file'] / 2**20:.1f} MB",
            f"{size['pickle'] / 2**20:.1f} MB",
            f"{share:.3f}",
            "0.1",
            note,
        ]
    )
    took = raw["importance"] = importances(20_000)
    lines.append(line("permutation importance, 20,000 × 28", took["ours"], took["theirs"], 0.3))
    return lines, raw


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trees", description=__doc__)
    parser.add_argument("--forest", nargs=2, metavar=("LIBRARY", "ROWS"), help="one measurement")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args(arguments)
    if given.forest:
        print(json.dumps(measure_forest(given.forest[0], int(given.forest[1]), 1)))
        return 0
    lines, raw = run(given.repeats)
    head = ["work", "Bosquet", "peer", "ratio", "must", ""]
    text = markdown_table(head, lines)
    given.out.mkdir(parents=True, exist_ok=True)
    target = given.out / f"trees-{datetime.now():%Y%m%d-%H%M%S}"
    target.with_suffix(".json").write_text(json.dumps(raw, indent=1))
    target.with_suffix(".md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
