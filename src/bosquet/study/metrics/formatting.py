"""Scores as one says them: 44,960 and not 4.496e+04."""

from __future__ import annotations

LARGEST = 1e12  # beyond which powers of ten are easier to read


def figure(value: float, digits: int = 4, *, signed: bool = False) -> str:
    """A number of so many digits, thousands apart, a sign in front where it is a difference.

    Examples
    --------
    >>> from bosquet.study.metrics.formatting import figure
    >>> figure(44961.7), figure(0.25), figure(-2741.8, 3, signed=True), figure(3e-7, signed=True)
    ('44,960', '0.25', '-2,740', '+3e-07')
    """
    sign = "+" if signed else ""
    rounded = float(f"{value:.{digits}g}")
    if 10 ** (digits - 1) <= abs(rounded) < LARGEST:
        return f"{rounded:{sign},.0f}"
    return f"{value:{sign}.{digits}g}"
