"""Coverage of prediction intervals and prediction sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._targets import check_same_length, class_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def covered(y: ArrayLike, regions: ArrayLike, classes: ArrayLike | None = None) -> np.ndarray:
    """Whether the target of each row lies in its interval or set.

    Parameters
    ----------
    y : array of shape (rows,)
        Targets.
    regions : array of shape (rows, 2) of bounds, or of bool of shape (rows, classes)
        From `predict_interval` or `predict_set`.
    classes : array, optional
        For sets: the labels in the order of the columns (default: the sorted labels in y).

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
    regions, target = np.asarray(regions), np.asarray(y)
    if regions.ndim != 2:
        raise ValueError(
            f"regions has shape {regions.shape}; pass bounds of shape (rows, 2) or sets of shape (rows,"
            " classes)"
        )
    check_same_length(target.size, len(regions))
    if regions.dtype != bool:
        if regions.shape[1] != 2:
            raise ValueError(
                f"regions has {regions.shape[1]} columns; bounds need 2 columns, lower and upper"
            )
        return (regions[:, 0] <= target) & (target <= regions[:, 1])
    all_classes = np.unique(target) if classes is None else np.asarray(classes)
    if all_classes.size != regions.shape[1]:
        source = "y" if classes is None else "classes"
        raise ValueError(
            f"regions has {regions.shape[1]} columns of classes, but {source} has {all_classes.size}"
            " class(es); pass all classes with classes=model.classes_"
        )
    return regions[np.arange(target.size), class_numbers(target, all_classes)]
