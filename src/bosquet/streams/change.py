"""What a detector has found, and how a whole stream is searched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bosquet._sklearn import clone


@dataclass(frozen=True, repr=False)
class Change:
    """A change of the mean of a stream.

    Attributes
    ----------
    began : int
        The place of the first value that is counted as changed, from 0.
    noticed : int
        The place of the value at which the alarm was raised.
    before, after : float
        Mean before and since.
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


def change_points(values: Iterable[float], detector: Any) -> list[Change]:
    """Every change that a detector notices in a stream of values.

    Parameters
    ----------
    values : iterable of numbers
        Read once, from beginning to end; it need not fit into memory.
    detector : AdaptiveWindow or PageHinkley
        Left as it is: the stream is shown to a copy that has seen nothing.

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


def check_in_range(value: Any, low: float, high: float, place: int) -> float:
    """The value as a number between the two, or an error that names its place."""
    number = float(value)
    if not low <= number <= high:
        raise ValueError(
            f"value {place} of the stream is {number:g}, outside of [low, high] = [{low:g}, {high:g}];"
            " the promise on false alarms needs the range"
        )
    return number


def check_range(low: float, high: float) -> None:
    """Whether the range has a width."""
    if not low < high:
        raise ValueError(f"low={low!r} must be below high={high!r}")
