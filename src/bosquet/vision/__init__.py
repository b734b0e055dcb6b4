"""Boosted detectors of things in grey images: Haar features, boosting on them, cascades."""

from bosquet._lazy import looked_up

_HOME = {
    "HaarBoostClassifier": "bosquet.vision.haar_boost",
    "HaarFeatures": "bosquet.vision.features",
    "StageReport": "bosquet.vision.stages",
    "boost_stage": "bosquet.vision.stages",
    "feature_blocks": "bosquet.vision.integral",
    "feature_values": "bosquet.vision.integral",
    "haar_features": "bosquet.vision.features",
    "integral_image": "bosquet.vision.integral",
    "window_contrasts": "bosquet.vision.integral",
}

__all__ = [
    "HaarBoostClassifier",
    "HaarFeatures",
    "StageReport",
    "boost_stage",
    "feature_blocks",
    "feature_values",
    "haar_features",
    "integral_image",
    "window_contrasts",
]

__getattr__ = looked_up(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
