"""Members of bagged ensembles: the rows that each member did not draw, and its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._sklearn import columns_of
from bosquet.trust._wrapping import check_single_output, probabilities_by_class

if TYPE_CHECKING:
    from bosquet._types import Estimator, TableLike


def out_of_bag_mask(model: Estimator, n_rows: int) -> np.ndarray:
    """1.0 where a member did not draw a row, else 0.0, of shape (members, rows)."""
    if not hasattr(model, "estimators_samples_"):
        raise ValueError(
            f"method='oob' needs a forest or a bagging model, but {type(model).__name__} has no attribute"
            " estimators_samples_ with the rows of each member; use method='cv+'"
        )
    samples = model.estimators_samples_
    left_out = np.ones((len(samples), n_rows))
    for member, rows in enumerate(samples):
        left_out[member, rows] = 0
    if not left_out.any():
        raise ValueError(
            "method='oob' needs out-of-bag rows, but every member drew all rows; set bootstrap=True"
        )
    return left_out


def member_predictions(model: Any, X: TableLike, classes: np.ndarray | None) -> np.ndarray:
    """Return the members' predictions: numbers (members, rows), or probabilities (members, rows, classes)."""
    if hasattr(model, "votes"):
        votes = np.asarray(model.votes(X))
        if classes is not None and votes.ndim == 2:  # hard votes are labels
            votes = (votes[:, :, None] == classes).astype(float)
        votes = np.moveaxis(votes, 0, 1)
        return check_single_output(model, votes, 2) if classes is None else votes
    features = getattr(model, "estimators_features_", None)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    # scikit-learn fits the members to arrays without feature names.
    array = X.to_numpy() if hasattr(X, "to_numpy") else X
    predictions = []
    for i, member in enumerate(model.estimators_):
        table = array if features is None else columns_of(array, features[i])
        if classes is None:
            predictions.append(check_single_output(model, member.predict(table)))
        else:
            predictions.append(_member_probabilities(member, table, classes))
    return np.stack(predictions)


def _member_probabilities(member: Any, X: TableLike, classes: np.ndarray) -> np.ndarray:
    """Return probabilities of a scikit-learn member, in the order of the ensemble's classes.

    Members of forests are fitted to class numbers instead of labels.
    """
    numbers = np.arange(classes.size)
    if np.isin(member.classes_, numbers).all():
        return probabilities_by_class(member, X, numbers.astype(member.classes_.dtype))
    return probabilities_by_class(member, X, classes)
