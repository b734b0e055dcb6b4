"""Errors of fits to collections name the argument, the partition and the column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bosquet import dask as on_cluster

dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
from dask import delayed  # noqa: E402

FEATURES = ["a", "b", "d"]


def fit(client: Any, X: Any, y: Any = None, **arguments: Any) -> Any:
    parameters = {"n_estimators": 2, **arguments.pop("parameters", {})}
    model = on_cluster.GradientBoostingRegressor(**parameters)
    return model.fit(X, y, client=client, **arguments)


def pieces(*tables: pd.DataFrame) -> list[Any]:
    return [delayed(table) for table in tables]


@pytest.fixture
def table(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[[*FEATURES, "number"]][:200]


def changed(table: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    return table.assign(**columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="b"), r"partition 1 has no column 'b', which partition 0 has"),
        (lambda t: t.assign(z=1), r"partition 1 has a column 'z', which partition 0 does not have"),
        (
            lambda t: t.assign(a="x"),
            r"'a' has type \S+ in partition 1, but double in partition 0",
        ),
        (
            lambda t: t.assign(d=pd.Categorical(t["d"], ordered=True)),
            r"'d' has type ordered categories of string in partition 1",
        ),
        (
            lambda t: t.assign(number=np.nan),
            r"target column 'number' has no value in row 0 of partition 1 \(and 99 more rows\)",
        ),
        (lambda t: t.to_numpy(), r"partition 1 is an ndarray; a batch must be"),
    ],
)
def test_a_partition_that_differs_is_an_error_that_names_it(client, table, change, message):
    collection = pieces(table[:100], change(table[100:]))
    with pytest.raises((ValueError, TypeError), match=message):
        fit(client, collection, target="number")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs either y, a collection with the same partitions, or target="),
        ({"target": "numbr"}, "target='numbr' is not a column of X; did you mean 'number'"),
        ({"target": ["number", "x"]}, r"target\[1\]='x' is not a column of X"),
        ({"target": "number", "sample_weight": "w"}, "sample_weight='w' is not a column of X"),
        ({"target": "number", "sample_weight": "d"}, "sample_weight='d' is a column of text"),
        (
            {"target": "number", "sample_weight": np.ones(200)},
            "sample_weight is an ndarray, but X is a Dask collection",
        ),
        ({"target": "number", "memory_limit": "much"}, "memory_limit='much' is not valid"),
        (
            {"target": "number", "parameters": {"categorical_encoding": "target"}},
            "categorical_encoding='target' needs the table in memory",
        ),
        (
            {"target": "number", "parameters": {"scoring": "r2", "early_stopping": True}},
            "scoring='r2' needs the validation set in memory",
        ),
    ],
)
def test_wrong_arguments_are_errors_that_name_them(client, table, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(client, dd.from_pandas(table, npartitions=2), **arguments)


def test_partitions_that_do_not_match_are_errors(client, table):
    collection = dd.from_pandas(table, npartitions=2)
    X = collection[FEATURES]
    with pytest.raises(ValueError, match="y has 3 partitions, but X has 2"):
        fit(client, X, dd.from_pandas(table["number"], npartitions=3))
    y = [delayed(table["number"][:90]), delayed(table["number"][90:])]
    with pytest.raises(ValueError, match="partition 0 has 100 rows in X, but 90 in y"):
        fit(client, X, y)


def test_a_collection_without_rows_is_an_error(client, table):
    with pytest.raises(ValueError, match="X has no rows"):
        fit(client, pieces(table[:0], table[:0]), target="number")


def test_a_column_name_without_column_names_is_an_error(client):
    X = da.ones((20, 2), chunks=(10, 2))
    with pytest.raises(ValueError, match="target='y' names a column, but X is an array"):
        fit(client, X, target="y")


def test_tables_in_memory_are_an_error(client, table):
    with pytest.raises(TypeError, match="X is a DataFrame; pass a Dask DataFrame"):
        fit(client, table, target="number")


def test_a_partition_that_changes_between_two_passes_is_an_error(client, table):
    def draw(table: pd.DataFrame) -> pd.DataFrame:
        return table[: 50 + np.random.default_rng().integers(100)]

    collection = [delayed(draw, pure=False)(table), delayed(table)]

    def fit_until_the_sizes_differ() -> None:
        for _ in range(5):
            fit(client, collection, target="number")

    with pytest.raises(ValueError, match=r"partition 0 has \d+ rows now, but had \d+ before"):
        fit_until_the_sizes_differ()


def test_an_error_of_a_task_is_raised(client, table):
    def broken() -> pd.DataFrame:
        raise OSError("disk is broken")

    with pytest.raises(OSError, match="disk is broken"):
        fit(client, [delayed(table), delayed(broken)()], target="number")


def test_a_loss_of_the_user_is_an_error(client, table):
    class Squared:
        def loss(self, y, raw):
            return (y - raw) ** 2 / 2

        def gradient_hessian(self, y, raw):
            return raw - y, np.ones_like(raw)

    with pytest.raises(ValueError, match="loss= as an object needs the whole table in memory"):
        fit(
            client, dd.from_pandas(table, npartitions=2), target="number",
            parameters={"loss": Squared()},
        )  # fmt: skip


def test_a_worker_with_another_version_is_an_error_that_names_it(client, table, monkeypatch):
    monkeypatch.setattr("bosquet.dask.cluster.__version__", "9.9")
    with pytest.raises(
        ValueError, match=r"worker tcp://\S+ has Bosquet \S+, but the driver has 9.9"
    ):
        fit(client, dd.from_pandas(table, npartitions=2), target="number")


def test_a_cluster_without_workers_is_an_error(table, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("bosquet.dask.cluster.WORKER_SECONDS", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as opened,
        pytest.raises(ValueError, match=r"has had no workers for 0\.5 seconds"),
    ):
        fit(opened, dd.from_pandas(table, npartitions=2), target="number")


def test_an_asynchronous_client_is_an_error(table):
    import asyncio

    distributed = pytest.importorskip("distributed")

    async def try_fit() -> None:
        async with (
            distributed.LocalCluster(
                n_workers=0, dashboard_address=":0", asynchronous=True, processes=False
            ) as cluster,
            distributed.Client(cluster, asynchronous=True) as opened,
        ):
            fit(opened, dd.from_pandas(table, npartitions=2), target="number")

    with pytest.raises(ValueError, match="client is asynchronous"):
        asyncio.run(try_fit())


def test_a_client_of_another_kind_is_an_error(table):
    with pytest.raises(TypeError, match=r"client has the type int; pass a distributed\.Client"):
        fit(8786, dd.from_pandas(table, npartitions=2), target="number")
