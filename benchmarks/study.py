"""Studies beside a tuned LightGBM and balanced ensembles: `python -m benchmarks.study --data folder`.

A quarter of each table is set aside. A study and a random search over LightGBM's parameters have the same
seconds on the rest, and are judged on what was set aside; the interval of the difference draws those rows
anew. On tables with a rare class the study stands beside the best of imbalanced-learn's ensembles, by
average precision and by balanced accuracy; which is the best is seen on the rows that judge, which favours
it. Differences are the study's less the peer's. Of several splits the mean difference comes last, with the
corrected interval of Nadeau and Bengio; there the peer is one ensemble for all splits, that of the best mean.
The data are not part of the project: one folder for each table, with a data.parquet in it.
"""

import argparse
import io
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
from sklearn.model_selection import cross_val_score, train_test_split

from benchmarks import resident
from benchmarks.machine import describe
from benchmarks.report import markdown_table

TABLES = {
    "adult": "income",
    "abalone": "rings",
    "spambase": "class",
    "hitters": "Salary",
}
RARE = {"mammography": "class", "creditcard_fraud_10k": "Class"}
MEASURES = {
    "average precision": average_precision_score,
    "balanced accuracy": balanced_accuracy_score,
}
SET_ASIDE, THREADS, DRAWS, RARE_DRAWS = 0.25, 2, 2000, 500


@dataclass
class Line:
    """A study beside its peers on one split of a table."""

    table: str
    split: int
    measure: str
    chosen: str
    ours: float
    peers: dict[str, float]
    best: str  # of the peers, on this split
    low: float  # of the difference to it
    high: float
    spent: str

    @property
    def higher_is_better(self):
        return self.measure in MEASURES

    def cells(self):
        interval = f"[{self.low:+.4f}, {self.high:+.4f}]"
        peer = f"{self.peers[self.best]:.4f} ({self.best})"
        return [
            self.table, self.split, self.measure, self.chosen, f"{self.ours:.4f}", peer, interval,
            told(self.low, self.high, self.higher_is_better), self.spent,
        ]  # fmt: skip


def told(low, high, higher_is_better):
    """Whether the whole interval of a difference speaks for the peer."""
    return "worse" if (high < 0 if higher_is_better else low > 0) else "not worse"


def table(folder, name, target, split=0):
    """Rows to learn from and rows to judge by."""
    frame = pd.read_parquet(folder / name / "data.parquet").dropna(subset=[target])
    numbers = frame[target].dtype.kind in "iuf" and frame[target].nunique() > 10
    return train_test_split(
        frame, test_size=SET_ASIDE, random_state=split, stratify=None if numbers else frame[target]
    )


def study_of(train, target, seconds):
    """A study, and what it took: seconds, and megabytes at the peak over those before."""
    from bosquet import Study

    study = Study(budget=seconds, random_state=0, verbose=0, n_jobs=THREADS)
    before, begin = resident.resident(), time.perf_counter()
    resident.forget_peak()
    study.fit(train, target)
    spent, held = time.perf_counter() - begin, (resident.peak() - before) / 1e6
    return study, f"{spent:.0f} s, {held:.0f} MB beside a table of {megabytes(train):.1f}"


def megabytes(table):
    """What pandas holds when it reads the table from a file of text."""
    text = io.StringIO(table.to_csv(index=False))
    return pd.read_csv(text).memory_usage(deep=True).sum() / 1e6


def load_everything(folder):
    """A study of two seconds, so that what is loaded when first used is not counted as a table's."""
    from bosquet import Study

    train, _ = table(folder, "adult", TABLES["adult"])
    Study(budget=2, verbose=0, n_jobs=THREADS).fit(train.head(300), TABLES["adult"])


def lightgbm_of(train, target, seconds, numbers):
    """A random search by five folds for so many seconds, the best setting fitted to all rows."""
    import lightgbm

    random = np.random.default_rng(0)
    X, y = train.drop(columns=target), train[target]
    X = X.apply(lambda c: c.astype("category") if c.dtype.kind not in "iufb" else c)
    cls = lightgbm.LGBMRegressor if numbers else lightgbm.LGBMClassifier
    best = (-np.inf, None)
    end, tried = time.perf_counter() + 0.95 * seconds, 0
    while time.perf_counter() < end:
        model = cls(
            n_estimators=int(random.choice([50, 100, 200, 400, 800])),
            learning_rate=float(10 ** random.uniform(-2, -0.5)),
            num_leaves=int(random.choice([4, 8, 15, 31, 63])),
            min_child_samples=int(random.choice([5, 10, 20, 50])),
            subsample=float(random.uniform(0.5, 1)),
            subsample_freq=1,
            colsample_bytree=float(random.uniform(0.4, 1)),
            reg_lambda=float(10 ** random.uniform(-3, 1)),
            n_jobs=THREADS,
            verbose=-1,
        )
        scoring = "neg_root_mean_squared_error" if numbers else "neg_log_loss"
        score = cross_val_score(model, X, y, cv=5, scoring=scoring).mean()
        tried += 1
        if score > best[0]:
            best = (score, model)
    return best[1].fit(X, y), tried


def losses(y, said, classes):
    """What each row costs: a square, or minus the logarithm of the probability of its class."""
    if classes is None:
        return (np.asarray(y, dtype=float) - said) ** 2
    place = np.searchsorted(classes, np.asarray(y))
    return -np.log(np.clip(said[np.arange(len(place)), place], 1e-15, 1))


def drawn(rows, times):
    """Rows with replacement, as many as there are, so many times."""
    return np.random.default_rng(0).integers(0, rows, size=(times, rows))


def interval(ours, theirs, numbers):
    """Difference of the scores, and 95 % of its draws over the rows."""

    def score(values):
        return np.sqrt(values.mean(-1)) if numbers else values.mean(-1)

    rows = drawn(len(ours), DRAWS)
    differences = score(ours[rows]) - score(theirs[rows])
    return score(ours), score(theirs), *np.quantile(differences, [0.025, 0.975])


def beside_lightgbm(folder, name, target, seconds, split):
    train, test = table(folder, name, target, split)
    numbers = train[target].dtype.kind in "iuf" and train[target].nunique() > 10
    study, spent = study_of(train, target, seconds)
    X_test, y_test = test.drop(columns=target), test[target]
    peer, tried = lightgbm_of(train, target, seconds, numbers)
    columns = train.drop(columns=target)
    X_peer = X_test.copy()
    for column in X_peer:
        if X_peer[column].dtype.kind not in "iufb":
            levels = columns[column].astype("category").cat.categories
            X_peer[column] = pd.Categorical(X_peer[column], categories=levels)
    classes = None if numbers else np.unique(train[target].astype(str))
    y = y_test if numbers else y_test.astype(str)
    said = study.best_.predict(X_test) if numbers else study.best_.predict_proba(X_test)
    theirs = peer.predict(X_peer) if numbers else peer.predict_proba(X_peer)
    ours, peers, low, high = interval(
        losses(y, np.asarray(said), classes), losses(y, theirs, classes), numbers
    )
    measure = "RMSE" if numbers else "log loss"
    searched = f"LightGBM, {tried} settings"
    return Line(
        name, split, measure, study.record_["winner"]["name"], float(ours), {searched: float(peers)},
        searched, float(low), float(high), spent,
    )  # fmt: skip


def beside_balanced(folder, name, target, seconds, split):
    from imblearn import ensemble

    train, test = table(folder, name, target, split)
    study, spent = study_of(train, target, seconds)
    X, y = train.drop(columns=target), train[target].astype(str)
    X_test, y_test = test.drop(columns=target), test[target].astype(str)
    rare = y.value_counts().idxmin()
    place = int(np.searchsorted(np.unique(y), rare))
    event = np.asarray(y_test == rare)
    said = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cls in ("BalancedRandomForestClassifier", "BalancedBaggingClassifier",
                    "EasyEnsembleClassifier", "RUSBoostClassifier"):  # fmt: skip
            peer = getattr(ensemble, cls)(random_state=0).fit(X, y)
            said[cls] = (peer.predict_proba(X_test)[:, place], peer.predict(X_test) == rare)
    shares = np.asarray(study.best_.predict_proba(X_test))[:, place]
    ours = (shares, np.asarray(study.best_.predict(X_test)).astype(str) == rare)
    lines, draws = [], drawn(len(event), RARE_DRAWS)
    for k, (measure, score) in enumerate(MEASURES.items()):
        peers = {cls: float(score(event, answers[k])) for cls, answers in said.items()}
        best = max(peers, key=peers.get)
        differences = [
            score(event[d], ours[k][d]) - score(event[d], said[best][k][d]) for d in draws
        ]
        low, high = np.quantile(differences, [0.025, 0.975])
        line = Line(
            name, split, measure, study.record_["winner"]["name"], float(score(event, ours[k])), peers,
            best, float(low), float(high), spent,
        )  # fmt: skip
        lines.append(line)
    return lines


def over_splits(lines):
    """The mean difference of each table and measure to the peer of the best mean, where there are splits."""
    from bosquet.study.comparing import corrected_interval

    rows = []
    keys = dict.fromkeys((line.table, line.measure) for line in lines)
    for table, measure in keys:
        some = [line for line in lines if (line.table, line.measure) == (table, measure)]
        if len(some) < 2:
            continue
        ours, higher = np.array([line.ours for line in some]), some[0].higher_is_better
        # A search has another number of settings each time: the peers by their place.
        peers = np.array([list(line.peers.values()) for line in some])
        place = int((peers if higher else -peers).mean(axis=0).argmax())
        d = ours - peers[:, place]
        low, high = corrected_interval(d, n_train=1 - SET_ASIDE, n_test=SET_ASIDE)
        name = list(some[0].peers)[place].split(",")[0]
        rows.append([
            table, measure, len(some), f"{ours.mean():.4f}", f"{peers[:, place].mean():.4f} ({name})",
            f"{d.mean():+.4f}", f"[{low:+.4f}, {high:+.4f}]", told(low, high, higher),
        ])  # fmt: skip
    return rows


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument(
        "--split", type=int, nargs="+", default=[0], help="which quarters are set aside"
    )
    parser.add_argument("--only", nargs="*", default=[*TABLES, *RARE])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    lines = []
    load_everything(given.data)
    for name, split in itertools.product(given.only, given.split):
        if name in TABLES:
            new = [beside_lightgbm(given.data, name, TABLES[name], given.seconds, split)]
        else:
            new = beside_balanced(given.data, name, RARE[name], given.seconds, split)
        for line in new:
            print(*line.cells(), sep=" | ", flush=True)
        lines += new
    text = report(lines)
    print(text)
    given.out.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now().strftime("%Y%m%d-%H%M")
    (given.out / f"study-{stamp}.md").write_text(text + "\n", encoding="utf-8")
    record = {"machine": describe(), "seconds": given.seconds, "lines": list(map(asdict, lines))}
    (given.out / f"study-{stamp}.json").write_text(json.dumps(record, indent=1), encoding="utf-8")


def report(lines):
    """The splits one by one, and their means."""
    interval = "95 % of the difference"
    heads = ["table", "split", "measure", "chosen", "study", "peer", interval, "", "took"]
    parts = [markdown_table(heads, [line.cells() for line in lines])]
    means = over_splits(lines)
    if means:
        heads = ["table", "measure", "splits", "study", "peer", "difference", interval, ""]
        parts.append(markdown_table(heads, means))
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
