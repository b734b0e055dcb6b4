"""A model that is fitted on a cluster has the bits of one that is fitted in memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from core_fit import round_stochastically

import bosquet
from bosquet import dask as on_cluster

dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
from dask import delayed  # noqa: E402

FEATURES = ["a", "b", "c", "d", "e"]
EARLY = {"quality": "fast", "early_stopping": True, "n_iter_no_change": 3, "n_estimators": 30}

# Name: (kind of estimator, parameters, target, weight).
CASES: dict[str, tuple[str, dict[str, Any], str, str | None]] = {
    "early stopping, then all rows": ("Regressor", EARLY | {"subsample": 0.7}, "number", "weight"),
    "given rounds of another loss": (
        "Regressor", {"n_estimators": 4, "loss": "absolute_error"}, "number", None),
    "sampling by gradient": (
        "Regressor", {"n_estimators": 4, "subsample": 0.4, "sampling": "gradient"}, "number", "weight"),
    "several classes": (
        "Classifier", {"n_estimators": 3, "class_weight": "balanced"}, "label", "weight"),
    "classes that share trees": (
        "Classifier", {"n_estimators": 4, "multi_strategy": "multi_output_tree"}, "label", None),
    "several runs": ("Regressor", EARLY | {"n_runs": 2, "refit": False}, "number", None),
    "cross-validation": (
        "Regressor", {"early_stopping": "cv", "cv": 2, "n_estimators": 5, "max_leaf_nodes": 6,
                      "learning_rate": 0.3}, "number", None),
}  # fmt: skip


def models(kind: str, **parameters: Any) -> tuple[Any, Any]:
    """An estimator for tables in memory, and the same for collections."""
    name = f"GradientBoosting{kind}"
    parameters = {"random_state": 0, **parameters}
    return getattr(bosquet, name)(**parameters), getattr(on_cluster, name)(**parameters)


@pytest.mark.parametrize("case", CASES)
def test_a_model_of_the_cluster_is_the_model_of_the_table(client, frame, fingerprint, case):
    kind, parameters, target, weight = CASES[case]
    local, clustered = models(kind, **parameters)
    weights = None if weight is None else frame[weight]
    local.fit(frame[FEATURES], frame[target], weights)
    columns = [*FEATURES, target, *([weight] if weight else [])]
    collection = dd.from_pandas(frame[columns], npartitions=5)
    clustered.fit(collection, target=target, sample_weight=weight, client=client)
    assert fingerprint(clustered) == fingerprint(local)
    assert "messages" in clustered.timings_


def test_stochastic_rounding_gives_the_model_of_the_table(client, frame, fingerprint, monkeypatch):
    table = frame[[*FEATURES, "number"]].copy()
    table.loc[[0, 1], "number"] = [1e8, -1e8]  # make the unit of rounding coarse
    local, clustered = models("Regressor", n_estimators=4)
    nearest = fingerprint(local.fit(table[FEATURES], table["number"]))
    round_stochastically(monkeypatch)
    expected = fingerprint(local.fit(table[FEATURES], table["number"]))
    assert expected != nearest
    clustered.fit(dd.from_pandas(table, npartitions=5), target="number", client=client)
    assert fingerprint(clustered) == expected


@pytest.mark.parametrize("n_workers", [1, 2, 3])
@pytest.mark.parametrize("n_partitions", [1, 3, 17])
def test_workers_and_partitions_do_not_change_the_bits(
    client, frame, fingerprint, monkeypatch, n_workers, n_partitions
):
    all_workers = on_cluster.cluster.Cluster.workers
    monkeypatch.setattr(
        on_cluster.cluster.Cluster, "workers", lambda self: all_workers(self)[:n_workers]
    )
    local, clustered = models("Regressor", **EARLY, subsample=0.6)
    local.fit(frame[FEATURES], frame["number"], frame["weight"])
    collection = dd.from_pandas(
        frame[[*FEATURES, "number", "weight"]], npartitions=n_partitions, sort=False
    )
    if n_workers > n_partitions:
        with pytest.warns(UserWarning, match="workers have nothing to do"):
            clustered.fit(collection, target="number", sample_weight="weight", client=client)
    else:
        clustered.fit(collection, target="number", sample_weight="weight", client=client)
    assert fingerprint(clustered) == fingerprint(local)


def collection_of(kind: str, frame: pd.DataFrame, folder: Any, client: Any) -> Any:
    pieces = [frame[start : start + 700] for start in range(0, len(frame), 700)]
    if kind == "parquet":
        for number, piece in enumerate(pieces):
            piece.to_parquet(folder / f"part-{number}.parquet")
        return dd.read_parquet(folder)
    if kind == "persisted":
        return dd.from_pandas(frame, npartitions=4, sort=False).persist()
    if kind == "delayed":
        return [delayed(piece) for piece in pieces]
    if kind == "arrow":
        import pyarrow

        return [delayed(pyarrow.Table.from_pandas(piece)) for piece in pieces]
    return client.scatter(pieces)


@pytest.mark.parametrize("kind", ["parquet", "persisted", "delayed", "arrow", "futures"])
def test_every_kind_of_collection_gives_the_same_model(
    client, frame, fingerprint, tmp_path_factory, kind
):
    local, clustered = models("Classifier", n_estimators=3)
    local.fit(frame[FEATURES], frame["label"])
    folder = tmp_path_factory.mktemp("table")
    collection = collection_of(kind, frame[[*FEATURES, "label"]], folder, client)
    clustered.fit(collection, target="label", client=client)
    assert fingerprint(clustered) == fingerprint(local)
    np.testing.assert_array_equal(clustered.classes_, ["hi", "lo", "mid"])


def test_targets_weights_and_exposures_may_be_collections(client, frame, fingerprint):
    local, clustered = models("Regressor", n_estimators=3, loss="poisson")
    local.fit(frame[FEATURES], frame["count"], frame["weight"], exposure=frame["exposure"])
    collection = dd.from_pandas(frame, npartitions=4)
    clustered.fit(
        collection[FEATURES], collection["count"], collection["weight"],
        exposure=collection["exposure"], client=client,
    )  # fmt: skip
    assert fingerprint(clustered) == fingerprint(local)


def test_arrays_give_the_model_of_an_array(client, frame, fingerprint):
    X, y = frame[["a", "b", "c"]].to_numpy(), frame["number"].to_numpy()
    local, clustered = models("Regressor", n_estimators=3)
    local.fit(X, y)
    clustered.fit(da.from_array(X, chunks=(700, 2)), da.from_array(y, chunks=700), client=client)
    assert fingerprint(clustered) == fingerprint(local)


def test_several_targets_are_named_in_a_list(client, frame, fingerprint):
    local, clustered = models("Regressor", n_estimators=3)
    local.fit(frame[FEATURES], frame[["number", "count"]])
    collection = dd.from_pandas(frame[[*FEATURES, "number", "count"]], npartitions=3)
    clustered.fit(collection, target=["number", "count"], client=client)
    assert fingerprint(clustered) == fingerprint(local)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_validation_set_may_be_in_memory_or_a_collection(client, frame, fingerprint, lazy):
    local, clustered = models("Regressor", **EARLY)
    train, validation = frame[:2_000], frame[2_000:]
    local.fit(
        train[FEATURES], train["number"], eval_set=(validation[FEATURES], validation["number"])
    )
    collection = dd.from_pandas(train[[*FEATURES, "number"]], npartitions=4)
    eval_set: Any = (validation[FEATURES], validation["number"])
    if lazy:
        eval_set = tuple(dd.from_pandas(part, npartitions=2) for part in eval_set)
    clustered.fit(collection, target="number", eval_set=eval_set, client=client)
    assert fingerprint(clustered) == fingerprint(local)


def test_partitions_may_be_empty_or_lack_a_category(client, frame, fingerprint):
    local, clustered = models("Regressor", n_estimators=3)
    table = frame[[*FEATURES, "number"]].sort_values("d")
    local.fit(table[FEATURES], table["number"])
    cuts = [0, 0, 300, 310, 2_900, len(table), len(table)]
    pieces = [delayed(table[low:high]) for low, high in pairwise(cuts)]
    clustered.fit(pieces, target="number", client=client)
    assert fingerprint(clustered) == fingerprint(local)


def test_bins_in_a_temporary_file_give_the_same_bits(client, frame, fingerprint):
    local, clustered = models("Regressor", n_estimators=3)
    local.fit(frame[FEATURES], frame["number"])
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=3)
    clustered.fit(collection, target="number", memory_limit=0, client=client)
    assert fingerprint(clustered) == fingerprint(local)


def test_a_warm_start_continues_on_the_cluster(client, frame, fingerprint):
    local, clustered = models("Regressor", n_estimators=6)
    local.fit(frame[FEATURES], frame["number"])
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=3)
    clustered.set_params(n_estimators=2, warm_start=True)
    clustered.fit(collection, target="number", client=client)
    clustered.set_params(n_estimators=6).fit(collection, target="number", client=client)
    assert fingerprint(clustered.set_params(warm_start=False)) == fingerprint(local)


def test_a_small_table_is_fitted_by_the_driver(client, frame, fingerprint, monkeypatch):
    monkeypatch.setattr("bosquet.dask.tables.VALUES_ON_DRIVER", 10**6)
    local, clustered = models("Classifier", n_estimators=3)
    local.fit(frame[FEATURES], frame["label"])
    collection = dd.from_pandas(frame[[*FEATURES, "label"]], npartitions=4)
    clustered.fit(collection, target="label", client=client)
    assert fingerprint(clustered) == fingerprint(local)
    assert "messages" not in clustered.timings_


def test_nothing_remains_on_the_workers(client, frame):
    def parts_of_fits() -> int:
        from bosquet.dask import worker_fits

        return len(worker_fits._fits)

    _, clustered = models("Regressor", n_estimators=2)
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=3)
    clustered.fit(collection, target="number", client=client)
    with pytest.raises(ValueError, match="loss='gamma' needs y > 0"):
        clustered.set_params(loss="gamma").fit(collection, target="number", client=client)
    assert set(client.run(parts_of_fits).values()) == {0}


def test_the_current_client_is_the_default(client, frame, fingerprint):
    local, clustered = models("Regressor", n_estimators=2)
    local.fit(frame[FEATURES], frame["number"])
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=3)
    with client.as_current():
        clustered.fit(collection, target="number")
    assert fingerprint(clustered) == fingerprint(local)
    assert type(clustered.to_local()) is bosquet.GradientBoostingRegressor


def test_a_callback_sees_every_round_and_may_end_the_fit(client, frame, fingerprint):
    rounds = []

    def end_after_five(info: Any) -> bool:
        rounds.append(info.iteration)
        return info.iteration == 5

    local, clustered = models("Regressor", n_estimators=9, callbacks=[end_after_five])
    local.fit(frame[FEATURES], frame["number"])
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=3)
    clustered.fit(collection, target="number", client=client)
    assert rounds == 2 * [1, 2, 3, 4, 5]
    assert clustered.n_iter_ == local.n_iter_
    np.testing.assert_array_equal(clustered.validation_loss_, local.validation_loss_)
