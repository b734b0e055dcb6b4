"""Two facts about a bootstrap sample: m rows drawn with replacement from m."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any


def probability_drawn(m: int) -> float:
    """The chance that a given row is in a bootstrap sample: 1 - (1 - 1/m)^m.

    It falls to 1 - 1/e = 63.2 % as m grows: the remaining 36.8 % of the rows are out of the bag.

    Parameters
    ----------
    m : int
        Number of rows, and of draws.

    Returns
    -------
    float

    Examples
    --------
    >>> from bosquet.bagging import probability_drawn
    >>> probability_drawn(2)
    0.75
    >>> print(f"{probability_drawn(1_000_000):.4f}")
    0.6321
    """
    m = _checked(m)
    return 1.0 if m == 1 else 1.0 - (1.0 - 1.0 / m) ** m


def distinct_samples(m: int) -> int:
    """The number of different bootstrap samples of m rows: C(2m - 1, m).

    A sample is how often each row was drawn, whatever the order: m draws over m rows, which m - 1
    bars among m stars can write down.

    Parameters
    ----------
    m : int
        Number of rows, and of draws.

    Returns
    -------
    int
        Exact, however large.

    Examples
    --------
    >>> from bosquet.bagging import distinct_samples
    >>> distinct_samples(3), distinct_samples(20)
    (10, 68923264410)
    """
    m = _checked(m)
    return math.comb(2 * m - 1, m)


def _checked(m: Any) -> int:
    if not isinstance(m, Integral) or isinstance(m, bool) or m < 1:
        raise ValueError(f"m={m!r} is out of range: m must be an integer >= 1")
    return int(m)
