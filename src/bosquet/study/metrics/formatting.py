"""Readable formatting of scores, 44,960 instead of 4.496e+04, and of titles inside a sentence."""

from __future__ import annotations

LARGEST = 1e12  # larger numbers are easier to read in scientific notation
# Words that keep their capital in a sentence.
_NAMES = frozenset(("Bayes", "Brier", "Gaussian", "Laplacian", "Matthews", "Poisson"))


def format_score(value: float, digits: int = 4, *, signed: bool = False) -> str:
    """Format a number with `digits` significant digits and a thousands separator.

    With `signed`, positive numbers have a plus sign, which marks differences.

    Examples
    --------
    >>> from bosquet.study.metrics.formatting import format_score
    >>> format_score(44961.7), format_score(0.25), format_score(-2741.8, 3, signed=True)
    ('44,960', '0.25', '-2,740')
    >>> format_score(3e-7, signed=True)
    '+3e-07'
    """
    sign = "+" if signed else ""
    rounded = float(f"{value:.{digits}g}")
    if 10 ** (digits - 1) <= abs(rounded) < LARGEST:
        return f"{rounded:{sign},.0f}"
    return f"{value:{sign}.{digits}g}"


def without_comma(title: str) -> str:
    """Return a title without a comma, for lists: 'SVM (linear)' for 'SVM, linear'.

    A comma between parentheses separates the arguments of a custom metric, and is kept.
    """
    first, comma, rest = title.partition(", ")
    return f"{first} ({rest})" if comma and "(" not in first else title


def in_sentence(title: str) -> str:
    """Return a title for use inside a sentence: 'log loss', but 'RMSE', 'AdaBoost' and 'Brier score'."""
    first = title.split(" ", 1)[0]
    ordinary = (first[1:].islower() or len(first) == 1) and first not in _NAMES
    return without_comma(title[:1].lower() + title[1:] if ordinary else title)
