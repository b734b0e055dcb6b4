"""Estimators of the same names as in `bosquet`, fitted to Dask collections."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

import bosquet
from bosquet.dask import predictions
from bosquet.dask.cluster import Cluster, open_client
from bosquet.dask.tables import DaskTable, is_collection, read_collection

if TYPE_CHECKING:
    from distributed import Client


class DaskEstimator:
    """Fits and predictions of a Bosquet estimator on Dask collections."""

    _base: type[Any]

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | list[str] | None = None,
        client: Client | None = None,
        memory_limit: float | str | None = None,
        **arguments: Any,
    ) -> Self:
        """Fit the model to Dask collections, on the workers of a cluster.

        The model has the same bits as one that is fitted to the whole table in memory.

        Parameters
        ----------
        X : Dask DataFrame, Dask array, or list of delayed tables or futures
            Delayed tables are pandas or polars data frames or Arrow tables. Partitions may be empty.
        y : Dask Series or array with the partitions of X, optional
            The target, unless `target` names it.
        sample_weight : Dask Series or array with the partitions of X, or name of a column, optional
        target : str, optional
            Name of the column of X that is the target.
        client : distributed.Client, optional
            Default: the current client, or a local cluster with one worker per processor, which is closed at
            the end.
        memory_limit : int, float or str, optional
            Memory of each worker for the bins of its partitions, such as "4GB"; beyond it they are in a
            temporary file. Default: half of the memory of the worker.
        **arguments
            Other arguments of `fit` of the estimator of `bosquet`. Those with one value per row are
            collections, or names of columns. The collections of an `eval_set` are read into the memory of the
            driver.

        Returns
        -------
        self
        """
        with open_client(client) as opened:
            cluster = Cluster(opened)
            cluster.ready_workers()
            table = DaskTable(X, cluster, self._categorical_features(), self._base.__name__)
            if arguments.get("eval_set") is not None:
                arguments["eval_set"] = _in_memory(arguments["eval_set"], cluster)
            self._base.fit(
                self, table, y, sample_weight, target=target, memory_limit=memory_limit, **arguments
            )
        return self

    def _categorical_features(self) -> Any:
        return getattr(self, "categorical_features", "from_dtype")

    def to_local(self) -> Any:
        """Return the fitted model as an estimator of `bosquet`, which needs neither Dask nor a cluster."""
        local: Any = object.__new__(self._base)
        local.__dict__ = dict(self.__dict__)
        return local

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the fitted model to a file; see the method of the estimator of `bosquet`."""
        self.to_local().save(path, key)

    def explain(self, X: Any, **options: Any) -> Any:
        """Explain predictions of a table in memory; see the method of the estimator of `bosquet`."""
        return self.to_local().explain(X, **options)


def _in_memory(eval_set: Any, cluster: Cluster) -> Any:
    """Return a validation set whose collections were read."""
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if not isinstance(eval_set, tuple):
        return eval_set
    return tuple(
        read_collection(part, cluster) if is_collection(part) else part for part in eval_set
    )


def _predicting(name: str) -> Any:
    """Return a method that predicts collections lazily, and tables in memory at once."""

    def method(self: Any, X: Any, **arguments: Any) -> Any:
        local = self.to_local()
        if not is_collection(X):
            return getattr(local, name)(X, **arguments)
        return getattr(predictions, name)(local, X, **arguments)

    method.__name__ = name
    method.__doc__ = getattr(predictions, name).__doc__
    return method


class GradientBoostingClassifier(DaskEstimator, bosquet.GradientBoostingClassifier):
    """`bosquet.GradientBoostingClassifier`, fitted to Dask collections: see its parameters and attributes."""

    _base = bosquet.GradientBoostingClassifier
    predict = _predicting("predict")
    predict_proba = _predicting("predict_proba")


class RandomForestClassifier(DaskEstimator, bosquet.RandomForestClassifier):
    """`bosquet.RandomForestClassifier`, fitted to Dask collections: see its parameters and attributes."""

    _base = bosquet.RandomForestClassifier
    predict = _predicting("predict")
    predict_proba = _predicting("predict_proba")


class RandomForestRegressor(DaskEstimator, bosquet.RandomForestRegressor):
    """`bosquet.RandomForestRegressor`, fitted to Dask collections: see its parameters and attributes."""

    _base = bosquet.RandomForestRegressor
    predict = _predicting("predict")


class ExtraTreesClassifier(DaskEstimator, bosquet.ExtraTreesClassifier):
    """`bosquet.ExtraTreesClassifier`, fitted to Dask collections: see its parameters and attributes."""

    _base = bosquet.ExtraTreesClassifier
    predict = _predicting("predict")
    predict_proba = _predicting("predict_proba")


class ExtraTreesRegressor(DaskEstimator, bosquet.ExtraTreesRegressor):
    """`bosquet.ExtraTreesRegressor`, fitted to Dask collections: see its parameters and attributes."""

    _base = bosquet.ExtraTreesRegressor
    predict = _predicting("predict")


class GradientBoostingRegressor(DaskEstimator, bosquet.GradientBoostingRegressor):
    """`bosquet.GradientBoostingRegressor`, fitted to Dask collections: see its parameters and attributes."""

    _base = bosquet.GradientBoostingRegressor
    predict = _predicting("predict")
