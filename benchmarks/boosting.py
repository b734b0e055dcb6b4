"""AdaBoost and its variants compared with scikit-learn: `python -m benchmarks.boosting`.

Interleaved rounds, the best of three. The table is printed, and written as Markdown and as JSON.
"""

import argparse
import json
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks import data, resident
from benchmarks.interleave import settle
from benchmarks.machine import describe
from benchmarks.report import markdown_table

ROUNDS, THREADS = 100, 2


def best_of(repeats, **contestants):
    """Return the best time of each `name=function`, run in turn, and its last result."""
    seconds, results = dict.fromkeys(contestants, np.inf), {}
    for _ in range(repeats):
        for name, act in contestants.items():
            settle()
            start = time.perf_counter()
            results[name] = act()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds, results


def stumps(rows, repeats):
    """AdaBoost of exact stumps: time of the fit, and the training error of both."""
    from sklearn.ensemble import AdaBoostClassifier as Theirs

    from bosquet import AdaBoostClassifier as Ours

    table = data.binary(rows, seed=1)
    seconds, models = best_of(
        repeats,
        ours=lambda: Ours(n_estimators=ROUNDS, n_jobs=THREADS).fit(table.X, table.y),
        theirs=lambda: Theirs(n_estimators=ROUNDS, random_state=0).fit(table.X, table.y),
    )
    errors = {name: 1 - model.score(table.X, table.y) for name, model in models.items()}
    return {**seconds, "errors": errors}


def large(rows, repeats):
    """AdaBoost of stumps on bins, compared with reading the binned matrix as often."""
    from bosquet import AdaBoostClassifier

    table = data.binary(rows, seed=1)
    bytes_ = np.random.default_rng(0).integers(0, 255, (rows, table.X.shape[1]), dtype=np.uint8)
    words = bytes_.ravel()[: bytes_.size // 8 * 8].view(np.uint64)

    def read():
        for _ in range(ROUNDS):
            np.bitwise_xor.reduce(words)

    def boost():
        ends = []
        model = AdaBoostClassifier(
            n_estimators=ROUNDS + 1,
            split="histogram",
            n_jobs=THREADS,
            callbacks=[lambda info: ends.append(time.perf_counter())],
        )
        model.fit(table.X, table.y)
        rounds.append(ends[-1] - ends[0])

    rounds = []
    seconds, _ = best_of(repeats, whole=boost, reading=read)
    return {**seconds, "rounds": min(rounds)}


def trees(rows, repeats, n_estimators=20):
    """AdaBoost of trees of depth 3: exact, on bins, and scikit-learn's."""
    from sklearn.ensemble import AdaBoostClassifier as Theirs
    from sklearn.tree import DecisionTreeClassifier as TheirTree

    from bosquet import AdaBoostClassifier as Ours
    from bosquet import DecisionTreeClassifier as OurTree

    table = data.binary(rows, seed=1)

    def ours(split):
        return Ours(OurTree(max_depth=3), n_estimators, split=split, n_jobs=THREADS)

    theirs = Theirs(TheirTree(max_depth=3), n_estimators=n_estimators, random_state=0)
    seconds, models = best_of(
        repeats,
        exact=lambda: ours("exact").fit(table.X, table.y),
        histogram=lambda: ours("histogram").fit(table.X, table.y),
        theirs=lambda: theirs.fit(table.X, table.y),
    )
    errors = {name: 1 - model.score(table.X, table.y) for name, model in models.items()}
    return {**seconds, "errors": errors}


def regression(rows, repeats):
    """AdaBoost.R2 of trees of depth 3."""
    from sklearn.ensemble import AdaBoostRegressor as Theirs

    from bosquet import AdaBoostRegressor as Ours

    table = data.binary(rows, seed=1)
    target = np.asarray(table.X[:, 0] + np.sin(3 * table.X[:, 7]), dtype=float)
    ours, theirs = Ours(n_estimators=20, random_state=0), Theirs(n_estimators=20, random_state=0)
    seconds, _ = best_of(
        repeats,
        ours=lambda: ours.fit(table.X, target),
        theirs=lambda: theirs.fit(table.X, target),
    )
    return seconds


def overhead(rows, repeats):
    """Time of the loop without fitting and predicting of the learner."""
    from sklearn.tree import DecisionTreeClassifier

    from bosquet import AdaBoostClassifier

    inside = [0.0]

    class Timed(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            start = time.perf_counter()
            result = super().fit(X, y, sample_weight)
            inside[0] += time.perf_counter() - start
            return result

        def predict(self, X, check_input=True):
            start = time.perf_counter()
            result = super().predict(X, check_input)
            inside[0] += time.perf_counter() - start
            return result

    table = data.binary(rows, seed=1)
    least = None
    for _ in range(repeats):
        inside[0] = 0.0
        start = time.perf_counter()
        AdaBoostClassifier(Timed(max_depth=1), n_estimators=20).fit(table.X, table.y)
        seconds = time.perf_counter() - start
        if least is None or seconds / inside[0] < least["seconds"] / least["learner"]:
            least = {"seconds": seconds, "learner": inside[0]}
    return least


def peak(rounds, rows):
    """Return the peak memory of a fit minus the memory before it, in this process."""
    from bosquet import AdaBoostClassifier

    table = data.binary(rows, seed=1)
    AdaBoostClassifier(n_estimators=2).fit(table.X[:1000], table.y[:1000])
    before = resident.resident()
    resident.forget_peak()
    AdaBoostClassifier(n_estimators=rounds, n_jobs=THREADS).fit(table.X, table.y)
    return resident.peak() - before


def memory(rows):
    """Peaks of 50 and of 400 rounds, each in a separate process: O(rows), not O(rows × rounds)."""
    found = {}
    for rounds in (50, 400):
        command = [sys.executable, "-m", "benchmarks.boosting", "--peak", str(rounds), str(rows)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[rounds] = int(done.stdout.strip().splitlines()[-1])
    return found


def line(work, ours, theirs, must, note=""):
    return [work, f"{ours:.3g} s", f"{theirs:.3g} s", f"{ours / theirs:.4f}", f"{must:g}", note]


def run(repeats):
    raw, lines = {"machine": describe()}, []
    found = raw["stumps"] = stumps(20_000, repeats)
    note = "training error {ours:.4f}, theirs {theirs:.4f}".format(**found["errors"])
    lines.append(
        line("100 stumps, 20,000 × 28, scikit-learn", found["ours"], found["theirs"], 0.02, note)
    )
    found = raw["large"] = large(1_000_000, repeats)
    note = f"the whole fit, reading and binning the table included, {found['whole']:.3g} s"
    lines.append(
        line(
            "100 rounds on bins, 1,000,000 × 28, reading the bins",
            found["rounds"],
            found["reading"],
            5,
            note,
        )
    )
    found = raw["trees"] = trees(20_000, repeats)
    for split in ("histogram", "exact"):
        error = (
            f"training error {found['errors'][split]:.4f}, theirs {found['errors']['theirs']:.4f}"
        )
        work = f"20 trees of depth 3, {split}, 20,000 × 28, scikit-learn"
        lines.append(line(work, found[split], found["theirs"], 0.05, error))
    found = raw["regression"] = regression(20_000, repeats)
    lines.append(
        line("AdaBoost.R2, 20,000 × 28, scikit-learn", found["ours"], found["theirs"], 0.1)
    )
    found = raw["overhead"] = overhead(20_000, repeats)
    note = f"the loop's own {found['seconds'] / found['learner'] - 1:.2%}"
    lines.append(
        line(
            "loop with scikit-learn's stump, the stump",
            found["seconds"],
            found["learner"],
            1.03,
            note,
        )
    )
    found = raw["memory"] = memory(200_000)
    few, many = (found[rounds] / 2**20 for rounds in (50, 400))
    lines.append(
        [
            "peak of 400 rounds compared with 50, 200,000 × 28",
            f"{many:.1f} MB",
            f"{few:.1f} MB",
            f"{many / few:.3f}",
            "1.1",
            "",
        ]
    )
    return lines, raw


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.boosting", description=__doc__)
    parser.add_argument("--peak", nargs=2, type=int, metavar=("ROUNDS", "ROWS"), help="one figure")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args(arguments)
    if given.peak:
        print(peak(*given.peak))
        return 0
    lines, raw = run(given.repeats)
    text = markdown_table(["work", "Bosquet", "peer", "ratio", "limit", ""], lines)
    given.out.mkdir(parents=True, exist_ok=True)
    target = given.out / f"boosting-{datetime.now():%Y%m%d-%H%M%S}"
    target.with_suffix(".json").write_text(json.dumps(raw, indent=1))
    target.with_suffix(".md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
