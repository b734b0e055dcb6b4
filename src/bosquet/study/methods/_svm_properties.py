"""Properties of support vector machines, by kernel."""

from __future__ import annotations

from bosquet.study.record import MethodProperties

_SCORE = ("partly", "margins; probabilities by Platt scaling, no interval for regression")
_BOUNDS = ("yes", "margin bounds for any n and any dimension")


def _properties(
    readable: tuple[str, str],
    consistent: tuple[str, str],
    minimax: tuple[str, str],
    parameters: str,
    online: tuple[str, str],
) -> MethodProperties:
    return {
        "readable": readable,
        "score_or_interval": _SCORE,
        "consistent": consistent,
        "minimax": minimax,
        "non_asymptotic": _BOUNDS,
        "parameter_free": ("no", parameters),
        "online": online,
    }


_NO_WEIGHTS = ("no", "a sum over support vectors")
_NOT_ONLINE = ("no", "a quadratic program over all rows")
_UNIVERSAL = ("yes", "a universal kernel, with C growing at the right rate")

PROPERTIES: dict[str, MethodProperties] = {
    "linear": _properties(
        ("partly", "weights of a linear decision boundary"),
        ("no", "unless the best rule is linear"),
        ("no", "its bias does not vanish"),
        "C",
        ("yes", "by stochastic gradient"),
    ),
    "polynomial": _properties(
        _NO_WEIGHTS,
        ("no", "polynomials of a fixed degree cannot approximate every rule"),
        ("no", "its bias does not vanish"),
        "C and the degree",
        _NOT_ONLINE,
    ),
    "gaussian": _properties(
        _NO_WEIGHTS,
        _UNIVERSAL,
        ("partly", "fast rates under a margin condition, σ and C tuned"),
        "C and σ",
        _NOT_ONLINE,
    ),
    "laplacian": _properties(
        _NO_WEIGHTS,
        _UNIVERSAL,
        ("partly", "as kernel least squares, for smooth targets"),
        "C and σ",
        _NOT_ONLINE,
    ),
    "sigmoid": _properties(
        _NO_WEIGHTS,
        ("no", "not positive definite for all parameters, not universal"),
        ("no", "not known"),
        "C and its slope",
        _NOT_ONLINE,
    ),
}
