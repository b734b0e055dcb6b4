"""Studies of a rare class compared with imbalanced-learn: `python -m benchmarks.study_rare --data folder`.

A quarter of each table is the test set. A study with a time limit is compared with the best of the four
ensembles of imbalanced-learn, which have no time limit, by average precision and by balanced accuracy.
The best ensemble is selected on the test set itself, which favours it. Differences are the score of the
study minus that of the ensemble; the interval comes from a bootstrap of the test rows. For several
splits the mean difference is printed at the end, with the corrected interval of Nadeau and Bengio; there
the ensemble is the same for all splits, the one with the best mean. The data are not part of the
project: one folder per table, with a data.parquet in it.
"""

import argparse
import itertools
import json
import time
import warnings
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split

from benchmarks import THREADS
from benchmarks.machine import describe
from benchmarks.report import markdown_table

TABLES = {"mammography": "class", "creditcard_fraud_10k": "Class"}
ENSEMBLES = (
    "BalancedRandomForestClassifier",
    "BalancedBaggingClassifier",
    "EasyEnsembleClassifier",
    "RUSBoostClassifier",
)
MEASURES = {
    "average precision": average_precision_score,
    "balanced accuracy": balanced_accuracy_score,
}
TEST_SHARE, DRAWS = 0.25, 500


@dataclass
class Line:
    """A study compared with the ensembles on one split of a table, by one measure."""

    table: str
    split: int
    measure: str
    chosen: str
    ours: float
    peers: dict[str, float]
    best: str  # of the peers, on this split
    low: float  # of the difference to it
    high: float
    seconds: float

    def cells(self):
        peer = f"{self.peers[self.best]:.4f} ({self.best})"
        interval = f"[{self.low:+.4f}, {self.high:+.4f}]"
        return [
            self.table, self.split, self.measure, self.chosen, f"{self.ours:.4f}", peer, interval,
            significance(self.high), f"{self.seconds:.0f} s",
        ]  # fmt: skip


def significance(high):
    """Return whether the whole interval of a difference is below 0."""
    return "worse" if high < 0 else "not worse"


def compared(folder, name, target, seconds, split):
    """A line per measure."""
    from bosquet import Study

    frame = pd.read_parquet(folder / name / "data.parquet").dropna(subset=[target])
    train, test = train_test_split(
        frame, test_size=TEST_SHARE, random_state=split, stratify=frame[target]
    )
    begin = time.perf_counter()
    study = Study(budget=seconds, random_state=0, verbose=0, n_jobs=THREADS).fit(train, target)
    spent = time.perf_counter() - begin
    X_test, y_test = test.drop(columns=target), test[target].astype(str)
    y = train[target].astype(str)
    rare = y.value_counts().idxmin()
    place = int(np.searchsorted(np.unique(y), rare))
    event = np.asarray(y_test == rare)
    predictions = predictions_of_ensembles(train.drop(columns=target), y, X_test, rare, place)
    shares = np.asarray(study.best_.predict_proba(X_test))[:, place]
    ours = (shares, np.asarray(study.best_.predict(X_test)).astype(str) == rare)
    random = np.random.default_rng(0)
    draws = random.integers(0, len(event), size=(DRAWS, len(event)))
    lines = []
    for k, (measure, score) in enumerate(MEASURES.items()):
        peers = {
            cls: float(score(event, probabilities[k])) for cls, probabilities in predictions.items()
        }
        best = max(peers, key=peers.get)
        differences = [
            score(event[d], ours[k][d]) - score(event[d], predictions[best][k][d]) for d in draws
        ]
        low, high = np.quantile(differences, [0.025, 0.975])
        line = Line(
            name, split, measure, study.record_["chosen"]["name"], float(score(event, ours[k])), peers,
            best, float(low), float(high), spent,
        )  # fmt: skip
        lines.append(line)
    return lines


def predictions_of_ensembles(X, y, X_test, rare, place):
    """{ensemble: (probabilities of the rare class, whether it is predicted)}."""
    from imblearn import ensemble

    predictions = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cls in ENSEMBLES:
            peer = getattr(ensemble, cls)(random_state=0).fit(X, y)
            predictions[cls] = (peer.predict_proba(X_test)[:, place], peer.predict(X_test) == rare)
    return predictions


def over_splits(lines):
    """The mean difference of each table and measure to the ensemble of the best mean, of several splits."""
    from bosquet.study.compare.intervals import corrected_interval

    rows = []
    for table, measure in dict.fromkeys((line.table, line.measure) for line in lines):
        some = [line for line in lines if (line.table, line.measure) == (table, measure)]
        if len(some) < 2:
            continue
        ours = np.array([line.ours for line in some])
        peers = {cls: np.array([line.peers[cls] for line in some]) for cls in some[0].peers}
        best = max(peers, key=lambda cls: peers[cls].mean())
        difference = ours - peers[best]
        low, high = corrected_interval(difference, n_train=1 - TEST_SHARE, n_test=TEST_SHARE)
        rows.append([
            table, measure, len(some), f"{ours.mean():.4f}", f"{peers[best].mean():.4f} ({best})",
            f"{difference.mean():+.4f}", f"[{low:+.4f}, {high:+.4f}]", significance(high),
        ])  # fmt: skip
    return rows


def report(lines):
    """The splits one by one, and their means."""
    interval = "95 % of the difference"
    heads = ["table", "split", "measure", "chosen", "study", "ensemble", interval, "", "took"]
    parts = [markdown_table(heads, [line.cells() for line in lines])]
    means = over_splits(lines)
    if means:
        heads = ["table", "measure", "splits", "study", "ensemble", "difference", interval, ""]
        parts.append(markdown_table(heads, means))
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study_rare", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--splits", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    lines = []
    for name, split in itertools.product(given.tables, given.splits):
        new = compared(given.data, name, TABLES[name], given.seconds, split)
        for line in new:
            print(*line.cells(), sep=" | ", flush=True)
        lines += new
    text = report(lines)
    print(text)
    given.out.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now().strftime("%Y%m%d-%H%M")
    (given.out / f"study-rare-{stamp}.md").write_text(text + "\n", encoding="utf-8")
    record = {"machine": describe(), "seconds": given.seconds, "lines": list(map(asdict, lines))}
    (given.out / f"study-rare-{stamp}.json").write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main()
