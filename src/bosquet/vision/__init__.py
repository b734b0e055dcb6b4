"""Boosted detectors of things in grey images: Haar features, boosting on them, cascades."""

from bosquet._lazy import looked_up

_HOME = {
    "HaarFeatures": "bosquet.vision.features",
    "haar_features": "bosquet.vision.features",
}

__all__ = [
    "HaarFeatures",
    "haar_features",
]

__getattr__ = looked_up(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
