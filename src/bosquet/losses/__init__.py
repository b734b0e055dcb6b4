"""Loss functions: those of the compiled core, custom losses, and losses of the margin."""

from bosquet.losses._custom import CustomLoss
from bosquet.losses._margins import MARGIN_LOSSES, Exponential, MarginLoss, margin_loss
from bosquet.losses.native import NativeLoss, classification_loss, regression_loss

__all__ = [
    "MARGIN_LOSSES",
    "CustomLoss",
    "Exponential",
    "MarginLoss",
    "NativeLoss",
    "classification_loss",
    "margin_loss",
    "regression_loss",
]
