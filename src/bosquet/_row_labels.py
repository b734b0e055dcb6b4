"""Comparison of the row labels of pandas objects that are passed together."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bosquet._warnings import warn_user

if TYPE_CHECKING:
    from pandas import Index


def warn_of_row_order_mismatch(names: Sequence[str], values: Sequence[object]) -> None:
    """Warn if two of the arguments have the same row labels in different orders.

    Rows are matched by position, as in scikit-learn. Labels that differ only in their order indicate that one
    of the two arguments was sorted or shuffled.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    labelled = [
        (name, value.index)
        for name, value in zip(names, values, strict=False)
        if isinstance(value, (pandas.DataFrame, pandas.Series))
    ]
    for name, index in labelled[1:]:
        first, expected = labelled[0]
        if _same_labels_in_different_order(index, expected):
            pairs = zip(expected.tolist(), index.tolist(), strict=True)
            row, (label, instead) = next(
                (k, pair) for k, pair in enumerate(pairs) if pair[0] != pair[1]
            )
            warn_user(
                f"{first} and {name} have the same row labels in different orders (row {row} is {label!r} in"
                f" {first} and {instead!r} in {name}), but rows are matched by position; pass"
                f" {name}.loc[{first}.index], or {name}.to_numpy() if the positions are correct"
            )


def _same_labels_in_different_order(index: Index, other: Index) -> bool:
    if len(index) != len(other) or index.equals(other):
        return False
    if not (index.isin(other).all() and other.isin(index).all()):
        return False
    counts = Counter(index.tolist())
    return counts == Counter(other.tolist()) and index.tolist() != other.tolist()
