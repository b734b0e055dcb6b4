"""Predictions of a fitted model for Dask collections: lazily, partition by partition."""

from __future__ import annotations

from typing import Any

import numpy as np


def predict(model: Any, X: Any) -> Any:
    """Predict the rows of a Dask collection, lazily.

    Parameters
    ----------
    model : any fitted model of Bosquet, also one that was fitted on one machine
    X : Dask DataFrame or Dask array
        Its columns are the features.

    Returns
    -------
    Dask Series with the index of X, a DataFrame for several outputs; Dask array for an array
    """
    return _mapped(model, X, "predict", None)


def predict_proba(model: Any, X: Any) -> Any:
    """Predict the probability of each class for the rows of a Dask collection, lazily.

    Parameters
    ----------
    model : any fitted classifier of Bosquet, also one that was fitted on one machine
    X : Dask DataFrame or Dask array
        Its columns are the features.

    Returns
    -------
    Dask DataFrame with the index of X and one column per class; Dask array for an array
    """
    return _mapped(model, X, "predict_proba", model.classes_)


def _mapped(model: Any, X: Any, method: str, columns: Any) -> Any:
    """Apply a method of the model to the partitions."""
    from dask import delayed

    shared = delayed(model, traverse=False)
    if hasattr(X, "map_partitions"):
        none = np.asarray(getattr(model, method)(X._meta_nonempty.iloc[:1]))[:0]
        meta = _as_frame(none, X._meta.iloc[:0], columns)
        return X.map_partitions(_predict_frame, shared, method, columns, none, meta=meta)
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    none = np.asarray(getattr(model, method)(np.zeros((1, X.shape[1]), X.dtype)))[:0]
    if none.ndim == 1:
        return X.map_blocks(_predict_array, shared, method, meta=none, drop_axis=[1])
    chunks = (X.chunks[0], (none.shape[1],))
    return X.map_blocks(_predict_array, shared, method, meta=none, chunks=chunks)


def _predict_frame(frame: Any, model: Any, method: str, columns: Any, none: np.ndarray) -> Any:
    """Predict a partition; `none` are the predictions of a partition without rows."""
    values = np.asarray(getattr(model, method)(frame)) if len(frame) else none
    return _as_frame(values, frame, columns)


def _predict_array(block: np.ndarray, model: Any, method: str) -> np.ndarray:
    return np.asarray(getattr(model, method)(block))


def _as_frame(values: np.ndarray, frame: Any, columns: Any) -> Any:
    """Return predictions with the index of their rows."""
    import pandas as pd

    if values.ndim == 1:
        return pd.Series(values, index=frame.index, name="prediction")
    return pd.DataFrame(values, index=frame.index, columns=columns)
