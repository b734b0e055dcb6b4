"""Calibrated probabilities, and conformal prediction intervals and prediction sets.

All of them accept Bosquet's models and scikit-learn's.
"""

from bosquet.trust.calibrated import CalibratedModel
from bosquet.trust.calibrators import BetaCalibrator, IsotonicCalibrator, PlattCalibrator
from bosquet.trust.conformal import ConformalModel
from bosquet.trust.costs import cost_threshold
from bosquet.trust.coverage import covered
from bosquet.trust.reliability import (
    BrierDecomposition,
    CalibrationError,
    ReliabilityCurve,
    brier_decomposition,
    calibration_error,
    reliability_curve,
)

__all__ = [
    "BetaCalibrator",
    "BrierDecomposition",
    "CalibratedModel",
    "CalibrationError",
    "ConformalModel",
    "IsotonicCalibrator",
    "PlattCalibrator",
    "ReliabilityCurve",
    "brier_decomposition",
    "calibration_error",
    "cost_threshold",
    "covered",
    "reliability_curve",
]
