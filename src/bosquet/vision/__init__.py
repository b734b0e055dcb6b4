"""Boosted object detection in grey images: Haar features, boosting on them, cascades."""

from bosquet._lazy import lazy_getattr

_HOME = {
    "Annotations": "bosquet.vision.annotations",
    "Cascade": "bosquet.vision.cascade",
    "CascadeFileError": "bosquet.vision.cascade",
    "CascadeTrainer": "bosquet.vision.trainer",
    "Detections": "bosquet.vision.detection",
    "Evaluation": "bosquet.vision.evaluation",
    "HaarBoostClassifier": "bosquet.vision.haar_boost",
    "HaarFeatures": "bosquet.vision.features",
    "ImageConversionWarning": "bosquet.vision.images",
    "Stage": "bosquet.vision.cascade",
    "StageReport": "bosquet.vision.stages",
    "WeakTree": "bosquet.vision.cascade",
    "boost_stage": "bosquet.vision.stages",
    "crop_samples": "bosquet.vision.samples",
    "feature_blocks": "bosquet.vision.integral",
    "feature_values": "bosquet.vision.integral",
    "haar_features": "bosquet.vision.features",
    "integral_image": "bosquet.vision.integral",
    "make_samples": "bosquet.vision.samples",
    "read_annotations": "bosquet.vision.annotations",
    "read_images": "bosquet.vision.images",
    "read_vec": "bosquet.vision.vec_files",
    "window_contrasts": "bosquet.vision.integral",
}

__all__ = [
    "Annotations",
    "Cascade",
    "CascadeFileError",
    "CascadeTrainer",
    "Detections",
    "Evaluation",
    "HaarBoostClassifier",
    "HaarFeatures",
    "ImageConversionWarning",
    "Stage",
    "StageReport",
    "WeakTree",
    "boost_stage",
    "crop_samples",
    "feature_blocks",
    "feature_values",
    "haar_features",
    "integral_image",
    "make_samples",
    "read_annotations",
    "read_images",
    "read_vec",
    "window_contrasts",
]

__getattr__ = lazy_getattr(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
