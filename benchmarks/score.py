"""The two losses of the benchmarks: log loss for classification, RMSE for regression."""

import numpy as np


def log_loss(y, probability):
    """Mean of -log p(true class), for `y` coded 0..K-1 and one column per class.

    Rows are normalised first: some libraries return float32 whose sum is not exactly one.
    """
    probability = np.asarray(probability, dtype=np.float64)
    picked = probability[np.arange(len(y)), np.asarray(y, dtype=np.intp)]
    share = picked / probability.sum(axis=1)
    return float(-np.log(np.clip(share, 1e-15, 1.0)).mean())


def rmse(y, prediction):
    """Return the root mean squared error."""
    error = np.asarray(y, dtype=np.float64) - np.asarray(prediction, dtype=np.float64).ravel()
    return float(np.sqrt(np.mean(error * error)))


def test_loss(model, X, y, task):
    """Return the loss of a fitted model: RMSE if `task` is "regression", log loss otherwise."""
    if task == "regression":
        return rmse(y, model.predict(X))
    return log_loss(y, model.predict_proba(X))
