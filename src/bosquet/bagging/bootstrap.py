"""Properties of a bootstrap sample: m rows drawn with replacement from m rows."""

from __future__ import annotations

import math
from numbers import Integral


def probability_drawn(m: int) -> float:
    """Return the probability that a given row is in a bootstrap sample: 1 - (1 - 1/m)^m.

    It decreases to 1 - 1/e = 63.2 % as m grows; the remaining 36.8 % of the rows are out of bag.

    Parameters
    ----------
    m : int
        Number of rows and of draws.

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
    m = _check_size(m)
    return 1.0 if m == 1 else 1.0 - (1.0 - 1.0 / m) ** m


def distinct_samples(m: int) -> int:
    """Return the number of distinct bootstrap samples of m rows: C(2m - 1, m).

    Two samples are the same if each row was drawn equally often, in any order. They are counted by the
    stars-and-bars argument: m draws (stars) are distributed over m rows (separated by m - 1 bars).

    Parameters
    ----------
    m : int
        Number of rows and of draws.

    Returns
    -------
    int
        Exact for any m.

    Examples
    --------
    >>> from bosquet.bagging import distinct_samples
    >>> distinct_samples(3), distinct_samples(20)
    (10, 68923264410)
    """
    m = _check_size(m)
    return math.comb(2 * m - 1, m)


def _check_size(m: object) -> int:
    if not isinstance(m, Integral) or isinstance(m, bool) or m < 1:
        raise ValueError(f"m={m!r} is not valid: m must be an integer >= 1")
    return int(m)
