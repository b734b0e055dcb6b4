"""Fits on a cluster: `python -m benchmarks.cluster` (make bench-cluster).

The same dask array is fitted by the Dask module of each library on one LocalCluster of worker processes with
one thread each, and by Bosquet in this process with as many threads. All take turns; the best of the rounds
counts. The array is in the memory of the workers. The memory is the growth of the largest worker by the fit.
"""

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.interleave import interleave
from benchmarks.machine import describe, in_words
from benchmarks.resident import forget_peak, peak, resident

LEAVES = 63
MEGABYTE = 1e6


@dataclass
class Contestant:
    """A library: `fit(table)` returns the predicted probabilities of the held-out rows."""

    name: str
    rounds: int
    workers: int
    client: Any

    def ours(self):
        return {
            "n_estimators": self.rounds, "max_leaf_nodes": LEAVES, "learning_rate": 0.1, "max_features": None,
            "early_stopping": False, "random_state": 0,
        }  # fmt: skip


class OneProcess(Contestant):
    def fit(self, table):
        from bosquet import GradientBoostingClassifier

        model = GradientBoostingClassifier(**self.ours(), n_jobs=self.workers)
        return model.fit(table.X, table.y)


class OnCluster(Contestant):
    def fit(self, table):
        from bosquet.dask import GradientBoostingClassifier

        return GradientBoostingClassifier(**self.ours()).fit(
            table.dask_X, table.dask_y, client=self.client
        )


class LightGBM(Contestant):
    def fit(self, table):
        from lightgbm.dask import DaskLGBMClassifier

        model = DaskLGBMClassifier(
            n_estimators=self.rounds, num_leaves=LEAVES, learning_rate=0.1, min_child_samples=20, max_bin=255,
            tree_learner="data", client=self.client, verbose=-1,
        )  # fmt: skip
        return model.fit(table.dask_X, table.dask_y).to_local()


class XGBoost(Contestant):
    def fit(self, table):
        from xgboost import DMatrix
        from xgboost import dask as xgboost_dask

        parameters = {
            "objective": "binary:logistic", "tree_method": "hist", "max_bin": 256, "max_leaves": LEAVES,
            "max_depth": 0, "grow_policy": "lossguide", "eta": 0.1, "nthread": 1,
        }  # fmt: skip
        matrix = xgboost_dask.DaskQuantileDMatrix(self.client, table.dask_X, table.dask_y)
        booster = xgboost_dask.train(self.client, parameters, matrix, self.rounds)["booster"]

        class Model:
            def predict_proba(self, X):
                p = booster.predict(DMatrix(X))
                return np.column_stack([1 - p, p])

        return Model()


CONTESTANTS = {
    "one process": OneProcess, "bosquet.dask": OnCluster, "lightgbm.dask": LightGBM, "xgboost.dask": XGBoost,
}  # fmt: skip


@dataclass
class ClusterTable:
    X: np.ndarray
    y: np.ndarray
    dask_X: Any
    dask_y: Any


def load(client, rows, partitions):
    import dask.array as da

    table = data.binary(rows, seed=1)
    chunk = -(-rows // partitions)
    dask_X = da.from_array(table.X, chunks=(chunk, table.X.shape[1])).persist()
    dask_y = da.from_array(table.y, chunks=chunk).persist()
    client.rebalance()
    return ClusterTable(table.X, table.y, dask_X, dask_y)


def _start_counting_memory():
    forget_peak()
    return resident()


def measure(contestant, table, test, client):
    before = client.run(_start_counting_memory)
    start = time.perf_counter()
    model = contestant.fit(table)
    seconds = time.perf_counter() - start
    after = client.run(peak)
    outcome = {
        "seconds": seconds,
        "memory": max((after[worker] - before[worker]) / MEGABYTE for worker in before),
    }
    p = model.predict_proba(test.X)[np.arange(len(test.y)), test.y]
    return outcome | {"loss": float(-np.log(p).mean())}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=100, help="boosting rounds")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(CONTESTANTS), default=list(CONTESTANTS))
    given = parser.parse_args()

    from distributed import Client, LocalCluster

    print(in_words(describe()), flush=True)
    print(
        f"{given.rows:,} rows x 28, {given.rounds} rounds of {LEAVES} leaves, {given.workers} workers of one"
        f" thread, {given.partitions} partitions"
    )
    with (
        LocalCluster(
            n_workers=given.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        table = load(client, given.rows, given.partitions)
        test = data.binary(100_000, seed=data.HELD_OUT_SEED)
        contestants = [
            CONTESTANTS[name](name, given.rounds, given.workers, client) for name in given.only
        ]
        outcomes = interleave(
            contestants, given.repeats, lambda one, _: measure(one, table, test, client)
        )
    report(outcomes)


def report(outcomes):
    done = {name: outcome for name, outcome in outcomes.items() if "seconds" in outcome}
    peers = [
        done[name]["seconds"]
        for name in done
        if name.endswith("gbm.dask") or name == "xgboost.dask"
    ]
    ours, alone = done.get("bosquet.dask"), done.get("one process")
    for name, outcome in outcomes.items():
        if "error" in outcome:
            print(f"{name:14} failed: {outcome['error']}")
            continue
        print(
            f"{name:14} {outcome['seconds']:6.2f} s, worker memory +{outcome['memory']:5.0f} MB, log loss"
            f" {outcome['loss']:.5f}   ({', '.join(f'{s:.2f}' for s in outcome['times'])})"
        )
    if ours and peers:
        print(
            f"ratio to the faster of the peers: {ours['seconds'] / min(peers):.2f} (must be <= 0.50)"
        )
    if ours and alone:
        print(f"ratio to one process: {ours['seconds'] / alone['seconds']:.2f} (must be <= 2.00)")


if __name__ == "__main__":
    main()
