"""Qualities of support vector machines, by kernel."""

from __future__ import annotations

from bosquet.study.record import Card

_SCORE = ("partly", "margins; probabilities by Platt's sigmoid, no interval for numbers")
_BOUNDS = ("yes", "margin bounds for any n, whatever the dimension")


def _card(
    readable: tuple[str, str],
    consistent: tuple[str, str],
    minimax: tuple[str, str],
    settings: str,
    online: tuple[str, str],
) -> Card:
    return {
        "readable": readable,
        "score_or_interval": _SCORE,
        "consistent": consistent,
        "minimax": minimax,
        "non_asymptotic": _BOUNDS,
        "parameter_free": ("no", settings),
        "online": online,
    }


_NO_WEIGHTS = ("no", "a sum over support vectors")
_NOT_ONLINE = ("no", "a quadratic program over all rows")
_UNIVERSAL = ("yes", "a universal kernel, with C growing at the right rate")

CARDS: dict[str, Card] = {
    "linear": _card(
        ("partly", "weights of a linear frontier"),
        ("no", "unless the best rule is linear"),
        ("no", "its bias does not vanish"),
        "C",
        ("yes", "by stochastic gradient"),
    ),
    "polynomial": _card(
        _NO_WEIGHTS,
        ("no", "polynomials of one degree do not reach every rule"),
        ("no", "its bias does not vanish"),
        "C and the degree",
        _NOT_ONLINE,
    ),
    "gaussian": _card(
        _NO_WEIGHTS,
        _UNIVERSAL,
        ("partly", "fast rates under a margin condition, σ and C tuned"),
        "C and σ",
        _NOT_ONLINE,
    ),
    "laplacian": _card(
        _NO_WEIGHTS,
        _UNIVERSAL,
        ("partly", "as least squares, for smooth truths"),
        "C and σ",
        _NOT_ONLINE,
    ),
    "sigmoid": _card(
        _NO_WEIGHTS,
        ("no", "not a kernel for all settings, nor universal"),
        ("no", "not known"),
        "C and its slope",
        _NOT_ONLINE,
    ),
}
