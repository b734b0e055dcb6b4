"""Ensembles of bags as they say themselves: who drew which rows, and what each member answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sklearn import columns_of
from bosquet.trust._wrapping import probabilities_by_class, single_output


def rows_left_out(model: Any, n_rows: int) -> np.ndarray:
    """1 where a learner did not draw a row, else 0: (learners, rows)."""
    if not hasattr(model, "estimators_samples_"):
        raise ValueError(
            f"method='oob' takes a forest or bagging, and a {type(model).__name__} does not tell which"
            " rows its members drew; use method='cv+'"
        )
    drawn = model.estimators_samples_
    without = np.ones((len(drawn), n_rows))
    for learner, rows in enumerate(drawn):
        without[learner, rows] = 0
    if not without.any():
        raise ValueError(
            "method='oob' needs rows that a learner did not draw, but every learner drew them all;"
            " set bootstrap=True"
        )
    return without


def answers(model: Any, X: Any, classes: np.ndarray | None) -> np.ndarray:
    """What each learner says of each row: (learners, rows) numbers, or (learners, rows, classes)."""
    if hasattr(model, "votes"):
        votes = np.asarray(model.votes(X))
        if classes is not None and votes.ndim == 2:  # hard votes are labels
            votes = (votes[:, :, None] == classes).astype(float)
        votes = np.moveaxis(votes, 0, 1)
        return single_output(model, votes, 2) if classes is None else votes
    features = getattr(model, "estimators_features_", None)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    bare = X.to_numpy() if hasattr(X, "to_numpy") else X  # scikit-learn's trees saw no names
    said = []
    for number, learner in enumerate(model.estimators_):
        table = bare if features is None else columns_of(bare, features[number])
        if classes is None:
            said.append(single_output(model, learner.predict(table)))
        else:
            said.append(_by_number(learner, table, classes))
    return np.stack(said)


def _by_number(learner: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Probabilities of a scikit-learn member, whose classes are numbers of the ensemble's."""
    numbers = np.arange(classes.size)
    if np.isin(learner.classes_, numbers).all():
        return probabilities_by_class(learner, X, numbers.astype(learner.classes_.dtype))
    return probabilities_by_class(learner, X, classes)
