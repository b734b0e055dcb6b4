"""A detected change, and the search of a whole stream for changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from bosquet._sklearn import clone


@dataclass(frozen=True, repr=False)
class Change:
    """A detected change of the mean of a stream.

    Attributes
    ----------
    began : int
        Index of the first value after the estimated change.
    noticed : int
        Index of the value that raised the alarm.
    before, after : float
        Mean before and after the change.
    """

    began: int
    noticed: int
    before: float
    after: float

    def __repr__(self) -> str:
        return (
            f"Change(began={self.began}, noticed={self.noticed}, before={self.before:.3g},"
            f" after={self.after:.3g})"
        )


class Detector(Protocol):
    """A test for changes, with the methods of `AdaptiveWindow` and `PageHinkley`."""

    changes_: list[Change]

    def update(self, value: float) -> bool: ...


def change_points(values: Iterable[float], detector: Detector) -> list[Change]:
    """Return all changes that a detector finds in a stream of values.

    Parameters
    ----------
    values : iterable of numbers
        Read once and in order; the values need not fit into memory.
    detector : AdaptiveWindow or PageHinkley
        Not changed: an unfitted clone processes the stream.

    Returns
    -------
    list of Change

    Examples
    --------
    >>> from bosquet.streams import AdaptiveWindow, change_points
    >>> change_points([0.0] * 50 + [1.0] * 50, AdaptiveWindow())
    [Change(began=50, noticed=59, before=0, after=1)]
    """
    fresh = clone(detector)
    for value in values:
        fresh.update(value)
    return fresh.changes_


def check_in_range(value: float, low: float, high: float, index: int) -> float:
    """Return the value as a float; raise a ValueError with its index if it is outside [low, high]."""
    number = float(value)
    if not low <= number <= high:
        raise ValueError(
            f"value {index} of the stream is {number:g}, outside of [low, high] = [{low:g}, {high:g}]; pass"
            " low and high such that all values are in the range"
        )
    return number


def check_range(low: float, high: float) -> None:
    """Raise a ValueError unless low < high."""
    if not low < high:
        raise ValueError(f"low={low!r} is not valid: low must be less than high={high!r}")
