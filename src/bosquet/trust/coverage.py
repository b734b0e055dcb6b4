"""Whether intervals and sets hold the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import check_same_length, class_numbers


def covered(y: Any, regions: Any, classes: Any = None) -> np.ndarray:
    """Whether each row's truth lies in its interval or set.

    Parameters
    ----------
    y : array of shape (rows,)
        What was true.
    regions : array of shape (rows, 2) of bounds, or of bool of shape (rows, classes)
        From `predict_interval` or `predict_set`.
    classes : array, optional
        For sets: the labels in the order of the columns; taken from y by default.

    Returns
    -------
    array of bool of shape (rows,)

    Examples
    --------
    >>> from bosquet.trust import covered
    >>> print(covered([1.0, 2.0], [[0.5, 1.5], [0.5, 1.5]]))
    [ True False]
    >>> print(covered(["a", "b"], [[True, False], [True, True]]))
    [ True  True]
    """
    found, truth = np.asarray(regions), np.asarray(y)
    if found.ndim != 2:
        raise ValueError(
            f"regions has shape {found.shape}; give bounds (rows, 2) or sets (rows, classes)"
        )
    check_same_length(truth.size, len(found))
    if found.dtype != bool:
        if found.shape[1] != 2:
            raise ValueError(f"bounds need 2 columns, lower and upper, not {found.shape[1]}")
        return (found[:, 0] <= truth) & (truth <= found[:, 1])
    known = np.unique(truth) if classes is None else np.asarray(classes)
    if known.size != found.shape[1]:
        raise ValueError(
            f"the sets are of {found.shape[1]} classes, but there are {known.size}; name them all:"
            " classes=model.classes_"
        )
    return found[np.arange(truth.size), class_numbers(truth, known)]
